#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The report of a simulated run in Chromium: no error; zoom, search, sort, filter and links
# work; numbers are the database's; without scripts all but the timeline is there. And
# that of a run of many pairs, with names that want to be markup.
set -eu
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs node sqlite3 chromium chromedriver
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ctsim -q --seed 1 --set seconds=2 clients -o "$scratch/run"
ctmerge -q "$scratch/run" -o "$scratch/run.db" 2>/dev/null
ctanalyze report -q "$scratch/run.db" -o "$scratch/report.html"
ctanalyze report -q --begin +0.7 --end +1 "$scratch/run.db" -o "$scratch/part.html"
cp -r "$CT_SOURCE/datasets/sample" "$scratch/sar"
find "$scratch/sar" -name kernel -prune -exec rm -r {} +
find "$scratch/sar" \( -name '*.pcap*' -o -name '*.packets' \) -exec rm {} +
ctmerge -q "$scratch/sar" -o "$scratch/sar.db" 2>/dev/null
ctanalyze report -q "$scratch/sar.db" -o "$scratch/sar.html"
ctsim -q --seed 2 --set seconds=2 --set service_us=3000 --set 'trace=2 0.5 1.5' clients -o "$scratch/other"
ctmerge -q "$scratch/other" -o "$scratch/other.db" 2>/dev/null || [ -s "$scratch/other.db" ]
ctanalyze report -q "$scratch/run.db" --against "$scratch/other.db" -o "$scratch/against.html"
ctsim -q --seed 1 --set nodes=6 --set topology=mesh --set seconds=2 clients -o "$scratch/many"
ctmerge -q "$scratch/many" -o "$scratch/many.db" 2>/dev/null
sqlite3 "$scratch/many.db" "UPDATE thread SET comm = '</script><script>window.attacked = 1</script>';
	UPDATE node SET name = '<img src=x onerror=\"window.attacked = 2\">' WHERE id = 1"
ctanalyze report -q "$scratch/many.db" -o "$scratch/many.html"
cp "$scratch/run.db" "$scratch/colours.db"
sqlite3 "$scratch/colours.db" "UPDATE thread_state SET state_code = 3, wait = 'thread' WHERE state_code IN (2, 3, 4)"
ctanalyze report -q "$scratch/colours.db" -o "$scratch/colours.html"
numbers=$(sqlite3 -readonly -separator ' ' "$scratch/run.db" "
	SELECT (SELECT sum(events) FROM event_class), (SELECT count(*) FROM message),
	       (SELECT max(latency_ns) FROM message)")
# shellcheck disable=SC2086 # a word a number
node "$CT_SOURCE/tests/readers/report.mjs" "$scratch" $numbers "$scratch/run.db"
