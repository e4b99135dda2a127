#!/usr/bin/env bash
# Measures the highest rate at which a live capture loses no frame, beside that of tcpdump, on a veth
# pair in a network namespace of its own. Prints the rows of docs/performance.md. Needs root, tcpdump,
# and one idle processor for the sender and one for the program.
#
#   bench/live.sh [DURATION OF EACH RATE]
set -euo pipefail
cd "$(dirname "$0")/.."
IWDISSECT_LIVE_TESTS=required IWDISSECT_RATE=${1:-4s} \
  go test ./internal/cli -run '^TestLive_Rate$' -v -count 1 -timeout 2h
