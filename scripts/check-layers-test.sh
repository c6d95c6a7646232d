#!/usr/bin/env bash
# Tests check-layers.sh: a small clean tree passes, and each bad sample in it is reported by its own rule and by no other.
set -euo pipefail
check=$(cd "$(dirname "$0")" && pwd)/check-layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

clean_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{crates/ranks/src,src,bench}
    printf '[package]\nname = "ranks"\n' >"$tree/crates/ranks/Cargo.toml"
    printf '[package]\nname = "bench"\n[dependencies]\npostgres = "0.19"\n' >"$tree/bench/Cargo.toml"
    cat >"$tree/crates/ranks/src/lib.rs" <<'RUST'
//! Nothing here knows pgrx::Spi or std::fs.
#![forbid(unsafe_code)]
pub fn half(x: f64) -> f64 { 0.5 * x }
#[cfg(test)]
mod tests {
    fn reads() { std::fs::read("x").ok(); }
}
RUST
    echo 'fn main() { println!("cargo::rerun-if-changed=words.txt"); }' >"$tree/crates/ranks/build.rs"
    mkdir "$tree/crates/ranks/examples"
    echo "fn main() { println!(); }" >"$tree/crates/ranks/examples/show.rs"
    cat >"$tree/src/lib.rs" <<'RUST'
// 0.5 in a comment, and "0.5" in a string, compute nothing.
const VERSION: &str = "0.5 * 1e3";
static BOUNDS: (f64, f64) = (0.0, 1.0);
fn f(p: *const i32) -> i32 {
    // SAFETY: the caller owns p,
    // and says so at length
    // on several lines,
    // four in all.
    unsafe { *p }
}
fn next(range: std::ops::Range<usize>) -> usize { range.end + 1 }
fn mask() -> u32 { 0x1e5 }
RUST
}

failures=0
# expect RULE FILE LINE: appends LINE to FILE of a clean tree.
expect() {
    local rules
    clean_tree
    mkdir -p "$(dirname "$tree/$2")"
    printf '%s\n' "$3" >>"$tree/$2"
    rules=$({ "$check" "$tree" 2>&1 || true; } | sed -n 's/^\([a-z-]*\): .*/\1/p' | grep -v '^check-layers$' |
        sort -u | paste -sd ' ') || true
    if [ "$rules" != "$1" ]; then
        echo "expected [$1], got [$rules], from $2: $3" >&2
        failures=$((failures + 1))
    fi
}

clean_tree
"$check" "$tree" 2>/dev/null || { echo "the clean tree does not pass:" >&2; "$check" "$tree"; exit 1; }

crate=crates/ranks/src/rank.rs
expect crate-names-postgres crates/ranks/Cargo.toml 'pgrx = "0.18"'
expect crate-names-postgres crates/ranks/Cargo.toml 'postgres.workspace = true'
expect crate-names-postgres crates/ranks/Cargo.toml 'reground = { path = "../.." }'
expect crate-names-postgres $crate 'use pgrx::prelude::*;'
expect pgrx-outside-glue bench/Cargo.toml 'pgrx = "0.18"'
expect crate-allows-unsafe crates/other/src/lib.rs '//! No attribute.'
expect crate-is-impure $crate 'fn now() { std::time::Instant::now(); }'
expect crate-is-impure $crate 'use std::fs::File;'
expect unsafe-unexplained src/page.rs 'fn g(p: *const i32) -> i32 { unsafe { *p } }'
expect glue-computes src/fuse.rs 'const TAU: f64 = 0.35;'
expect glue-computes src/fuse.rs 'fn f(x: f64) -> f64 { 1.0 - x }'
expect glue-computes src/fuse.rs 'fn f(x: f64) -> bool { x > 1.0 }'
expect glue-computes src/fuse.rs 'fn f(n: u32) -> f64 { n as f64 }'
expect glue-computes src/fuse.rs 'fn f(x: f64) -> f64 { x.ln() }'
expect glue-computes src/fuse.rs 'const E: f64 = 1e-6;'
expect glue-computes src/fuse.rs 'fn f(v: &mut Vec<f64>) { v.sort_by(f64::total_cmp); v.sort_by(|a, b| a.total_cmp(b)); }'
expect name-says-nothing src/helpers.rs ''
expect name-says-nothing crates/ranks/src/text_utils.rs ''
expect path-of-a-machine docs/guide.md "see /ho""me/ada/notes"
expect path-of-a-machine docs/guide.md "see /wo""rk/notes"
expect registry-host docs/guide.md "from py""pi.org"

[ "$failures" -eq 0 ] || exit 1
echo "check-layers-test: each rule reports its bad sample and nothing else" >&2
