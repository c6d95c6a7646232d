#!/usr/bin/env bash
# Tests a logical subscriber. A database without the extension publishes its tables, and the subscriber has the extension and the
# conversations. Rows that the application writes are found, deleted rows are not, and the index remains sound under writes and
# through a crash of the subscriber.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/subscriber
sql=$ROOT/pgrx-tests/servers/subscriber
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"

temporary_servers subscriber
publisher=$folder/publisher subscriber=$folder/subscriber

# query SERVER ARGUMENT...
query() { server_query "$1" app "${@:2}"; }

# caught_up: waits until the subscriber has all rows of the publisher.
caught_up() {
    local position
    position=$(query "$publisher" --command "SELECT pg_current_wal_lsn()")
    server_until "the subscriber does not catch up" "$publisher" app "SELECT bool_and(confirmed_flush_lsn >= '$position') FROM pg_replication_slots WHERE slot_name = 'articles'"
    diff <(query "$publisher" --file "$sql/contents.sql") <(query "$subscriber" --file "$sql/contents.sql") >&2 || die "the subscriber has other rows"
}

# sound WHEN
sound() { server_index_is_sound "$subscriber" app articles articles_body "$1"; }

# expect WHAT WANTED STATEMENT: compares the result of a statement on the subscriber.
expect() {
    local found
    found=$(query "$subscriber" --command "$3")
    [ "$found" = "$2" ] || die "$1: $found" "wanted: $2"
}

say "a publisher and its subscriber"
for server in "$publisher" "$subscriber"; do
    server_create "$server" "$PG_BIN" "fsync = off" "wal_level = logical"
    server_start "$server" "$PG_BIN"
    "$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$server" postgres)" --command "CREATE DATABASE app"
done
query "$publisher" --file "$sql/publisher.sql"
query "$subscriber" --file "$sql/subscriber.sql" >/dev/null
query "$subscriber" --command "CREATE SUBSCRIPTION articles CONNECTION '$(server_uri "$publisher" app)' PUBLICATION articles"
server_until "the tables are not copied" "$subscriber" app "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
caught_up
sound "after the first copy"

say "a conversation over the copied rows"
expect "found" "Otters" "SELECT title FROM reground.search('articles', 'sleeping otters', '[1,0]', max_results => 1)"
expect "shown" "A1|Otters" "SELECT marker, title FROM reground.begin_turn('reader', 'How do otters sleep?', 'articles', '[1,0]', settings => '{\"max_sources\": 1}')"
expect "judged" "A1|resolved_current|t" "SELECT marker, status, holds FROM reground.end_turn(1, 'Otters sleep on their backs [A1].')"
query "$subscriber" --command "UPDATE articles SET own = 'kept' WHERE title = 'Otters'"
query "$publisher" --command "UPDATE articles SET body = 'Otters sleep afloat, wrapped in kelp.', revision = 2 WHERE title = 'Otters'" --command "DELETE FROM articles WHERE title = 'Badgers'" \
    --command "INSERT INTO articles (title, body, embedding) VALUES ('Otter pups', 'Otter pups cannot dive.', '[1,0.1]')"
caught_up
expect "a column of the subscriber's own" "kept" "SELECT own FROM articles WHERE title = 'Otters'"
expect "the new text" "Otters sleep afloat, wrapped in kelp." "SELECT content FROM reground.search('articles', 'otters in kelp', max_results => 1)"
expect "the new row" "Otter pups" "SELECT title FROM reground.search('articles', 'pups that dive', max_results => 1)"
expect "what is gone" "0" "SELECT count(*) FROM reground.search('articles', 'badgers setts', settings => '{\"vector_share\": 0}')"
expect "the marker of the new version" "A2" "SELECT marker FROM reground.begin_turn('reader', 'How do otters sleep?', embedding => '[1,0]', settings => '{\"max_sources\": 1}')"
expect "its judgement" "A2|t" "SELECT marker, holds FROM reground.end_turn(2, 'They sleep afloat [A2].')"
expect "the versions" "A1|1 A2|2" "SELECT string_agg(marker || '|' || source_version, ' ' ORDER BY turn_no) FROM reground.citation_audit"

