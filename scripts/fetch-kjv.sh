#!/usr/bin/env bash
# Prints the path of the King James Version, one verse per line, as written by Debian's program `bible`. If the packages cannot be
# downloaded with apt or run on this machine, prints nothing and reports why.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

text=$CACHE/kjv/kjv.txt
log=$CACHE/logs/fetch-kjv.log

fetch() {
    local unpacked=$1
    cd "$unpacked"
    apt-get download bible-kjv bible-kjv-text
    for package in ./*.deb; do dpkg-deb -x "$package" root; done
    root/usr/bin/bible -p root/usr/lib -f 'Genesis1:1-Revelation22:21' </dev/null >kjv.txt
    [ "$(wc -l <kjv.txt)" -eq 31102 ]
}

if [ ! -f "$text" ]; then
    unpacked=$(mktemp -d "$CACHE/unpack.XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    mkdir -p "$(dirname "$text")" "$(dirname "$log")"
    # A separate shell, because errexit is off inside a condition.
    export -f fetch
    if ! bash -euo pipefail -c 'fetch "$1"' fetch "$unpacked" >"$log" 2>&1; then
        say "no King James Version (Debian's bible-kjv and bible-kjv-text): citations by verse are skipped; see $log"
        exit 0
    fi
    mv "$unpacked/kjv.txt" "$text"
fi
echo "$text"
