# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Display filters, columns and statistics: against dissect without them, and against tshark.

section_filters() {
	echo
	echo "## Filters, columns and statistics"
	header "\`dissect\`" capture wall processor "peak memory" "wall / none" "processor / none"
	with_filters plain "$size"
	with_filters mix "$size"
	echo
	echo "To /dev/null. The ratios are to \`dissect\` without a filter in the same round."
	if ! have tshark; then
		echo
		echo "tshark is not installed: left out."
		return
	fi
	header "" capture iwdissect processor tshark processor faster "by processor time"
	local shape
	for shape in plain mix; do
		like_tshark "$shape" 40 100 -T fields -e frame.number -e iwarp_rdma.opcode -e iwarp_mpa.crc
		like_tshark "$shape" 40 100 -T fields -e frame.time_relative -e ip.src -e tcp.stream -e tcp.len -e iwarp_ddp.stag
		like_tshark "$shape" 30 60 -q -z io,stat,1
		like_tshark "$shape" 30 60 -q -z "io,stat,1,iwarp_rdma.opcode == 0"
	done
	echo
	echo "The same words for both: \`iwdissect dissect\` and \`tshark -n -r\`. Medians, and \"faster\" is the ratio of those of wall time."
}

# with_filters SHAPE SIZE has the rows of a capture.
with_filters() {
	local i f n of filters=(
		'iwarp_rdma.opcode == 0'
		'tcp.port == 7174 && iwarp_rdma.opcode == 0'
		'ip.addr == 10.0.0.0/8 && iwarp_ddp.stag'
		'iwd.message.length > 1000'
		'iwd.latency > 1ms'
		'iwd.rule'
	)
	capture "$1" "$2"
	warm "$file"
	of=$(label "$(sized "$file")")
	for ((i = 0; i < ROUNDS; i++)); do
		once "filter.$1.none" "$bin" dissect -q "$file"
		for n in "${!filters[@]}"; do
			once "filter.$1.$n" "$bin" dissect -q -Y "${filters[n]}" "$file"
		done
	done
	measured_of "no filter" "$1, $of" "filter.$1.none" "filter.$1.none"
	for n in "${!filters[@]}"; do
		f=${filters[n]}
		measured_of "\`-Y '${f//|/\\|}'\`" "$1, $of" "filter.$1.$n" "filter.$1.none"
		bar "\`dissect -Y '$f'\` / \`dissect\`, $1" "$(ratio "filter.$1.$n" "filter.$1.none" "$wall")" "" 1.3 1.1 most
	done
	steady "filter.$1.none" "\`dissect\`, $1"
}

# measured_of WHAT CAPTURE NAME BASE is a row of [measured] with the capture.
measured_of() {
	local what=$1
	shift
	measured "$what | $1" "$2" "$3"
}

# like_tshark SHAPE MUST GOAL WORD... is a row: both programs take the words.
like_tshark() {
	local shape=$1 must=$2 goal=$3 id i faster of what
	shift 3
	what="\`${*}\`"
	id=like.$shape.$(tr -c 'a-z0-9\n' _ <<<"$*")
	capture "$shape" "$size"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		to=$work/out once "ours.$id" "$bin" dissect "$@" "$file"
		((i < PEER_ROUNDS)) || continue
		say "tshark $*"
		to=$work/out once "tshark.$id" tshark -n -r "$file" "$@"
	done
	rm -f "$work/out"
	of="$shape, $(label "$(sized "$file")")"
	faster=$(quotient "$(median "tshark.$id" "$wall")" "$(median "ours.$id" "$wall")")
	cells "$what" "$of" "$(seconds "$(median "ours.$id" "$wall")")" "$(seconds "$(median "ours.$id" "$cpu")")" \
		"$(seconds "$(median "tshark.$id" "$wall")")" "$(seconds "$(median "tshark.$id" "$cpu")")" \
		"$(two "$faster")" "$(two "$(quotient "$(median "tshark.$id" "$cpu")" "$(median "ours.$id" "$cpu")")")"
	bar "faster than tshark: $what, $of" "$faster" " x" "$must" "$goal" least
}
