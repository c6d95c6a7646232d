#!/usr/bin/env bash
# test-apps.sh: what applications do with the extension. The report pages in a browser, and the programs of docs/guide/drivers.md
# over their drivers and pgbouncer.
#
#   APPS=optional    where the tools of one cannot be had, say so and pass
set -euo pipefail
scripts=$(dirname "$0")
"$scripts/test-pages.sh"
"$scripts/test-drivers.sh"
