# shellcheck shell=bash
# Paths and functions that all scripts use. Sourced, never run.
#
# Optional variables of the caller:
#   REGROUND_CACHE  folder of downloads and builds      (default: ~/.cache/reground)
#   PG              major version of the embedded server (18 or 16; default: 18)
#   PG_CONFIG       pg_config of another installation, used instead of the embedded server
#
# Sets: ROOT CACHE SERVER_HOME SERVER_USER CARGO_TARGET_DIR

export ROOT
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${REGROUND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reground}
mkdir -p "$CACHE"
CACHE=$(cd "$CACHE" && pwd)
export CARGO_TARGET_DIR=$CACHE/target

# Standard output is for results (a URI, a path). Messages go to standard error.
say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [HINT]...
die() {
    say "error: $1"
    shift
    local line
    for line in "$@"; do say "       $line"; done
    exit 1
}

# need COMMAND DEBIAN-PACKAGE...
need() {
    command -v "$1" >/dev/null || die "$1 is not installed" "On Debian or Ubuntu: apt-get install ${*:2}"
}

# Prints the folder of the public data sets (DATA or EVAL_DATA).
data_folder() {
    local data=${DATA:-${EVAL_DATA:-}}
    [ -n "$data" ] || die "no data given" "DATA=/path/to/data names the folder"
    [ -d "$data" ] || die "DATA=$data is not a folder"
    (cd "$data" && pwd)
}

# run_logged LOG COMMAND...: prints nothing if the command succeeds, the end of its log if it fails.
run_logged() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        die "failed: $*" "Full log: $log"
    fi
}

# PostgreSQL refuses to run as root. Servers of root belong to an unprivileged user and are in a folder that this user can read,
# which a closed home directory is not.
server_user() {
    local user
    for user in postgres nobody; do
        if id -u "$user" >/dev/null 2>&1; then
            echo "$user"
            return
        fi
    done
    need useradd passwd
    useradd --system --no-create-home --shell /usr/sbin/nologin reground
    echo reground
}

if [ "$(id -u)" -eq 0 ]; then
    need setpriv util-linux
    SERVER_USER=$(server_user)
    as_server_user() { setpriv --reuid="$SERVER_USER" --regid="$(id -g "$SERVER_USER")" --init-groups -- "$@"; }
    if as_server_user test -x "$CACHE"; then
        SERVER_HOME=$CACHE/servers
    else
        SERVER_HOME=/var/lib/reground
    fi
else
    SERVER_USER=$(id -un)
    as_server_user() { "$@"; }
    SERVER_HOME=$CACHE/servers
fi
mkdir -p "$SERVER_HOME"
export SERVER_USER SERVER_HOME
