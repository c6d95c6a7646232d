#!/usr/bin/env bash
# Runs all tests on the server of PG or PG_CONFIG. Stops at the first step that fails and shows its log. CRATES=tested: leaves out the tests
# of the crates and of the worker, which do not depend on the version of the server.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
# shellcheck source=scripts/suites.sh
. "$ROOT/scripts/suites.sh"

SECONDS=0
# step NAME: prints the name of the step and the seconds since the start.
step() { say "$(printf '[%4d s] %s' "$SECONDS" "$1")"; }

step "layers"
"$ROOT/scripts/check-layers.sh"
"$ROOT/scripts/check-layers-test.sh"

step "toolchain and server binaries"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
logs=$CACHE/logs/test-pg$PG_MAJOR
cd "$ROOT"

step "formatting and clippy"
run_logged "$logs/lint.log" "$ROOT/scripts/lint.sh"

if [ "${CRATES:-}" != tested ]; then
    step "unit and property tests of the crates"
    packages=()
    for manifest in crates/*/Cargo.toml; do
        crate=$(basename "$(dirname "$manifest")")
        # encoders needs candle, which only the demo compiles.
        [ "$crate" = encoders ] || packages+=(--package "reground-$crate")
    done
    run_logged "$logs/crates.log" cargo test "${packages[@]}"
    say "         $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$logs/crates.log") tests passed"
fi

step "the extension, built and installed into $("$PG_CONFIG" --version)"
library=$("$ROOT/scripts/build-extension.sh" 2>"$logs/build.log") || { tail -n 40 "$logs/build.log" >&2; die "the extension does not build"; }
"$ROOT/scripts/install-extension.sh" "$library"

step "a throw-away server"
folder=$(mktemp -d "$SERVER_HOME/test.XXXXXX")
trap 'server_stop "$folder/preloaded" "$PG_BIN"; server_stop "$folder" "$PG_BIN"; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
# fsync: these data may be lost when the machine crashes. autovacuum: a worker holds a snapshot, which would keep rows that a test
# has removed.
server_create "$folder" "$PG_BIN" "fsync = off" "autovacuum = off" "max_connections = 200" "log_min_messages = warning"
server_start "$folder" "$PG_BIN"

step "SQL regression suite"
suite regress regress/pg_regress "$folder" "$logs"

step "isolation specs"
suite isolation isolation/pg_isolation_regress "$folder" "$logs"

step "client tests, and a second server that preloads the library"
# The worker must skip a database that does not exist and one without the extension.
preloaded=$folder/preloaded
mkdir "$preloaded"
server_create "$preloaded" "$PG_BIN" "fsync = off" "autovacuum = off" "log_min_messages = warning" \
    "shared_preload_libraries = 'reground'" "reground.worker_databases = 'nowhere, postgres, reground'" "reground.worker_interval = 1"
server_start "$preloaded" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$preloaded" postgres)" --command "CREATE DATABASE reground"
REGROUND_TEST_WORKER_URI=$(server_uri "$preloaded" reground)
export REGROUND_TEST_WORKER_URI
export REGROUND_TEST_PG_CONFIG=$PG_CONFIG
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$folder" postgres)" --command "CREATE DATABASE reground"
REGROUND_TEST_URI=$(server_uri "$folder" reground)
export REGROUND_TEST_URI
PGOPTIONS='-c client_min_messages=warning' "$PG_BIN/psql" --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
    --dbname "$REGROUND_TEST_URI" --command "CREATE EXTENSION reground CASCADE"
# More threads than processors, because many of these tests wait for a lock or a timeout.
run_logged "$logs/clients.log" cargo test --package reground-tests -- --test-threads=$((2 * $(getconf _NPROCESSORS_ONLN)))
say "         $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$logs/clients.log") tests passed"

# A launcher reports a missing database once. The worker test ends the first launcher.
reports=$(grep -c 'database "nowhere" of reground.worker_databases' "$preloaded/log" || true)
[ "$reports" -eq 2 ] || die "the missing database was reported $reports times"

if [ "${CRATES:-}" != tested ]; then
    step "the worker against the queue"
    # Without the local models: candle takes minutes to compile.
    run_logged "$logs/worker.log" cargo test --package reground-worker --no-default-features
    say "         $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$logs/worker.log") tests passed"
fi

# The test that caused a crash may not have noticed it.
if grep -E 'PANIC:|was terminated by signal' "$folder/log" "$preloaded/log" | grep -v 'signal 9' >&2; then
    die "the server crashed during the tests"
fi

step "all passed on PostgreSQL $PG_MAJOR (logs: $logs)"
