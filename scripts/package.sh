#!/usr/bin/env bash
# Makes the packages of this commit in the cache and prints their folder: a tarball, the archive for PGXN, and Debian packages. Each of
# DEBS="SUITE:PG ..." is built in a Debian of its own, as root. With PG_CONFIG: one Debian package, for that PostgreSQL of this machine.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/debian.sh
. "$ROOT/scripts/debian.sh"

packages=$CACHE/packages
rm -rf "$packages"
mkdir -p "$packages"
if [ -n "${PG_CONFIG:-}" ]; then
    "$ROOT/scripts/build-deb.sh" "$packages"
else
    version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")
    grep -q "^    \"version\": \"$version\"" "$ROOT/META.json" || die "META.json has another version than reground.control"
    for format in tar.gz zip; do
        git -C "$ROOT" archive --prefix="reground-$version/" --format="$format" --output="$packages/reground-$version.$format" HEAD
    done
    for each in ${DEBS:-bookworm:15 trixie:17}; do
        debian_package "${each%:*}" "${each#*:}" "$packages"
    done
fi
find "$packages" \( -name '*.deb' -o -name '*.tar.gz' -o -name '*.zip' \) -printf '%10s  %f\n' | sort --key 2 >&2
echo "$packages"
