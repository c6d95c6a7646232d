#!/usr/bin/env bash
# Ingests a folder of .md and .txt files, holds a conversation and audits its citations.
# DOCS=folder uses other documents than the project's own manual.
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
    say "the embedding model cannot be downloaded: the demo uses lexical search only"
fi

say "building the demo (the first build takes some minutes)"
cd "$ROOT"
# Faster builds: link-time optimisation over the model's libraries takes minutes per link, and candle-transformers contains a
# hundred models, of which one is used; its hot loops are in other packages.
export CARGO_PROFILE_RELEASE_LTO=off
cargo build --release --package reground-demo --config profile.release.package.candle-transformers.opt-level=0
"$CARGO_TARGET_DIR/release/reground-demo" "${arguments[@]}"
