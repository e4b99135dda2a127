#!/usr/bin/env bash
# Captures short connections on a veth pair for a while, and fails if the memory of a live capture
# grows or a connection is not settled when it has closed. Needs root.
#
#   bench/soak.sh [DURATION] [CONNECTIONS A SECOND]
set -euo pipefail
cd "$(dirname "$0")/.."
IWDISSECT_LIVE_TESTS=required IWDISSECT_SOAK=${1:-10m} IWDISSECT_SOAK_RATE=${2:-100} \
  go test ./internal/cli -run '^TestLive_SoakInterface$' -v -count 1 -timeout 24h
