#!/usr/bin/env bash
# How fast is iwdissect, how much memory does it take, and does it find all that
# is there? Measured against cat and against other programs, on captures that
# `iwdissect generate` makes. The Markdown that comes out is what
# docs/performance.md holds; what is under way is told on standard error.
#
#   bench/bench.sh [SECTION...]
#
#   plain       MTU 1500 and 9000 against cat, capinfos and tcptrace
#   tshark      the summary, lines and JSON against tshark
#   shapes      many connections, loss, markers... against the plain capture,
#               and whether all FPDUs are found
#   compressed  .gz and .zst against gzip and zstd
#   start       a small capture, from start to exit
#   processors  one processor against all
#   growth      by size, connections and MTU
#
# All of them without a name. These variables say more:
#
#   SIZE=1GB         of the captures; 100MB for a short run
#   SMALL=100MB      of those that other programs take minutes for
#   PACKED=300MB     of the compressed ones
#   ROUNDS=7         how often each command runs
#   PEER_ROUNDS=1    how often tshark does
#   DIR              where captures are kept and used again, by default
#                    iwdissect-bench in TMPDIR; all sections need 15 x SIZE.
#                    It is to be removed when generate makes other ones.
#   BIN              an iwdissect that is built already
#
# All commands of a table run in turn, round by round, on files that are in the
# page cache. A ratio is taken inside a round, and of those the median.
#
# It needs bash, awk and GNU time. Of tshark, capinfos, tcptrace, gzip and zstd it
# leaves out what is not there, and says so.
set -euo pipefail
export LC_ALL=C
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")

sections=(plain tshark shapes compressed start processors growth)
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
