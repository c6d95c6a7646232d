#!/usr/bin/env bash
# bench-alerts.sh [OPTION]…: simulates months of answers and checks the built-in alert rules on them. Tables on standard output. Needs no
# server and no data. Options are passed to reground-bench alerts; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" -- alerts "$@"
