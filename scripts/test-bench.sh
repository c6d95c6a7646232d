#!/usr/bin/env bash
# Formatting, clippy and unit tests of bench/, which is a workspace of its own and no part of make test. The tests cover the floors, the
# readers of the data sets and the arithmetic of the reports. They need no server.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"

# Without the feature tantivy, which takes minutes to compile; make bench-lexical uses it.
cd "$ROOT/bench"
cargo fmt --check
cargo clippy --all-targets -- -D warnings
cargo test
