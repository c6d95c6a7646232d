#!/usr/bin/env bash
# Runs the SQL regression suite on a temporary server with the extension that is installed in PG_CONFIG.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
# shellcheck source=scripts/suites.sh
. "$ROOT/scripts/suites.sh"

PG_CONFIG=$("$ROOT/scripts/fetch-postgres.sh")
programs=$("$PG_CONFIG" --bindir)
server=$(mktemp -d "$SERVER_HOME/installed.XXXXXX")
trap 'server_stop "$server" "$programs"; rm -rf "$server"' EXIT
trap 'exit 130' INT TERM
server_create "$server" "$programs" "fsync = off" "autovacuum = off" "max_connections = 200" "log_min_messages = warning"
server_start "$server" "$programs"
vector=$("$programs/psql" --no-psqlrc --tuples-only --no-align --dbname "$(server_uri "$server" postgres)" \
    --command "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
say "the SQL regression suite on $("$PG_CONFIG" --version) with pgvector $vector"
suite regress regress/pg_regress "$server" "$CACHE/logs/installed"
