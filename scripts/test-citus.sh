#!/usr/bin/env bash
# Tests corpora over tables that Citus distributes, and corpora that reground distributes: a coordinator and two workers, beside the same rows
# on one server. PG_CONFIG names a server with Citus and pgvector, which Citus does not come with. CITUS=optional: print one line if there is
# none.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

if [ ! -f "$("$PG_CONFIG" --sharedir)/extension/citus.control" ]; then
    [ "${CITUS:-}" != optional ] || { say "test-citus is skipped: $PG_CONFIG has no Citus"; exit 0; }
    die "$PG_CONFIG has no Citus" "Install it, and run make test-citus PG_CONFIG=/path/to/pg_config."
fi
tests=$ROOT/pgrx-tests/servers/citus

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"

temporary_servers citus
coordinator=$folder/coordinator
workers=("$folder/one" "$folder/two")
# Times are returned in the same form, although each server has a time zone of its own.
zone=UTC
for server in "$coordinator" "${workers[@]}"; do
    server_create "$server" "$PG_BIN" "fsync = off" "autovacuum = off" "shared_preload_libraries = 'citus'" "wal_level = logical" "citus.node_connection_timeout = 5000" \
        "TimeZone = '$zone'"
    server_start "$server" "$PG_BIN"
    zone=Asia/Tokyo
done

query() { server_query "$coordinator" app "$@"; }

# nothing WHAT ARGUMENT...: the statements must return no row.
nothing() {
    local found
    found=$(query "${@:2}")
    [ -z "$found" ] || { head -n 20 <<<"$found" | cut -c 1-2000 >&2; die "$1"; }
}

# refused STATEMENT ERROR
refused() {
    local found
    if found=$(query --command "$1" 2>&1); then die "no error: $1"; fi
    [[ $found == *"$2"* ]] || die "another error for $1" "$found"
}

# cluster COLUMN: a new database with a table that is distributed by the column.
cluster() {
    local server
    for server in "$coordinator" "${workers[@]}"; do
        server_query "$server" postgres --command "DROP DATABASE IF EXISTS app WITH (FORCE)" --command "CREATE DATABASE app"
        server_query "$server" app --command "CREATE EXTENSION citus" --command "CREATE EXTENSION reground CASCADE" \
            --command "GRANT reground_user TO reader" --command "GRANT reground_admin TO writer"
    done
    query --command "SELECT citus_set_coordinator_host('127.0.0.1', $(cat "$coordinator/port"))" >/dev/null
    for server in "${workers[@]}"; do query --command "SELECT citus_add_node('127.0.0.1', $(cat "$server/port"))" >/dev/null; done
    query --set "column=$1" --file "$tests/setup.sql" >/dev/null
    local check="FROM reground.check_corpus('spread') WHERE item = 'vector settings'"
    query --command "$(query --command "SELECT hint $check AND status = 'warning'")"
    [ "$(query --command "SELECT status $check")" = ok ] || die "the hint of check_corpus does not change the servers"
}

# on_worker: a worker that registers the table gives the results of the coordinator, also in a conversation.
on_worker() {
    local server file
    server_query "${workers[0]}" app --file "$tests/worker.sql" >/dev/null
    for file in worker_searches worker_turns; do
        for server in "$coordinator" "${workers[0]}"; do server_query "$server" app --file "$tests/$file.sql" >"$server/$file"; done
        grep -q . "$coordinator/$file" || die "the coordinator finds nothing" "this test cannot fail"
        diff "$coordinator/$file" "${workers[0]}/$file" >&2 || die "a worker (>) gives other results than the coordinator (<)"
    done
    [ "$(server_query "${workers[0]}" app --command "SELECT doc_id FROM reground.search('own', 'passage')")" = here ] || die "a worker does not find rows of its own"
}

