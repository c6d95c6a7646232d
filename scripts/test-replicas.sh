#!/usr/bin/env bash
# Tests a primary with a standby, as docs/guide/replicas.md describes them. Clients hold conversations on the primary and read each answer
# on the standby, half of them through pgbouncer. The primary is killed while they do, the standby is promoted, and they repeat what was
# cut off. What they were told is compared with the rows of the promoted standby. Then the old primary becomes its standby.
#
#   PGBOUNCER=PATH   the pgbouncer (default: what fetch-pgbouncer.sh finds; without one all clients connect directly)
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/replicas
sql=$ROOT/pgrx-tests/servers/replicas
rm -rf "$logs"
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"
for program in pg_basebackup pg_rewind; do
    [ -x "$PG_BIN/$program" ] || die "this PostgreSQL comes without $program" "PG=18 has it"
done

temporary_servers replicas
primary=$folder/primary standby=$folder/standby

# query SERVER ARGUMENT...: as a superuser.
query() { server_query "$1" app "${@:2}"; }
# psql_at URI ARGUMENT...
psql_at() { "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$@"; }

# wait_for_standby SERVER: commits of the server wait for its standby.
wait_for_standby() {
    query "$1" --command "ALTER SYSTEM SET synchronous_standby_names = '*'" --command "SELECT pg_reload_conf()" >/dev/null
    server_until "the standby is not synchronous" "$1" app "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
}

promote() { (cd "$1" && as_server_user "$PG_BIN/pg_ctl" promote --wait --silent --timeout "$PATIENCE" --pgdata "$1/data"); }

# same ROLE STATEMENT...: compares what a role reads on the primary and on the standby.
same() {
    local server statement statements=()
    for statement in "${@:2}"; do statements+=(--command "$statement"); done
    standby_catches_up "$standby" "$primary" app
    for server in primary standby; do psql_at "postgresql://$1@127.0.0.1:$(cat "${!server}/port")/app" "${statements[@]}" >"$logs/on-$server"; done
    [ -s "$logs/on-primary" ] || die "$1 reads nothing"
    diff "$logs/on-primary" "$logs/on-standby" >&2 || die "$1 reads other rows on the standby (>) than on the primary"
}
audit=("SELECT a.* FROM reground.citation_audit AS a ORDER BY citation_id" "SELECT t.* FROM reground.turn_audit AS t ORDER BY turn_id"
    "SELECT c.conversation_ref, v.* FROM reground.conversations AS c CROSS JOIN LATERAL reground.verify_chain(c.conversation_ref) AS v ORDER BY 1, 2")

say "a primary and its standby"
server_create "$primary" "$PG_BIN" "shared_preload_libraries = 'reground'" "reground.worker_databases = 'app'" "reground.worker_interval = 1s" "wal_log_hints = on" "wal_keep_size = 512MB"
server_start "$primary" "$PG_BIN"
server_query "$primary" postgres --command "CREATE DATABASE app"
query "$primary" --command "CREATE EXTENSION reground CASCADE"
query "$primary" --file "$sql/schema.sql" >/dev/null
# Replay is late, so that only remote_apply shows an answer at once.
standby_create "$standby" "$primary" "$PG_BIN" "recovery_min_apply_delay = 300ms"
server_start "$standby" "$PG_BIN"
wait_for_standby "$primary"

hosts="127.0.0.1:$(cat "$primary/port"),127.0.0.1:$(cat "$standby/port")"
writes="postgresql://app@$hosts/app?target_session_attrs=read-write"
reads="postgresql://app@$hosts/app?target_session_attrs=prefer-standby"

# turn URI REQUEST [SECONDS]: a turn of the conversation that the request names. The model writes for some seconds.
turn() { psql_at "$1" --set "pause=${3:-0.1}" --set "request=$2" --set "conversation=${2%-*}" --set "number=${2##*-}" --file "$sql/turn.sql"; }
# answers_on URI REQUEST: how many answers to a request a reader sees.
answers_on() { psql_at "$1" --command "SELECT count(*) FROM reground.messages WHERE message_ref = '$2'"; }

say "reads of a session that has just written"
query "$standby" --command "SELECT pg_wal_replay_pause()"
server_until "replay does not stop" "$standby" app "SELECT pg_get_wal_replay_pause_state() = 'paused'"
turn "$writes" read-1 >"$logs/told-read"
[ "$(answers_on "$writes" read-1)" = 1 ] || die "the primary does not show an answer"
[ "$(answers_on "$reads" read-1)" = 0 ] || die "the standby shows an answer that it has not replayed" "this test cannot fail"
written=$(query "$primary" --command "SELECT pg_current_wal_flush_lsn()")
query "$standby" --command "SELECT pg_wal_replay_resume()"
server_until "the standby does not reach the position" "$standby" app "SELECT pg_last_wal_replay_lsn() >= '$written'"
[ "$(answers_on "$reads" read-1)" = 1 ] || die "the standby does not show an answer at its position"
query "$primary" --command "ALTER ROLE app SET synchronous_commit = remote_apply"

