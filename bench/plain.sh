# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# The plain captures against cat and other programs that read all octets.

section_plain() {
	local c
	echo
	echo "## Against cat"
	against_cat 1500 plain 2.0 1.0
	against_cat 9000 mtu9000 1.8 1.0
	for c in analyze check; do
		bar "peak memory of \`$c\`, 64 connections" "$(megabytes "$(median "$c.1500" "$rss")")" " MB" 48 24 most
	done
	bar "peak memory of \`analyze\` on a pipe, 64 connections" "$(megabytes "$(median pipe.1500 "$rss")")" " MB" 48 24 most
}

# against_cat MTU SHAPE MUST GOAL is a table.
against_cat() {
	local mtu=$1 i
	capture "$2" "$size"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		once "cat.$mtu" cat "$file"
		once "bare.$mtu" "$bin" analyze --no-findings -q "$file"
		once "analyze.$mtu" "$bin" analyze -q "$file"
		once "check.$mtu" "$bin" check -q "$file"
		once "json.$mtu" "$bin" analyze --format json -q "$file"
		once "pipe.$mtu" "$bin" analyze -q - < <(cat "$file")
		! have capinfos || once "capinfos.$mtu" capinfos -c "$file"
		! have tcptrace || once "tcptrace.$mtu" tcptrace -n "$file"
	done
	header "MTU $mtu, $(label "$(sized "$file")"), 64 connections" wall processor "peak memory" "wall against cat" "processor against cat"
	measured "\`cat\`" "cat.$mtu" "cat.$mtu"
	peer capinfos "\`capinfos -c\`, which counts packets" "capinfos.$mtu" "cat.$mtu"
	peer tcptrace "\`tcptrace -n\`, TCP alone" "tcptrace.$mtu" "cat.$mtu"
	measured "\`analyze --no-findings\`" "bare.$mtu" "cat.$mtu"
	measured "\`analyze\`" "analyze.$mtu" "cat.$mtu"
	measured "\`check\`" "check.$mtu" "cat.$mtu"
	measured "\`analyze --format json\`" "json.$mtu" "cat.$mtu"
	measured "\`analyze -\`, from a pipe that \`cat\` fills" "pipe.$mtu" "cat.$mtu"
	steady "cat.$mtu" "\`cat\`"
	bar "\`analyze\` against \`cat\`, MTU $mtu" "$(ratio "analyze.$mtu" "cat.$mtu" "$wall")" "" "$3" "$4" most
	bar "\`check\` against \`analyze\`, MTU $mtu" "$(ratio "check.$mtu" "analyze.$mtu" "$wall")" "" 1.33 1.1 most
}

# peer PROGRAM WHAT NAME BASE is a row for a program that may not be installed.
peer() {
	if have "$1"; then
		measured "$2" "$3" "$4"
	else
		cells "$2" "not installed" "" "" "" ""
	fi
}
