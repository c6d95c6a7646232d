#!/usr/bin/env bash
# Tests the BM25 index through crashes. kill -9 stops a whole server at random moments under writes, vacuums and merges, ROUNDS times
# (default 3), while it and a standby are read; at the end the standby is promoted. After every crash and after the promotion the
# index is compared with its table, and no reader may ever have seen a difference. Read-only functions must return the same on the
# standby as on the primary.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

rounds=${ROUNDS:-3}
logs=$CACHE/logs/crash
sql=$ROOT/pgrx-tests/servers/crash
mkdir -p "$logs"
rm -f "$logs"/*

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
for program in pgbench pg_basebackup; do
    [ -x "$PG_BIN/$program" ] || die "this PostgreSQL comes without $program" "PG=18 has it"
done

temporary_servers crash
primary=$folder/primary standby=$folder/standby

# query SERVER ARGUMENT...
query() { server_query "$1" reground "${@:2}"; }

# sound SERVER WHEN
sound() {
    local found
    server_index_is_sound "$1" reground docs docs_body "$2"
    found=$(query "$1" --file "$sql/brief.sql")
    [ -z "$found" ] || { echo "$found" >&2; die "an unlogged table is not sound $2"; }
}

# read_on SERVER: reads until the server is removed. Crashes and conflicts with replay are the only expected errors.
read_on() {
    while [ -d "$1" ]; do
        query "$1" --file "$sql/read.sql" >>"$logs/reads-${1##*/}" 2>>"$logs/read-errors" || true
    done
}

say "a primary and its standby"
# With consistency checking the standby compares each replayed page with that of the primary.
server_create "$primary" "$PG_BIN" "autovacuum_naptime = 1s" "wal_consistency_checking = 'generic'" "max_wal_size = 256MB" "checkpoint_timeout = 30s"
server_start "$primary" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$primary" postgres)" --command "CREATE DATABASE reground"
query "$primary" --command "CREATE EXTENSION reground CASCADE"
query "$primary" --file "$sql/schema.sql"
# Replay cancels readers soon.
standby_create "$standby" "$primary" "$PG_BIN" "max_standby_streaming_delay = 500ms"
server_start "$standby" "$PG_BIN"
read_on "$primary" &
background=$!
read_on "$standby" &
background="$background $!"

# The build of an index over rows is logged at its end and replayed as a whole.
query "$primary" --command "REINDEX INDEX docs_body"

for round in $(seq "$rounds"); do
    # Writers and maintenance; they lose their connections in the crash.
    "$PG_BIN/pgbench" --no-vacuum --client 3 --jobs 1 --time 60 --random-seed "$round" --file "$sql/insert.sql@60" --file "$sql/update.sql@20" \
        --file "$sql/delete.sql@12" --file "$sql/roll_back.sql@6" --file "$sql/vacuum.sql@1" --file "$sql/merge.sql@1" \
        "$(server_uri "$primary" reground)" >"$logs/writes-$round" 2>&1 &
    writers=$!
    sleep "$(awk -v round="$round" 'BEGIN { srand(round * 7919); print 1 + rand() * 3 }')"
    server_crash "$primary"
    wait "$writers" || true
    server_start "$primary" "$PG_BIN"
    sound "$primary" "after crash $round"
    say "round $round of $rounds: sound, $(query "$primary" --command "SELECT count(*) || ' rows, ' || pg_relation_size('docs_body') / 8192 || ' pages' FROM docs")"
done

# Reads that replay cancelled do not count. On a slow machine these are most of them while there is WAL to replay.
least=$((10 * rounds))
SECONDS=0
for server in primary standby; do
    until [ "$(grep -cx same "$logs/reads-$server")" -ge $least ]; do
        [ $SECONDS -lt 300 ] || die "the $server was read fewer than $least times" "see $logs/read-errors"
        sleep 0.5
    done
done

