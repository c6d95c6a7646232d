#!/usr/bin/env bash
# install-extension.sh LIBRARY: installs the library, the control file and the SQL into the server of PG_CONFIG, or into the
# embedded server of major version PG, below the folder DESTDIR if it is set. The SQL contains the scripts of all releases, the current version, and the updates between them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

library=$1
pg_config=$("$ROOT/scripts/fetch-postgres.sh")
libraries=${DESTDIR:-}$("$pg_config" --pkglibdir)
extensions=${DESTDIR:-}$("$pg_config" --sharedir)/extension
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")

[ -z "${DESTDIR:-}" ] || mkdir -p "$libraries" "$extensions"
for folder in "$libraries" "$extensions"; do
    [ -w "$folder" ] || die "no permission to write into $folder" \
        "Run as the owner of that server's files: sudo make install PG_CONFIG=$pg_config"
done
(cd "$ROOT/sql/releases" && sha256sum reground--*.sql | sort --key 2 --version-sort | diff - SHA256SUMS >&2) ||
    die "a script in sql/releases has changed" "Released scripts never change. Write an update in sql/updates."

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
"$ROOT/scripts/install-script.sh" >"$script"
released=$ROOT/sql/releases/reground--$version.sql
if [ -f "$released" ]; then
    cmp -s "$released" "$script" || die "sql/install differs from the release $version" "Raise the version in Cargo.toml and reground.control."
fi

place 755 "$library" "$libraries/reground.so"
place 644 "$ROOT/reground.control" "$extensions/reground.control"
place 644 "$script" "$extensions/reground--$version.sql"
for other in "$ROOT"/sql/releases/reground--*.sql "$ROOT"/sql/updates/reground--*--*.sql; do
    place 644 "$other" "$extensions/$(basename "$other")"
done
say "installed reground $version into $("$pg_config" --version), $extensions"
