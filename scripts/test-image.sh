#!/usr/bin/env bash
# Runs the steps of docker/Dockerfile in folders with Debian 13, without Docker, starts the server as a container does, and calls it.
# Needs root. PG=17 tests another version than the default; WORKER=1 builds the image of the worker too.
set -euo pipefail
pg=${PG:-18}
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/debian.sh
. "$ROOT/scripts/debian.sh"
need pgrep procps

base=$(debian_system trixie trixie)
fetch_crates
stages=$(mktemp -d "$CACHE/debian/image.XXXXXX")
container=
trap '[ -z "$container" ] || kill -9 "$container" 2>/dev/null; rm -rf --one-file-system "$stages"' EXIT
trap 'exit 130' INT TERM

# Where the repository of the PostgreSQL project cannot be reached, the next Debian stands in for it.
if [ "$pg" != 17 ] && ! timeout 20 bash -c ': </dev/tcp/apt.postgresql.org/443' 2>/dev/null; then
    say "PostgreSQL $pg comes from the next Debian"
    cp --archive "$base" "$stages/base"
    base=$stages/base
    echo "deb [check-valid-until=no] http://deb.debian.org/debian forky main" >"$base/etc/apt/sources.list.d/next.list"
fi

say "the steps of the server's image"
log=$CACHE/logs/image-$pg.log
settings=$("$ROOT/scripts/dockerfile.py" "$ROOT/docker/Dockerfile" server "$base" "$stages" "PG=$pg" 2>"$log") || { tail -n 40 "$log" >&2; die "a step fails" "$log"; }
eval "$settings"

port=28800
while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
# start VARIABLE...: starts the container.
start() {
    debian_run "$image" setpriv --reuid="$user" --regid="$user" --init-groups -- env "${environment[@]}" "$@" "${entrypoint[@]}" -c "port=$port" >>"$log" 2>&1 &
    container=$(child $! unshare)
}
# child PROCESS [NAME]: its child, once it exists.
child() {
    local _
    for _ in $(seq 100); do
        if pgrep --parent "$1" "${2:-}"; then return; fi
        sleep 0.1
    done
    die "process $1 has no child" "$log"
}
query() { debian_run "$image" env PGPASSWORD="$2" psql --no-psqlrc --tuples-only --no-align --set ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U "$1" -d reground "${@:3}"; }
answers() {
    for _ in $(seq 60); do
        if query postgres secret --command "SELECT" >/dev/null 2>&1; then return; fi
        kill -0 "$container" || break
        sleep 1
    done
    tail -n 40 "$log" >&2
    die "the server does not answer" "$log"
}

start POSTGRES_PASSWORD=secret DASHBOARD_PASSWORD=other
answers
[ "$(query postgres secret --command "SHOW data_checksums")" = on ] || die "the data have no checksums"
[[ $(query postgres secret --command "SHOW server_version") == "$pg"* ]] || die "another version than $pg"
query postgres secret --command "SELECT reground.create_corpus('tea')" \
    --command "SELECT reground.put_document('tea', 'assam', content => 'Assam is a black tea.')" >/dev/null
found=$(query postgres secret --command "SELECT doc_id FROM reground.search('tea', 'black tea')")
[ "$found" = assam ] || die "the search finds $found"
[ "$(query dashboard other --command "SELECT count(*) FROM reground.citation_audit")" = 0 ] || die "the dashboard does not read the audit"

say "a second start, without passwords"
kill -INT "$(child "$container")"
while kill -0 "$container" 2>/dev/null; do sleep 0.1; done
start
answers
[ "$(query postgres secret --command "SELECT corpus FROM reground.corpora")" = tea ] || die "the data are lost"

if [ -n "${WORKER:-}" ]; then
    say "the steps of the worker's image"
    settings=$("$ROOT/scripts/dockerfile.py" "$ROOT/docker/Dockerfile" worker "$base" "$stages" "PG=$pg" 2>>"$log") || { tail -n 40 "$log" >&2; die "a step fails" "$log"; }
    eval "$settings"
    debian_run "$image" setpriv --reuid="$user" -- env "${environment[@]}" "${entrypoint[@]}" --help >>"$log"
fi
say "the images work with PostgreSQL $pg (the log of their steps: $log)"