say "what an analyst and an application read on the standby"
same analyst "${audit[@]}"
same app "SELECT chunk_id, score FROM reground.search('help', 'animal7 plant8')" "SELECT h.* FROM reground.history('read') AS h" \
    "SELECT md5(reground.conversation_report('read'))"

write_uris=("$writes" "$writes") read_uris=("$reads" "$reads")
pooled=
if found=$("$ROOT/scripts/fetch-pgbouncer.sh" 2>"$logs/fetch-pgbouncer"); then
    pooled=$folder/pooled
    pool_port=16700
    while (exec 3<>"/dev/tcp/127.0.0.1/$pool_port") 2>/dev/null; do pool_port=$((pool_port + 1)); done
    mkdir -p "$pooled"
    echo '"app" ""' >"$pooled/users"
    # route WRITES READS: the servers of the two databases of the pool.
    route() {
        printf '%s\n' "[databases]" "app = host=127.0.0.1 port=$(cat "$1/port")" "app_reads = host=127.0.0.1 port=$(cat "$2/port") dbname=app" \
            "[pgbouncer]" "pool_mode = transaction" "server_login_retry = 1" "listen_addr = 127.0.0.1" "listen_port = $pool_port" "unix_socket_dir =" \
            "auth_type = trust" "auth_file = $pooled/users" "pidfile = $pooled/pid" >"$pooled/pgbouncer.ini"
    }
    route "$primary" "$standby"
    if [ "$(id -u)" -eq 0 ]; then chown -R "$SERVER_USER" "$pooled"; fi
    (cd "$pooled" && as_server_user "$(tail -n 1 <<<"$found")" "$pooled/pgbouncer.ini") >"$logs/pgbouncer" 2>&1 &
    background=$!
    until [ -s "$pooled/pid" ]; do kill -0 "$background" 2>/dev/null || die "pgbouncer does not start" "$logs/pgbouncer"; sleep 0.1; done
    # Its id is not that of the shell that changed the user.
    background="$background $(cat "$pooled/pid")"
    write_uris[1]="postgresql://app@127.0.0.1:$pool_port/app" read_uris[1]="postgresql://app@127.0.0.1:$pool_port/app_reads"
    refusal=$(turn "${read_uris[1]}" refused-1 2>&1 || true)
    [[ $refusal == *"read-only"* ]] || die "a turn on the standby is not refused" "$refusal"
else
    [ -z "${PGBOUNCER:-}" ] || die "PGBOUNCER=$PGBOUNCER cannot be used" "$(tail -n 3 "$logs/fetch-pgbouncer")"
    say "there is no pgbouncer: all clients connect directly"
fi

# talk NAME WRITES READS: holds conversations until the file `stop` exists. Repeats what fails, with the same ids.
talk() {
    local number=0 waited
    until [ -e "$folder/stop" ]; do
        number=$((number + 1)) waited=$SECONDS
        until turn "$2" "$1-$number" >>"$logs/told-$1" 2>>"$logs/errors"; do sleep 0.2; [ $((SECONDS - waited)) -lt 900 ] || return 1; done
        until seen=$(answers_on "$3" "$1-$number" 2>>"$logs/errors"); do sleep 0.2; [ $((SECONDS - waited)) -lt 900 ] || return 1; done
        [ "$seen" = 1 ] || echo "missed $1-$number" >>"$logs/missed"
    done
}
clients=
for number in 0 1 2 3; do
    talk "client$number" "${write_uris[number % 2]}" "${read_uris[number % 2]}" &
    clients="$clients $!"
done
background="$background $clients"

