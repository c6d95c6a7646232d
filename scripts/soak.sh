#!/usr/bin/env bash
# Tests that take too long for every change: damaged bytes and random operations on an index, and random answers and API results for
# citation extraction, about ten minutes each (SECONDS_EACH=600); then fifty crashes of a server (ROUNDS=50).
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
