#!/usr/bin/env bash
# Measures speed and memory of iwdissect against cat and other programs, on captures
# made by `iwdissect generate`, and checks that it finds all FPDUs. Prints the
# Markdown of docs/performance.md; progress goes to standard error.
#
#   bench/bench.sh [SECTION...]
#
#   plain       MTU 1500 and 9000 against cat, capinfos and tcptrace
#   crowds      thousands of connections, bulk and messages of all kinds, against cat
#               and against 64 connections
#   many        10,000 connections with markers, with loss, over SCTP, with small
#               messages, and idle for an hour, against 64 of the same kind
#   turnover    connections that come and go, and many that are open at once
#   tshark      the summary, lines and JSON against tshark
#   filters     -Y, -T fields and -z io,stat against dissect and tshark
#   shapes      many connections, loss, markers... against the plain capture,
#               and whether all FPDUs are found
#   compressed  .gz and .zst against gzip and zstd
#   start       a small capture, from start to exit
#   processors  one processor against all
#   growth      by size, connections and MTU
#   pictures    annotate and report against check and analyze, the first screen of view
#
# Without a name it runs all of them. Variables:
#
#   SIZE=1GB         size of the captures; 100MB for a short run
#   SMALL=100MB      size of captures that other programs need minutes for
#   PACKED=300MB     size of captures before compression
#   ROUNDS=7         how often each command runs
#   PEER_ROUNDS=1    how often tshark runs
#   DIR              where captures are kept and used again, by default
#                    iwdissect-bench in TMPDIR; all sections need 20 x SIZE.
#                    Remove it when generate has changed.
#   CEILING          a program that reads a capture, verifies its CRCs, and does no more
#   OTHER            a folder with captures of another generator for crowds: other64.pcap
#                    and other10000.pcap
#   MILLION=1000000  so many connections in a further capture for turnover, of 1.5 kB each
#   BIN              an iwdissect binary to use instead of building one
#
# All commands of a table run in turn, round by round, on files in the page cache.
# A ratio is taken within each round; the table has the median.
#
# It needs bash, awk and GNU time. It skips tshark, capinfos, tcptrace, gzip, zstd and
# tmux if they are not installed, and says so.
set -euo pipefail
export LC_ALL=C
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")

sections=(plain crowds many turnover tshark filters shapes compressed start processors growth pictures)
SIZE=${SIZE:-1GB} SMALL=${SMALL:-100MB} PACKED=${PACKED:-300MB}
ROUNDS=${ROUNDS:-7} PEER_ROUNDS=${PEER_ROUNDS:-1}
DIR=${DIR:-${TMPDIR:-/tmp}/iwdissect-bench}

fail() {
	echo "bench: $*" >&2
	exit 2
}
say() { echo "bench: $*" >&2; }
have() { type -P "$1" >/dev/null; }

for part in measure captures table machine "${sections[@]}"; do
	# shellcheck source=/dev/null
	. "$bench/$part.sh"
done

case ${1:-} in
-h | --help)
	sed -n '2,/^set /{/^#/s/^# \{0,1\}//p;}' "$bench/bench.sh"
	exit
	;;
esac
for name in "$@"; do
	[[ " ${sections[*]} " == *" $name "* ]] || fail "there is no section $name; there are ${sections[*]}"
done
(($# > 0)) || set -- "${sections[@]}"
[[ $ROUNDS =~ ^[1-9][0-9]*$ && $PEER_ROUNDS =~ ^[1-9][0-9]*$ ]] || fail "ROUNDS and PEER_ROUNDS are numbers from 1"
((PEER_ROUNDS <= ROUNDS)) || fail "PEER_ROUNDS is at most ROUNDS"
size=$(octets "$SIZE") small=$(octets "$SMALL") packed=$(octets "$PACKED")
((small < size)) || small=$size
((packed < size)) || packed=$size

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find_time
if [[ -n ${BIN:-} ]]; then
	bin=$(type -P "$BIN") || fail "BIN=$BIN is no program"
else
	bin=$work/iwdissect
	(cd "$root" && CGO_ENABLED=0 go build -o "$bin" ./cmd/iwdissect)
fi
mkdir -p "$DIR"

machine
for name in "$@"; do
	say "section $name"
	"section_$name"
done
all_bars