say "the primary fails during turns"
# all_answer: waits until each client has been told ten more answers.
all_answer() {
    local number before waited
    for number in 0 1 2 3; do
        waited=$SECONDS
        before=$(grep -c '^answered' "$logs/told-client$number" || true)
        until [ "$(grep -c '^answered' "$logs/told-client$number" || true)" -ge $((before + 10)) ]; do
            [ $((SECONDS - waited)) -lt 300 ] || { tail -n 5 "$logs/errors" >&2; die "client$number cannot hold a conversation"; }
            sleep 0.2
        done
    done
}
all_answer
# When a model writes an answer.
touch "$logs/told-written"
turn "$writes" written-1 30 >"$logs/told-written" 2>>"$logs/errors" &
background="$background $!"
until grep -q begun "$logs/told-written"; do sleep 0.1; done
server_crash "$primary"
promote "$standby"
promoted_at=$(query "$standby" --command "SELECT clock_timestamp()")
[ -z "$pooled" ] || { route "$standby" "$standby"; kill -HUP "$(cat "$pooled/pid")"; }
all_answer
touch "$folder/stop"
for client in $clients; do wait "$client" || die "a client gave up" "$logs/errors"; done
turn "$writes" written-1 >>"$logs/told-written"

[ ! -s "$logs/missed" ] || die "the standby did not show an answer that was committed" "$(head -n 3 "$logs/missed")"
if grep -i 'error:\|fatal:' "$logs/errors" | grep -v 'connection to server\|server closed the connection\|terminating connection\|the database system is\|server conn crashed\|server_login\|query_wait_timeout\|client_login_timeout\|pgbouncer cannot connect\|server login has been failing' | grep . >&2; then
    die "a client got another error than a lost connection"
fi
grep -q . "$logs/errors" || die "no client noticed the failure" "this test cannot fail"
# A repeated turn is told again, and equally.
sort -u "$logs"/told-* >"$logs/told"
psql_at "$writes" --file "$sql/stored.sql" | sort >"$logs/stored"
diff "$logs/told" "$logs/stored" >&2 || die "what clients were told (<) and the rows (>) differ"
repeated=$(cat "$logs"/told-* | sort | uniq -d | wc -l)
[ "$(grep -c begun "$logs/told-written")" = 2 ] || die "the turn that the failure cut off was not repeated"
say "$(grep -c '^answered' "$logs/told") turns, each stored once; $repeated were repeated after they had begun"

say "the promoted standby goes on"
found=$(query "$standby" --command "SELECT v.* FROM reground.conversations AS c CROSS JOIN LATERAL reground.verify_chain(c.conversation_ref) AS v WHERE v.status <> 'ok'" \
    --file "$ROOT/pgrx-tests/servers/soak/indexes.sql")
[ -z "$found" ] || die "the promoted standby is not sound" "$found"
query "$standby" --command "SELECT reground.put_document('help', 'later', 'Unicorns eat moonlight.')" >/dev/null
[ "$(psql_at "$writes" --command "SELECT doc_id FROM reground.search('help', 'unicorns')")" = later ] || die "a new document is not found"
server_until "no maintenance on the promoted standby" "$standby" app "SELECT count(*) > 0 FROM reground.maintenance_runs WHERE started_at > '$promoted_at'"

say "the old primary becomes the standby"
(cd "$folder" && run_logged "$logs/rewind" as_server_user "$PG_BIN/pg_rewind" --target-pgdata "$primary/data" --source-server "$(server_uri "$standby" postgres)" --write-recovery-conf)
as_server_user tee -a "$primary/data/postgresql.auto.conf" >/dev/null <<<"primary_slot_name = ''"
old=$primary primary=$standby standby=$old
server_start "$standby" "$PG_BIN"
wait_for_standby "$primary"
turn "$writes" back-1 >"$logs/told-back"
[ "$(answers_on "postgresql://app@127.0.0.1:$(cat "$standby/port")/app" back-1)" = 1 ] || die "the old primary does not follow"
same analyst "${audit[@]}"

say "without synchronous replication, a failover loses turns"
query "$primary" --command "ALTER SYSTEM RESET synchronous_standby_names" --command "SELECT pg_reload_conf()" >/dev/null
server_until "the standby remains synchronous" "$primary" app "SELECT count(*) = 0 FROM pg_stat_replication WHERE sync_state = 'sync'"
server_stop "$standby" "$PG_BIN"
lost=$(turn "$writes" lost-1 | sed -n 's/^begun lost-1 \([0-9]*\) .*/\1/p')
server_crash "$primary"
server_start "$standby" "$PG_BIN"
promote "$standby"
gone=$(psql_at "$writes" --command "SELECT reground.end_turn($lost, 'It eats plants [A1].')" 2>&1 || true)
[[ $gone == *"does not exist"* ]] || die "the answer of a lost turn is not refused" "$gone"
[ "$(turn "$writes" lost-1 | cut -d ' ' -f 1 | tr '\n' ' ')" = "begun answered " ] || die "a lost turn cannot be begun again"
say "turns, reads and audit survive a failover"
