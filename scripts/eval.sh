#!/usr/bin/env bash
# eval.sh [OPTION]…: evaluates citations, then retrieval and whole turns, on public data sets, DATA=folder. Tables on
# standard output, progress on stderr. Options go to reground-bench eval; --check fails where a figure is below its floor,
# --sample takes a fixed quarter of the conversations, --help lists the others.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)

uri=$("$ROOT/scripts/fresh-database.sh" evaluation)
cd "$ROOT"
check=
case " $* " in *" --check "*) check=--check ;; esac
# A data set that is not at hand is passed over; the conversations are what all else rests on.
if [ -d "$data/extraction" ] && [ -d "$data/raw_answers" ]; then
    cargo run --package reground-bench -- extraction --data "$data" --rounds 1 $check
fi
cargo run --package reground-bench -- intent --data "$data" $check
if [ -d "$data/attributionbench" ] && [ -d "$data/wice" ] && [ -d "$data/citecheck_zh" ]; then
    cargo run --package reground-bench -- support --uri "$uri" --data "$data" $check
fi
kjv=$("$ROOT/scripts/fetch-kjv.sh")
cargo run --package reground-bench -- injection --uri "$uri" --data "$data" ${kjv:+--scripture "$kjv"} $check
strategies=$(mktemp)
trap 'rm -f "$strategies"' EXIT
cargo run --package reground-bench -- eval --uri "$uri" --data "$data" --floors "$ROOT/bench/floors.json" --strategies "$strategies" "$@"
if [ -s "$strategies" ]; then set -- --measured "$strategies"; else set --; fi
cargo run --package reground-bench -- simulation "$@"
