# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Connections that come and go, and as many as may be open at once: captures of bench/turnover, all
# of small Sends. There is no capture of a million connections by default, since it takes minutes.

section_turnover() {
	local few=64 all=1 n shape
	echo
	echo "## Connections that come and go"
	all=$((size / 4300)) # of 20 packets each
	header "" capture command wall processor "peak memory" "wall against the ceiling" "a frame"
	turns long "64 connections, to the end" -open $few -all $few -messages $((size / few / 600))
	turns short "10,000 at a time, 20 packets each, $(thousands "$all") in all" -open 10000 -all "$all" -messages 12
	turns open "$(thousands $((size / 10000))) at once, 20 packets each" -open $((size / 10000)) -all $((size / 10000)) -messages 12
	n=${MILLION:-0}
	((n == 0)) || turns million "10,000 at a time, 10 packets each, $(thousands "$n") in all" -open 10000 -all "$n" -messages 2
	for shape in short open; do
		bar "a frame of $shape connections against one of 64" "$(quotient "$(<"$work/frame.analyze.turn.$shape")" "$(<"$work/frame.analyze.turn.long")")" "" 2.5 1.5 most
	done
	[[ -z ${CEILING:-} ]] || bar "\`analyze\` of short connections against the ceiling" "$(ratio analyze.turn.short ceiling.turn.short "$wall")" "" 4 2 most
	bar "peak memory of \`analyze\`, $(thousands $((size / 10000))) connections at once" "$(megabytes "$(median analyze.turn.open "$rss")")" " MB" 300 160 most
	((n == 0)) || bar "peak memory of \`analyze\`, $(thousands "$n") connections in all" "$(megabytes "$(median analyze.turn.million "$rss")")" " MB" 400 150 most
}

# turns SHAPE WHAT FLAGS... has the rows of a capture of bench/turnover.
turns() {
	local shape=$1 what=$2 i c frames
	shift 2
	turned "$shape-$size" "$@"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		[[ -z ${CEILING:-} ]] || once "ceiling.turn.$shape" "$CEILING" "$file"
		for c in analyze check; do
			once "$c.turn.$shape" "$bin" "$c" -q "$file"
		done
	done
	frames=$(frames "$file")
	for c in ceiling analyze check; do
		[[ -s $work/$c.turn.$shape ]] || continue
		quotient "$(median "$c.turn.$shape" "$wall")" "$frames" >"$work/frame.$c.turn.$shape"
		cells "$what" "$(label "$(sized "$file")")" "$(called "$c")" "$(seconds "$(median "$c.turn.$shape" "$wall")")" \
			"$(seconds "$(median "$c.turn.$shape" "$cpu")")" "$(megabytes "$(median "$c.turn.$shape" "$rss")") MB" \
			"$(against_ceiling "$c.turn.$shape" "turn.$shape")" \
			"$(awk -v s="$(<"$work/frame.$c.turn.$shape")" 'BEGIN { printf "%.2f µs", s * 1e6 }')"
	done
}

# thousands N is a number with commas.
thousands() { awk -v n="$1" 'BEGIN { s = n ""; while (match(s, /^[0-9]+[0-9][0-9][0-9](,|$)/)) { i = RLENGTH - (substr(s, RLENGTH, 1) == "," ? 1 : 0); s = substr(s, 1, i - 3) "," substr(s, i - 2) } print s }'; }
