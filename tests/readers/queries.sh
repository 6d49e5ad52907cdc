#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# queries.sh: every analysis in SQL finds the same by SQLite in a timeline as by DuckDB in
# the Parquet tables that ctexport makes of it: of a simulated run, and of a recorded one.
set -eu
modules=$CT_SOURCE/build-node/node_modules
if [ ! -d "$modules" ] || ! command -v node >/dev/null; then
	echo "no DuckDB in $modules, want those that ./check installs"
	exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$CT_SOURCE/tests/readers/queries.mjs" "$scratch"
ln -s "$modules" "$scratch/node_modules"
cd "$scratch"
ctsim -q --seed 1 --set seconds=2 clients -o run
ctmerge -q run -o clients.db
ctmerge -q --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" -o net3.db 2>/dev/null
for run in clients net3; do
	ctexport parquet $run.db -o $run
	node queries.mjs $run.db $run "$CT_SOURCE/analyze/queries"
done
