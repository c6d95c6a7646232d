#!/usr/bin/env bash
# Builds the extension for one server and prints the path of the library.
# PROFILE=release builds with full optimisation (default: dev).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"

profile=${PROFILE:-dev}
say "building the extension for PostgreSQL $PG_MAJOR (the first build takes some minutes)"
cd "$ROOT"
# shellcheck disable=SC2086 # PG_FEATURES is several words
cargo build --package reground --lib --profile "$profile" $PG_FEATURES >&2

case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
# All major versions share one target folder, so the library of each is copied.
library=$CACHE/lib/reground-pg$PG_MAJOR-$folder.so
mkdir -p "$CACHE/lib"
cmp -s "$CARGO_TARGET_DIR/$folder/libreground.so" "$library" ||
    install -m 755 "$CARGO_TARGET_DIR/$folder/libreground.so" "$library"
echo "$library"
