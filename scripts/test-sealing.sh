#!/usr/bin/env bash
# Tests sealed sources: functions and views return the same with and without a key, also for rows that were sealed later. Words of a
# source are in no file of our tables, no later WAL, no dump of them, not in the log, and not in pg_stat_statements where the server has it.
# A restored dump can be read with the master key only.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/sealing
sql=$ROOT/pgrx-tests/servers/sealing
everything=$ROOT/pgrx-tests/everything
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
[ -x "$PG_BIN/pg_dump" ] || die "this PostgreSQL comes without pg_dump" "PG=18 has it"

temporary_servers sealing
server=$folder/server
settings=("fsync = off" "autovacuum = off" "wal_compression = off" "log_statement = all" "log_min_duration_statement = 0")
statistics=
if [ -f "$("$PG_CONFIG" --sharedir)/extension/pg_stat_statements.control" ]; then
    statistics=1
    settings+=("shared_preload_libraries = 'pg_stat_statements'" "pg_stat_statements.track = all")
fi
server_create "$server" "$PG_BIN" "${settings[@]}"
# The master key is in a file that only the server can read.
openssl rand -hex 32 >"$folder/master"
chown "$SERVER_USER" "$folder/master"
chmod 400 "$folder/master"
server_start "$server" "$PG_BIN"

# query DATABASE ARGUMENT...
query() { server_query "$server" "$@"; }

# create DATABASE: its sessions act for the tenant acme.
create() {
    query postgres --command "CREATE DATABASE $1" --command "ALTER DATABASE $1 SET reground.tenant_from = 'app.tenant_id'" \
        --command "ALTER DATABASE $1 SET app.tenant_id = 'acme'"
}

# seal DATABASE: its sessions have the master key.
seal() { query postgres --command "ALTER DATABASE $1 SET reground.master_key_file = '$folder/master'"; }

# without_times: times and hashes differ between databases.
without_times() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+([+-][0-9:]+)?/TIME/g; s/[0-9a-f]{64}/HASH/g; /^seal_rows /d'; }

# read_all DATABASE: what functions and views return, and the next calls.
read_all() {
    query "$1" --file "$sql/read.sql" 2>&1 | without_times >"$logs/read.$1"
    query "$1" --file "$everything/go_on.sql" 2>&1 | without_times | grep -vE '^[0-9]+$' >"$logs/go_on.$1"
}

# same DATABASE: as the database without a key.
same() {
    local part
    for part in read go_on; do
        [ "$(wc -l <"$logs/$part.plain")" -gt 100 ] || die "there is nothing to compare: $logs/$part.plain"
        diff -u "$logs/$part.plain" "$logs/$part.$1" >"$logs/$part.diff" ||
            { head -n 40 "$logs/$part.diff" >&2; die "the database \"$1\" returns other rows than one without keys" "All of it: $logs/$part.diff"; }
    done
}

say "rows of every kind: without a key, with keys, and sealed later"
for database in plain sealed later; do
    create "$database"
    [ "$database" != sealed ] || seal sealed
    query "$database" --command "CREATE EXTENSION reground CASCADE"
    query "$database" --file "$everything/write.sql" >"$logs/write.log"
done
seal later
query later --command "SELECT reground.rotate_tenant_key(tenant) FROM (SELECT DISTINCT tenant FROM reground.conversations) AS t" >"$logs/rotate.log"
until [ "$(query later --command "SELECT processed FROM reground.run_maintenance('seal_rows')")" = 0 ]; do :; done
for database in sealed later; do
    [ "$(query "$database" --file "$sql/plain.sql")" = 0 ] || die "the database \"$database\" has plain values"
done
for database in plain sealed later; do read_all "$database"; done
same sealed
same later

say "words of a source in files, WAL, dumps and the log"
planted=$(sed -n 's/^-- Words: //p' "$sql/corpus.sql")
tr ' ' '\n' <<<"$planted" >"$folder/words"
# words FILE...: prints the test words in these files, each once.
words() { { grep -rahoiF -f "$folder/words" "$@" || true; } | tr '[:upper:]' '[:lower:]' | sort -u | tr '\n' ' '; }

