#!/usr/bin/env bash
# Checks formatting, and runs clippy on every package; a warning is an error.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"

cd "$ROOT"
cargo fmt --all --check
packages=(--workspace --exclude reground)
# candle takes minutes to compile: check its users only if the demo has already built it.
if ! compgen -G "$CARGO_TARGET_DIR/*/deps/libcandle_core-*" >/dev/null; then
    packages+=(--exclude reground-encoders --exclude reground-demo --exclude reground-worker)
    say "note: encoders, demo and worker are skipped until make demo has compiled candle"
fi
cargo clippy "${packages[@]}" --all-targets -- -D warnings
# shellcheck disable=SC2086 # PG_FEATURES is several words
cargo clippy --package reground --all-targets $PG_FEATURES -- -D warnings
