#!/usr/bin/env bash
# test-drivers.sh [DRIVER]...: extracts the programs of docs/guide: start.md, drivers.md, streaming.md and monitoring.md, and runs them:
# psycopg, sqlalchemy, pg and drizzle, each directly and through pgbouncer in transaction mode with one server connection. The results
# that they received are compared with the rows of the database. Twenty conversations wait for their models at the same time, once
# for half a minute, and have no open transaction meanwhile. The script of the page asks the server of server-sent events. The programs of
# monitoring.md read the answers of the drivers.
#
#   PGBOUNCER=PATH   the pgbouncer (default: what fetch-pgbouncer.sh finds)
#   APPS=optional    skip drivers that cannot be installed, with a message
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
# shellcheck source=scripts/apps.sh
. "$ROOT/scripts/apps.sh"

drivers=("$@")
[ ${#drivers[@]} -gt 0 ] || drivers=(psycopg sqlalchemy pg drizzle)
logs=$CACHE/logs/drivers
rm -rf "$logs"
mkdir -p "$logs/programs"

chosen=()
for driver in "${drivers[@]}"; do
    case $driver in
        psycopg | sqlalchemy) have_python "$logs" "psycopg, sqlalchemy" && chosen+=("$driver") ;;
        pg | drizzle) have_node "$logs" "pg, drizzle" && chosen+=("$driver") ;;
        *) die "there is no driver $driver" "psycopg, sqlalchemy, pg, drizzle" ;;
    esac || true
