# shellcheck shell=bash
# Functions to create, start and stop a PostgreSQL server. Sourced after env.sh.
#
# A server is a folder with data/ (the data directory), port (its TCP port) and log. It listens on 127.0.0.1 only and trusts every
# connection: for development, never for real data.

# Seconds for a start or a stop. Recovery and the last checkpoint can take minutes on a slow disk.
PATIENCE=600

# server_create FOLDER BINDIR [SETTING]...: initdb, unless the data directory exists.
server_create() {
    local folder=$1 bin=$2 locale=C owner
    shift 2
    if [ ! -f "$folder/data/PG_VERSION" ]; then
        # Sort by bytes, but treat letters beyond ASCII as letters.
        if locale -a 2>/dev/null | grep -qix 'C\.utf-\?8'; then locale=C.UTF-8; fi
        owner="$(id -u "$SERVER_USER"):$(id -g "$SERVER_USER")"
        mkdir -p "$folder"
        if [ "$(id -u)" -eq 0 ]; then chown "$owner" "$folder"; fi
        chmod 700 "$folder"
        (cd "$folder" && run_logged "$CACHE/logs/initdb.log" as_server_user "$bin/initdb" --pgdata "$folder/data" \
            --username postgres --auth trust --encoding UTF8 --locale "$locale" --no-sync)
        printf '%s\n' "listen_addresses = '127.0.0.1'" "unix_socket_directories = '$(server_socket_folder "$folder")'" \
            "$@" >>"$folder/data/postgresql.conf"
    fi
}

