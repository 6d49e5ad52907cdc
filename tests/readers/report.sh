#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The report of a simulated run in Chromium: no error, the zoom works, numbers are the
# database's, and without scripts everything is still there.
set -eu
for program in node sqlite3 chromium chromedriver; do
	if ! command -v "$program" >/dev/null; then
		echo "no $program"
		exit 77
	fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ctsim -q --seed 1 --set seconds=2 clients -o "$scratch/run"
ctmerge -q "$scratch/run" -o "$scratch/run.db" 2>/dev/null
ctanalyze report -q "$scratch/run.db" -o "$scratch/report.html"
numbers=$(sqlite3 -readonly -separator ' ' "$scratch/run.db" "
	SELECT (SELECT sum(events) FROM event_class), (SELECT count(*) FROM message),
	       (SELECT max(latency_ns) FROM message)")
# shellcheck disable=SC2086 # a word a number
node "$CT_SOURCE/tests/readers/report.mjs" "$scratch" $numbers
