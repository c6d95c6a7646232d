#!/usr/bin/env bash
# test-metrics.sh [OPTION]…: compares crates/metrics with scipy, trec_eval and rouge_score on random cases. The cases are the same
# each time; --seed N generates others.
#
#   ORACLE=optional   skip if there is no Python or no package index, with a message
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

venv=$CACHE/metrics-python
requirements=$ROOT/crates/metrics/oracle/requirements.txt
log=$CACHE/logs/metrics-python.log

# unavailable WHY HINT...: reports that the reference packages cannot be installed.
unavailable() {
    if [ "${ORACLE:-}" = optional ]; then
        say "$1: the metrics are not compared"
        exit 0
    fi
    die "$1" "ORACLE=optional passes without comparing" "${@:2}"
}

command -v python3 >/dev/null || unavailable "python3 is not installed" "On Debian or Ubuntu: apt-get install python3-venv"
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    rm -rf "$venv"
    mkdir -p "$(dirname "$log")"
    {
        python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --requirement "$requirements"
    } >"$log" 2>&1 || unavailable "the packages of ${requirements#"$ROOT"/} cannot be installed" "Full log: $log"
    cp "$requirements" "$venv/requirements.txt"
fi

cd "$ROOT"
run_logged "$CACHE/logs/metrics-build.log" cargo build --package reground-metrics --example oracle
"$venv/bin/python" crates/metrics/oracle/compare.py "$CARGO_TARGET_DIR/debug/examples/oracle" "$@"
