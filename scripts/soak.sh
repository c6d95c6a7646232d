#!/usr/bin/env bash
# What takes too long for every change: damage to random bytes of an index and random mixes of what can happen to it, random
# answers and results to read citations from, ten minutes or so each (SECONDS_EACH=600), then fifty crashes of a server (ROUNDS=50).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

cd "$ROOT"
say "the index in memory: damage, and random mixes"
REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-bm25 --test brute_force
say "citations: extraction, streaming, locators, importers"
REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-citations --test soak
say "crashes"
ROUNDS=${ROUNDS:-50} "$ROOT/scripts/test-crash.sh"
