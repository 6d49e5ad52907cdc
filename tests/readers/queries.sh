#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# queries.sh: every analysis in SQL finds the same by SQLite in a timeline as by DuckDB in
# the Parquet tables that ctexport makes of it: of a simulated run, and of a recorded one.
set -eu
. "$(dirname "$0")/scratch.sh"
ctsim -q --seed 1 --set seconds=2 clients -o run
ctmerge -q run -o clients.db
ctmerge -q --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" -o net3.db 2>/dev/null
for run in clients net3; do
	ctexport parquet $run.db -o $run
	node queries.mjs $run.db $run "$CT_SOURCE/analyze/queries"
done
