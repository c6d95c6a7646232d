#!/usr/bin/env bash
# Removes build results. Downloads, the embedded PostgreSQL and the data of the development servers remain.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

rm -rf "${CACHE:?}/target" "${CACHE:?}/lib" "${CACHE:?}/logs"
rm -rf --one-file-system "$CACHE"/debian/{builds-*,copy.*,new.*,image.*} "$CACHE"/packages "$CACHE"/packages.* "$CACHE"/deb.*
say "kept: $CACHE (downloads), $SERVER_HOME (servers and their data)"
