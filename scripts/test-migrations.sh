#!/usr/bin/env bash
# test-migrations.sh: runs the recipes of docs/guide/migrations.md. Alembic and drizzle-kit find no change in a database with a
# managed corpus, a synchronised table and a BM25 index, and find the drops without the recipes.
#
#   APPS=optional    skip tools that cannot be installed, with a message
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
# shellcheck source=scripts/apps.sh
. "$ROOT/scripts/apps.sh"

logs=$CACHE/logs/migrations
rm -rf "$logs"
mkdir -p "$logs/alembic/versions" "$logs/drizzle"
tools=()
have_python "$logs" alembic && tools+=(alembic)
have_node "$logs" drizzle-kit && tools+=(drizzle)
[ ${#tools[@]} -gt 0 ] || exit 0
for tool in alembic drizzle; do
    mkdir -p "$logs/$tool/versions"
    python3 "$apps/blocks.py" "$ROOT/docs/guide/migrations.md" "$logs/$tool" >>"$logs/blocks"
done
for file in alembic/env.py alembic/versions/0001_search.py drizzle/schema.ts drizzle/drizzle.config.ts drizzle/migration.sql; do
    [ -s "$logs/$file" ] || die "docs/guide/migrations.md has no block $(basename "$file")"
done

library=$("$ROOT/scripts/build-extension.sh" 2>"$logs/build.log") || { tail -n 40 "$logs/build.log" >&2; die "the extension does not build"; }
"$ROOT/scripts/install-extension.sh" "$library"
temporary_servers migrations
server_create "$folder" "$PG_BIN" "fsync = off"
server_start "$folder" "$PG_BIN"
server_query "$folder" postgres --command "CREATE ROLE app LOGIN" \
    --command "CREATE DATABASE alembic OWNER app" --command "CREATE DATABASE drizzle OWNER app"
for tool in alembic drizzle; do
    server_query "$folder" "$tool" --command "CREATE EXTENSION reground CASCADE" --command "GRANT reground_admin TO app"
done
uri() { echo "$1://app@127.0.0.1:$(cat "$folder/port")/$2"; }

# drops NAME EXPECTED...: the output of a tool contains each expected text.
drops() {
    local name=$1 expected
    shift
    for expected in "$@"; do
        grep -qF "$expected" "$logs/$name.log" || { cat "$logs/$name.log" >&2; die "$name does not propose: $expected"; }
    done
}

alembic() { (cd "$logs/alembic" && PYTHONPATH=$apps PYTHONDONTWRITEBYTECODE=1 "$venv/bin/alembic" "$@"); }
test_alembic() {
    PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$apps/models.py" "$(uri postgresql+psycopg alembic)"
    printf '%s\n' "[alembic]" "script_location = ." "path_separator = os" "sqlalchemy.url = $(uri postgresql+psycopg alembic)" >"$logs/alembic/alembic.ini"
    run_logged "$logs/upgrade.log" alembic upgrade head
    run_logged "$logs/check.log" alembic check
    grep -q "No new upgrade operations detected" "$logs/check.log" || die "alembic check says something else" "$logs/check.log"
    sed -i 's/ include_object=include_object,//' "$logs/alembic/env.py"
    if alembic check >"$logs/alembic without the recipe.log" 2>&1; then die "alembic finds no change without the recipe"; fi
    drops "alembic without the recipe" "('remove_table', Table('help'," "('remove_table', Table('help_documents'," \
        "('remove_table', Table('help_history'," "('remove_index', Index('articles_search',"
    sed -i 's/transaction_per_migration/include_object=include_object, transaction_per_migration/' "$logs/alembic/env.py"
    run_logged "$logs/downgrade.log" alembic downgrade base
    run_logged "$logs/again.log" alembic upgrade head
}

# drizzle-kit asks before it drops; without a terminal it fails then, and changes nothing.
drizzle_kit() { (cd "$logs/drizzle" && DATABASE_URL=$(uri postgresql drizzle) timeout 120 node_modules/.bin/drizzle-kit push --strict --verbose </dev/null); }
test_drizzle() {
    ln -s "$node_folder/node_modules" "$logs/drizzle/node_modules"
    # The first push creates the table and the index, without questions.
    (cd "$logs/drizzle" && DATABASE_URL=$(uri postgresql drizzle) run_logged "$logs/push.log" timeout 120 node_modules/.bin/drizzle-kit push)
    PGOPTIONS='-c client_min_messages=error' "$PG_BIN/psql" --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$(uri postgresql drizzle)" --file "$logs/drizzle/migration.sql" >"$logs/migration.log"
    drizzle_kit >"$logs/drizzle-kit.log" 2>&1 || { cat "$logs/drizzle-kit.log" >&2; die "drizzle-kit push fails"; }
    grep -q "No changes detected" "$logs/drizzle-kit.log" || { cat "$logs/drizzle-kit.log" >&2; die "drizzle-kit finds changes"; }
    sed -i '/reground_bm25/d' "$logs/drizzle/schema.ts"
    sed -i 's/"public"/"public", "search"/' "$logs/drizzle/drizzle.config.ts"
    drizzle_kit >"$logs/drizzle-kit without the recipe.log" 2>&1 || true
    drops "drizzle-kit without the recipe" 'DROP INDEX "articles_search"' 'DROP TABLE "search"."help"' 'DROP TABLE "search"."help_documents"'
}

for tool in "${tools[@]}"; do
    "test_$tool"
    # The corpus follows its table, and the index answers.
    schema=public
    [ "$tool" = alembic ] || schema=search
    server_query "$folder" "$tool" --command "INSERT INTO articles (title, body) VALUES ('Passwords', 'Passwords expire after 90 days.')"
    found=$(server_query "$folder" "$tool" --command "SELECT title FROM reground.search('help', 'expired passwords') UNION ALL SELECT doc_id FROM $schema.help" \
        --command "SELECT title FROM articles ORDER BY title <@> 'articles: passwords'" | paste -sd ' ')
    [ "$found" = "Passwords 1 Passwords" ] || die "$tool: the search finds $found"
    say "$tool: no change with the recipe, and drops without it"
done
