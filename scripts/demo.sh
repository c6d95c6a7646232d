#!/usr/bin/env bash
# Ingests a folder of .md and .txt files, holds a conversation and audits its citations. A worker computes the embeddings.
# DOCS=folder uses other documents than the project's own manual. With REGROUND_LLM_URL, REGROUND_LLM_MODEL and
# REGROUND_LLM_KEY, a language model writes the answers.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

docs=${DOCS:-$ROOT/docs}
[ -d "$docs" ] || die "DOCS=$docs is not a folder"
docs=$(cd "$docs" && pwd)
uri=$("$ROOT/scripts/fresh-database.sh" demo)
programs=$("$ROOT/scripts/build-worker.sh" reground-demo)
arguments=(--uri "$uri" --docs "$docs")

# start_worker MODELS: starts a worker with the rights of reground_worker only, and sets `worker` and `address`.
start_worker() {
    local port=28500 log=$CACHE/logs/demo-worker.log pg_config
    pg_config=$("$ROOT/scripts/fetch-postgres.sh")
    "$("$pg_config" --bindir)/psql" -Xq --dbname "$uri" --command "DO \$\$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'demo_worker') THEN CREATE ROLE demo_worker LOGIN IN ROLE reground_worker; END IF; END \$\$"
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
    address=http://127.0.0.1:$port
    mkdir -p "$CACHE/logs"
    env -u REGROUND_CONFIG REGROUND_DATABASES="${uri/\/\/postgres@///demo_worker@}" REGROUND_MODELS="$1" REGROUND_LISTEN="127.0.0.1:$port" \
        "$programs/reground-worker" >"$log" 2>&1 &
    worker=$!
    trap 'kill "$worker" 2>/dev/null || true' EXIT
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        kill -0 "$worker" 2>/dev/null || { tail -n 5 "$log" >&2; die "the worker does not start" "Full log: $log"; }
        sleep 0.1
    done
}

if model=$("$ROOT/scripts/fetch-model.sh"); then
    start_worker "$(dirname "$model")"
    arguments+=(--worker "$address")
else
    say "the embedding model cannot be downloaded: the demo uses lexical search only"
fi
"$programs/reground-demo" "${arguments[@]}"
