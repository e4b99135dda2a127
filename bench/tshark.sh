# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Comparison with tshark.

section_tshark() {
	echo
	echo "## Against tshark"
	if ! have tshark; then
		echo
		echo "tshark is not installed: left out."
		return
	fi
	header "" capture iwdissect processor "peak memory" tshark processor "peak memory" faster "by processor time"
	against_tshark "summary, MTU 1500" plain "$size" summary 25 60
	against_tshark "summary, MTU 9000" mtu9000 "$size" summary 20 40
	against_tshark "lines, MTU 1500" plain "$size" lines 40 100
	against_tshark "lines, MTU 9000" mtu9000 "$size" lines 30 60
	against_tshark "JSON, MTU 1500" plain "$small" json 50 150
	echo
	echo "Summary: \`analyze\` and \`tshark -n -q -z io,stat,0,iwarp_mpa.crc,iwarp_rdma.opcode\`. Lines, to a file: \`dissect\` and"
	echo "\`tshark -n -T fields -e frame.number -e iwarp_rdma.opcode -e iwarp_mpa.crc\`. JSON, to /dev/null:"
	echo "\`dissect --format ndjson\` and \`tshark -n -T json\`. Medians, and \"faster\" is the ratio of those of wall time."
}

# against_tshark WHAT SHAPE SIZE KIND MUST GOAL is a row.
against_tshark() {
	local what=$1 id=$2.$4 out=/dev/null i ours theirs of faster took=()
	case $4 in
	summary)
		ours=(analyze -q)
		theirs=(-q -z "io,stat,0,iwarp_mpa.crc,iwarp_rdma.opcode")
		;;
	lines)
		out=$work/out
		ours=(dissect -q)
		theirs=(-T fields -e frame.number -e iwarp_rdma.opcode -e iwarp_mpa.crc)
		;;
	json)
		ours=(dissect -q --format ndjson)
		theirs=(-T json)
		;;
	esac
	capture "$2" "$3"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		to=$out once "ours.$id" "$bin" "${ours[@]}" "$file"
		((i < PEER_ROUNDS)) || continue
		say "tshark, $what"
		to=$out once "tshark.$id" tshark -n -r "$file" "${theirs[@]}"
	done
	rm -f "$work/out"
	of=$(label "$(sized "$file")")
	# A ratio inside the few rounds of tshark would hang on as few runs of ours.
	faster=$(quotient "$(median "tshark.$id" "$wall")" "$(median "ours.$id" "$wall")")
	for i in ours tshark; do
		took+=("$(seconds "$(median "$i.$id" "$wall")")" "$(seconds "$(median "$i.$id" "$cpu")")" "$(megabytes "$(median "$i.$id" "$rss")") MB")
	done
	cells "$what" "$of" "${took[@]}" "$(two "$faster")" "$(two "$(quotient "$(median "tshark.$id" "$cpu")" "$(median "ours.$id" "$cpu")")")"
	bar "faster than tshark: $what, $of" "$faster" " x" "$5" "$6" least
}