query "$primary" --file "$sql/talk.sql" >/dev/null
standby_catches_up "$standby" "$primary" reground
say "read-only functions work on the standby, and writing functions are refused"
query "$primary" --command "SET default_transaction_read_only = on" --file "$sql/look.sql" >"$logs/look-primary"
query "$standby" --file "$sql/look.sql" >"$logs/look-standby"
diff "$logs/look-primary" "$logs/look-standby" >&2 || die "the standby returns other rows than the primary"
for what in search dry_run_turn check_answer feed_answer repair_answer verify_chain compare_shadows cfs_hourly; do
    grep -q "^$what|" "$logs/look-standby" || die "nothing was read by $what"
done
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$standby" reground)" --file "$sql/refused.sql" >"$logs/refused" 2>&1
if grep . "$logs/refused" >&2; then die "a writing function is not refused on a standby"; fi

say "promoting the standby"
(cd "$standby" && as_server_user "$PG_BIN/pg_ctl" promote --wait --silent --timeout "$PATIENCE" --pgdata "$standby/data")
# shellcheck disable=SC2086 # the processes are several words
kill $background
wait 2>/dev/null || true
background=
sound "$standby" "after the promotion"
query "$standby" --command "INSERT INTO docs (body) SELECT random_body() FROM generate_series(1, 2000)" --command "VACUUM docs"
sound "$standby" "after writes to the promoted standby"

if cat "$logs"/reads-* | grep -vx 'same\|nothing' | head -c 2000 | grep . >&2; then die "a reader saw the index differ from the table"; fi
reads=$(cat "$logs"/reads-* | grep -cx same)
if grep -i 'error:\|fatal:' "$logs/read-errors" | grep -v 'conflict with recovery\|terminating connection due to administrator\|the database system is\|connection to server\|server closed the connection unexpectedly' >&2; then
    die "a reader got an error"
fi
if grep 'PANIC:\|was terminated by signal\|inconsistent page' "$primary/log" "$standby/log" | grep -v 'signal 9' >&2; then die "a server crashed by itself"; fi
say "$rounds crashes and a promotion: sound each time; $reads reads, $(grep -c 'conflict with recovery' "$logs/read-errors" || true) cancelled by replay"

# refused ARGUMENT...: checks that psql gets the SQLSTATE and the hint of a damaged index.
refused() {
    local said
    if said=$(query "$standby" --set VERBOSITY=verbose --command "SET ignore_checksum_failure = on" --command "SET enable_seqscan = off" "$@" 2>&1); then
        die "a damaged index went unnoticed: $*"
    fi
    grep -q 'ERROR:  XX002' <<<"$said" && grep -q 'HINT:  .*REINDEX' <<<"$said" || { echo "$said" >&2; die "not the error of a damaged index: $*"; }
}

say "damaging pages of a stopped server"
for blocks in "0 1" "2 400"; do
    query "$standby" --command "CHECKPOINT"
    file=$standby/data/$(query "$standby" --command "SELECT pg_relation_filepath('docs_body')")
    server_stop "$standby" "$PG_BIN"
    # shellcheck disable=SC2086 # first block and number of blocks
    set -- $blocks
    last=$(($1 + $2 < $(stat -c %s "$file") / 8192 ? $1 + $2 : $(stat -c %s "$file") / 8192))
    for block in $(seq "$1" $((last - 1))); do
        # The bytes after PostgreSQL's page header of 24 bytes.
        head -c 4000 /dev/urandom | dd of="$file" bs=4000 oflag=seek_bytes seek=$((8192 * block + 24)) conv=notrunc iflag=fullblock status=none
    done
    server_start "$standby" "$PG_BIN"
    refused --command "SELECT id FROM docs ORDER BY body <@> reground.bm25_query('w1 w20', 'docs') LIMIT 5"
    refused --command "INSERT INTO docs (body) SELECT random_body() FROM generate_series(1, 2000)"
    refused --command "SELECT reground.bm25_merge('docs_body')"
    refused --command "VACUUM docs"
    query "$standby" --command "SET ignore_checksum_failure = on" --command "REINDEX INDEX docs_body"
    sound "$standby" "after REINDEX of a damaged one"
done
say "damage raises XX002, and REINDEX repairs it"
