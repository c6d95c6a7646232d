#!/bin/sh
# build-in-debian.sh PG FOLDER: installs what a build for PostgreSQL PG needs, and builds its Debian package into FOLDER. Runs as root in an
# image or a folder with Debian.
set -eu
pg=$1
folder=$2
source=$(cd "$(dirname "$0")/.." && pwd)

export DEBIAN_FRONTEND=noninteractive
"$source/packaging/postgres-repository.sh" "$pg"
apt-get install --yes --no-install-recommends build-essential debhelper libclang-dev lintian python3 "postgresql-server-dev-$pg"

# The rustc of Debian is too old. Debian 13 has rustup; on Debian 12, install it before.
if ! command -v cargo >/dev/null; then
    apt-get install --yes --no-install-recommends rustup
    rustup default "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$source/Cargo.toml")"
fi

mkdir -p "$folder"
PG_CONFIG=/usr/lib/postgresql/$pg/bin/pg_config "$source/scripts/build-deb.sh" "$folder"
lintian --fail-on error,warning --display-info --suppress-tags-from-file "$source/packaging/lintian-ignored" "$folder"/*.changes
