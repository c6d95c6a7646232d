#!/bin/sh
# Builds the extension from the folder above this script and installs it into Debian's PostgreSQL 17; with the argument `worker`,
# builds the worker and installs it into /usr/local/bin. Runs as root in an image or a chroot of Debian 13.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends \
    ca-certificates postgresql-17 postgresql-17-pgvector postgresql-server-dev-17 libclang-dev gcc libc6-dev make

# The rustc of Debian 13 is too old.
if ! command -v cargo >/dev/null; then
    apt-get install --yes --no-install-recommends rustup
    RUSTUP_TOOLCHAIN=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$source/Cargo.toml")
    export RUSTUP_TOOLCHAIN
    rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal
fi

case ${1:-server} in
    server) make -C "$source" install PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config PROFILE=release ;;
    worker) install "$("$source/scripts/build-worker.sh")/reground-worker" /usr/local/bin/ ;;
esac
