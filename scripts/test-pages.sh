#!/usr/bin/env bash
# test-pages.sh: tests the pages of conversation_report and corpus_report in a browser. A temporary server gets an ordinary
# conversation, one whose texts all contain markup, and one of long texts. Headless Chromium opens the pages, and its document is compared
# with the counts of the database. At 390 and 1200 pixels, in light and dark, nothing is cut off and no labels overlap. Pages, documents
# and screenshots are kept in the logs folder.
#
#   CHROMIUM=PATH    the browser (default: chromium)
#   APPS=optional    skip if there is no browser or no Python, with a message
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

# unavailable WHY HINT...: reports that the pages cannot be tested.
unavailable() {
    if [ "${APPS:-}" = optional ]; then
        say "$1: the pages are not tested"
        exit 0
    fi
    die "$1" "${@:2}" "APPS=optional skips the test"
}

browser=${CHROMIUM:-chromium}
command -v "$browser" >/dev/null || unavailable "chromium is not installed" "On Debian: apt-get install chromium"
command -v python3 >/dev/null || unavailable "python3 is not installed" "On Debian or Ubuntu: apt-get install python3"

# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
apps=$ROOT/pgrx-tests/apps/pages
logs=$CACHE/logs/pages
rm -rf "$logs"
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh" 2>"$logs/build.log") || { tail -n 40 "$logs/build.log" >&2; die "the extension does not build"; }
"$ROOT/scripts/install-extension.sh" "$library"
folder=$(mktemp -d "$SERVER_HOME/pages.XXXXXX")
profile=$(mktemp -d)
trap 'server_stop "$folder" "$PG_BIN"; rm -rf "$folder" "$profile"' EXIT
trap 'exit 130' INT TERM
server_create "$folder" "$PG_BIN" "fsync = off"
server_start "$folder" "$PG_BIN"
uri=$(server_uri "$folder" postgres)
query() { PGOPTIONS='-c client_min_messages=warning' "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$uri" "$@"; }

say "writing conversations and their pages"
query --command "CREATE EXTENSION reground CASCADE"
query --file "$apps/write.sql" >"$logs/write.log"
query --file "$apps/pages.sql" >"$logs/pages"
mapfile -t pages < <(python3 "$apps/check.py" write "$logs" <"$logs/pages")
[ ${#pages[@]} -eq 9 ] || die "there are ${#pages[@]} pages, not 9" "They are in $logs"

# browse ARGUMENT...: opens one page. Chromium reports refused requests on standard error. The time limit is for a browser that hangs.
browse() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr --user-data-dir="$profile" "$@"
}

faults=0
for page in "${pages[@]}"; do
    file=$logs/$page.html
    browse --dump-dom "file://$file" >"$logs/$page.dom" 2>"$logs/$page.browser" || die "chromium fails on $page" "Its log: $logs/$page.browser"
    counted=$(python3 "$apps/check.py" dom "$logs/$page.json" "$logs/$page.dom") || { faults=$((faults + 1)); say "  ^ $page"; }
    # The console reports requests that the policy stopped, and scripts that ran.
    if grep -E 'CONSOLE' "$logs/$page.browser" >&2; then faults=$((faults + 1)); say "  ^ $page tried something"; fi
    say "$page: $counted"
done

say "looking at the pages"
(cd "$logs" && python3 "$apps/layout.py" "$browser" "$profile" "${pages[@]/%/.html}") || faults=$((faults + 1))
for page in "${pages[@]}"; do
    seen=$(python3 "$apps/check.py" picture "$logs/$page-390-light.png") || { faults=$((faults + 1)); say "$page-390-light.png shows nothing: $seen"; }
done

# The check itself must detect a fault: the same page with unescaped markup.
sed 's|<main>|<main><img src="https://a.example/x.png" onerror="x()"><script>document.title = 1</script>|' "$logs/conversation.html" >"$logs/broken.html"
browse --dump-dom "file://$logs/broken.html" >"$logs/broken.dom" 2>"$logs/broken.browser"
if python3 "$apps/check.py" dom "$logs/conversation.json" "$logs/broken.dom" >/dev/null 2>&1; then die "the check does not detect an unexpected element"; fi
grep -q 'CONSOLE.*Content Security Policy' "$logs/broken.browser" || die "the policy does not stop a request and a script"
# A page whose tables are too wide and whose labels are too large.
sed 's|</style>|.headline { min-width: 70rem; } .plot text { font-size: 40px; }</style>|' "$logs/corpus.html" >"$logs/broken.html"
if python3 "$apps/layout.py" "$browser" "$profile" "$logs/broken.html" 2>"$logs/broken.faults"; then die "the check does not detect a bad layout"; fi
for fault in "390 px, dark: the page is" "1200 px, light: the labels" "is cut off"; do
    grep -q "$fault" "$logs/broken.faults" || die "the check does not detect: $fault" "$logs/broken.faults"
done
[ "$faults" -eq 0 ] || die "$faults of the pages' checks fail" "Pages, documents and screenshots: $logs"
say "nine pages match the database, and nothing in them was loaded or run (screenshots: $logs)"
