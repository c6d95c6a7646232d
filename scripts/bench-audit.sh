#!/usr/bin/env bash
# bench-audit.sh [OPTION]…: measures the audit queries over ten million citations, which it generates first (about 15 GB, some minutes),
# and, if DATA=folder is set, the cost of each provenance level, of corrected answers, of conflicts and of encrypted sources. Tables on
# standard output. Options are passed to reground-bench audit; --help lists them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

bench=(cargo run --release --manifest-path "$ROOT/bench/Cargo.toml" --)
# A release build, because that is what users install.
uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" audit)
"${bench[@]}" audit --uri "$uri" "$@"
if [ -n "${DATA:-}" ]; then
    data=$(data_folder)
    uri=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" provenance)
    "${bench[@]}" provenance --uri "$uri" --data "$data" --rounds 150
    "${bench[@]}" repair --uri "$uri" --data "$data" --rounds 150
    sealed=$(PROFILE=release "$ROOT/scripts/fresh-database.sh" sealed)
    "${bench[@]}" keys --uri "$uri" --sealed "$sealed" --data "$data"
fi
