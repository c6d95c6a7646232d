#!/usr/bin/env bash
# Evaluates retrieval and the turn on public data sets: DATA=folder. Tables on standard output, progress on stderr.
#
# ALL=1 asks the stand-alone rewrites and the whole of what the user said, too, besides the user's last words.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

data=${DATA:-${EVAL_DATA:-}}
[ -n "$data" ] || die "no data given" "make eval DATA=/path/to/data"
[ -d "$data" ] || die "DATA=$data is not a folder"
data=$(cd "$data" && pwd)
uri=$("$ROOT/scripts/start-server.sh" | tail -n 1)

cd "$ROOT"
cargo run --release --package reground-bench -- eval --uri "$uri" --data "$data" ${ALL:+--all}
