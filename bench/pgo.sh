#!/usr/bin/env bash
# Adds to cmd/iwdissect/default.pgo, the profile by which the compiler decides what to
# inline. It makes the program a few percent faster and is optional; an old profile
# helps less, but does no harm. A new one alone was slower than both together: what is
# inlined by the old one takes little time in the new one, and would be called again.
#
# ROUNDS=20 is how often each command runs; DIR as in bench.sh.
set -euo pipefail
export LC_ALL=C CGO_ENABLED=0
root=$(dirname "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)")
ROUNDS=${ROUNDS:-20} DIR=${DIR:-${TMPDIR:-/tmp}/iwdissect-bench}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$DIR"
cd "$root"
go build -trimpath -pgo=off -o "$work/profiled" ./bench/profiled

# profile NAME ARGUMENT... runs a command ROUNDS times.
profile() {
	local name=$1 i
	for ((i = 0; i < ROUNDS; i++)); do
		CPUPROFILE=$work/$name.$i.prof "$work/profiled" "${@:2}" -q >/dev/null
	done
}

# load NAME FLAG... makes a capture, if it is not there.
load() {
	[[ -s $DIR/pgo-$1.pcap ]] || CPUPROFILE=/dev/null "$work/profiled" generate --mix bulk "${@:2}" -o "$DIR/pgo-$1.pcap"
}

load mix --mix mixed --size 300MB --flows 640
load small --mix small --size 300MB --flows 64
load plain --size 1GB --flows 64
load flows --size 1GB --flows 10000
load loss --size 300MB --flows 64 --loss 1 --reorder 1
load span --size 300MB --flows 64 --fpdu 16KiB
load markers --size 300MB --flows 64 --markers
load sctp --size 300MB --flows 64 --sctp
for shape in mix small plain flows loss span markers sctp; do
	profile "analyze-$shape" analyze "$DIR/pgo-$shape.pcap"
	profile "check-$shape" check "$DIR/pgo-$shape.pcap"
done
profile dissect dissect "$DIR/pgo-loss.pcap"
profile fields dissect -T fields -e frame.number -e ip.src -e tcp.stream -e iwarp_rdma.opcode "$DIR/pgo-loss.pcap"
profile filter dissect -Y 'tcp.port == 7174 && iwarp_rdma.opcode == 0' "$DIR/pgo-mix.pcap"
profile iostat dissect -z 'io,stat,1,iwarp_ddp.stag' "$DIR/pgo-mix.pcap"

# Remove the path of the program from the profile.
go tool pprof -proto -output "$work/all.pb.gz" cmd/iwdissect/default.pgo "$work"/*.prof >/dev/null 2>&1
gzip -dc "$work/all.pb.gz" | sed "s#$work/profiled#$(printf '%*s' $((${#work} + 9)) '' | tr ' ' .)#g" | gzip -9n >"$work/default.pgo"
go tool pprof -top "$work/default.pgo" >"$work/top" 2>/dev/null
sed -n 4,16p "$work/top"
mv "$work/default.pgo" cmd/iwdissect/default.pgo
