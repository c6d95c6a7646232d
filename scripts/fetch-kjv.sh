#!/usr/bin/env bash
# Prints the path of the King James Version, a verse a line, as Debian's program `bible` prints it. Prints nothing, and says
# why, where the packages cannot be had: it is Debian's apt that fetches them, and a program for this machine that unpacks.
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
    # A shell of its own: within a condition, this one would not stop at the first failure.
    export -f fetch
    if ! bash -euo pipefail -c 'fetch "$1"' fetch "$unpacked" >"$log" 2>&1; then
        say "no King James Version (Debian's bible-kjv and bible-kjv-text): citations by verse are left out; see $log"
        exit 0
    fi
    mv "$unpacked/kjv.txt" "$text"
fi
echo "$text"
