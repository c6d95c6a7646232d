#!/bin/sh
# Main process of the container. The first start creates the cluster, and a database with the extension. Arguments go to the server.
#   POSTGRES_PASSWORD   password of the user postgres; required on the first start
#   DASHBOARD_PASSWORD  if set on the first start: password of the user dashboard, who reads all tenants
set -eu

if [ ! -f "$PGDATA/PG_VERSION" ]; then
    : "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD: the password of the user postgres}"
    # In a folder of its own, so that a first start that fails leaves nothing.
    new=$PGDATA/new
    rm -rf "$new"
    secret=$(mktemp)
    printf '%s\n' "$POSTGRES_PASSWORD" >"$secret"
    initdb --pgdata "$new" --username postgres --pwfile "$secret" --encoding UTF8 --locale C.UTF-8 --data-checksums \
        --auth-local peer --auth-host scram-sha-256
    rm "$secret"
    echo "host all all all scram-sha-256" >>"$new/pg_hba.conf"
    # No TCP until the extension exists, so that no client connects before.
    pg_ctl start --wait --pgdata "$new" --options "-c listen_addresses=''"
    createdb reground
    psql --dbname reground --set ON_ERROR_STOP=1 --command "CREATE EXTENSION reground CASCADE"
    if [ -n "${DASHBOARD_PASSWORD:-}" ]; then
        psql --dbname reground --set ON_ERROR_STOP=1 <<'SQL'
\getenv password DASHBOARD_PASSWORD
CREATE ROLE dashboard LOGIN PASSWORD :'password' IN ROLE reground_auditor;
SQL
    fi
    pg_ctl stop --wait --pgdata "$new"
    mv "$new/PG_VERSION" "$PGDATA/PG_VERSION.new"
    mv "$new"/* "$PGDATA"
    mv "$PGDATA/PG_VERSION.new" "$PGDATA/PG_VERSION"
    rmdir "$new"
fi
unset POSTGRES_PASSWORD DASHBOARD_PASSWORD

exec postgres -D "$PGDATA" -c "listen_addresses=*" "$@"
