# shellcheck shell=bash
# Where things live, and how the scripts talk. Sourced, never run.
#
# Set by the caller, all optional:
#   REGROUND_CACHE  what is downloaded and built        (default: ~/.cache/reground)
#   PG              major of the embedded server        (default: 18; 16 is the other)
#   PG_CONFIG       pg_config of another installation, used in place of the embedded one
#
# Sets: ROOT CACHE SERVER_HOME SERVER_USER CARGO_TARGET_DIR

export ROOT
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${REGROUND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reground}
mkdir -p "$CACHE"
CACHE=$(cd "$CACHE" && pwd)
export CARGO_TARGET_DIR=$CACHE/target

# Standard output belongs to results (a URI, a path); everything a person reads while waiting is on stderr.
say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [WHAT TO DO]...
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

# The folder of the public data sets, which DATA or EVAL_DATA names.
data_folder() {
    local data=${DATA:-${EVAL_DATA:-}}
    [ -n "$data" ] || die "no data given" "DATA=/path/to/data names the folder"
    [ -d "$data" ] || die "DATA=$data is not a folder"
    (cd "$data" && pwd)
}

# run_logged LOG COMMAND...: quiet while it works, the end of its log when it does not.
run_logged() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        die "failed: $*" "Full log: $log"
    fi
}

# PostgreSQL refuses to run as root. Root's servers belong to an unprivileged user and live where that user can
# read; a closed home directory is not such a place.
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
