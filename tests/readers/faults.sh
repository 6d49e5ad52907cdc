#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Simulated faults: the report of each says at which node, when and of what kind it was, and
# compare names it among the first five changes against a run without the fault.
set -eu
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs node chromium chromedriver
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scenarios=$CT_SOURCE/datasets/simulate/scenarios/faults
missed=0
for file in "$scenarios"/*.scenario; do
	name=$(basename "$file" .scenario)
	ctsim -q --seed 1 "$file" -o "$scratch/$name"
	ctmerge -q "$scratch/$name" -o "$scratch/$name.db" 2>/dev/null || test -s "$scratch/$name.db"
	ctanalyze report -q "$scratch/$name.db" -o "$scratch/$name.html"
	awk '/^(nodes|cpus|seconds|activity|interval_ms|service_us|sample_s|spawn_ms|workers|topology) / && !seen[$1]++' \
		"$file" >"$scratch/without.scenario"
	# Most faults are of the same run.
	without=$scratch/without-$(cksum <"$scratch/without.scenario" | tr ' ' -).db
	if [ ! -e "$without" ]; then
		ctsim -q --seed 2 "$scratch/without.scenario" -o "$scratch/without"
		ctmerge -q "$scratch/without" -o "$without" 2>/dev/null
		rm -rf "${scratch:?}/without"
	fi
	ctanalyze compare -q --table changes --format csv "$scratch/$name.db" "$without" | head -6 >"$scratch/changes"
	grep -q "^$(sed -n 's/^# change: //p' "$file")" "$scratch/changes" || {
		echo "$name: not among the first changes:"
		cat "$scratch/changes"
		missed=$((missed + 1))
	}
	rm -rf "${scratch:?}/$name"
done
[ "$missed" -eq 0 ]
node "$CT_SOURCE/tests/readers/faults.mjs" "$scratch" "$scenarios"
