#!/usr/bin/env bash
# bench-audit.sh [OPTION]…: how long an analyst waits over ten million citations, which it makes first (about 15 GB, some
# minutes). A table on standard output. Options go to reground-bench; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# What is measured is what is shipped.
uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" audit)

cd "$ROOT"
cargo run --release --package reground-bench -- audit --uri "$uri" "$@"
