#!/usr/bin/env bash
# test-apps.sh: tests the report pages in a browser, and the programs of the guide directly and through
# pgbouncer, and the recipes for schema tools.
#
#   APPS=optional    skip a test whose tools cannot be installed, with a message
set -euo pipefail
scripts=$(dirname "$0")
"$scripts/test-pages.sh"
"$scripts/test-drivers.sh"
"$scripts/test-migrations.sh"
