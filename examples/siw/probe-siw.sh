#!/bin/sh
# Tests siw, the software iWARP driver of Linux, on one host: rping listens on siw in one
# network namespace, iwdissect probes it from another one. Needs root, a kernel with siw, ip and
# rdma (iproute2), rping (rdma-core), and iwdissect, or another one that IWDISSECT names.
#
#     examples/siw/probe-siw.sh [FLAG OF PROBE...]
#
# Exit codes are those of probe; 77: skipped, because something is missing here. A malformed
# startup can crash a kernel: use a host that may crash.
set -eu

iwdissect=${IWDISSECT:-iwdissect}
port=7174
near=iwd-near far=iwd-far

skip() {
	echo "probe-siw: skipped: $*" >&2
	exit 77
}

[ "$(uname -s)" = Linux ] || skip "siw is a driver of Linux, this is $(uname -s)"
[ -d /sys/module/siw ] || modprobe -n -q siw 2>/dev/null ||
	skip "the kernel $(uname -r) has no siw: it needs one built with CONFIG_RDMA_SIW"
[ "$(id -u)" = 0 ] || skip "network namespaces and siw need root"
for program in ip rdma rping "$iwdissect"; do
	command -v "$program" >/dev/null || skip "there is no $program"
done

modprobe siw
clean() {
	[ -z "${server:-}" ] || kill "$server" 2>/dev/null || :
	rdma link delete iwd_siw 2>/dev/null || :
	ip netns delete "$near" 2>/dev/null || :
	ip netns delete "$far" 2>/dev/null || :
}
trap clean EXIT
trap 'exit 130' INT TERM
ip netns add "$near"
ip netns add "$far"
ip link add iwd0 netns "$near" type veth peer name iwd1 netns "$far"
ip -n "$near" address add 10.1.0.1/24 dev iwd0
ip -n "$far" address add 10.1.0.2/24 dev iwd1
for ns in "$near" "$far"; do ip -n "$ns" link set lo up; done
ip -n "$near" link set iwd0 up
ip -n "$far" link set iwd1 up
ip netns exec "$far" rdma link add iwd_siw type siw netdev iwd1

# -P goes on after a connection has ended.
ip netns exec "$far" rping -s -P -a 10.1.0.2 -p "$port" >/dev/null 2>&1 &
server=$!
sleep 1

# siw can lose an FPDU that comes right behind its Reply, hence --hold.
status=0
ip netns exec "$near" "$iwdissect" probe "10.1.0.2:$port" --i-own-this-peer --hold 250ms "$@" || status=$?
exit "$status"
