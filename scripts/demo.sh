#!/usr/bin/env bash
# The main job on real input: ingest a folder of .md and .txt files, hold a conversation, audit its citations.
# DOCS=folder takes other documents than the project's own manual.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

docs=${DOCS:-$ROOT/docs}
[ -d "$docs" ] || die "DOCS=$docs is not a folder"
docs=$(cd "$docs" && pwd)
uri=$("$ROOT/scripts/fresh-database.sh" demo)

arguments=(--uri "$uri" --docs "$docs")
if model=$("$ROOT/scripts/fetch-model.sh"); then
    arguments+=(--model "$model")
else
    say "the embedding model cannot be had here: the demo runs on lexical search alone"
fi

say "building the demo (the first time takes some minutes)"
cd "$ROOT"
# What the build need not do: link-time optimisation over the model's libraries takes minutes at every link, and
# candle-transformers is a hundred models of which one is used, whose heavy loops are in other packages.
export CARGO_PROFILE_RELEASE_LTO=off
cargo build --release --package reground-demo --config profile.release.package.candle-transformers.opt-level=0
"$CARGO_TARGET_DIR/release/reground-demo" "${arguments[@]}"
