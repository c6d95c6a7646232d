#!/usr/bin/env bash
# check-layers.sh [TREE]: fails if a layer depends on a higher one, or if another rule below is broken.
#
# The rules match text line by line, without comments, string literals and #[cfg(test)] modules. They catch mistakes, not
# intended evasion. docs/design.md explains them.
#
#   crate-names-postgres  a crate in crates/ uses pgrx, a PostgreSQL client, or a package of a higher layer
#   pgrx-outside-glue     a package other than the extension itself depends on pgrx
#   crate-allows-unsafe   a crate in crates/ lacks #![forbid(unsafe_code)]
#   crate-is-impure       a crate in crates/ reads the clock, files, the network or the environment, or prints
#                         (exceptions: crates/encoders reads model files, build scripts write files)
#   unsafe-unexplained    `unsafe` in src/ without a SAFETY comment directly above
#   glue-computes         src/ has a float literal other than a bound 0.0 or 1.0, converts to a float, calls a float function,
#                         or orders by a float: such computation is in the crates
#   name-says-nothing     a file or folder called utils, helpers, common, misc or manager
#   path-of-a-machine     a file contains a path in a home or work folder
#   registry-host         a file contains the host of a package registry (exception: Cargo.lock)
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

found=$(mktemp)
code=$(mktemp)
trap 'rm -f "$found" "$code"' EXIT

# fail RULE: each line of standard input is a violation of the rule.
fail() { sed "s/^/$1: /" >>"$found"; }

files() {
    local roots=()
    local root
    for root in "$@"; do [ ! -e "$root" ] || roots+=("$root"); done
    [ ${#roots[@]} -eq 0 ] || find "${roots[@]}" -name target -prune -o -type f -print | sort
}

# Prints FILE:LINE:code for every Rust file that is not a test, an example or a benchmark.
strip_rust() {
    files crates src | grep '\.rs$' | grep -vE '/(tests(\.rs$|/)|examples/|benches/)' | while read -r file; do
        awk -v file="$file" '
            /^#\[cfg\(test\)\]/ { pending = 1; next }
            pending && /^(pub(\([a-z]+\))? )?mod / { exit }
            { pending = 0
              gsub(/\047\\?"\047/, "0")           # the character literal of a quote
              gsub(/"([^"\\]|\\.)*"/, "S")        # strings
              sub(/\/\/.*/, "")                   # comments
              print file ":" FNR ":" $0 }' "$file"
    done
}
strip_rust >"$code"

# Replaces stripped lines by the lines of the file.
original() {
    while IFS=: read -r file line _; do echo "$file:$line:$(sed -n "${line}p" "$file")"; done
}

in_crates() { grep '^crates/' "$code" || true; }
in_glue() { grep '^src/' "$code" || true; }

{
    files crates | grep '/Cargo\.toml$' |
        xargs -r grep -nHE '^ *"?(pgrx[a-z-]*|postgres[a-z-]*|tokio-postgres|sqlx|diesel|pgvector|reground|reground-(demo|bench|tests))"? *[.=]' || true
    { in_crates | grep -E '(^|[^A-Za-z0-9_])(pgrx|pg_sys|postgres|tokio_postgres|sqlx|pgvector) *(::|;)' || true; } | original
} | fail crate-names-postgres

files demo bench pgrx-tests | { grep 'Cargo\.toml$' || true; } | { xargs -r grep -nHE '^ *"?pgrx' || true; } | fail pgrx-outside-glue

for library in crates/*/src/lib.rs; do
    if [ -f "$library" ] && ! grep -q '^#!\[forbid(unsafe_code)\]' "$library"; then echo "$library"; fi
done | fail crate-allows-unsafe

{
    in_crates | grep -vE '^crates/(encoders|[^/]*/build\.rs:)' |
        grep -E '(^|[^A-Za-z0-9_])(std::(fs|net|env|process|thread|io::std)|SystemTime|Instant|rand::|e?println!|e?print!|dbg!)' || true
} | original | fail crate-is-impure

# The comment may be above the statement that contains the block: search three lines, and from the first comment among them up
# to its beginning.
files src | { grep '\.rs$' || true; } | while read -r file; do
    awk -v file="$file" '
        { text[FNR] = $0; bare = $0; gsub(/"([^"\\]|\\.)*"/, "S", bare); sub(/\/\/.*/, "", bare) }
        bare ~ /(^|[^A-Za-z0-9_])unsafe +(\{|impl)/ {
            explained = ($0 ~ /SAFETY:/)
            for (i = FNR - 1; i > 0 && (i >= FNR - 3 || text[i] ~ /^ *\/\//); i--)
                if (text[i] ~ /SAFETY:/) explained = 1
            if (!explained) print file ":" FNR ":" $0
        }' "$file"
done | fail unsafe-unexplained

number='(^|[^A-Za-z0-9_.])[0-9][0-9_]*(\.[0-9]|e-?[0-9]|_?f(32|64))'
bound='(^|[^A-Za-z0-9_.])[01]\.0($|[^0-9])'
{
    # Every float literal except plain bounds. A bound next to an operator is not plain.
    in_glue | sed -E "s/([-+*\/<>=] *)[01]\.0/\1 9.9/g; s/[01]\.0( *[-+*\/<>])/9.9\1/g" |
        sed -E ":again; s/$bound/ \2/; t again" | grep -E "^[^:]*:[0-9]+:.*$number|:[0-9]+:$number" || true
    in_glue | grep -E ' as f(32|64)($|[^A-Za-z0-9_])|\.(sqrt|ln|ln_1p|log2|log10|exp|exp_m1|powf|powi|tanh|recip|mul_add|total_cmp|partial_cmp)\(|f(32|64)::(consts|from\()' || true
} | original | sort -u | fail glue-computes

find . -path ./.git -prune -o -name target -prune -o -print | sed 's|^\./||' |
    { grep -iE '(^|[/_-])(utils?|helpers?|common|misc|manager)([._/-][^/]*)?$' || true; } | fail name-says-nothing

text_files() { find . -path ./.git -prune -o -name target -prune -o -type f ! -name Cargo.lock -print | sed 's|^\./||' | sort; }
{ text_files | xargs -r grep -nHIE '(^|[^A-Za-z0-9_.])/(home|Users)/[A-Za-z]|(^|[^A-Za-z0-9_.])/(root|work)(/|[^A-Za-z0-9_.-]|$)' || true; } | fail path-of-a-machine
{ text_files | xargs -r grep -nHIE '(pypi|pythonhosted|crates|npmjs)\.(org|io)' || true; } | fail registry-host

if [ -s "$found" ]; then
    cat "$found" >&2
    echo "check-layers: $(wc -l <"$found") places break a rule (the rules: head of scripts/check-layers.sh)" >&2
    exit 1
fi
echo "check-layers: no layer depends on a higher one" >&2
