#!/usr/bin/env bash
# Tests that take too long for every change: damaged bytes and random operations on an index, and random answers and API results for
# citation extraction, about ten minutes each (SECONDS_EACH=600); then 10,000 random statements on synchronised tables, and a subscriber;
# then fifty crashes of a server (ROUNDS=50).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

cd "$ROOT"
say "the index in memory: damage, and random mixes"
REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-bm25 --test brute_force
say "citations: extraction, streaming, locators, importers"
REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-citations --test soak
say "synchronised tables: concurrent random statements"
library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
folder=$(mktemp -d "$SERVER_HOME/soak.XXXXXX")
trap 'server_stop "$folder" "$PG_BIN"; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
server_create "$folder" "$PG_BIN" "fsync = off"
server_start "$folder" "$PG_BIN"
# 17 times 4 writers with 150 statements.
REGROUND_TEST_URI=$(server_uri "$folder" postgres) REGROUND_SOAK=17 cargo test --package reground-tests --test synchronisation -- --nocapture concurrent
"$ROOT/scripts/test-subscriber.sh"
say "crashes"
ROUNDS=${ROUNDS:-50} "$ROOT/scripts/test-crash.sh"
