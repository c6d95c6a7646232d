#!/usr/bin/env bash
# Tests that erased text is gone: it is not in a dump, and after the commands of the guide not in the files of the server, nor in a
# server restored from a later base backup and the WAL archived since. Each place that can contain text has its own word, which must
# be found before the erasure. A word that was not erased must be found at every step.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/erasure
sql=$ROOT/pgrx-tests/servers/erasure
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
for program in pg_dump pg_basebackup; do
    [ -x "$PG_BIN/$program" ] || die "this PostgreSQL comes without $program" "PG=18 has it"
done

temporary_servers erasure
server=$folder/server restored=$folder/restored archive=$folder/archive

# query SERVER ARGUMENT...
query() { server_query "$1" app "${@:2}"; }

# words FILE...: prints the test words in these files, each once.
words() { { grep -rahoiE 'zq[a-wyz]+x' "$@" || true; } | tr '[:upper:]' '[:lower:]' | sort -u; }

# dumped: prints the words in a dump of the database.
dumped() {
    (cd "$folder" && as_server_user "$PG_BIN/pg_dump" --dbname "$(server_uri "$server" app)") >"$folder/dump.sql"
    words "$folder/dump.sql"
}

# stored SERVER: prints the words in the files of its databases.
stored() {
    query "$1" --command CHECKPOINT
    words "$1/data/base" "$1/data/global"
}

# alike WHAT EXPECTED FOUND: compares two lists of words, one per line.
alike() { diff <(printf '%s\n' $2) <(printf '%s\n' $3) >&2 || die "$1: unexpected words" "< expected, > found"; }

say "writing conversations, a document and a tenant, with a word in every place"
mkdir "$archive"
chown "$SERVER_USER" "$archive"
# No autovacuum, and archived WAL that can be searched.
server_create "$server" "$PG_BIN" "fsync = off" "autovacuum = off" "wal_compression = off" "wal_level = replica" "archive_mode = on" "archive_command = 'cp %p $archive/%f'"
server_start "$server" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$server" postgres)" --command "CREATE DATABASE app" --command "ALTER DATABASE app SET reground.tenant_from = 'app.tenant_id'"
query "$server" --file "$sql/write.sql" >/dev/null
kept="zqkeepx"
forgotten=$(sed -n "s/^-- Words: //p" "$sql/write.sql" | tr ' ' '\n' | sort -u)
all=$(printf '%s\n' $forgotten $kept | sort -u)
alike "the dump before" "$all" "$(dumped)"
alike "the files before" "$all" "$(stored "$server")"

say "erasing"
query "$server" --file "$sql/forget.sql" >/dev/null
alike "the dump after" "$kept" "$(dumped)"
query "$server" --command VACUUM
left=$(stored "$server" | grep -cvx "$kept" || true)
[ "$left" -gt 0 ] || die "a plain VACUUM removed every word from the files" "so this test cannot show that the commands of the guide are needed"
say "$left of $(wc -w <<<"$forgotten") words remain in the files after a plain VACUUM"

# The commands of the guide without the first one, which creates the receipt.
sed -n '/^CREATE TEMPORARY TABLE receipt/,/^```/p' "$ROOT/docs/guide/erasure.md" | sed '1d;$d' >"$folder/rewrite.sql"
grep -q 'VACUUM (FULL' "$folder/rewrite.sql" || die "the commands of this test are not in the guide"
query "$server" --file "$folder/rewrite.sql"
alike "the files after the commands of the guide" "$kept" "$(stored "$server")"

say "restoring from a base backup and the archive"
mkdir "$restored"
chown "$SERVER_USER" "$restored"
(cd "$folder" && run_logged "$logs/basebackup.log" as_server_user "$PG_BIN/pg_basebackup" --checkpoint fast --no-sync --wal-method none --dbname "$(server_uri "$server" postgres)" --pgdata "$restored/data")
query "$server" --file "$sql/later.sql" >/dev/null
query "$server" --command "SELECT pg_switch_wal()" >/dev/null
server_stop "$server" "$PG_BIN"
# After the stop, all WAL is archived.
printf '%s\n' "unix_socket_directories = ''" "archive_mode = off" "restore_command = 'cp $archive/%f %p'" | as_server_user tee -a "$restored/data/postgresql.conf" >/dev/null
as_server_user touch "$restored/data/recovery.signal"
server_start "$restored" "$PG_BIN"
waited=$SECONDS
until [ "$(query "$restored" --command "SELECT NOT pg_is_in_recovery()")" = t ]; do
    [ $((SECONDS - waited)) -lt 120 ] || die "the restored server does not start" "see $restored/log"
    sleep 0.2
done
later="zqlaterx"
alike "the restored files" "$(printf '%s\n' "$kept" "$later" | sort)" "$(stored "$restored")"
server_stop "$restored" "$PG_BIN"
alike "all of the restored server" "$(printf '%s\n' "$kept" "$later" | sort)" "$(words "$restored/data")"
# WAL archived before the erasure still contains the words, as the guide says.
# Other words there are chance: the checksum of a record, or the padding of an invalidation message.
missing=$(comm -23 <(printf '%s\n' $all "$later" | sort -u) <(words "$archive" | sort -u))
[ -z "$missing" ] || die "the archive lacks the words" "$missing"
say "no erased word is left; older WAL still contains all of them"
