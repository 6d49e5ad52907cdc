#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# queries.sh: every analysis in SQL finds the same by SQLite in a timeline as by DuckDB in
# the Parquet tables that ctexport makes of it: of a simulated run with each group that it
# has, and of a recorded one once.
set -eu
. "$(dirname "$0")/scratch.sh"
ctsim -q --seed 1 --set seconds=2 clients -o run
ctmerge -q run -o clients.db
ctmerge -q --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" -o net3.db 2>/dev/null
ctexport parquet clients.db -o clients
ctexport parquet net3.db -o net3
node queries.mjs clients.db clients "$CT_SOURCE/analyze/queries"
node queries.mjs net3.db net3 "$CT_SOURCE/analyze/queries" once