# found DATABASE: the words in the files of our tables, in the WAL and in the log since the corpus was written, and in a dump of our tables.
found() {
    local file
    query "$1" --command CHECKPOINT
    query "$1" --command "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relnamespace = 'reground'::regnamespace AND pg_relation_filepath(oid) IS NOT NULL
        UNION ALL SELECT pg_relation_filepath(x) FROM pg_class AS c CROSS JOIN LATERAL (SELECT c.reltoastrelid UNION ALL SELECT i.indexrelid FROM pg_index AS i WHERE i.indrelid = c.reltoastrelid) AS t(x)
            WHERE c.relnamespace = 'reground'::regnamespace AND c.reltoastrelid <> 0" >"$folder/files"
    echo "files: $(while read -r file; do echo "$server/data/$file"; done <"$folder/files" | xargs grep -lE . >"$folder/present"; words $(cat "$folder/present"))"
    echo "wal: $(words $(find "$server/data/pg_wal" -type f -newer "$folder/corpus"))"
    echo "log: $(words <(tail -c "+$(($(cat "$folder/log_size") + 1))" "$server/log"))"
    (cd "$folder" && as_server_user "$PG_BIN/pg_dump" --exclude-table 'public.*' --dbname "$(server_uri "$server" "$1")") >"$folder/dump.sql"
    grep -q '^COPY reground.message_citations' "$folder/dump.sql" || die "the dump has no citations"
    echo "dump: $(words "$folder/dump.sql")"
    [ -z "$statistics" ] || echo "statistics: $(query postgres --command "SELECT query FROM pg_stat_statements" | words -)"
}

# talk DATABASE: writes a corpus, and then a conversation about it.
talk() {
    create "$1"
    [ "$1" != secret ] || seal secret
    query "$1" --command "CREATE EXTENSION reground CASCADE" --file "$sql/corpus.sql" >"$logs/corpus.log"
    query "$1" --command "VACUUM (FREEZE)" --command CHECKPOINT --command "SELECT pg_switch_wal()" >"$logs/corpus.log"
    touch "$folder/corpus"
    sleep 1
    stat --format=%s "$server/log" >"$folder/log_size"
    [ -z "$statistics" ] || query postgres --command "CREATE EXTENSION IF NOT EXISTS pg_stat_statements" --command "SELECT pg_stat_statements_reset()" >"$logs/corpus.log"
    query "$1" --file "$sql/talk.sql" >"$logs/talk.$1"
}

talk open
open=$(found open)
for place in files wal dump; do
    grep -qxF "$place: $planted " <<<"$open" || die "this test cannot find words in: $place" "$open" "expected: $planted"
done
talk secret
secret=$(found secret)
if grep -qE ': .*zq' <<<"$secret"; then die "words of a source are stored" "$secret"; fi
[ "$(words "$logs/talk.secret")" = "$(words "$logs/talk.open")" ] || die "the functions return other words with a key"
[ "$(wc -l <"$logs/talk.secret")" = "$(wc -l <"$logs/talk.open")" ] || die "the functions return other rows with a key"

say "a restored dump, with and without the master key"
(cd "$folder" && as_server_user "$PG_BIN/pg_dump" --dbname "$(server_uri "$server" secret)") >"$folder/dump.sql"
create restored
query restored --file "$folder/dump.sql" >"$logs/restore.log"
titles() { query restored --command "SELECT coalesce(string_agg(DISTINCT title, ', '), 'no title') FROM reground.citation_audit"; }
[ "$(titles)" = sealed ] || die "another title without the master key: $(titles)"
seal restored
[[ $(titles) == *zq* ]] || die "another title with the master key: $(titles)"
query restored --file "$sql/again.sql" >"$logs/again.log"
[ "$(query restored --command "SELECT string_agg(DISTINCT status, ' ') FROM reground.verify_chain('secret talk')")" = ok ] || die "the chain of the restored database does not verify"

if grep -E 'PANIC:|was terminated by signal' "$server/log" >&2; then die "the server crashed"; fi
say "$(wc -l <"$logs/read.plain") and $(wc -l <"$logs/go_on.plain") lines are the same with keys; none of the words is stored: $planted"
