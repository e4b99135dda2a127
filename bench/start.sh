# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# From start to exit: the time for a tiny capture.

section_start() {
	local f=$root/testdata/pcaps/abort-client-exit.pcap ours=20 theirs=3 i
	echo
	echo "## Start to exit"
	warm "$f"
	for ((i = 0; i < ROUNDS; i++)); do
		many start.ours "$ours" "$bin" analyze -q "$f"
		many start.free "$ours" "$bin" analyze -q --no-sandbox "$f"
		! have tshark || many start.tshark "$theirs" tshark -n -r "$f" -q -z io,stat,0,iwarp_mpa.crc,iwarp_rdma.opcode
	done
	header "a capture of $(sized "$f") octets" wall processor "peak memory"
	cells "\`analyze\`, $((ours * ROUNDS)) times" "$(seconds "$(median start.ours "$wall")")" \
		"$(seconds "$(median start.ours "$cpu")")" "$(megabytes "$(median start.ours "$rss")") MB"
	cells "\`analyze --no-sandbox\`, $((ours * ROUNDS)) times" "$(seconds "$(median start.free "$wall")")" \
		"$(seconds "$(median start.free "$cpu")")" "$(megabytes "$(median start.free "$rss")") MB"
	if ! have tshark; then
		cells tshark "not installed" "" ""
		return
	fi
	cells "\`tshark -n -q -z io,stat\`, $((theirs * ROUNDS)) times" "$(seconds "$(median start.tshark "$wall")")" \
		"$(seconds "$(median start.tshark "$cpu")")" "$(megabytes "$(median start.tshark "$rss")") MB"
	bar "faster than tshark from start to exit" "$(ratio start.tshark start.ours "$wall")" " x" 10 40 least
}
