#!/usr/bin/env bash
# The memory of one session over CALLS calls (default 100,000) of an application. Exits if it grows after the first fifth of the calls.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

calls=${CALLS:-100000}
# Calls of a run of memory.sql, on average.
each=5.5
# The memory may grow by as many kB: caches of PostgreSQL and of the allocator fill slowly.
room=4096
sql=$ROOT/pgrx-tests/servers/soak
library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
[ -x "$PG_BIN/pgbench" ] || die "this PostgreSQL comes without pgbench" "PG=18 has it"

temporary_servers memory
server_create "$folder" "$PG_BIN" "fsync = off" "shared_buffers = 64MB"
server_start "$folder" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$folder" postgres)" --command "CREATE DATABASE app"
server_query "$folder" app --command "CREATE EXTENSION reground CASCADE"
server_query "$folder" app --file "$sql/schema.sql" >/dev/null

# own_memory: memory in kB of the session of pgbench that no other process shares.
own_memory() {
    local pid
    pid=$(server_query "$folder" app --command "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench'")
    sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
}

done_calls() { server_query "$folder" app --command "SELECT ($each * (SELECT last_value FROM reground.turns_turn_id_seq))::bigint"; }

PGOPTIONS='-c client_min_messages=error' "$PG_BIN/pgbench" --no-vacuum --client 1 --transactions "$(awk -v calls="$calls" -v each="$each" 'BEGIN { printf "%d", calls / each + 1 }')" \
    --random-seed 1 --file "$sql/memory.sql" "$(server_uri "$folder" app)" >"$folder/pgbench" 2>&1 &
session=$!
first=
while kill -0 $session 2>/dev/null; do
    sleep 10
    now=$(own_memory 2>/dev/null) || break
    count=$(done_calls)
    say "$count calls: $now kB"
    if [ -z "$first" ] && [ "$count" -gt $((calls / 5)) ]; then first=$now; fi
    [ -z "$first" ] || last=$now
done
wait $session || { cat "$folder/pgbench" >&2; die "a call failed"; }
[ -n "$first" ] || die "too few calls to measure"
[ "$last" -le $((first + room)) ] || die "the memory of a session grows: from $first kB after a fifth of the calls to $last kB"
say "the memory of a session stays flat over $calls calls: $first kB after a fifth of them, $last kB at the end"
