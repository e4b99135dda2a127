#!/usr/bin/env bash
# How long does the analysis take against cat, and how much of it is the rules?
# All read the same capture in turn, so that each ratio is one of neighbours in
# time; medians are printed.
#
#   bench/ratio.sh FILE [ROUNDS]
set -euo pipefail
file=$1 rounds=${2:-9}
bin=$(mktemp)
trap 'rm -f "$bin" "$bin".*' EXIT
cd "$(dirname "$0")/.."
go build -o "$bin" ./cmd/iwdissect

# once NAME COMMAND... appends "wall cpu rss" in seconds and KiB.
once() {
	local name=$1
	shift
	/usr/bin/time -f '%e %U %S %M' -o "$bin.time" "$@" >/dev/null
	awk '{ print $1, $2 + $3, $4 }' "$bin.time" >>"$bin.$name"
}

cat "$file" >/dev/null # into the page cache
for ((i = 0; i < rounds; i++)); do
	once cat cat "$file"
	once bare "$bin" analyze --no-findings -q "$file"
	once analyze "$bin" analyze -q "$file"
	once check "$bin" check -q "$file"
done
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for name in cat bare analyze check; do
	echo "$name: wall $(awk '{ print $1 }' "$bin.$name" | median) s, cpu $(awk '{ print $2 }' "$bin.$name" | median) s, peak $(awk '{ print $3 }' "$bin.$name" | median) KiB"
done
# ratio A B: the time of A in units of B's.
ratio() {
	echo "$1 / $2: wall $(paste "$bin.$2" "$bin.$1" | awk '{ print $4 / $1 }' | median), cpu $(paste "$bin.$2" "$bin.$1" | awk '{ print $5 / $2 }' | median)"
}
ratio bare cat
ratio analyze cat
ratio check analyze
ratio check bare
