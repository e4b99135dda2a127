# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# What all of it was measured on.

# version PROGRAM FLAG prints what it says of itself, or that it is not there.
version() {
	local out
	if ! have "$1"; then
		echo "not installed"
		return
	fi
	out=$("$@" 2>&1 </dev/null || true)
	sed -n '/[0-9]\.[0-9]/{s/^[^A-Za-z]*//;s/ (Git.*//;s/[ *]*$//;p;q;}' <<<"$out"
}

machine() {
	local model=unknown memory=unknown commit
	if [[ -r /proc/cpuinfo ]]; then
		model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed 1q)
		memory=$(awk '/^MemTotal/ { printf "%.0f GB", $2 * 1024 / 1e9 }' /proc/meminfo)
	fi
	echo "## Machine"
	header "" ""
	cells processor "$model, $(getconf _NPROCESSORS_ONLN) of them"
	cells memory "$memory"
	cells kernel "$(uname -sr)"
	cells iwdissect "$("$bin" version | sed 1q)"
	! commit=$(git -C "$root" describe --always --dirty 2>/dev/null) || [[ -n ${BIN:-} ]] || cells commit "$commit"
	! have go || cells Go "$(go version | sed 's/^go version //')"
	cells tshark "$(version tshark --version)"
	cells capinfos "$(version capinfos --version)"
	cells tcptrace "$(version tcptrace -v)"
	cells gzip "$(version gzip --version)"
	cells zstd "$(version zstd --version)"
	echo
	echo "$(date -u +%Y-%m-%d), captures of $SIZE, $ROUNDS rounds, $PEER_ROUNDS of tshark."
}
