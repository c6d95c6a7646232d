#!/usr/bin/env bash
# Tests the upgrade from PostgreSQL 16 to 18 with rows of every kind in every table of the extension: by logical replication of the whole
# database, and by pg_upgrade. All rows are the same afterwards, and the next calls return what they would have returned on 16.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/upgrade
everything=$ROOT/pgrx-tests/everything
upgrade=$ROOT/pgrx-tests/servers/upgrade
mkdir -p "$logs"

# Both servers are the embedded ones, also if the caller sets PG_CONFIG.
unset PG_CONFIG
# installed MAJOR: builds and installs the extension for it and prints the folder of its programs.
installed() {
    local library
    library=$(PG=$1 "$ROOT/scripts/build-extension.sh" 2>"$logs/build-$1.log") ||
        { tail -n 40 "$logs/build-$1.log" >&2; die "the extension does not build for PostgreSQL $1"; }
    PG=$1 "$ROOT/scripts/install-extension.sh" "$library"
    "$(PG=$1 "$ROOT/scripts/fetch-postgres.sh")" --bindir
}
old_bin=$(installed 16)
new_bin=$(installed 18)

folder=$(mktemp -d "$SERVER_HOME/upgrade.XXXXXX")
# The servers' user runs pg_upgrade in this folder and reads the clusters in it.
chown "$SERVER_USER" "$folder"
old=$folder/16 copy=$folder/copy new=$folder/18
trap 'server_stop "$copy" "$new_bin"; server_stop "$old" "$old_bin"; server_stop "$new" "$new_bin"; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# query SERVER DATABASE ARGUMENT...: psql of 18 for both servers, with unaligned output.
query() {
    local uri
    uri=$(server_uri "$1" "$2")
    shift 2
    PGOPTIONS='-c client_min_messages=error -c app.tenant_id=acme' "$new_bin/psql" --no-psqlrc --quiet --tuples-only --no-align \
        --set ON_ERROR_STOP=1 --dbname "$uri" "$@"
}

# same NAME MESSAGE: the expected and the found lines are equal and not empty.
same() {
    [ -s "$logs/$1.expected" ] || die "there is nothing to compare: $logs/$1.expected is empty"
    diff -u "$logs/$1.expected" "$logs/$1.found" >"$logs/$1.diff" ||
        { head -n 60 "$logs/$1.diff" >&2; die "$2" "All of it: $logs/$1.diff"; }
}

say "writing on PostgreSQL 16"
server_create "$old" "$old_bin" "fsync = off" "wal_level = logical"
server_start "$old" "$old_bin"
query "$old" postgres --command "CREATE DATABASE reground"
query "$old" postgres --command "ALTER DATABASE reground SET reground.tenant_from = 'app.tenant_id'"
query "$old" reground --command "CREATE EXTENSION reground CASCADE"
query "$old" reground --file "$everything/write.sql" >"$logs/write.log"

# goes_on SERVER HOW: compares the rows of the upgraded database, and of the next calls.
goes_on() {
    [[ $(query "$1" reground --command "SHOW server_version") == 18* ]] || die "this is not PostgreSQL 18"
    query "$1" reground --file "$everything/contents.sql" >"$logs/contents.found"
    same contents "rows, sequences, indexes or extensions differ after $2"
    query "$1" reground --file "$everything/go_on.sql" >"$logs/go_on.found"
    same go_on "the next calls return other rows after $2"
    if grep -E 'PANIC:|was terminated by signal' "$old/log" "$1/log" >&2; then die "a server crashed"; fi
}

say "logical replication to PostgreSQL 18"
server_create "$copy" "$new_bin" "fsync = off" "max_worker_processes = 16"
server_start "$copy" "$new_bin"
"$new_bin/pg_dumpall" --dbname "$(server_uri "$old" postgres)" --roles-only | grep -v 'ROLE postgres' |
    query "$copy" postgres >"$logs/roles.log"
"$new_bin/pg_dump" --dbname "$(server_uri "$old" reground)" --schema-only --create | query "$copy" postgres >"$logs/schema.log"
query "$copy" reground --file "$upgrade/empty.sql"
query "$old" reground --command "CREATE PUBLICATION everything FOR ALL TABLES"
query "$copy" reground --command "CREATE SUBSCRIPTION everything CONNECTION '$(server_uri "$old" reground)' PUBLICATION everything"
PG_BIN=$new_bin server_until "the tables are not copied" "$copy" reground "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
query "$old" reground --file "$upgrade/changes.sql" >"$logs/changes.log"
# Nothing writes on 16 any more.
written=$(query "$old" reground --command "SELECT pg_current_wal_lsn()")
PG_BIN=$new_bin server_until "the changes do not arrive" "$old" reground "SELECT bool_and(confirmed_flush_lsn >= '$written') FROM pg_replication_slots"
query "$old" reground --file "$upgrade/sequences.sql" | query "$copy" reground >"$logs/sequences.log"
query "$copy" reground --command "DROP SUBSCRIPTION everything"
query "$old" reground --command "DROP PUBLICATION everything"

query "$old" reground --file "$everything/contents.sql" >"$logs/contents.expected"
# The next calls on 16, in a copy of the database.
query "$old" postgres --command "CREATE DATABASE ahead TEMPLATE reground"
query "$old" postgres --command "ALTER DATABASE ahead SET reground.tenant_from = 'app.tenant_id'"
query "$old" ahead --file "$everything/go_on.sql" >"$logs/go_on.expected"
query "$old" postgres --command "DROP DATABASE ahead"
goes_on "$copy" "logical replication"
server_stop "$copy" "$new_bin"
server_stop "$old" "$old_bin"

say "pg_upgrade to PostgreSQL 18"
server_create "$new" "$new_bin" "fsync = off"
# initdb of 18 enables checksums, that of 16 does not.
as_server_user "$old_bin/pg_checksums" --enable --no-sync --pgdata "$old/data" >"$logs/checksums.log" 2>&1
port=$(cat "$old/port")
if ! (cd "$folder" && as_server_user "$new_bin/pg_upgrade" --username postgres --link --no-sync --socketdir "$folder" \
    --old-bindir "$old_bin" --new-bindir "$new_bin" --old-datadir "$old/data" --new-datadir "$new/data" \
    --old-port "$port" --new-port "$port") >"$logs/pg_upgrade.log" 2>&1; then
    tail -n 40 "$logs/pg_upgrade.log" >&2
    find "$new/data/pg_upgrade_output.d" -name '*.txt' -exec tail -n 20 {} + >&2 || true
    die "pg_upgrade fails" "Full log: $logs/pg_upgrade.log"
fi
server_start "$new" "$new_bin"
goes_on "$new" pg_upgrade

say "upgraded from 16 to 18: $(wc -l <"$logs/contents.found") lines of contents and $(wc -l <"$logs/go_on.found") lines of the next calls are the same"
