#!/usr/bin/env bash
# Builds reground-worker, and the packages named as arguments with it, and prints the folder of the programs.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

say "building the worker (the first build takes some minutes)"
cd "$ROOT"
packages=()
for package in "$@"; do packages+=(--package "$package"); done
# Faster builds: link-time optimisation over the libraries of the local models takes minutes per link, and candle-transformers
# contains a hundred models, of which few are used; its hot loops are in other packages.
export CARGO_PROFILE_RELEASE_LTO=off
cargo build --release --package reground-worker "${packages[@]}" --config profile.release.package.candle-transformers.opt-level=0 >&2
echo "$CARGO_TARGET_DIR/release"
