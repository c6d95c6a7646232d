#!/usr/bin/env bash
# test-models.sh: makes the tiny models of crates/encoders/tests/models again with torch and transformers, and compares our outputs
# with theirs. The first run downloads some gigabytes and compiles candle.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

venv=$CACHE/models-python
requirements=$ROOT/crates/encoders/reference/requirements.txt
need python3 python3-venv
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    rm -rf "$venv"
    run_logged "$CACHE/logs/models-python.log" python3 -m venv "$venv"
    run_logged "$CACHE/logs/models-python.log" "$venv/bin/pip" install --quiet --requirement "$requirements"
    cp "$requirements" "$venv/requirements.txt"
fi

cd "$ROOT"
REGROUND_TINY_MODELS=$(mktemp -d)
export REGROUND_TINY_MODELS
trap 'rm -rf "$REGROUND_TINY_MODELS"' EXIT
"$venv/bin/python" crates/encoders/reference/make.py "$REGROUND_TINY_MODELS"
cargo test --package reground-encoders
