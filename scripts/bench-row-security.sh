#!/usr/bin/env bash
# bench-row-security.sh: measures searches of a table under row-level security beside plain SQL over the same indexes. A table in
# Markdown on standard output.
#
#   URI=postgresql://…   another server with the extension; the benchmark replaces its schema row_security
#   ROWS=100000          rows of the table
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# A release build, because that is what users install.
uri=${URI:-$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)}

"$(dirname "$("$ROOT/scripts/fetch-postgres.sh")")/psql" -Xq -v rows="${ROWS:-100000}" -f "$ROOT/bench/row_security.sql" "$uri"
