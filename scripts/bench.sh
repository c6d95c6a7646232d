#!/usr/bin/env bash
# bench.sh [OPTION]…: measures the time and the space of a turn on public data (DATA=folder), and writes docs/benchmarks.md.
# Options are passed to reground-bench speed; --help lists them.
#
#   URI=postgresql://…   another server with the extension; the benchmark writes to the schema eval of its database
#   OUT=folder           another folder for the report
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
out=${OUT:-$ROOT/docs}
# A release build, because that is what users install.
uri=${URI:-$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)}

cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" -- speed --uri "$uri" --data "$data" --out "$out" "$@"