done
[ ${#chosen[@]} -gt 0 ] || exit 0
bouncers=()
if found=$("$ROOT/scripts/fetch-pgbouncer.sh"); then
    mapfile -t bouncers <<<"$found"
else
    unavailable "there is no pgbouncer" "On Debian or Ubuntu: apt-get install pgbouncer"
fi

# The programs must be beside the packages that they import.
programs=$logs/programs
{
    python3 "$apps/blocks.py" "$ROOT/docs/guide/start.md" "$programs"
    python3 "$apps/blocks.py" "$ROOT/docs/guide/streaming.md" "$programs"
    python3 "$apps/blocks.py" "$ROOT/docs/guide/drivers.md" "$programs"
} >"$logs/programs.list"
mkdir "$programs/monitoring"
python3 "$apps/blocks.py" "$ROOT/docs/guide/monitoring.md" "$programs/monitoring" >>"$logs/programs.list"
for file in monitoring/metrics.py monitoring/analyse.py roles.sql setup.sql grants.sql turn.py psycopg_query.py sqlalchemy_query.py turn.mjs pg_query.mjs drizzle_query.mjs pgbouncer.ini sse_server.py chat.html embed.py; do
    [ -s "$programs/$file" ] || die "the guide has no block $file"
done
[ ! -d "$node_folder/node_modules" ] || ln -s "$node_folder/node_modules" "$programs/node_modules"
cp "$apps/drive.mjs" "$apps/drive_sse.mjs" "$apps/model.py" "$programs/"

library=$("$ROOT/scripts/build-extension.sh" 2>"$logs/build.log") || { tail -n 40 "$logs/build.log" >&2; die "the extension does not build"; }
"$ROOT/scripts/install-extension.sh" "$library"
folder=$(mktemp -d "$SERVER_HOME/drivers.XXXXXX")
bouncer=
# pgbouncer is a child of the shell that changed the user; its pid file contains its id.
bouncer_stop() {
    [ -z "$bouncer" ] || { kill "$(cat "$bouncer_pid" 2>/dev/null || echo "$bouncer")" 2>/dev/null || true; wait "$bouncer" 2>/dev/null || true; bouncer=; }
}
trap 'bouncer_stop; server_stop "$folder" "$PG_BIN"; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
server_create "$folder" "$PG_BIN" "fsync = off"
server_start "$folder" "$PG_BIN"
port=$(cat "$folder/port")
query() { server_query "$folder" app "$@"; }
server_query "$folder" postgres --command "CREATE DATABASE app"
query --command "CREATE EXTENSION reground CASCADE"
for file in roles setup grants; do query --file "$programs/$file.sql"; done >"$logs/setup.log"
query --file "$apps/faults.sql"

# bouncer_start PATH NAME SETTING...: starts pgbouncer with the settings of the page, one server connection, and the given settings.
# PREPARED=no removes a setting that older versions do not have.
bouncer_start() {
    local path=$1 name=$2 home=$folder/$2 wanted=16400
    shift 2
    mkdir -p "$home"
    echo '"app" ""' >"$home/users"
    while (exec 3<>"/dev/tcp/127.0.0.1/$wanted") 2>/dev/null; do wanted=$((wanted + 1)); done
    bouncer_port=$wanted bouncer_pid=$home/pid
    {
        printf '%s\n' "[databases]" "app = host=127.0.0.1 port=$port dbname=app"
        # Add to the page's section: a second section of that name would reset it to the defaults.
        sed -e "$([ "$PREPARED" = yes ] || echo '/^max_prepared_statements/d')" "$programs/pgbouncer.ini"
        printf '%s\n' "listen_addr = 127.0.0.1" "listen_port = $wanted" "unix_socket_dir =" "auth_type = trust" "auth_file = $home/users" \
            "pidfile = $home/pid" "default_pool_size = 1" "$@"
    } >"$home/pgbouncer.ini"
    if [ "$(id -u)" -eq 0 ]; then chown -R "$SERVER_USER" "$home"; fi
    (cd "$home" && as_server_user "$path" "$home/pgbouncer.ini") >"$logs/$name.log" 2>&1 &
    bouncer=$!
    local waited=$SECONDS
    until "$PG_BIN/psql" --no-psqlrc --quiet --dbname "postgresql://app@127.0.0.1:$wanted/app" --command "SELECT" >/dev/null 2>&1; do
        if ! kill -0 "$bouncer" 2>/dev/null || [ $((SECONDS - waited)) -gt 60 ]; then
            tail -n 20 "$logs/$name.log" >&2
            die "pgbouncer does not start"
        fi
        sleep 0.1
    done
}

# server_wait_gone: waits until the server has no connection of the application.
server_wait_gone() {
    local waited=$SECONDS
    until [ "$(query --command "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")" = 0 ]; do
        [ $((SECONDS - waited)) -lt 60 ] || die "a connection of the application remains"
        sleep 0.1
    done
}

# drive DRIVER NAME URI: runs one program and compares.
drive() {
    local driver=$1 name=$2 uri=$3 status=0
    (
        cd "$programs"
        export POOL SESSIONS PREPARED WAIT="${WAIT:-0}" PYTHONDONTWRITEBYTECODE=1
        case $driver in
            psycopg | sqlalchemy) set -- "$venv/bin/python" "$apps/drive.py" ;;
            *) set -- node drive.mjs ;;
        esac
        # The limit is for a program that waits forever.
        exec timeout 400 "$@" "$driver" "$name" "$uri" "postgresql://postgres@127.0.0.1:$port/app"
    ) >"$logs/$name.told" 2>"$logs/$name.err" || status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 30 "$logs/$name.err" >&2
        die "$name fails" "Full log: $logs/$name.err"
    fi
    sort "$logs/$name.told" >"$logs/$name.sorted"
    query --set "name=$name" --file "$apps/written.sql" | sort >"$logs/$name.written"
    # Twenty conversations and six turns, with two citations each.
    [ "$(wc -l <"$logs/$name.written")" -eq 52 ] || die "$name: the database has $(wc -l <"$logs/$name.written") citations, not 52"
    diff "$logs/$name.sorted" "$logs/$name.written" >&2 || die "$name: the received (<) and the stored (>) citations differ"
    say "$name: ok"
}

for driver in "${chosen[@]}"; do
    # Directly: the driver's pool has one connection.
    PREPARED=yes
    case $driver in drizzle | pg) PREPARED=no ;; esac
    POOL=1 SESSIONS=1 PREPARED=$PREPARED drive "$driver" "$driver directly" "postgresql://app@127.0.0.1:$port/app"
    server_wait_gone
done
slowly=30
for path in "${bouncers[@]}"; do
    version=$(cd / && as_server_user "$path" --version | sed -n 's/^PgBouncer //p')
    newer=yes
    [ "$(printf '%s\n' "$version" 1.21 | sort --version-sort | head -n 1)" = 1.21 ] || newer=no
    for reset in "" always; do
        PREPARED=$newer
        bouncer_start "$path" "pgbouncer-$version$reset" ${reset:+"server_reset_query_always = 1"}
        for driver in "${chosen[@]}"; do
            case $driver in drizzle) PREPARED=no ;; *) PREPARED=$newer ;; esac
            POOL=4 SESSIONS=1 WAIT=$slowly PREPARED=$PREPARED drive "$driver" "$driver over pgbouncer $version${reset:+, reset each time}" "postgresql://app@127.0.0.1:$bouncer_port/app"
            slowly=0
        done
        bouncer_stop
        server_wait_gone
    done
