#!/usr/bin/env bash
# bench-lexical.sh [OPTION]…: compares indexes for ranked full-text search on passages made of public text (DATA=folder), and writes
# docs/benchmarks-lexical.md. Options are passed to reground-bench lexical; --help lists them.
#
#   URI=postgresql://…   another server with the extension, and optionally pg_textsearch; the benchmark replaces its schema lexical
#   OUT=file             another file for the report
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
out=${OUT:-$ROOT/docs/benchmarks-lexical.md}
# A release build, because that is what users install.
uri=${URI:-$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)}

cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" --features tantivy -- lexical --uri "$uri" --data "$data" --out "$out" "$@"
