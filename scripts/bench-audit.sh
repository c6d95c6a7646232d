#!/usr/bin/env bash
# bench-audit.sh [OPTION]…: how long an analyst waits over ten million citations, which it makes first (about 15 GB, some
# minutes), and where public data are given (DATA=folder) what each level of provenance costs. Tables on standard output.
# Options go to reground-bench audit; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# What is measured is what is shipped.
uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" audit)

cd "$ROOT"
cargo run --release --package reground-bench -- audit --uri "$uri" "$@"
if [ -n "${DATA:-}" ]; then
    data=$(data_folder)
    uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" provenance)
    cargo run --release --package reground-bench -- provenance --uri "$uri" --data "$data" --rounds 150
fi
