#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# opendc.sh: what ctexport opendc writes as Parquet, read by programs of others: types and
# REQUIRED as OpenDC's readers want them, and every value as the CSV form has it.
set -eu
. "$(dirname "$0")/scratch.sh"
seed=${1:-$(od -A n -t u2 -N 2 /dev/urandom | tr -d ' ')}
echo "seed: $seed"
ctsim --seed "$seed" --set seconds=2 clients -o run >/dev/null 2>&1
ctmerge -q run -o run.db 2>/dev/null
for schema in v1 v2 v3 v4 v5; do
	for format in parquet csv; do
		ctexport opendc -q --schema "$schema" --format "$format" --interval 0.1 \
			run.db -o "$schema-$format" 2>/dev/null
	done
done
node opendc.mjs v1 v2 v3 v4 v5
