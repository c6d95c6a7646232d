#!/usr/bin/env bash
# What was forgotten is nowhere: not in a dump, and after the commands of the guide not in the files of the server, nor in those of one
# that is restored from a base backup made afterwards and the WAL that was archived since. Each place where a word can stand has a
# word of its own, which is found before; and a word that nobody asked to forget is found throughout.
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

folder=$(mktemp -d "$SERVER_HOME/erasure.XXXXXX")
chown "$SERVER_USER" "$folder"
server=$folder/server restored=$folder/restored archive=$folder/archive
trap 'server_stop "$restored" "$PG_BIN" 2>/dev/null || true; server_stop "$server" "$PG_BIN" 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# query SERVER ARGUMENT...
query() { server_query "$1" app "${@:2}"; }

# words WHERE...: those of ours that stand in these files, each once.
words() { { grep -rahoiE 'zq[a-wyz]+x' "$@" || true; } | tr '[:upper:]' '[:lower:]' | sort -u; }

# dumped: the words in a dump of everything.
dumped() {
    (cd "$folder" && as_server_user "$PG_BIN/pg_dump" --dbname "$(server_uri "$server" app)") >"$folder/dump.sql"
    words "$folder/dump.sql"
}

# stored SERVER: the words in the files of its databases.
stored() {
    query "$1" --command CHECKPOINT
    words "$1/data/base" "$1/data/global"
}

# alike WHAT EXPECTED FOUND: words, a line each.
alike() { diff <(printf '%s\n' $2) <(printf '%s\n' $3) >&2 || die "$1: other words than expected" "< expected, > found"; }

say "conversations, a document and a tenant, with a word in every place"
mkdir "$archive"
chown "$SERVER_USER" "$archive"
# Nobody tidies up behind our back, and the WAL is there to be searched.
server_create "$server" "$PG_BIN" "fsync = off" "autovacuum = off" "wal_compression = off" "wal_level = replica" "archive_mode = on" "archive_command = 'cp %p $archive/%f'"
server_start "$server" "$PG_BIN"
"$PG_BIN/psql" --no-psqlrc --quiet --dbname "$(server_uri "$server" postgres)" --command "CREATE DATABASE app" --command "ALTER DATABASE app SET reground.tenant_from = 'app.tenant_id'"
query "$server" --file "$sql/write.sql" >/dev/null
kept="zqkeepx"
forgotten=$(sed -n "s/^-- Words: //p" "$sql/write.sql" | tr ' ' '\n' | sort -u)
all=$(printf '%s\n' $forgotten $kept | sort -u)
alike "the dump before" "$all" "$(dumped)"
alike "the files before" "$all" "$(stored "$server")"

say "forgotten"
query "$server" --file "$sql/forget.sql" >/dev/null
alike "the dump after" "$kept" "$(dumped)"
query "$server" --command VACUUM
left=$(stored "$server" | grep -cvx "$kept" || true)
[ "$left" -gt 0 ] || die "a plain VACUUM took every word out of the files" "then the commands of the guide prove nothing"
say "$left of $(wc -w <<<"$forgotten") words are left in the files by a plain VACUUM"

# The commands of the guide, but for the first, which makes the receipt.
sed -n '/^CREATE TEMPORARY TABLE receipt/,/^```/p' "$ROOT/docs/guide/erasure.md" | sed '1d;$d' >"$folder/rewrite.sql"
grep -q 'VACUUM (FULL' "$folder/rewrite.sql" || die "the guide has other commands than this test looks for"
query "$server" --file "$folder/rewrite.sql"
alike "the files after the commands of the guide" "$kept" "$(stored "$server")"

say "restored from a base backup and the archive"
mkdir "$restored"
chown "$SERVER_USER" "$restored"
(cd "$folder" && run_logged "$logs/basebackup.log" as_server_user "$PG_BIN/pg_basebackup" --checkpoint fast --no-sync --wal-method none --dbname "$(server_uri "$server" postgres)" --pgdata "$restored/data")
query "$server" --file "$sql/later.sql" >/dev/null
query "$server" --command "SELECT pg_switch_wal()" >/dev/null
server_stop "$server" "$PG_BIN"
# The server has archived all when it is down.
printf '%s\n' "unix_socket_directories = ''" "archive_mode = off" "restore_command = 'cp $archive/%f %p'" | as_server_user tee -a "$restored/data/postgresql.conf" >/dev/null
as_server_user touch "$restored/data/recovery.signal"
server_start "$restored" "$PG_BIN"
waited=$SECONDS
until [ "$(query "$restored" --command "SELECT NOT pg_is_in_recovery()")" = t ]; do
    [ $((SECONDS - waited)) -lt 120 ] || die "the restored server does not come up" "see $restored/log"
    sleep 0.2
done
later="zqlaterx"
alike "the restored files" "$(printf '%s\n' "$kept" "$later" | sort)" "$(stored "$restored")"
server_stop "$restored" "$PG_BIN"
alike "all of the restored server" "$(printf '%s\n' "$kept" "$later" | sort)" "$(words "$restored/data")"
# As the guide says: what was archived before still has the words.
alike "the archive" "$(printf '%s\n' $all "$later" | sort -u)" "$(words "$archive")"
say "nothing of it is left; the WAL from before has all of it"
