#!/usr/bin/env bash
# Tests that take too long for every change, in parts of about 30 minutes (PART=2 runs one of them):
#   1  damaged bytes and random operations on an index, and random answers and API results for citation extraction, ten minutes each
#      (SECONDS_EACH=600); then 10,000 random statements on synchronised tables, and a subscriber
#   2  fifty crashes of a server with an index (ROUNDS=50), and the memory of a session over 100,000 calls (CALLS=100000)
#   3, 4  an application under load with crashes and a standby (MINUTES=30)
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

cd "$ROOT"

# The crates under random input, and random statements on synchronised tables.
random_input() {
    say "the index in memory: damage, and random mixes"
    REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-bm25 --test brute_force
    say "citations: extraction, streaming, locators, importers"
    REGROUND_SOAK_SECONDS=${SECONDS_EACH:-600} cargo test --release --package reground-citations --test soak
    say "synchronised tables: concurrent random statements"
    library=$("$ROOT/scripts/build-extension.sh")
    "$ROOT/scripts/install-extension.sh" "$library"
    temporary_servers soak
    server_create "$folder" "$PG_BIN" "fsync = off"
    server_start "$folder" "$PG_BIN"
    # 17 times 4 writers with 150 statements.
    REGROUND_TEST_URI=$(server_uri "$folder" postgres) REGROUND_SOAK=17 cargo test --package reground-tests --test synchronisation -- --nocapture concurrent
    "$ROOT/scripts/test-subscriber.sh"
}

part() {
    say "part $1 of 4"
    case $1 in
        1) random_input ;;
        2) ROUNDS=${ROUNDS:-50} "$ROOT/scripts/test-crash.sh" && "$ROOT/scripts/soak-memory.sh" ;;
        3 | 4) SEED=$1 "$ROOT/scripts/soak-turns.sh" ;;
        *) die "there is no part $1" "PART=1, 2, 3 or 4" ;;
    esac
}

for number in ${PART:-1 2 3 4}; do
    # In a subshell, which stops the server of the part at its end.
    (part "$number")
done
