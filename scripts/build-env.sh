# shellcheck shell=bash
# Environment for a build against one server. Sourced after env.sh.
#
# cargo-pgrx is not needed: all SQL objects are declared by hand in sql/install, and pgrx only needs the path of pg_config.
#
# Sets: PG_CONFIG PG_BIN PG_MAJOR PG_FEATURES PGRX_PG_CONFIG_PATH LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS

need cargo "rustc cargo" "(1.95 or later; rustup has it where the distribution does not)"
need cc gcc libc6-dev

# Cargo detects changes by modification time and does not distinguish two clones. So our own packages are removed if another
# clone built them. The dependencies, which take most of the time, are kept. A copy in the same place, as an image has it, is another
# clone: its files have the times of the original.
claim_target_folder() {
    local owner=$CARGO_TARGET_DIR/clone manifest profile packages=() clone
    clone="$ROOT $(stat --format=%Z "$ROOT/LICENSE")"
    [ "$(cat "$owner" 2>/dev/null)" != "$clone" ] || return 0
    if [ -d "$CARGO_TARGET_DIR" ]; then
        for manifest in "$ROOT"/Cargo.toml "$ROOT"/{crates/*,pgrx-tests,demo,worker}/Cargo.toml; do
            packages+=(--package "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)")
        done
        for profile in dev release; do
            cargo clean --quiet --profile "$profile" --manifest-path "$ROOT/Cargo.toml" "${packages[@]}"
            # bench is a workspace of its own, in the same target folder.
            cargo clean --quiet --profile "$profile" --manifest-path "$ROOT/bench/Cargo.toml" --package reground-bench
        done
    fi
    mkdir -p "$CARGO_TARGET_DIR"
    echo "$clone" >"$owner"
}
claim_target_folder

PG_CONFIG=$("$ROOT/scripts/fetch-postgres.sh")
PG_BIN=$("$PG_CONFIG" --bindir)
PG_MAJOR=$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
PG_FEATURES="--no-default-features --features pg$PG_MAJOR"
[ -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ] ||
    die "PostgreSQL $PG_MAJOR has no server headers" "On Debian: apt-get install postgresql-server-dev-$PG_MAJOR"
# For later cargo calls and scripts.
export PG_CONFIG PGRX_PG_CONFIG_PATH=$PG_CONFIG
libclang=$("$ROOT/scripts/fetch-libclang.sh")
eval "$libclang"
export PG_BIN PG_MAJOR PG_FEATURES
