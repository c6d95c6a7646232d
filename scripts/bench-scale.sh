#!/usr/bin/env bash
# bench-scale.sh: measures full-text search over ten million passages and hybrid search over a million (DATA=folder), and writes
# docs/benchmarks-scale.md. Takes about half an hour and 30 GB.
#
#   URI=postgresql://…   another server with the extension, and optionally pg_textsearch; the benchmark replaces its schema lexical
#   OUT=file             another file for the report
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
out=${OUT:-$ROOT/docs/benchmarks-scale.md}
# A release build, because that is what users install.
uri=${URI:-$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)}

bench() {
    cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" -- "$@" --uri "$uri" --data "$data" | sed 's/^#/##/'
}
report=$(mktemp)
trap 'rm -f "$report"' EXIT
{
    printf '# Ten million passages, and a million vectors\n\n'
    bench lexical --passages 10000000 --queries 20 --searches-only
    bench scale
} >"$report"
install -m 644 "$report" "$out"
