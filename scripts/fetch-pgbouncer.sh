#!/usr/bin/env bash
# fetch-pgbouncer.sh: prints the paths of the pgbouncers to test with, one per line. PGBOUNCER=PATH selects one. Otherwise it is the
# installed one or that of the distribution. If that is older than 1.21 (the first version with prepared statements in transaction
# mode) on Debian, one built from the sources of the next release is added. Everything is downloaded with apt, which verifies
# signatures, into the folder of the servers, because it runs as their user. Nothing is installed and root is not needed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# The Debian release whose sources are built.
NEXT=trixie
folder=$SERVER_HOME/pgbouncer
log=$CACHE/logs/pgbouncer.log
mkdir -p "$folder" "$(dirname "$log")"

# version PATH: prints major and minor version, or nothing if the servers' user cannot run it.
version() { (cd / && as_server_user "$1" --version 2>/dev/null) | sed -n 's/^PgBouncer \([0-9]*\.[0-9]*\).*/\1/p'; }

# at_least VERSION WANTED
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort --version-sort | head -n 1)" = "$2" ]; }

# in_private_apt COMMAND...: apt-get with lists and packages in our folder and the machine's list of installed packages. SOURCES
# replaces the machine's sources.
in_private_apt() {
    local lists=$folder/apt/${SOURCES:+next-}lists
    mkdir -p "$lists/partial" "$folder/apt/archives/partial"
    apt-get -qq -o Dir::State::Lists="$lists" -o Dir::Cache="$folder/apt" -o Dir::Cache::Archives="$folder/apt/archives" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User= ${SOURCES:+-o Dir::Etc::SourceList="$SOURCES" -o Dir::Etc::SourceParts=/dev/null} "$@"
}

# package and from_sources run their pgbouncer at the end, to check it.
# package: the distribution's pgbouncer, unpacked with the libraries that are not installed.
package() {
    in_private_apt update
    in_private_apt --download-only --no-install-recommends install pgbouncer
    rm -rf "$folder/package"
    mkdir -p "$folder/package"
    local archive
    for archive in "$folder"/apt/archives/*.deb; do dpkg-deb --extract "$archive" "$folder/package"; done
    cat >"$folder/package/pgbouncer" <<'RUN'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$(cd "$here" && find "$here/usr/lib" "$here/lib" -name '*.so.*' -exec dirname {} + 2>/dev/null | sort -u | paste -sd :) exec "$here/usr/sbin/pgbouncer" "$@"
RUN
    chmod +x "$folder/package/pgbouncer"
    "$folder/package/pgbouncer" --version
}

# from_sources: pgbouncer of the next release, built without TLS against the libevent of this release.
from_sources() {
    local mirror built=$folder/built
    # Use the mirror that this machine is configured with.
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Origin: Debian" "Component: main" | head -n 1)
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $NEXT main" >"$folder/next.list"
    SOURCES=$folder/next.list in_private_apt update
    rm -rf "$built" "$folder/sources"
    mkdir -p "$built" "$folder/sources"
    (cd "$folder/sources" && SOURCES=$folder/next.list in_private_apt --download-only source "pgbouncer/$NEXT" && in_private_apt download libevent-dev)
    dpkg-deb --extract "$folder"/sources/libevent-dev_*.deb "$folder/sources/libevent"
    tar --extract --no-same-owner --file "$folder"/sources/pgbouncer_*.orig.tar.gz --directory "$built" --strip-components 1
    local libraries
    libraries=$(dirname "$(find "$folder/sources/libevent" -name libevent.a)")
    (cd "$built" && ./configure --without-openssl --without-cares LIBEVENT_CFLAGS="-I$folder/sources/libevent/usr/include" \
        LIBEVENT_LIBS="$libraries/libevent.a $libraries/libevent_pthreads.a" && make pgbouncer)
    "$built/pgbouncer" --version
}

if [ -n "${PGBOUNCER:-}" ]; then
    found=$(realpath "$PGBOUNCER")
    [ -n "$(version "$found")" ] || die "PGBOUNCER=$PGBOUNCER is no pgbouncer that $SERVER_USER can run"
    echo "$found"
    exit 0
fi
if ! found=$(command -v pgbouncer); then
    found=$folder/package/pgbouncer
    if [ -z "$(version "$found")" ]; then
        command -v apt-get >/dev/null || die "pgbouncer is not installed" "PGBOUNCER=PATH names one"
        say "downloading pgbouncer"
        package >"$log" 2>&1 || die "pgbouncer cannot be downloaded" "Install it, or name one with PGBOUNCER=PATH" "Full log: $log"
    fi
fi
echo "$found"
if ! at_least "$(version "$found")" 1.21; then
    built=$folder/built/pgbouncer
    if [ -z "$(version "$built")" ]; then
        say "building a newer pgbouncer"
        if ! from_sources >"$log.next" 2>&1; then
            say "pgbouncer 1.21 or later cannot be built (log: $log.next); PGBOUNCER=PATH names one"
            exit 0
        fi
    fi
    echo "$built"
fi