for server in "$coordinator" "${workers[@]}"; do server_query "$server" postgres --command "CREATE ROLE reader LOGIN" --command "CREATE ROLE writer LOGIN"; done
for column in doc_id tenant; do
    say "a table distributed by $column"
    cluster "$column"
    for file in searches tenants conversation; do nothing "the distributed table gives other results" --file "$tests/$file.sql"; done
    on_worker
    # For 100 candidates, reading shards of 1,500 rows costs less than their index.
    query --command "ALTER DATABASE app SET hnsw.ef_search = 40"
    nothing "a shard is not searched by its index, or returns too many rows" --file "$tests/plans.sql"
done

say "rows of a role, and queries without statistics"
nothing "a role gets other results" --command "SET ROLE reader" --file "$tests/searches.sql"
refused "SELECT id FROM spread WHERE body @@@ reground.bm25_query('w1', 'spread')" "bm25_with_statistics"
query --command "ALTER TABLE spread ENABLE ROW LEVEL SECURITY" --command "CREATE POLICY all_rows ON spread USING (true)"
refused "SET ROLE reader; SELECT reground.bm25_with_statistics(reground.bm25_query('w1', 'spread'))" "row-level security hides rows"
query --command "SELECT reground.alter_corpus(c, settings => '{\"lexical_statistics\": \"visible\"}') FROM unnest('{plain,spread}'::text[]) AS c" >/dev/null
nothing "a role with row-level security gets other results" --command "ALTER TABLE plain ENABLE ROW LEVEL SECURITY" --command "DROP POLICY all_rows ON spread" \
    --command "CREATE POLICY some_rows ON plain USING (tenant = 't1')" --command "CREATE POLICY some_rows ON spread USING (tenant = 't1')" \
    --command "SET ROLE reader" --file "$tests/hidden.sql"
query --command "SELECT reground.alter_corpus(c, settings => '{\"lexical_statistics\": \"all\"}') FROM unnest('{plain,spread}'::text[]) AS c" \
    --command "ALTER TABLE plain DISABLE ROW LEVEL SECURITY" --command "ALTER TABLE spread DISABLE ROW LEVEL SECURITY" >/dev/null

say "the plans are checked"
for worker in "${workers[@]}"; do server_query "$worker" postgres --command "ALTER SYSTEM SET enable_indexscan = off" --command "SELECT FROM pg_reload_conf()"; done
[ -n "$(query --file "$tests/plans.sql")" ] || die "plans without an index scan are not noticed"
for worker in "${workers[@]}"; do server_query "$worker" postgres --command "ALTER SYSTEM RESET enable_indexscan" --command "SELECT FROM pg_reload_conf()"; done

say "exact searches do not use a vector index of a server"
for worker in "${workers[@]}"; do server_query "$worker" postgres --command "ALTER SYSTEM SET enable_seqscan = off" --command "SELECT FROM pg_reload_conf()"; done
query --command "ALTER DATABASE app SET hnsw.ef_search = 1"
nothing "an exact search is not exact" --file "$tests/searches.sql"
for worker in "${workers[@]}"; do server_query "$worker" postgres --command "ALTER SYSTEM RESET enable_seqscan" --command "SELECT FROM pg_reload_conf()"; done
query --command "ALTER DATABASE app SET hnsw.ef_search = 100"

say "shards without rows on their first page"
for table in plain parts '"Odd % table"'; do query --command "DELETE FROM $table WHERE id IN (SELECT id FROM spread WHERE ctid < '(1,0)')"; done
query --command "DELETE FROM spread WHERE ctid < '(1,0)'"
nothing "other results after the first rows are deleted" --file "$tests/searches.sql"

say "a worker fails"
search="SELECT count(*) FROM reground.search('spread', 'w1 w2', embedding => '[1,2,3,4,5,6,7,8]')"
query --command "$search" >/dev/null
server_crash "${workers[1]}"
refused "$search" "127.0.0.1"
turn="SELECT count(*) FROM reground.begin_turn('failing', 'What of w1?', corpus => 'spread', embedding => '[1,2,3,4,5,6,7,8]', request_id => 'once')"
refused "$turn" "127.0.0.1"
server_start "${workers[1]}" "$PG_BIN"
[ "$(query --command "$turn" --command "$turn" --command "SELECT count(*) FROM reground.turns WHERE request_id = 'once'" | tr '\n' ' ')" = "10 10 1 " ] ||
    die "a failed turn is not begun once when it is repeated"
