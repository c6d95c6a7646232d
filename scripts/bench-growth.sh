#!/usr/bin/env bash
# bench-growth.sh [OPTION]…: measures turns late in a conversation and in a database with many conversations, on public data
# (DATA=folder). Tables on standard output. Options are passed to reground-bench growth; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
# A release build, because that is what users install.
few=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" growth_few)
many=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" growth_many)

cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" -- growth --uri "$few" --many "$many" --data "$data" "$@"