# The path of a socket has at most 107 bytes. Servers in deep folders use only TCP.
server_socket_folder() {
    if [ ${#1} -le 85 ]; then echo "$1"; fi
}

server_is_up() { as_server_user "$2/pg_ctl" status --pgdata "$1/data" >/dev/null 2>&1; }

# server_start FOLDER BINDIR: starts the server if it is down, on its previous port or the next free one.
server_start() {
    local folder=$1 bin=$2 port log=$CACHE/logs/server-start.log
    if server_is_up "$folder" "$bin"; then return; fi
    # Below the range of ephemeral ports.
    port=$(cat "$folder/port" 2>/dev/null || echo 28300)
    while true; do
        while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
        echo "$port" >"$folder/port"
        (cd "$folder" && as_server_user env -u RUST_BACKTRACE "$bin/pg_ctl" start --wait --silent --timeout "$PATIENCE" \
            --pgdata "$folder/data" --log "$folder/log" --options "-p $port") >"$log" 2>&1 && return
        # Another server may take the port between the check and the start.
        tail -n 5 "$folder/log" | grep -q 'Address already in use' || break
        port=$((port + 1))
    done
    cat "$log" >&2
    tail -n 20 "$folder/log" >&2
    return 1
}

server_stop() {
    if server_is_up "$1" "$2"; then
        (cd "$1" && as_server_user "$2/pg_ctl" stop --wait --silent --timeout "$PATIENCE" --mode fast --pgdata "$1/data" >&2)
    fi
}

# server_uri FOLDER DATABASE
server_uri() { echo "postgresql://postgres@127.0.0.1:$(cat "$1/port")/$2"; }

# server_query FOLDER DATABASE ARGUMENT...: psql with unaligned output; stops at the first error.
server_query() {
    local uri
    uri=$(server_uri "$1" "$2")
    shift 2
    PGOPTIONS='-c client_min_messages=error' "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$uri" "$@"
}

# server_index_is_sound FOLDER DATABASE RELATION INDEX WHEN: exits if the BM25 index on the column body is not sound.
server_index_is_sound() {
    local found
    found=$(server_query "$1" "$2" --set "relation=$3" --set "index=$4" --file "$ROOT/pgrx-tests/servers/sound.sql")
    [ -z "$found" ] || { echo "$found" >&2; die "the index is not sound $5"; }
}

# temporary_servers NAME: makes the folder `folder` for servers of this script. At its end, background processes that are listed in
# `background` and the servers in the folder are stopped, and the folder is removed.
temporary_servers() {
    folder=$(mktemp -d "$SERVER_HOME/$1.XXXXXX")
    chown "$SERVER_USER" "$folder"
    background=
    trap remove_temporary_servers EXIT
    trap 'exit 130' INT TERM
}

remove_temporary_servers() {
    local server
    # shellcheck disable=SC2086 # the processes are several words
    [ -z "$background" ] || kill $background 2>/dev/null || true
    # The youngest first: a standby does not wait for its primary then.
    for server in $(ls -dt "$folder"/*/data "$folder/data" 2>/dev/null); do
        server_stop "${server%/data}" "$PG_BIN" 2>/dev/null || true
    done
    rm -rf "$folder"
}

# server_crash FOLDER: kills the postmaster and all its children, as when the machine fails.
server_crash() {
    local postmaster children child
    postmaster=$(head -n 1 "$1/data/postmaster.pid")
    # Stop it first, so that it does not notice the death of its children and start recovery.
    kill -STOP "$postmaster"
    children=$(pgrep -P "$postmaster" | tr '\n' ' ')
    # Kill the children first, so that none notices that the postmaster is gone and exits cleanly.
    # shellcheck disable=SC2086 # the children are several words
    kill -9 $children "$postmaster"
    # The next start needs the shared memory, which the last process releases.
    for child in $children "$postmaster"; do
        while kill -0 "$child" 2>/dev/null; do sleep 0.05; done
    done
    rm -f "$1/data/postmaster.pid"
}

# standby_create FOLDER PRIMARY BINDIR [SETTING]...: a copy of the server in the folder PRIMARY that replays its changes, with a slot
# `standby`.
standby_create() {
    local folder=$1 primary=$2 bin=$3
    shift 3
    mkdir -p "$folder"
    chown "$SERVER_USER" "$folder"
    (cd "$folder" && run_logged "$CACHE/logs/basebackup.log" as_server_user "$bin/pg_basebackup" --write-recovery-conf --create-slot --slot standby \
        --checkpoint fast --no-sync --dbname "$(server_uri "$primary" postgres)" --pgdata "$folder/data")
    # No socket folder, because the copy contains that of the primary.
    printf '%s\n' "unix_socket_directories = ''" "$@" | as_server_user tee -a "$folder/data/postgresql.conf" >/dev/null
}

# server_until WHAT FOLDER DATABASE QUERY: waits until the query returns true; exits with a message after two minutes.
server_until() {
    local deadline=$((SECONDS + 120))
    until [ "$(server_query "$2" "$3" --command "$4" 2>/dev/null)" = t ]; do
        [ $SECONDS -lt $deadline ] || die "$1" "see $2/log"
        sleep 0.1
    done
}

# standby_catches_up STANDBY PRIMARY DATABASE: waits until the standby has replayed all changes.
standby_catches_up() {
    local position
    position=$(server_query "$2" "$3" --command "SELECT pg_current_wal_flush_lsn()")
    server_until "the standby does not catch up" "$1" "$3" "SELECT pg_last_wal_replay_lsn() >= '$position'"
}

# development_server_folder PG_CONFIG: one folder per major version of the embedded server, and one per other server.
development_server_folder() {
    local major bin
    major=$("$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
    bin=$("$1" --bindir)
    case $bin in
        "$SERVER_HOME"/*) echo "$SERVER_HOME/server-$major" ;;
        *) echo "$SERVER_HOME/server-$major-$(cksum <<<"$bin" | cut -d ' ' -f 1)" ;;
    esac
}

# development_server_start PG_CONFIG: builds and installs the extension and starts the server. Its data remain in the cache.
development_server_start() {
    local folder bin library
    folder=$(development_server_folder "$1")
    bin=$("$1" --bindir)
    library=$("$ROOT/scripts/build-extension.sh")
    "$ROOT/scripts/install-extension.sh" "$library"
    server_create "$folder" "$bin"
    server_start "$folder" "$bin"
}
