#!/usr/bin/env bash
# Stops the development server; its data remain.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

pg_config=$("$ROOT/scripts/fetch-postgres.sh")
server_stop "$(development_server_folder "$pg_config")" "$("$pg_config" --bindir)"
