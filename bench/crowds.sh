# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Thousands of connections whose packets alternate, as a mirror port shows them: with bulk data,
# and with messages of all kinds.

section_crowds() {
	echo
	echo "## Thousands of connections"
	[[ -n ${CEILING:-} ]] || say "CEILING names no program: left out"
	header "" capture command wall processor "peak memory" "wall against \`cat\`" "wall against the ceiling" "a frame"
	crowd plain "bulk, 64 connections" made
	crowd flows10000 "bulk, 10,000 connections" made
	crowd mix "all kinds of messages, 64 connections" made
	crowd mix10000 "all kinds of messages, 10,000 connections" made
	crowd other64 "bulk of another generator, 64 connections" "${OTHER:-}"
	crowd other10000 "bulk of another generator, 10,000 connections" "${OTHER:-}"
	echo
	echo "\"The ceiling\" is a program that frames, verifies each CRC and keeps the order, on one processor, and does nothing besides."
	[[ -n ${OTHER:-} ]] || echo "There were no captures of another generator."
	crowded plain flows10000 mix mix10000
	[[ -z ${OTHER:-} ]] || crowded other64 other10000
}

# crowd SHAPE WHAT made|FOLDER has the rows of a capture: it is made, or it is in the folder.
crowd() {
	local shape=$1 what=$2 of=$3 i c frames
	[[ -n $of ]] || return 0
	file=$of/$shape.pcap
	[[ $of != made ]] || capture "$shape" "$size"
	[[ -s $file ]] || fail "there is no $file"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		once "cat.$shape" cat "$file"
		[[ -z ${CEILING:-} ]] || once "ceiling.$shape" "$CEILING" "$file"
		for c in analyze check; do
			once "$c.$shape" "$bin" "$c" -q "$file"
		done
		once "pipe.$shape" "$bin" analyze -q - < <(cat "$file")
	done
	frames=$(frames "$file")
	for c in cat ceiling analyze check pipe; do
		[[ -s $work/$c.$shape ]] || continue
		quotient "$(median "$c.$shape" "$wall")" "$frames" >"$work/frame.$c.$shape"
		cells "$what" "$(label "$(sized "$file")")" "$(called "$c")" "$(seconds "$(median "$c.$shape" "$wall")")" \
			"$(seconds "$(median "$c.$shape" "$cpu")")" "$(megabytes "$(median "$c.$shape" "$rss")") MB" \
			"$(two "$(ratio "$c.$shape" "cat.$shape" "$wall")")" "$(against_ceiling "$c.$shape" "$shape")" \
			"$(awk -v s="$(<"$work/frame.$c.$shape")" 'BEGIN { printf "%.2f µs", s * 1e6 }')"
	done
}

# called COMMAND is how a row names it.
called() {
	case $1 in
	ceiling) echo "the ceiling" ;;
	pipe) echo "\`analyze -\`, from a pipe" ;;
	*) echo "\`$1\`" ;;
	esac
}

# against_ceiling NAME SHAPE is its time in units of the ceiling's, if there is one.
against_ceiling() {
	[[ -z ${CEILING:-} ]] || two "$(ratio "$1" "ceiling.$2" "$wall")"
}

# frames FILE is how many it has.
frames() {
	"$bin" analyze -q --no-findings --brief "$1" | sed -n 's/.* \([0-9,]*\) frames.*/\1/p' | head -n 1 | tr -d ,
}

# crowded FEW MANY [MIX MANY] keeps the bars: many connections against few, of each mix.
crowded() {
	local few=$1 many=$2 name=$2
	[[ $many != flows10000 ]] || name="10,000 connections, bulk"
	[[ $many != other10000 ]] || name="10,000 connections, bulk of another generator"
	bar "\`analyze\` against \`cat\`: $name" "$(ratio "analyze.$many" "cat.$many" "$wall")" "" 4.5 3.0 most
	[[ -z ${CEILING:-} ]] || bar "\`analyze\` against the ceiling: $name" "$(ratio "analyze.$many" "ceiling.$many" "$wall")" "" 1.5 1.0 most
	bar "\`analyze\` against 64 connections: $name" "$(quotient "$(median "analyze.$many" "$wall")" "$(median "analyze.$few" "$wall")")" "" 2.0 1.4 most
	bar "\`check\` against \`analyze\`: $name" "$(ratio "check.$many" "analyze.$many" "$wall")" "" 1.2 1.1 most
	bar "\`analyze\` of a pipe against a file: $name" "$(ratio "pipe.$many" "analyze.$many" "$wall")" "" 1.8 1.2 most
	bar "peak memory of \`analyze\`: $name" "$(megabytes "$(median "analyze.$many" "$rss")")" " MB" 64 32 most
	(($# > 2)) || return 0
	few=$3 many=$4
	bar "\`analyze\` against \`cat\`: 64 connections, all kinds of messages" "$(ratio "analyze.$few" "cat.$few" "$wall")" "" 3.0 2.0 most
	[[ -z ${CEILING:-} ]] || bar "\`analyze\` against the ceiling: 10,000 connections, all kinds of messages" \
		"$(ratio "analyze.$many" "ceiling.$many" "$wall")" "" 2.5 1.3 most
	bar "a frame of 10,000 connections against one of 64, all kinds of messages" \
		"$(quotient "$(<"$work/frame.analyze.$many")" "$(<"$work/frame.analyze.$few")")" "" 2.0 1.4 most
	bar "peak memory of \`analyze\`: 10,000 connections, all kinds of messages" "$(megabytes "$(median "analyze.$many" "$rss")")" " MB" 96 48 most
}
