# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# What time and memory depend on.

section_growth() {
	local tenth=$((size / 10))
	echo
	echo "## Growth"
	header "" capture "\`analyze\`, for 1 GB" processor "peak memory" "\`check\`, for 1 GB" processor "peak memory"
	grows size "plain $tenth" "plain $((3 * tenth))" "plain $size"
	grows connections "flows1 $size" "plain $size" "flows1000 $size" "flows10000 $size"
	grows MTU "mtu576 $size" "plain $size" "mtu4096 $size" "mtu9000 $size"
	bar "peak memory of \`analyze\`, $(label "$size") against $(label "$tenth")" \
		"$(quotient "$(median "size.analyze.plain.$size" "$rss")" "$(median "size.analyze.plain.$tenth" "$rss")")" "" 1.1 1.0 most
}

# grows BY "SHAPE OCTETS"... has a row for each capture; all are read in turn.
grows() {
	local by=$1 one shape of c i column row files=()
	shift
	for one in "$@"; do
		read -r shape of <<<"$one"
		capture "$shape" "$of"
		files+=("$file")
	done
	warm "${files[@]}"
	for ((i = 0; i < ROUNDS; i++)); do
		for one in "$@"; do
			read -r shape of <<<"$one"
			capture "$shape" "$of"
			for c in analyze check; do
				once "$by.$c.$shape.$of" "$bin" "$c" -q "$file"
			done
		done
	done
	for one in "$@"; do
		read -r shape of <<<"$one"
		capture "$shape" "$of"
		row=("$(grown "$by" "$shape")" "$(label "$(sized "$file")")")
		for c in analyze check; do
			for column in "$wall" "$cpu"; do
				row+=("$(seconds "$(product 1e9 "$(quotient "$(median "$by.$c.$shape.$of" "$column")" "$(sized "$file")")")")")
			done
			row+=("$(megabytes "$(median "$by.$c.$shape.$of" "$rss")") MB")
		done
		cells "${row[@]}"
	done
}

# grown BY SHAPE says what a row is about.
grown() {
	case $1.$2 in
	size.*) echo "64 connections, MTU 1500" ;;
	connections.plain) echo "64 connections" ;;
	connections.flows1) echo "1 connection" ;;
	connections.*) echo "${2#flows} connections" ;;
	MTU.plain) echo "MTU 1500" ;;
	*) echo "MTU ${2#mtu}" ;;
	esac
}
