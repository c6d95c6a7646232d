#!/usr/bin/env bash
# Builds the Debian packages for PostgreSQL 15 and 17, installs each into a new Debian, and runs the SQL regression suite there. Needs root
# and Debian's packages; with PACKAGES=optional, a machine that lacks them skips the test.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/debian.sh
. "$ROOT/scripts/debian.sh"

# missing REASON
missing() {
    [ "${PACKAGES:-}" = optional ] || die "$1"
    say "packages skipped: $1"
    exit
}
reason=$(debian_missing) || missing "$reason"
for suite in bookworm trixie; do
    if ! base=$(debian_system "$suite" "$suite") || ! debian_run "$base" apt-get update --error-on=any >"$CACHE/logs/update-$suite.log" 2>&1; then
        missing "Debian $suite cannot be downloaded"
    fi
done

# The regression suite does not need the speed.
export DEB_BUILD_OPTIONS=noopt
packages=$(mktemp -d "$CACHE/packages.XXXXXX")
system=
trap 'rm -rf "$packages"; [ -z "$system" ] || rm -rf --one-file-system "$system"' EXIT
trap 'exit 130' INT TERM

# pgvector PG: Debian 12 has none, so that of Debian 13 is built for it.
pgvector() {
    local build=$CACHE/debian/bookworm-build
    echo "deb-src http://deb.debian.org/debian trixie main" >"$build/etc/apt/sources.list.d/trixie.list"
    debian_run "$build" sh -euc '
        apt-get update
        mkdir -p /cache/pgvector
        cd /cache/pgvector
        rm -rf ./*
        apt-get source --download-only pgvector
        dpkg-source --extract ./*.dsc source
        make -C source OPTFLAGS= PG_CONFIG="/usr/lib/postgresql/$1/bin/pg_config"
        make -C source install DESTDIR="$PWD/package" PG_CONFIG="/usr/lib/postgresql/$1/bin/pg_config"
        mkdir package/DEBIAN
        printf "%s\n" "Package: postgresql-$1-pgvector" "Version: $(sed -n "s/^default_version = .\(.*\)./\1/p" source/vector.control)" \
            "Architecture: $(dpkg --print-architecture)" "Depends: postgresql-$1" "Maintainer: test" "Description: pgvector" >package/DEBIAN/control
        dpkg-deb --build package .
    ' pgvector "$1"
    cp "$CACHE"/debian/builds-bookworm/pgvector/*.deb "$packages"
}

for each in bookworm:15 trixie:17; do
    suite=${each%:*} pg=${each#*:}
    debian_package "$suite" "$pg" "$packages"
    [ "$suite" != bookworm ] || run_logged "$CACHE/logs/pgvector.log" pgvector "$pg"
    base=$(debian_system "$suite" "$suite")
    system=$(mktemp -d "$CACHE/debian/copy.XXXXXX")
    cp --archive --reflink=auto "$base/." "$system"
    mkdir "$system/packages"
    cp "$packages"/*"postgresql-$pg-"*.deb "$system/packages"
    # The regression driver is in the package of the server's headers.
    run_logged "$CACHE/logs/install-$pg.log" debian_install "$system" "postgresql-server-dev-$pg" procps \
        "$(cd "$system" && echo packages/*reground*.deb | sed 's,^,/,')" $(cd "$system" && ls packages/*pgvector*.deb 2>/dev/null | sed 's,^,/,')
    debian_run "$system" env PG_CONFIG="/usr/lib/postgresql/$pg/bin/pg_config" "$ROOT/scripts/test-installed.sh"
    rm -rf --one-file-system "$system"
    system=
done
