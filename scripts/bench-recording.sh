#!/usr/bin/env bash
# bench-recording.sh [OPTION]…: measures how many answers of other systems are checked and recorded per second (DATA=folder). Tables on
# standard output. Options are passed to reground-bench recording; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
# A release build, because that is what users install.
uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" recording)

cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" -- recording --uri "$uri" --data "$data" "$@"
