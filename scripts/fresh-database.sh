#!/usr/bin/env bash
# fresh-database.sh NAME: starts the development server and prints the URI of its database NAME. The database is created again when
# the extension has changed, so that indexes of an older build are not measured. Otherwise its content is kept.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

name=$1
pg_config=$("$ROOT/scripts/fetch-postgres.sh")
development_server_start "$pg_config" >&2
folder=$(development_server_folder "$pg_config")
server=$(server_uri "$folder" postgres)
uri=$(server_uri "$folder" "$name")
psql=$("$pg_config" --bindir)/psql
query() { PGOPTIONS='-c client_min_messages=warning' "$psql" -XqAt --set ON_ERROR_STOP=1 --dbname "$1" "${@:2}"; }

version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")
extension=$(cat "$("$pg_config" --pkglibdir)/reground.so" "$("$pg_config" --sharedir)/extension/reground--$version.sql" |
    sha256sum | cut -d ' ' -f 1)
made_with=$(query "$server" --command \
    "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '$name'")
if [ "$made_with" != "$extension" ]; then
    query "$server" --command "DROP DATABASE IF EXISTS $name WITH (FORCE)" --command "CREATE DATABASE $name"
    query "$uri" --command "CREATE EXTENSION reground CASCADE" --command "COMMENT ON DATABASE $name IS '$extension'"
fi
echo "$uri"
