#!/bin/sh
# postgres-repository.sh PG: adds the repository of the PostgreSQL project, if this Debian has no PostgreSQL PG. No later installation of
# the server makes a cluster.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends ca-certificates postgresql-common
sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
if ! apt-cache policy "postgresql-$1" | grep -q "Candidate: [0-9]"; then
    /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y
fi
