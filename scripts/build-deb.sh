#!/usr/bin/env bash
# build-deb.sh FOLDER: builds the Debian package of the extension for the PostgreSQL of PG_CONFIG, on a Debian with the packages of
# Build-Depends in packaging/debian/control.in, and moves it to FOLDER. MAINTAINER="Name <address>" names who builds it.
# DEB_BUILD_OPTIONS=noopt builds a library without optimisation, in a third of the time.
set -euo pipefail
folder=$(cd "$1" && pwd)
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
need dpkg-buildpackage dpkg-dev debhelper
export ROOT PROFILE=release LIBRARY
case " ${DEB_BUILD_OPTIONS:-} " in *" noopt "*)
    PROFILE=dev
    export CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=0
    ;;
esac
LIBRARY=$("$ROOT/scripts/build-extension.sh")
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"

version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/reground.control")
maintainer=${MAINTAINER:-reground contributors <contributors@reground.invalid>}
work=$(mktemp -d "$CACHE/deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
source=$work/reground-$version
mkdir "$source"
cp -r "$ROOT/packaging/debian" "$source/debian"
cd "$source"
sed "s/@PG@/$PG_MAJOR/g; s/@MAINTAINER@/$(printf '%s' "$maintainer" | sed 's,[/&\\],\\&,g')/" debian/control.in >debian/control
rm debian/control.in
# The same sources give the same date.
date=$(date --rfc-email --utc --date="@${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || stat --format=%Y "$ROOT/CHANGELOG.md")}")
printf '%s\n' "reground ($version-1) unstable; urgency=medium" "" "  * Changes: CHANGELOG.md." "" " -- $maintainer  $date" >debian/changelog

run_logged "$CACHE/logs/deb.log" dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes --no-pre-clean
mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$folder"
say "built $(cd "$folder" && ls -- *"postgresql-$PG_MAJOR-reground_"*.deb)"
