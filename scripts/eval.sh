#!/usr/bin/env bash
# eval.sh [OPTION]…: evaluates retrieval and whole turns on public data sets, DATA=folder. Tables on standard output,
# progress on stderr. Options go to reground-bench; --check fails where a figure is below bench/floors.json, --sample
# takes a fixed quarter of the conversations, --help lists the others.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)

uri=$("$ROOT/scripts/fresh-database.sh" evaluation)
cd "$ROOT"
cargo run --package reground-bench -- eval --uri "$uri" --data "$data" --floors "$ROOT/bench/floors.json" "$@"
