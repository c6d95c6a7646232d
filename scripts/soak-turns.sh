#!/usr/bin/env bash
# An application under load for MINUTES (default 30): turns, answers, imports, changes of documents and of synchronised tables, erasures,
# retention, rollups and merges. kill -9 stops the server every few minutes. The application counts what it does in tables of its own;
# these are compared with the rows of the extension all the time on the primary and on a standby, and after each crash. SEED=1: the first
# random seed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

minutes=${MINUTES:-30}
logs=$CACHE/logs/soak-turns
sql=$ROOT/pgrx-tests/servers/soak
mkdir -p "$logs"
rm -f "$logs"/*

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
for program in pgbench pg_basebackup; do
    [ -x "$PG_BIN/$program" ] || die "this PostgreSQL comes without $program" "PG=18 has it"
done

temporary_servers soak
primary=$folder/primary standby=$folder/standby

# query SERVER ARGUMENT...
query() { server_query "$1" app "${@:2}"; }

# nothing_differs SERVER WHEN FILE...: exits if a file prints a difference.
nothing_differs() {
    local found
    found=$(query "$1" $(printf -- '--file %s ' "${@:3}"))
    found=$(grep -v '^compared: ' <<<"$found" || true)
    [ -z "$found" ] || { head -n 40 <<<"$found" >&2; die "the extension and the application differ $2"; }
}

# read_on SERVER: compares until the server is removed. Crashes and conflicts with replay are the only expected errors.
read_on() {
    while [ -d "$1" ]; do
        query "$1" --file "$sql/checks.sql" >>"$logs/reads-${1##*/}" 2>>"$logs/read-errors" || true
        sleep 1
    done
}

say "a primary, its standby and the application"
server_create "$primary" "$PG_BIN" "max_wal_size = 512MB" "checkpoint_timeout = 60s"
server_start "$primary" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$primary" postgres)" --command "CREATE DATABASE app"
query "$primary" --command "CREATE EXTENSION reground CASCADE"
query "$primary" --file "$sql/schema.sql" >/dev/null
standby_create "$standby" "$primary" "$PG_BIN" "max_standby_streaming_delay = 30s"
server_start "$standby" "$PG_BIN"
read_on "$primary" &
background=$!
read_on "$standby" &
background="$background $!"

end=$((SECONDS + 60 * minutes))
round=0
while [ $SECONDS -lt $end ]; do
    round=$((round + 1))
    seed=$((${SEED:-1} * 1000 + round))
    # Clients lose their connections in the crash. Any other error of a client is a defect.
    PGOPTIONS='-c client_min_messages=error' "$PG_BIN/pgbench" --no-vacuum --client 4 --jobs 1 --time 600 --max-tries 20 --random-seed "$seed" \
        --file "$sql/turn.sql@60" --file "$sql/import.sql@10" --file "$sql/edit.sql@20" --file "$sql/erase.sql@2" --file "$sql/maintain.sql@1" \
        "$(server_uri "$primary" app)" >"$logs/writes-$round" 2>&1 &
    writers=$!
    # One to four minutes.
    sleep "$(awk -v seed="$seed" -v left=$((end - SECONDS)) 'BEGIN { srand(seed); wait = 60 + rand() * 180; print wait < left ? wait : left }')"
    kill -0 $writers 2>/dev/null || { grep 'error:' "$logs/writes-$round" >&2; die "all clients stopped"; }
    server_crash "$primary"
    wait "$writers" || true
    if grep 'error:' "$logs/writes-$round" | grep -v 'server closed the connection\|perhaps the backend died\|Run was aborted\|connection to server' >&2; then die "a client got an error"; fi
    server_start "$primary" "$PG_BIN"
    nothing_differs "$primary" "after crash $round" "$sql/checks.sql" "$sql/indexes.sql"
    say "crash $round: no difference, $(query "$primary" --file "$sql/checks.sql" | sed 's/^compared: //'), turn $(query "$primary" --command "SELECT max(turn_id) FROM asked")"
done
nothing_differs "$primary" "at the end" "$sql/settled.sql" "$sql/checks.sql" "$sql/indexes.sql"
standby_catches_up "$standby" "$primary" app
nothing_differs "$standby" "on the standby" "$sql/checks.sql"

# shellcheck disable=SC2086 # the processes are several words
kill $background
wait 2>/dev/null || true
background=
if cat "$logs"/reads-* | grep -v '^compared: ' | head -n 40 | grep . >&2; then die "a reader saw a difference"; fi
for server in primary standby; do
    grep -q '^compared: ' "$logs/reads-$server" || die "the $server was never read" "see $logs/read-errors"
done
if grep -i 'error:\|fatal:' "$logs/read-errors" | grep -v 'conflict with recovery\|terminating connection due to administrator\|the database system is\|connection to server\|server closed the connection unexpectedly' >&2; then
    die "a reader got an error"
fi
if grep 'PANIC:\|was terminated by signal' "$primary/log" "$standby/log" | grep -v 'signal 9' >&2; then die "a server crashed by itself"; fi
say "$round crashes in $minutes minutes, $(query "$primary" --command "SELECT max(turn_id) FROM asked") turns, no difference; compared $(grep -c '^compared: ' "$logs/reads-primary") times on the primary and $(grep -c '^compared: ' "$logs/reads-standby") times on the standby"
