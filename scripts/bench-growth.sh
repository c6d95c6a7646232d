#!/usr/bin/env bash
# bench-growth.sh [OPTION]…: whether a turn costs more late in a conversation or in a full database, on public data
# (DATA=folder). Tables on standard output. Options go to reground-bench; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
# What is measured is what is shipped.
few=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" growth_few)
many=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" growth_many)

cd "$ROOT"
cargo run --release --package reground-bench -- growth --uri "$few" --many "$many" --data "$data" "$@"
