#!/usr/bin/env bash
# Tests ALTER EXTENSION reground UPDATE from the previous release, with rows of every kind. The library serves the objects of the
# previous release before the update. The update keeps all rows and the objects of users, and its result has the same objects as a new
# installation. Objects of other versions are refused.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

current=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")
# The latest release before it.
previous=$(sed 's/.*reground--\(.*\)\.sql$/\1/' "$ROOT/sql/releases/SHA256SUMS" | grep -vxF "$current" | tail -n 1)
logs=$CACHE/logs/update
everything=$ROOT/pgrx-tests/everything
sql=$ROOT/pgrx-tests/servers/update
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"

temporary_servers update
server=$folder
server_create "$server" "$PG_BIN" "fsync = off" "autovacuum = off"
server_start "$server" "$PG_BIN"

# query DATABASE ARGUMENT...
query() { server_query "$server" "$@"; }

# create DATABASE TEMPLATE: a database whose sessions act for the tenant acme.
create() {
    query postgres --command "CREATE DATABASE $1 TEMPLATE $2" --command "ALTER DATABASE $1 SET reground.tenant_from = 'app.tenant_id'" \
        --command "ALTER DATABASE $1 SET app.tenant_id = 'acme'"
}

# same NAME WANTED FOUND MESSAGE: both files are equal and not empty.
same() {
    [ -s "$2" ] || die "there is nothing to compare: $2 is empty"
    diff -u "$2" "$3" >"$logs/$1.diff" || { head -n 60 "$logs/$1.diff" >&2; die "$4" "All of it: $logs/$1.diff"; }
}

# save DATABASE WHEN: the rows, except the version of the extension and those of new tables, and what the objects of users return.
save() {
    query "$1" --file "$everything/contents.sql" | grep -v '^reground|[0-9]\|tenant_keys' >"$logs/contents.$2"
    query "$1" --file "$sql/users_rows.sql" >"$logs/users_rows.$2"
}

# go_on DATABASE WHEN: the next calls, also through a function of a user, without the new task of maintenance.
go_on() {
    query "$1" --file "$everything/go_on.sql" --command "SELECT a::text FROM app.ask('who gives milk?') AS a" | grep -v '^seal_rows ' >"$logs/go_on.$2"
}

# refused VERSION: objects of this version are refused, also in a session that has used others. The second command stands for the
# first one of an update, and the transaction is rolled back.
refused() {
    local found search="SELECT count(*) FROM reground.search('farm', 'milk')"
    found=$(query updated --set ON_ERROR_STOP=0 --command "$search" --command "BEGIN" \
        --command "UPDATE pg_extension SET extversion = '$1' WHERE extname = 'reground'" \
        --command "ALTER TABLE reground.corpora ALTER COLUMN corpus_id SET STATISTICS -1" \
        --command "$search" --command "ROLLBACK" --command "$search" 2>&1)
    [[ $found == [1-9]*"have version $1, and the library of this session has version $current"*[1-9] ]] ||
        die "another result for objects of version $1" "$found"
}

say "writing with the objects of $previous and the library of $current"
create updated template1
query updated --command "CREATE EXTENSION reground VERSION '$previous' CASCADE"
query updated --file "$everything/write.sql" >"$logs/write.log"
query updated --file "$sql/users_objects.sql" >"$logs/users_objects.log"
save updated before
create ahead updated
go_on ahead before

say "updating to $current"
query updated --command "ALTER EXTENSION reground UPDATE"
create reduced updated
query reduced --file "$sql/remove_added.sql"
save reduced after
same contents "$logs/contents.before" "$logs/contents.after" "rows, sequences, indexes or policies differ after the update"
same users_rows "$logs/users_rows.before" "$logs/users_rows.after" "objects of users return other rows after the update"
# A new installation does not have the privilege that users_objects.sql granted.
query updated --command "REVOKE SELECT ON reground.turns FROM pg_monitor" --file "$sql/objects.sql" >"$logs/objects.updated"
go_on updated after
same go_on "$logs/go_on.before" "$logs/go_on.after" "the next calls return other rows after the update"

create fresh template1
query fresh --command "CREATE EXTENSION reground CASCADE"
query fresh --file "$sql/objects.sql" >"$logs/objects.fresh"
same objects "$logs/objects.fresh" "$logs/objects.updated" "an updated database has other objects than a new one"

refused 99.0.0
refused 0.0.9
if grep -E 'PANIC:|was terminated by signal' "$server/log" >&2; then die "the server crashed"; fi

say "updated from $previous to $current: $(wc -l <"$logs/contents.after") lines of contents are the same, and $(wc -l <"$logs/objects.fresh") lines of objects"