say "under writes, and through a crash of the subscriber"
for round in 1 2; do
    "$PG_BIN/pgbench" --no-vacuum --client 2 --time 4 --rate 150 --random-seed "$round" --file "$sql/write.sql" "$(server_uri "$publisher" app)" >"$logs/writes-$round" 2>&1 &
    writers=$!
    sleep 2
    if [ "$round" = 2 ]; then
        (cd "$subscriber" && as_server_user "$PG_BIN/pg_ctl" stop --silent --mode immediate --pgdata "$subscriber/data")
        server_start "$subscriber" "$PG_BIN"
    fi
    wait "$writers" || { tail -n 5 "$logs/writes-$round" >&2; die "the publisher's writers failed"; }
    caught_up
    sound "after round $round"
done
query "$subscriber" --command "VACUUM articles" --command "SELECT reground.bm25_merge('articles_body')" >/dev/null
sound "after VACUUM and a merge"
query "$publisher" --command "TRUNCATE articles"
caught_up
expect "after TRUNCATE" "0" "SELECT count(*) FROM reground.search('articles', 'otters w1 w2 w3', '[1,0]')"
sound "after TRUNCATE"

say "corpora that are synchronised, through a crash"
# different CORPUS TABLE WHEN: fails unless documents, passages and pending embeddings match the table.
different() {
    local found
    found=$(query "$subscriber" --command "SELECT difference('$1', '$2')")
    [ "$found" = 0 ] || die "$1 has $found differences from $2 $3" ""
}
query "$publisher" --command "INSERT INTO articles (title, body) SELECT 'Synced ' || n, random_body() FROM generate_series(1, 2000) AS n"
caught_up
query "$subscriber" --file "$sql/synced.sql" >/dev/null
different synced articles "after sync_table"
expect "the subscription is not reported" "t" "SELECT bool_or(detail LIKE '%subscription%') FROM reground.check_corpus('synced') WHERE item = 'sync_table'"
query "$subscriber" --command "SELECT embed('synced', 1000)" >/dev/null
"$PG_BIN/pgbench" --no-vacuum --client 2 --time 6 --rate 150 --random-seed 3 --file "$sql/write.sql" "$(server_uri "$publisher" app)" >"$logs/writes-3" 2>&1 &
writers=$!
# These writers lose their connections in the crash.
"$PG_BIN/pgbench" --no-vacuum --client 4 --max-tries 20 --time 60 --random-seed 4 --file "$sql/notes.sql" "$(server_uri "$subscriber" app)" >"$logs/notes" 2>&1 &
notes=$!
sleep 4
(cd "$subscriber" && as_server_user "$PG_BIN/pg_ctl" stop --silent --mode immediate --pgdata "$subscriber/data")
wait "$notes" || true
server_start "$subscriber" "$PG_BIN"
wait "$writers" || { tail -n 5 "$logs/writes-3" >&2; die "the publisher's writers failed"; }
caught_up
expect "the writers wrote nothing before the crash" "t" "SELECT count(*) > 50 FROM notes"
different notes_now notes "after the crash"
query "$subscriber" --command "SELECT reground.run_maintenance('sync_queue')" >/dev/null
different notes_later notes "after the queue was processed"
[ "$(query "$subscriber" --command "SELECT difference('synced', 'articles')")" != 0 ] || die "triggers fired under the subscription" ""
query "$subscriber" --command "SELECT reground.resync('synced')" >/dev/null
different synced articles "after resync"
for corpus in synced notes_now notes_later; do
    query "$subscriber" --command "SELECT embed('$corpus', 1000000)" >/dev/null
    expect "no passage of $corpus is pending" 0 "SELECT count(*) FROM reground.pending_embeddings('$corpus')"
done
different synced articles "after all passages are embedded"
say "$(grep -h 'number of transactions actually processed' "$logs"/writes-* | awk '{ n += $NF } END { print n }') transactions of the application were replicated"
