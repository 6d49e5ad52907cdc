#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# opendc.sh: what ctexport opendc writes as Parquet, read by programs of others: types and
# REQUIRED as OpenDC's readers want them, every value as the CSV form has it, and the work of
# each node's task as the timeline has it.
set -eu
. "$(dirname "$0")/scratch.sh"
seed=${1:-$(od -A n -t u2 -N 2 /dev/urandom | tr -d ' ')}
echo "seed: $seed"
ctsim --seed "$seed" --set seconds=2 clients -o run >/dev/null 2>&1
ctmerge -q run -o run.db 2>/dev/null
for kind in node process; do
	for format in parquet csv; do
		ctexport opendc -q --tasks "$kind" --parents --format "$format" --interval 0.05 \
			--cpu-mhz 1000 run.db -o "$kind-$format" 2>/dev/null
	done
done
sqlite3 -csv -header run.db "SELECT n.name, sum(s.duration_ns) AS ran_ns FROM thread_state AS s
	JOIN node AS n ON n.id = s.node WHERE s.state = 'running' AND s.tid <> 0 GROUP BY n.name" >ran.csv
node opendc.mjs node process
