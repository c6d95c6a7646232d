#!/usr/bin/env bash
# bench-visible-rows.sh: measures searches whose callers see a part of the rows, beside plain SQL over the same indexes, and writes
# docs/benchmarks-visible-rows.md.
#
#   URI=postgresql://…   another server with the extension; the benchmark replaces its schema visible_rows
#   OUT=file             another file for the report
#   ROWS=100000          rows of the table
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

out=${OUT:-$ROOT/docs/benchmarks-visible-rows.md}
# A release build, because that is what users install.
uri=${URI:-$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)}

psql=$(dirname "$("$ROOT/scripts/fetch-postgres.sh")")/psql
report=$("$psql" -Xq -v rows="${ROWS:-100000}" -f "$ROOT/bench/visible_rows.sql" "$uri")
echo "$report" >"$out"
say "written: $out"
