# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# One processor against all. Minimum times: on a machine with other work, several
# processors are rarely idle at the same time.

section_processors() {
	local i c n faster
	n=$(getconf _NPROCESSORS_ONLN)
	echo
	echo "## Processors"
	if ((n < 2)); then
		echo
		echo "There is only one: left out."
		return
	fi
	capture plain "$size"
	warm "$file"
	for ((i = 0; i < ROUNDS; i++)); do
		for c in analyze check; do
			once "$c.one" "$bin" "$c" -q -j 1 "$file"
			once "$c.all" "$bin" "$c" -q "$file"
		done
	done
	header "$(label "$(sized "$file")"), least times" "\`-j 1\`" "all $n" faster
	for c in analyze check; do
		faster=$(quotient "$(least "$c.one" "$wall")" "$(least "$c.all" "$wall")")
		cells "\`$c\`" "$(seconds "$(least "$c.one" "$wall")")" "$(seconds "$(least "$c.all" "$wall")")" "$(two "$faster")"
		bar "\`$c\` on $n processors against one" "$faster" " x" 1.3 1.7 least
	done
}
