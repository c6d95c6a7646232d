#!/usr/bin/env bash
# bench.sh [OPTION]…: what a turn costs, on public data (DATA=folder), into docs/benchmarks.md and .svg. Options go to
# reground-bench; --help lists them.
#
#   URI=postgresql://…   another server, which has the extension; its database gets a schema eval
#   OUT=folder           where the report goes instead
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
out=${OUT:-$ROOT/docs}

if [ -n "${URI:-}" ]; then
    uri=$URI
else
    # What is measured is what is shipped.
    uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" benchmarks)
fi

# The competitor in Python needs packages; where there is no Python, the rest is measured all the same.
venv=$CACHE/bench-python
requirements=$ROOT/bench/python/requirements.txt
competitor=()
if ! command -v python3 >/dev/null; then
    say "no python3: the Python competitor is left out"
else
    if ! cmp -s "$requirements" "$venv/requirements.txt"; then
        rm -rf "$venv"
        run_logged "$CACHE/logs/bench-python.log" python3 -m venv "$venv"
        run_logged "$CACHE/logs/bench-python.log" "$venv/bin/pip" install --quiet --requirement "$requirements"
        cp "$requirements" "$venv/requirements.txt"
    fi
    competitor=(--python "$venv/bin/python")
fi

cd "$ROOT"
cargo run --release --package reground-bench -- speed --uri "$uri" --data "$data" --out "$out" \
    ${competitor[@]+"${competitor[@]}"} "$@"
