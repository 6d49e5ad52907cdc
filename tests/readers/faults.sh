#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Simulated faults: the report of each says at which node, when and of what kind it was.
set -eu
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs node chromium chromedriver
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scenarios=$CT_SOURCE/datasets/simulate/scenarios/faults
for file in "$scenarios"/*.scenario; do
	name=$(basename "$file" .scenario)
	ctsim -q --seed 1 "$file" -o "$scratch/$name"
	ctmerge -q "$scratch/$name" -o "$scratch/$name.db" 2>/dev/null || test -s "$scratch/$name.db"
	ctanalyze report -q "$scratch/$name.db" -o "$scratch/$name.html"
	rm -rf "${scratch:?}/$name"
done
node "$CT_SOURCE/tests/readers/faults.mjs" "$scratch" "$scenarios"
