#!/usr/bin/env bash
# fetch-pgbouncer.sh: prints the paths of the pgbouncers to test with, one a line: that of PGBOUNCER=PATH; else the one that is
# installed or that the distribution has, and where that one is older than 1.21 (which brought prepared statements in
# transaction mode) and the distribution is Debian, one built from the sources of the next release. Everything comes through
# apt, which checks the signatures, and is kept beside the servers, for it runs as their user: nothing is installed, and root is not
# needed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# The release of Debian whose sources are built, and what must be there to build them.
NEXT=trixie
folder=$SERVER_HOME/pgbouncer
log=$CACHE/logs/pgbouncer.log
mkdir -p "$folder" "$(dirname "$log")"

# version PATH: major and minor; nothing where it does not run for those who will run it.
version() { (cd / && as_server_user "$1" --version 2>/dev/null) | sed -n 's/^PgBouncer \([0-9]*\.[0-9]*\).*/\1/p'; }

# at_least VERSION WANTED
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort --version-sort | head -n 1)" = "$2" ]; }

# in_private_apt COMMAND...: apt-get with lists and packages in a folder of ours; what is installed is the machine's. SOURCES replaces the
# machine's sources.
in_private_apt() {
    local lists=$folder/apt/${SOURCES:+next-}lists
    mkdir -p "$lists/partial" "$folder/apt/archives/partial"
    apt-get -qq -o Dir::State::Lists="$lists" -o Dir::Cache="$folder/apt" -o Dir::Cache::Archives="$folder/apt/archives" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User= ${SOURCES:+-o Dir::Etc::SourceList="$SOURCES" -o Dir::Etc::SourceParts=/dev/null} "$@"
}

# Both end by running what they made, which says whether all before went well.
# package: pgbouncer as the distribution has it, unpacked with the libraries that are not installed here.
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

# from_sources: pgbouncer of the next release, built without TLS against the libevent of this one.
from_sources() {
    local mirror built=$folder/built
    # The address of the mirror is the machine's affair.
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
