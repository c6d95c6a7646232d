#!/usr/bin/env bash
# Runs reground-worker in the foreground: on the development server, or on the databases of REGROUND_DATABASES.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

programs=$("$ROOT/scripts/build-worker.sh")
if [ -z "${REGROUND_DATABASES:-}" ]; then
    REGROUND_DATABASES=$("$ROOT/scripts/start-server.sh")
    export REGROUND_DATABASES
fi
if [ -z "${REGROUND_MODELS:-}" ] && model=$("$ROOT/scripts/fetch-model.sh"); then
    REGROUND_MODELS=$(dirname "$model")
    export REGROUND_MODELS
fi
export REGROUND_LISTEN=${REGROUND_LISTEN:-127.0.0.1:8085}
say "POST http://$REGROUND_LISTEN/v1/embeddings embeds questions; Ctrl-C stops the worker"
# shellcheck disable=SC2086 # ARGS is several words
exec "$programs/reground-worker" ${ARGS:-}
