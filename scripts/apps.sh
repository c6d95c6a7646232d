# shellcheck shell=bash
# Functions that install the packages of pgrx-tests/apps/drivers, for the tests of the programs in the guide. Sourced after env.sh.
#
#   APPS=optional    skip what cannot be installed, with a message

apps=$ROOT/pgrx-tests/apps/drivers
venv=$CACHE/drivers-python
node_folder=$CACHE/drivers-node

# unavailable WHAT HINT...: fails, or with APPS=optional reports what is skipped.
unavailable() {
    [ "${APPS:-}" = optional ] || die "$1" "${@:2}" "APPS=optional skips it"
    say "$1: skipped"
}

# have_python LOGS WHAT: makes the environment $venv.
have_python() {
    command -v python3 >/dev/null || { unavailable "python3 is not installed: $2" "On Debian or Ubuntu: apt-get install python3-venv"; return 1; }
    cmp -s "$apps/requirements.txt" "$venv/requirements.txt" && return
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --require-hashes --only-binary :all: --requirement "$apps/requirements.txt"; } >"$1/python.log" 2>&1; then
        unavailable "the packages of ${apps#"$ROOT"/}/requirements.txt cannot be installed: $2" "Full log: $1/python.log"
        return 1
    fi
    cp "$apps/requirements.txt" "$venv/"
}

# have_node LOGS WHAT: fills $node_folder/node_modules.
have_node() {
    local tool
    for tool in node npm; do
        command -v "$tool" >/dev/null || { unavailable "$tool is not installed: $2" "On Debian or Ubuntu: apt-get install nodejs npm"; return 1; }
    done
    cmp -s "$apps/package-lock.json" "$node_folder/installed.json" && return
    rm -rf "$node_folder"
    mkdir -p "$node_folder"
    cp "$apps/package.json" "$apps/package-lock.json" "$node_folder/"
    if ! (cd "$node_folder" && npm ci --ignore-scripts --no-audit --no-fund) >"$1/node.log" 2>&1; then
        unavailable "the packages of ${apps#"$ROOT"/}/package-lock.json cannot be installed: $2" "Full log: $1/node.log"
        return 1
    fi
    cp "$apps/package-lock.json" "$node_folder/installed.json"
}
