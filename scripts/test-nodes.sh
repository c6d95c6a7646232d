#!/usr/bin/env bash
# Tests a set of tenants per server, as docs/guide/nodes.md describes it: two nodes, and one server that has the tenants of both. An analyst
# reads the nodes through postgres_fdw, and must find what the one server has. Then one node is split: its standby is promoted and keeps
# some of the tenants, whose conversations go on there.
#
#   ANALYST=PATH       pg_config of a PostgreSQL with postgres_fdw, of any version (default: that of PG_CONFIG or of Debian)
#   ANALYST=optional   without one, read the nodes one by one
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/nodes
sql=$ROOT/pgrx-tests/servers/nodes
rm -rf "$logs"
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"

# The programs of a PostgreSQL with postgres_fdw; the embedded one comes without it.
analyst_programs() {
    local config
    if [ -n "${ANALYST:-}" ] && [ "$ANALYST" != optional ]; then set -- "$ANALYST"; else set -- "$PG_CONFIG" /usr/lib/postgresql/*/bin/pg_config; fi
    for config; do
        if [ -x "$config" ] && [ -f "$("$config" --sharedir)/extension/postgres_fdw.control" ] && [ -x "$("$config" --bindir)/initdb" ]; then
            "$config" --bindir
            return
        fi
    done
}
analyst_bin=$(analyst_programs)
[ -n "$analyst_bin" ] || [ "${ANALYST:-}" = optional ] || die "no PostgreSQL with postgres_fdw" "On Debian: apt-get install postgresql. ANALYST=/path/to/pg_config names one."

temporary_servers nodes
one=$folder/one
# The servers of the nodes, and the tenants of each.
declare -A server=([a]=$folder/a [b]=$folder/b [c]=$folder/c)
declare -A tenants=([a]='{t1,t2}' [b]='{t3,t4}')
nodes=(a b)

# query SERVER ARGUMENT...: as a superuser.
query() { server_query "$1" app "${@:2}"; }
# ask SERVER ROLE ARGUMENT...
ask() { "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "postgresql://$2@127.0.0.1:$(cat "$1/port")/app" "${@:3}"; }

# talk FIRST LAST: the same turns on the nodes and on the one server. The application must be told the same.
talk() {
    local node
    : >"$logs/told"
    for node in "${nodes[@]}"; do
        ask "${server[$node]}" app --set "tenants=${tenants[$node]}" --set "first=$1" --set "last=$2" --file "$sql/turns.sql" >>"$logs/told"
        ask "$one" app --set "tenants=${tenants[$node]}" --set "first=$1" --set "last=$2" --file "$sql/turns.sql" >>"$logs/told-by-one"
    done
    grep -q 'resolved_current t' "$logs/told" || die "no citation holds" "this test cannot fail"
    diff "$logs/told" "$logs/told-by-one" >&2 || die "a node (<) tells something else than one server (>)"
    rm "$logs/told-by-one"
}

# on_all STATEMENT: as a superuser, on the nodes and on the one server.
on_all() {
    local node
    for node in "$one" "${nodes[@]/#/$folder/}"; do query "$node" --command "$1" >/dev/null; done
}
# count: counts the answers into the rollups. archive: archives all turns, and removes the links of their chains.
count() { on_all "SELECT reground.refresh_audit()"; }
archive() { on_all "SELECT reground.run_retention(now() + interval '91 days')"; }

# read_nodes FILE: what the analyst reads of all nodes. Without an analyst's database, the rows of the nodes are sorted together.
read_nodes() {
    local node
    if [ -n "$analyst_bin" ]; then
        query "$folder/analyst" --command "SET search_path = nodes" --command "SET TimeZone = 'UTC'" --file "$sql/$1"
    elif [ "$1" = audit.sql ]; then
        for node in "${nodes[@]}"; do ask "${server[$node]}" analyst --command "SET search_path = reground, analysis" --command "SET TimeZone = 'UTC'" --file "$sql/$1"; done
    fi
}
read_one() { ask "$one" analyst --command "SET search_path = reground, analysis" --command "SET TimeZone = 'UTC'" --file "$sql/$1"; }

# The number of joined rows is a sum.
rows() { awk -F '|' '$1 == "joined" { n += $2; next } { print } END { print "joined", n }' | LC_ALL=C sort; }

# differences: how the nodes differ from the one server.
differences() {
    diff <(read_nodes audit.sql | rows) <(read_one audit.sql | rows) || true
    [ -z "$analyst_bin" ] || diff <(read_nodes sums.sql) <(read_one sums.sql) || true
}
same() {
    local found
    found=$(differences)
    [ -z "$found" ] || { head -n 20 <<<"$found" | cut -c 1-1000 >&2; die "the nodes (<) differ from one server (>) $1"; }
}
# different WHEN: the comparison finds a fault.
different() { [ -n "$(differences)" ] || die "the comparison does not notice $1"; }

# analyst NODE...: the analyst reads these nodes.
analyst() {
    local node
    [ -n "$analyst_bin" ] || { nodes=("$@"); return 0; }
    for node; do
        [ -n "$(query "$folder/analyst" --command "SELECT FROM pg_foreign_server WHERE srvname = '$node'" --command "SELECT srvname FROM pg_foreign_server WHERE srvname = '$node'")" ] ||
            query "$folder/analyst" --set "node=$node" --set "port=$(cat "${server[$node]}/port")" --file "$sql/analyst.sql"
    done
    query "$folder/analyst" --set "nodes=$(IFS=,; echo "{$*}")" --file "$sql/union.sql"
}

# whole: the chains of all conversations have links, and none is damaged.
whole() {
    local node found
    for node in "${nodes[@]}"; do
        found=$(query "${server[$node]}" --command "SELECT c.tenant, c.conversation_ref, count(*) FILTER (WHERE v.kind IS NOT NULL), string_agg(v.status, ' ') FILTER (WHERE v.status <> 'ok')
            FROM reground.conversations AS c LEFT JOIN LATERAL reground.verify_chain(c.conversation_ref) AS v ON true
            GROUP BY 1, 2 HAVING count(v.kind) = 0 OR bool_or(v.status <> 'ok')")
        [ -z "$found" ] || die "a chain of node $node is not whole" "$found"
    done
}

# articles_arrive NODE: waits until the node has all rows of the published table.
articles_arrive() {
    server_until "node $1 does not get the published rows" "${server[$1]}" app "SELECT count(*) = $(query "${server[a]}" --command "SELECT count(*) FROM articles") FROM articles"
}
# articles FIRST LAST: rows of the published table, and on the one server.
articles() {
    local node
    for node in "${server[a]}" "$one"; do
        query "$node" --command "INSERT INTO articles SELECT n, 'Animal ' || n, format('Animal%s sleeps at night and eats plant%s.', n, n) FROM generate_series($1, $2) AS n"
    done
}

say "two nodes, and one server with the tenants of both"
for node in "$one" "${server[a]}" "${server[b]}"; do
    server_create "$node" "$PG_BIN" "fsync = off" "wal_level = logical" "autovacuum = off"
    server_start "$node" "$PG_BIN"
    server_query "$node" postgres --command "CREATE DATABASE app"
    query "$node" --command "CREATE EXTENSION reground CASCADE" --file "$sql/schema.sql" --file "$sql/node.sql" >/dev/null
done
for node in "${nodes[@]}"; do
    for place in "$one" "${server[$node]}"; do
        query "$place" --command "SET reground.tenant_from = 'app.tenant_id'" --command "SELECT store_documents(t) FROM unnest('${tenants[$node]}'::text[]) AS t" >/dev/null
    done
done
query "${server[a]}" --command "CREATE PUBLICATION articles FOR TABLE articles"
query "${server[b]}" --command "CREATE SUBSCRIPTION articles CONNECTION '$(server_uri "${server[a]}" app)' PUBLICATION articles WITH (slot_name = articles_b)"
articles 1 40
articles_arrive b

say "the same turns"
talk 1 3
whole
count
archive

say "audit of all nodes"
if [ -n "$analyst_bin" ]; then
    server_create "$folder/analyst" "$analyst_bin" "fsync = off"
    server_start "$folder/analyst" "$analyst_bin"
    server_query "$folder/analyst" postgres --command "CREATE DATABASE app"
    query "$folder/analyst" --command "CREATE EXTENSION postgres_fdw" --command "CREATE ROLE auditors" --command "CREATE ROLE boss LOGIN IN ROLE auditors" --command "CREATE ROLE clerk LOGIN"
else
    say "there is no PostgreSQL with postgres_fdw: the nodes are read one by one"
fi
analyst a
nodes=(a)
different "a missing node"
nodes=(a b)
analyst a b
same "after the first turns"

if [ -n "$analyst_bin" ]; then
    say "who reads the nodes"
    query "$folder/analyst" --command "GRANT USAGE ON SCHEMA nodes TO PUBLIC" --command "GRANT SELECT ON ALL TABLES IN SCHEMA nodes TO auditors"
    [ "$(ask "$folder/analyst" boss --command "SELECT string_agg(DISTINCT tenant, ',' ORDER BY tenant) FROM nodes.turn_archive")" = t1,t2,t3,t4 ] || die "an auditor does not read all tenants"
    found=$(ask "$folder/analyst" clerk --command "SELECT count(*) FROM nodes.turn_archive" 2>&1 || true)
    [[ $found == *"permission denied"* ]] || die "another role reads the nodes" "$found"
    # A role of an application reads its tenant through its own mapping, and the tables of auditors not at all.
    query "${server[a]}" --command "ALTER ROLE app SET app.tenant_id = 't1'"
    query "$folder/analyst" --command "CREATE USER MAPPING FOR clerk SERVER a OPTIONS (user 'app', password_required 'false')" \
        --command "GRANT USAGE ON SCHEMA a TO clerk" --command "GRANT SELECT ON ALL TABLES IN SCHEMA a TO clerk"
    [ "$(ask "$folder/analyst" clerk --command "SELECT DISTINCT tenant FROM a.citation_audit")" = t1 ] || die "a role of one tenant reads others"
    found=$(ask "$folder/analyst" clerk --command "SELECT count(*) FROM a.turn_archive" 2>&1 || true)
    [[ $found == *"permission denied for table turn_archive"* ]] || die "a role of one tenant reads the archive" "$found"
    query "${server[a]}" --command "ALTER ROLE app RESET app.tenant_id"
fi

say "an erasure on a node holds for the analyst"
for node in "$one" "${server[a]}"; do query "$node" --command "SET reground.tenant_from = 'app.tenant_id'" --command "SET app.tenant_id = 't1'" --command "SELECT reground.forget_conversation('conv-3')" >/dev/null; done
same "after an erasure"
for node in "$one" "${server[a]}"; do query "$node" --command "SELECT reground.forget_document('help', 'doc-2')" >/dev/null; done
different "a document that only one node has forgotten"
query "${server[b]}" --command "SELECT reground.forget_document('help', 'doc-2')" >/dev/null
same "after a document is forgotten on all nodes"

say "a node is split"
# The subscription stops, and its slot is copied before the promotion, so that neither of the two servers misses a row.
standby_create "${server[c]}" "${server[b]}" "$PG_BIN"
server_start "${server[c]}" "$PG_BIN"
talk 4 4
query "${server[b]}" --command "ALTER SUBSCRIPTION articles DISABLE"
server_until "the subscription does not stop" "${server[a]}" app "SELECT NOT active FROM pg_replication_slots WHERE slot_name = 'articles_b'"
query "${server[a]}" --command "SELECT pg_copy_logical_replication_slot('articles_b', 'articles_c')" >/dev/null
articles 41 60
standby_catches_up "${server[c]}" "${server[b]}" app
(cd "${server[c]}" && as_server_user "$PG_BIN/pg_ctl" promote --wait --silent --timeout "$PATIENCE" --pgdata "${server[c]}/data")
query "${server[c]}" --command "ALTER SUBSCRIPTION articles SET (slot_name = articles_c)"
for node in b c; do query "${server[$node]}" --command "ALTER SUBSCRIPTION articles ENABLE"; done
query "${server[b]}" --command "SELECT pg_drop_replication_slot('standby')" >/dev/null
tenants[b]='{t3}' tenants[c]='{t4}'
# The tenant that stays goes on meanwhile.
nodes=(b)
talk 11 11

nodes=(a b c)
for node in a b c; do articles_arrive "$node"; done
articles 61 70
for node in b c; do articles_arrive "$node"; done
analyst a b c
count
different "tenants on two nodes"

say "each of the two forgets the tenants of the other"
# forgets NODE TENANT: nothing of the tenant remains, and nothing of the others changes.
forgets() {
    local tables
    tables=$(query "${server[$1]}" --command "SELECT string_agg(r.relation::regclass::text, ', ') FROM reground.corpora AS k, unnest(ARRAY[k.relation, k.documents, k.history]) AS r(relation) WHERE k.tenant = '$2'")
    query "${server[$1]}" --set "tenants=${tenants[$1]}" --file "$sql/tenants.sql" >"$logs/before"
    query "${server[$1]}" --command "SELECT * FROM reground.forget_tenant('$2')" >"$logs/receipt-$1"
    query "${server[$1]}" --command "DROP TABLE $tables"
    query "${server[$1]}" --set "tenants=${tenants[$1]}" --file "$sql/tenants.sql" >"$logs/after"
    diff "$logs/before" "$logs/after" >&2 || die "forget_tenant changes rows of another tenant"
    for table in reground.turns reground.turn_archive reground.answer_rollup reground.metric_totals reground.provenance_chain reground.conversation_markers reground.corpora handbook; do
        grep -q "^$table|[1-9]" "$logs/after" || die "the tenants of node $1 have no row in $table" "this test cannot fail"
        grep -q "^$table|[1-9]" "$logs/receipt-$1" || die "the receipt of node $1 does not count $table"
    done
    query "${server[$1]}" --set "tenants={$2}" --file "$sql/tenants.sql" | grep -v '|0$' >&2 && die "rows of $2 remain on node $1"
    return 0
}
forgets b t4
different "a tenant that only one of the two has forgotten"
forgets c t3
same "after the split"
whole

say "turns go on, also those of the tenant that has moved"
# Later, new turns of the two nodes have the same ids. A turn is known by its tenant and its id.
last=$(query "${server[c]}" --command "SELECT last_value FROM reground.turns_turn_id_seq")
query "${server[b]}" --command "SELECT setval('reground.turns_turn_id_seq', $last)" >/dev/null
talk 5 6
grep -q '^t4 | conv-1 | 5 | A1 ' "$logs/told" || die "the moved conversation has lost its sources" "$(grep '^t4' "$logs/told")"
whole
count
archive
same "after turns on three nodes"
[ -n "$(comm -12 <(query "${server[b]}" --command "SELECT turn_id FROM reground.turns" | sort) <(query "${server[c]}" --command "SELECT turn_id FROM reground.turns" | sort))" ] ||
    die "no turn of the two nodes has the same id" "this test cannot fail"
say "audits of the nodes are those of one server"
