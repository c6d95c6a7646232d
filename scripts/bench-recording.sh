#!/usr/bin/env bash
# bench-recording.sh [OPTION]…: how many answers of other systems are judged, and recorded, in a second (DATA=folder). Tables on
# standard output. Options go to reground-bench recording; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
# What is measured is what is shipped.
uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" recording)

cd "$ROOT"
cargo run --release --package reground-bench -- recording --uri "$uri" --data "$data" "$@"
