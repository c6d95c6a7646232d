#!/usr/bin/env bash
# bench-lexical.sh [OPTION]…: ranked full-text search, index beside index, on passages made of public text (DATA=folder), into
# docs/benchmarks-lexical.md. Options go to reground-bench; --help lists them.
#
#   URI=postgresql://…   another server, which has the extension and whatever it is compared with; gets a schema lexical
#   OUT=file             where the report goes instead
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
out=${OUT:-$ROOT/docs/benchmarks-lexical.md}

if [ -n "${URI:-}" ]; then
    uri=$URI
else
    # What is measured is what is shipped.
    uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)
fi

cd "$ROOT"
cargo run --release --package reground-bench --features tantivy -- lexical --uri "$uri" --data "$data" --out "$out" "$@"
