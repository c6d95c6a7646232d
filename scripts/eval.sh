#!/usr/bin/env bash
# eval.sh [OPTION]…: evaluates citations, retrieval and whole turns on public data sets (DATA=folder). Tables on standard output, progress
# on standard error. Options are passed to reground-bench eval: --check fails if a figure is below its floor, --sample takes a fixed
# quarter of the conversations, --help lists the others. REGROUND_MODEL=folder names the weights of all-MiniLM-L6-v2 (default: the
# package of scripts/fetch-model.sh).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=$(data_folder)
uri=$("$ROOT/scripts/fresh-database.sh" evaluation)
bench=(cargo run --manifest-path "$ROOT/bench/Cargo.toml" --)
check=()
case " $* " in *" --check "*) check=(--check) ;; esac

# Missing data sets are skipped, except the conversations (mtrag/), which all other parts need.
if [ -d "$data/extraction" ] && [ -d "$data/raw_answers" ]; then
    "${bench[@]}" extraction --data "$data" --rounds 1 ${check[@]+"${check[@]}"}
fi
"${bench[@]}" intent --data "$data" ${check[@]+"${check[@]}"}
if [ -d "$data/attributionbench" ] && [ -d "$data/wice" ] && [ -d "$data/citecheck_zh" ]; then
    "${bench[@]}" support --uri "$uri" --data "$data" ${check[@]+"${check[@]}"}
fi
kjv=$("$ROOT/scripts/fetch-kjv.sh")
"${bench[@]}" injection --uri "$uri" --data "$data" ${kjv:+--scripture "$kjv"} ${check[@]+"${check[@]}"}
# The embedding model, for texts whose vectors the data do not contain. Its vectors are kept for the next run.
model=${REGROUND_MODEL:-$("$ROOT/scripts/fetch-model.sh")}
strategies=$(mktemp)
trap 'rm -f "$strategies"' EXIT
"${bench[@]}" eval --uri "$uri" --data "$data" --floors "$ROOT/bench/floors.json" --strategies "$strategies" \
    --model "$model" --cache "$CACHE/embeddings" "$@"
# The simulation compares the published model with the strategies that this run measured, if it did.
if [ -s "$strategies" ]; then set -- --measured "$strategies"; else set --; fi
"${bench[@]}" simulation "$@"
