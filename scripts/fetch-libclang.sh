#!/usr/bin/env bash
# Prints the shell assignments with which bindgen finds libclang; prints nothing if the system has a complete one.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# libclang needs its own compiler headers (stddef.h and others).
system_has_libclang() {
    compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null &&
        compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null
}

if [ -z "${LIBCLANG_PATH:-}" ] && ! system_has_libclang; then
    home=$CACHE/libclang
    if [ ! -f "$home/libclang.so" ]; then
        wheel=$("$ROOT/scripts/fetch-wheel.sh" libclang)
        unpacked=$(mktemp -d "$CACHE/unpack.XXXXXX")
        trap 'rm -rf "$unpacked"' EXIT
        python3 -m zipfile -e "$wheel" "$unpacked"
        mkdir -p "$home"
        find "$unpacked" -name libclang.so -exec mv {} "$home/libclang.so" \;
    fi
    need cc gcc libc6-dev
    printf 'export LIBCLANG_PATH=%q BINDGEN_EXTRA_CLANG_ARGS=%q\n' "$home" "-isystem $(cc -print-file-name=include)"
fi
