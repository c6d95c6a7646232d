#!/usr/bin/env bash
# Tests a managed server: a superuser creates the extension, and everything else is done by the owner of the database, who may create
# roles and is no superuser. The owner grants our roles, sets the tenant, writes rows of every kind, and dumps and restores the database.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
# shellcheck source=scripts/build-env.sh
. "$ROOT/scripts/build-env.sh"
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"

logs=$CACHE/logs/owner
everything=$ROOT/pgrx-tests/everything
mkdir -p "$logs"

library=$("$ROOT/scripts/build-extension.sh")
"$ROOT/scripts/install-extension.sh" "$library"

temporary_servers owner
server=$folder
server_create "$server" "$PG_BIN" "fsync = off" "autovacuum = off" "shared_preload_libraries = 'reground'" "reground.worker_interval = 1"
server_start "$server" "$PG_BIN"

# as ROLE PROGRAM ARGUMENT...: a program of PostgreSQL as a role.
as() { PGUSER=$1 PGHOST=127.0.0.1 PGPORT=$(cat "$server/port") PGOPTIONS='-c client_min_messages=error -c app.tenant_id=acme' "$PG_BIN/$2" "${@:3}"; }

# query ROLE DATABASE ARGUMENT...
query() { as "$1" psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$2" "${@:3}"; }

# refused ROLE DATABASE STATEMENT ERROR
refused() {
    local found
    if found=$(query "$1" "$2" --command "$3" 2>&1); then die "$1 may run: $3"; fi
    [[ $found == *"$4"* ]] || die "another error for $1: $3" "$found"
}

# provide DATABASE: what the provider of the server does.
provide() { query postgres postgres --command "CREATE DATABASE $1 OWNER owner" && query postgres "$1" --command "CREATE EXTENSION reground CASCADE"; }

say "a database of a plain owner"
query postgres postgres --command "CREATE ROLE owner LOGIN CREATEROLE" --command "CREATE ROLE stranger LOGIN"
provide app
query owner app --command "ALTER DATABASE app SET reground.tenant_from = 'app.tenant_id'"
query owner app --command "CREATE ROLE application LOGIN" --command "GRANT reground_user TO application" --command "CREATE ROLE analyst LOGIN" \
    --command "GRANT reground_auditor TO analyst"
# Retention with a later time needs a superuser. It empties the traces.
sed 's/^SELECT count(\*) FROM reground.run_retention(.*/TRUNCATE reground.turn_traces;/' "$everything/write.sql" >"$logs/write.sql"
query owner app --file "$logs/write.sql" >"$logs/write.log"
query owner app --command "ALTER DATABASE app SET reground.trace_retention_days = 30"
refused owner app "CREATE FUNCTION reground.mine() RETURNS integer LANGUAGE sql RETURN 1" "permission denied for schema"
refused application app "SELECT reground.current_tenant(); SET reground.tenant_from = 'app.other'" "permission denied to set parameter"
refused application app "SELECT reground.current_tenant(); SET reground.trace_retention_days = 1" "permission denied to set parameter"
refused stranger app "SELECT count(*) FROM reground.turns" "permission denied for schema"
[ "$(query application app --command "SET app.tenant_id = 'bolt'" --command "SELECT count(*) FROM reground.turns WHERE tenant <> 'bolt'")" = 0 ] ||
    die "an application reads the turns of another tenant"
[ "$(query analyst app --command "SELECT count(DISTINCT tenant) > 1 FROM reground.turns")" = t ] || die "an auditor does not read all tenants"

say "the worker connects as the owner"
query postgres postgres --command "ALTER SYSTEM SET reground.worker_databases = 'app'" --command "SELECT FROM pg_reload_conf()" >/dev/null
for _ in $(seq 60); do
    runs=$(query owner app --command "SELECT count(*) FROM reground.maintenance_runs WHERE finished_at IS NOT NULL")
    [ "$runs" -lt 3 ] || break
    sleep 1
done
[ "$runs" -ge 3 ] || die "the worker has run $runs tasks"
# A synchronised table has a row that cannot be stored.
failed=$(query owner app --command "SELECT task, error FROM reground.maintenance_runs WHERE error IS NOT NULL AND error NOT LIKE '%stalls_read%'")
[ -z "$failed" ] || die "tasks of the worker fail" "$failed"
query postgres postgres --command "ALTER SYSTEM RESET reground.worker_databases" --command "SELECT FROM pg_reload_conf()" >/dev/null
for _ in $(seq 60); do
    [ "$(query postgres postgres --command "SELECT count(*) FROM pg_stat_activity WHERE datname = 'app'")" != 0 ] || break
    sleep 1
done

say "the owner gets no rights of a superuser"
query postgres postgres --command "CREATE DATABASE hostile OWNER owner"
query owner hostile --command "CREATE SCHEMA reground"
refused postgres hostile "CREATE EXTENSION reground CASCADE" "may create objects in it"
query owner hostile --command "DROP SCHEMA reground"
query postgres hostile --command "CREATE EXTENSION reground CASCADE"
query owner hostile --file "$ROOT/pgrx-tests/servers/owner/hostile.sql"
refused postgres hostile "SELECT reground.begin_turn('as_caller', 'milk?', 'nameless')" "no longer exists"
refused postgres hostile "SELECT reground.begin_turn('as_role', 'milk?', 'named')" 'may not act as role "postgres"'
query postgres hostile --command "SELECT FROM reground.run_maintenance('probes')" >/dev/null
refused postgres hostile "SELECT reground.resync('secrets')" 'may not act as role "postgres"'
refused postgres hostile "SELECT reground.begin_turn('held', 'milk?', 'farm')" "within security-restricted operation"
refused postgres hostile "SELECT reground.run_probes()" "a probe has no reranker"
query postgres postgres --command "ALTER DATABASE hostile OWNER TO postgres"
query postgres hostile --command "SELECT FROM reground.run_maintenance('probes')" >/dev/null
refused postgres hostile "SELECT reground.resync('secrets')" 'may not act as role "postgres"'
[ "$(query postgres hostile --command "SELECT rolsuper FROM pg_roles WHERE rolname = 'owner'")" = f ] || die "the owner is a superuser"

say "dump and restore by the owner"
as owner pg_dump --format=custom --file="$logs/app.dump" app
query owner app --file "$everything/contents.sql" >"$logs/contents.before"
provide restored
query owner restored --command "ALTER DATABASE restored SET reground.tenant_from = 'app.tenant_id'"
# The provider has created the extensions, and their schema.
as owner pg_restore --list "$logs/app.dump" | grep -v ' SCHEMA - reground \| EXTENSION \| SCHEMA reground ' >"$logs/app.list"
! grep ' ACL reground ' "$logs/app.list" >&2 || die "pg_dump dumps privileges of the extension"
as owner pg_restore --exit-on-error --use-list="$logs/app.list" --dbname=restored "$logs/app.dump"
query owner restored --file "$everything/contents.sql" >"$logs/contents.after"
diff -u "$logs/contents.before" "$logs/contents.after" >"$logs/contents.diff" || { head -n 40 "$logs/contents.diff" >&2; die "the restored database has other rows"; }
for database in app restored; do query owner "$database" --file "$everything/go_on.sql" >"$logs/go_on.$database"; done
diff -u "$logs/go_on.app" "$logs/go_on.restored" >"$logs/go_on.diff" || { head -n 40 "$logs/go_on.diff" >&2; die "the next calls return other rows"; }

say "a new owner"
query postgres postgres --command "CREATE ROLE heir LOGIN CREATEROLE" --command "ALTER DATABASE app OWNER TO heir" \
    --command "REVOKE reground_owner FROM owner" --command "GRANT reground_owner TO heir"
query heir app --command "GRANT reground_user TO application" --command "ALTER DATABASE app SET reground.tenant_from = 'app.tenant_id'"
[ "$(query heir app --command "SELECT count(*) > 0 FROM reground.turns")" = t ] || die "the new owner does not read the turns"
refused owner app "SELECT count(*) FROM reground.turns" "permission denied for schema"
query postgres app <<'SQL'
SELECT 'heir'::regrole::oid AS owner \gset
CREATE OR REPLACE FUNCTION reground._trusted_owner() RETURNS oid LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN :owner::oid;
SQL
query heir app --command "SELECT FROM reground.run_maintenance()" >/dev/null
query postgres app --command "DROP OWNED BY owner"
say "the owner of the database has done all: $(wc -l <"$logs/contents.after") lines of contents are restored"
