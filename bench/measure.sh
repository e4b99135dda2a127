# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench.sh and for it
# How long a command takes and how much memory, and what follows from many runs.
# Each run of a command NAME appends a line to $work/NAME: wall and processor
# seconds, and the largest resident size in KiB.

# The columns of that.
wall=1 cpu=2 rss=3

# find_time finds GNU time, the only one that tells the memory of a command.
find_time() {
	local t
	for t in time gtime; do
		if t=$(type -P "$t") && "$t" --version 2>&1 | grep -q GNU; then
			gnutime=$t
			return
		fi
	done
	fail "GNU time is needed (Debian, Ubuntu: apt-get install time)"
}

# bash tells milliseconds, GNU time only hundredths of a second.
TIMEFORMAT='%3R %3U %3S'

# once NAME COMMAND... runs a command; $to takes its output, if set.
once() {
	local name=$1 code=0
	shift
	{ time "$gnutime" -q -f %M -o "$work/rss" "$@" >"${to:-/dev/null}" 2>"$work/stderr"; } 2>"$work/time" || code=$?
	# check ends with 1 when it finds something.
	if ((code > 1)); then
		cat "$work/stderr" >&2
		fail "$* ended with $code"
	fi
	keep "$name" 1
}

# many NAME N COMMAND... keeps the mean of runs that are too short for one of
# them to be measured, and the memory of one more.
many() {
	local name=$1 n=$2 i
	shift 2
	{ time for ((i = 0; i < n; i++)); do "$@" >/dev/null 2>&1; done; } 2>"$work/time"
	"$gnutime" -q -f %M -o "$work/rss" "$@" >/dev/null 2>&1
	keep "$name" "$n"
}

keep() {
	awk -v n="$2" 'NR == 1 { wall = $1 / n; cpu = ($2 + $3) / n } NR == 2 { print wall, cpu, $1 }' "$work/time" "$work/rss" >>"$work/$1"
}

# warm FILE... brings files into the page cache.
warm() { cat "$@" >/dev/null; }

# middle prints the median of numbers, the lower of two.
middle() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }

# median NAME COLUMN, and the least.
median() { awk -v c="$2" '{ print $c }' "$work/$1" | middle; }
least() { awk -v c="$2" 'NR == 1 || $c < v { v = $c } END { print v }' "$work/$1"; }

# ratio A B COLUMN is that of A in units of B's, inside each round that both
# have run in.
ratio() {
	paste -d ' ' "$work/$1" "$work/$2" | awk -v c="$3" 'NF == 6 { b = $(3 + c); print $c / (b > 0 ? b : 0.001) }' | middle
}

# steady NAME WHAT warns when runs of the same command differ by a factor of two:
# other work was going on.
steady() {
	awk -v what="$2" '
		NR == 1 || $1 < least { least = $1 }
		$1 > most { most = $1 }
		END { if (most > 2 * least && most > 0.02) printf "\n%s took from %.3f to %.3f s: the machine was busy.\n", what, least, most }
	' "$work/$1"
}

product() { awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'; }
quotient() { awk -v a="$1" -v b="$2" 'BEGIN { print a / (b > 0 ? b : 0.001) }'; }

# megabytes KIB in 10^6 octets.
megabytes() { awk -v k="$1" 'BEGIN { printf "%.1f", k * 1024 / 1e6 }'; }
