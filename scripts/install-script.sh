#!/usr/bin/env bash
# install-script.sh: prints the script that creates the objects of the current version, from the files of sql/install.
#
# To release a version, write the output to sql/releases/reground--VERSION.sql and append its digest to sql/releases/SHA256SUMS. Then raise
# the version in Cargo.toml, bench/Cargo.toml and reground.control, and begin a script in sql/updates.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

compgen -G "$ROOT/sql/install/*.sql" >/dev/null || die "there is no SQL in sql/install"
printf '%s\n\n' '\echo Use "CREATE EXTENSION reground CASCADE" to load this file. \quit'
# The numbers in the file names define the order.
cat "$ROOT"/sql/install/*.sql
