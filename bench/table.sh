# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Markdown.

# cells A B C... is a row of a table.
cells() {
	printf '|'
	printf ' %s |' "$@"
	echo
}

# header A B C... is the first row, with the line below it.
header() {
	echo
	cells "$@"
	printf '|'
	printf ' --- |%.0s' "$@"
	echo
}

# seconds S, and a number with two digits behind the point.
seconds() { printf '%.3f s' "$1"; }
two() { printf '%.2f' "$1"; }

# measured WHAT NAME BASE is a row: what it took, and how that compares.
measured() {
	cells "$1" "$(seconds "$(median "$2" "$wall")")" "$(seconds "$(median "$2" "$cpu")")" "$(megabytes "$(median "$2" "$rss")") MB" \
		"$(two "$(ratio "$2" "$3" "$wall")")" "$(two "$(ratio "$2" "$3" "$cpu")")"
}

# bar WHAT VALUE UNIT MUST GOAL most|least keeps a line for the table of bars: the
# value is to be at most, or at least, what the bar says.
bar() {
	awk -v what="$1" -v v="$2" -v unit="$3" -v must="$4" -v goal="$5" -v side="$6" '
		function met(b) { return (side == "most" ? v + 0 <= b + 0 : v + 0 >= b + 0) ? "met" : "NOT met" }
		BEGIN {
			sign = side == "most" ? "at most" : "at least"
			printf "| %s | %.3g%s | %s %s%s: %s | %s%s: %s |\n", what, v, unit, sign, must, unit, met(must), goal, unit, met(goal)
		}' >>"$work/bars"
}

# all_bars prints what was kept.
all_bars() {
	[[ -s $work/bars ]] || return 0
	echo
	echo "## Bars"
	header "" measured must goal
	cat "$work/bars"
}

# all_right FILE WHAT keeps the bar that each line of a file in $work says 1: of so many captures all are right.
all_right() {
	awk -v what="$2" '{ all++; right += $1 } END {
		met = right == all ? "met" : "NOT met"
		printf "| %s | %d of %d | all: %s | all: %s |\n", what, right, all, met, met
	}' "$work/$1" >>"$work/bars"
}
