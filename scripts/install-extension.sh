#!/usr/bin/env bash
# install-extension.sh LIBRARY: installs the library, the control file and the SQL into the server of PG_CONFIG, or into the
# embedded server of major version PG.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

library=$1
pg_config=$("$ROOT/scripts/fetch-postgres.sh")
libraries=$("$pg_config" --pkglibdir)
extensions=$("$pg_config" --sharedir)/extension
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")

for folder in "$libraries" "$extensions"; do
    [ -w "$folder" ] || die "no permission to write into $folder" \
        "Run as the owner of that server's files: sudo make install PG_CONFIG=$pg_config"
done
compgen -G "$ROOT/sql/install/*.sql" >/dev/null || die "there is no SQL in sql/install"

# place MODE FILE TARGET: writes a temporary file and renames it, so that a backend keeps the old file that it has mapped.
place() {
    local aside
    if ! cmp -s "$2" "$3"; then
        aside=$(mktemp "$3.XXXXXX")
        install -m "$1" "$2" "$aside"
        mv -f "$aside" "$3"
    fi
}

script=$(mktemp)
trap 'rm -f "$script"' EXIT
{
    printf '%s\n\n' '\echo Use "CREATE EXTENSION reground CASCADE" to load this file. \quit'
    # The numbers in the file names define the order.
    cat "$ROOT"/sql/install/*.sql
} >"$script"

place 755 "$library" "$libraries/reground.so"
place 644 "$ROOT/reground.control" "$extensions/reground.control"
place 644 "$script" "$extensions/reground--$version.sql"
for upgrade in "$ROOT"/sql/reground--*--*.sql; do
    [ ! -f "$upgrade" ] || place 644 "$upgrade" "$extensions/$(basename "$upgrade")"
done
say "installed reground $version into $("$pg_config" --version), $extensions"
