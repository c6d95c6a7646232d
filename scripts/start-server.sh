#!/usr/bin/env bash
# Builds and installs the extension, starts the development server, and prints a libpq URI as the last line of standard output.
#
# RECREATE=1 drops the extension and its schema with all data, and creates the extension again.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

pg_config=$("$ROOT/scripts/fetch-postgres.sh")
bin=$("$pg_config" --bindir)
folder=$(development_server_folder "$pg_config")

development_server_start "$pg_config"
maintenance=$(server_uri "$folder" postgres)
uri=$(server_uri "$folder" reground)

query() { "$bin/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$1" --command "$2"; }

if [ -z "$(query "$maintenance" "SELECT 1 FROM pg_database WHERE datname = 'reground'")" ]; then
    query "$maintenance" "CREATE DATABASE reground"
fi
if [ -n "${RECREATE:-}" ]; then
    say "dropping the extension and its schema with all data"
    query "$uri" "DROP EXTENSION IF EXISTS reground CASCADE"
    # Objects that were created in the schema by hand are not dropped with the extension, and would block CREATE EXTENSION.
    query "$uri" "DROP SCHEMA IF EXISTS reground CASCADE"
fi
PGOPTIONS='-c client_min_messages=warning' query "$uri" "CREATE EXTENSION IF NOT EXISTS reground CASCADE"
PGOPTIONS='-c client_min_messages=warning' query "$uri" "ALTER EXTENSION reground UPDATE"

# created-from stores the oid and the version of the extension, and the hash of the SQL of that version.
version=$(query "$uri" "SELECT default_version FROM pg_available_extensions WHERE name = 'reground'")
installed=$(sha256sum <"$("$pg_config" --sharedir)/extension/reground--$version.sql" | cut -d ' ' -f 1)
oid=$(query "$uri" "SELECT oid FROM pg_extension WHERE extname = 'reground'")
read -r known_oid known_version known_sql < <(cat "$folder/created-from" 2>/dev/null) || true
if [ "$oid $version" = "${known_oid:-} ${known_version:-}" ] && [ "$installed" != "$known_sql" ]; then
    say "note: sql/install has changed since the extension was created here: this server still has the old objects."
    say "      To drop them with their data and create the new ones: make server RECREATE=1"
else
    echo "$oid $version $installed" >"$folder/created-from"
fi

say "server log: $folder/log"
say "stop it with: make server-stop"
echo "$uri"