[ "$(query --command "$search")" = 10 ] || die "searches do not go on after the worker has returned"
nothing "other results after the worker has returned" --file "$tests/searches.sql"

say "managed corpora"
nothing "a managed corpus that is distributed has other rows or results" --file "$tests/managed.sql"
refused "SELECT reground.sync_table('many', 'spread_source', key => 'id', content => 'body')" "it is distributed"
refused "SELECT reground.create_corpus('one', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => true)" "other arguments"

say "a worker fails while a document is stored"
# Documents of the second worker, in corpora with other words than those of managed.sql.
query --command "SELECT reground.create_corpus('stored', distribute => true)" >/dev/null
doc_id=$(query --command "SELECT d FROM generate_series(1, 100) AS n, CAST('f' || n AS text) AS d JOIN pg_dist_placement AS p ON p.shardid = get_shard_id_for_distribution_column('stored', d)
    JOIN pg_dist_node AS w USING (groupid) WHERE w.nodeport = $(cat "${workers[1]}/port") ORDER BY n LIMIT 1")
put="SELECT version, changed, chunk_count FROM reground.put_document('stored', '$doc_id', content => 'Red shoes.')"
stored="SELECT (SELECT count(*) FROM reground.documents WHERE doc_id = '$doc_id'), (SELECT count(*) FROM stored), (SELECT count(*) FROM stored_documents)"
server_crash "${workers[1]}"
refused "$put" "127.0.0.1"
server_start "${workers[1]}" "$PG_BIN"
[ "$(query --command "$stored")" = "0|0|0" ] || die "a failed document is stored in part"
mkfifo "$folder/go"
if query --command BEGIN --command "$put" --command "\\! echo >'$folder/put'; read -r < '$folder/go'" --command COMMIT >"$folder/commit" 2>&1; then echo; fi &
committed=$!
until [ -f "$folder/put" ]; do sleep 0.1; done
server_crash "${workers[1]}"
echo >"$folder/go"
wait "$committed"
grep -q "127.0.0.1" "$folder/commit" || die "no error of a commit without the worker" "$(cat "$folder/commit")"
server_start "${workers[1]}" "$PG_BIN"
[ "$(query --command "$stored")" = "0|0|0" ] || die "a document whose commit failed is stored in part"
[ "$(query --command "$put" --command "$put" --command "$stored" | tr '\n' ' ')" = "1|t|1 1|f|1 1|1|1 " ] || die "a failed document is not stored when it is put again"
nothing "the corpus is not sound" --command "SELECT problem FROM reground.check_coordinates('stored')" --command "SELECT item, detail FROM reground.check_corpus('stored') WHERE status <> 'ok' AND item <> 'embedding'"

say "a worker searches a managed corpus"
query --command "SELECT reground.put_document('stored', 'w' || n, format('Shoes %s are w%s.', n, n % 7), title => 'Shoes ' || n) FROM generate_series(1, 30) AS n" >/dev/null
server_query "${workers[0]}" app --command "SELECT reground.add_corpus('stored', 'stored', chunk_id => 'chunk_id', content => 'content', doc_id => 'doc_id', heading => 'heading', version => 'version',
    documents => 'stored_documents', documents_doc_id => 'doc_id', title => 'title')" >/dev/null
for server in "$coordinator" "${workers[0]}"; do
    server_query "$server" app --command "SELECT chunk_id, doc_id, title, content, score FROM reground.search('stored', 'shoes w3', max_results => 100) ORDER BY score DESC, chunk_id" >"$server/managed"
done
[ "$(wc -l <"$coordinator/managed")" = 31 ] || die "the coordinator does not find all documents"
diff "$coordinator/managed" "${workers[0]}/managed" >&2 || die "a worker (>) gives other results than the coordinator (<)"
[ "$(server_query "${workers[0]}" app --command "SELECT status FROM reground.check_corpus('stored') WHERE item = 'lexical index'")" = ok ] || die "a worker does not use the index"
say "distributed corpora give the results of one server"