done

# sse: starts the server of events on a free port and asks it with the script of its page.
sse() {
    local wanted=16500 status=0 server
    while (exec 3<>"/dev/tcp/127.0.0.1/$wanted") 2>/dev/null; do wanted=$((wanted + 1)); done
    cd "$programs"
    PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" sse_server.py "postgresql://app@127.0.0.1:$port/app" "$wanted" 2>"$logs/sse_server.log" &
    server=$!
    until (exec 3<>"/dev/tcp/127.0.0.1/$wanted") 2>/dev/null; do
        kill -0 "$server" 2>/dev/null || { tail -n 20 "$logs/sse_server.log" >&2; die "sse_server.py does not start"; }
        sleep 0.1
    done
    timeout 200 node drive_sse.mjs "http://127.0.0.1:$wanted/" "postgresql://postgres@127.0.0.1:$port/app" 2>"$logs/sse.err" || status=$?
    kill "$server"
    [ "$status" -eq 0 ] || { tail -n 30 "$logs/sse.err" "$logs/sse_server.log" >&2; die "the events of sse_server.py are wrong"; }
}
if [[ " ${chosen[*]} " == *" psycopg "* && " ${chosen[*]} " == *" pg "* ]]; then
    (sse)
    say "server-sent events: ok"
    query --command "SELECT reground.put_document('help', 'new.md', 'A new document has no vector.')" >"$logs/embed.log"
    (cd "$programs" && PYTHONDONTWRITEBYTECODE=1 timeout 100 "$venv/bin/python" embed.py "postgresql://postgres@127.0.0.1:$port/app") 2>>"$logs/embed.log" ||
        { tail -n 20 "$logs/embed.log" >&2; die "embed.py fails"; }
    [ "$(query --command "SELECT count(*) FILTER (WHERE embedding IS NULL) || ' of ' || count(*) FROM help")" = "0 of 3" ] || die "embed.py leaves passages without a vector"
    say "embeddings: ok"
fi
# monitoring: serves the metrics on a free port and compares them with the rows, and runs the analysis.
monitoring() {
    local wanted=16600 status=0 server
    while (exec 3<>"/dev/tcp/127.0.0.1/$wanted") 2>/dev/null; do wanted=$((wanted + 1)); done
    query --command "CREATE ROLE analyst LOGIN IN ROLE reground_auditor"
    query --command "SELECT reground.refresh_audit()" >"$logs/monitoring.log"
    cd "$programs/monitoring"
    "$venv/bin/python" metrics.py "postgresql://analyst@127.0.0.1:$port/app" "$wanted" 2>>"$logs/monitoring.log" &
    server=$!
    until (exec 3<>"/dev/tcp/127.0.0.1/$wanted") 2>/dev/null; do
        kill -0 "$server" 2>/dev/null || { tail -n 20 "$logs/monitoring.log" >&2; die "metrics.py does not start"; }
        sleep 0.1
    done
    "$venv/bin/python" "$apps/scrape.py" "http://127.0.0.1:$wanted" "postgresql://postgres@127.0.0.1:$port/app" || status=$?
    kill "$server"
    [ "$status" -eq 0 ] || die "the metrics of metrics.py are wrong" "$logs/monitoring.log"
    timeout 100 "$venv/bin/python" analyse.py "postgresql://analyst@127.0.0.1:$port/app" >"$logs/analyse.txt" || die "analyse.py fails"
    grep -q "^resolved_current" "$logs/analyse.txt" || die "analyse.py counts nothing" "$logs/analyse.txt"
}
if [[ " ${chosen[*]} " == *" psycopg "* ]]; then
    (monitoring)
    say "metrics and analysis: ok"
fi
if grep -E 'PANIC|was terminated by signal|server process .* exited' "$folder/log" >&2; then die "the server crashed"; fi
say "${#chosen[@]} drivers, directly and over ${#bouncers[@]} pgbouncers: received and stored citations are equal"
