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
cp -r "$CT_SOURCE/datasets/sample" "$scratch/captures"
find "$scratch/captures" -name kernel -prune -exec rm -r {} +
find "$scratch/captures" \( -name 'sar*' -o -name proc.csv -o -name invocations.jsonl -o -name sensors.csv \) -exec rm {} +
ctmerge -q "$scratch/captures" -o "$scratch/captures.db" 2>/dev/null
ctanalyze report -q "$scratch/captures.db" -o "$scratch/captures.html"
# User space and tasks of two nodes, without a kernel.
bash -s "$CT_SOURCE/tests/golden/ctf.bash" "$scratch/user" <<'END'
. "$1"
for node in a b; do
	mkdir -p "$2/$node/app"
	{
		ctf_metadata $node | sed 's/env { /&domain = "ust"; tracer_name = "lttng"; /
			s/stream { id = 0; /&event.context := struct { uint32_t vtid; }; /'
		ctf_event 0 app:work_begin ' uint8_t i; '
		ctf_event 1 app:work_end ' uint8_t i; '
	} >"$2/$node/app/metadata"
	{
		le 4 0xc1fc1fc1 0
		for ((i = 0; i < 100; i++)); do
			le 2 0; le 8 $((1000000000 + i * 10000000)); le 4 $((7 + i % 3)); le 1 1
			le 2 1; le 8 $((1003000000 + i * 10000000)); le 4 $((7 + i % 3)); le 1 1
		done
	} >"$2/$node/app/stream"
	for task in 0 1 2; do
		printf '{"node": "%s", "name": "job%d", "started_ns": %d, "ended_ns": %d, "status": 0}\n' $node $task \
			$((1000000000 + task * 200000000)) $((1300000000 + task * 200000000))
	done >"$2/$node/invocations.jsonl"
done
END
ctmerge -q --no-sync "$scratch/user" -o "$scratch/user.db" 2>/dev/null
ctanalyze report -q "$scratch/user.db" -o "$scratch/user.html"
ctsim -q --seed 2 --set seconds=2 --set service_us=3000 --set 'trace=2 0.5 1.5' clients -o "$scratch/other"
ctmerge -q "$scratch/other" -o "$scratch/other.db" 2>/dev/null || [ -s "$scratch/other.db" ]
ctanalyze report -q "$scratch/run.db" --against "$scratch/other.db" -o "$scratch/against.html"
ctsim -q --seed 1 --set nodes=6 --set topology=mesh --set seconds=2 clients -o "$scratch/many"
ctmerge -q "$scratch/many" -o "$scratch/many.db" 2>/dev/null
sqlite3 "$scratch/many.db" "UPDATE thread SET comm = '</script><script>window.attacked = 1</script>';
	UPDATE node SET name = iif(id = 1, '<img src=x onerror=\"window.attacked = 2\">', 'machine-of-the-rack-' || id)"
ctanalyze report -q "$scratch/many.db" -o "$scratch/many.html"
printf '%s\n' 'nodes 100' 'cpus 2' 'seconds 3' 'topology ring' 'activity full' 'interval_ms 10' >"$scratch/hundred.scenario"
ctsim -q --seed 3 "$scratch/hundred.scenario" -o "$scratch/hundred"
ctmerge -q "$scratch/hundred" -o "$scratch/hundred.db" 2>/dev/null
rm -r "$scratch/hundred"
ctanalyze report -q "$scratch/hundred.db" -o "$scratch/hundred.html"
[ "$(wc -c <"$scratch/hundred.html")" -lt 3000000 ]
printf '%s\n' 'nodes 4' 'seconds 30' 'topology chain' 'interval_ms 0.5' >"$scratch/crowd.scenario"
ctsim -q --seed 4 "$scratch/crowd.scenario" -o "$scratch/crowd"
ctmerge -q "$scratch/crowd" -o "$scratch/crowd.db" 2>/dev/null
rm -r "$scratch/crowd"
ctanalyze report -q "$scratch/crowd.db" -o "$scratch/crowd.html"
cp "$scratch/run.db" "$scratch/colours.db"
sqlite3 "$scratch/colours.db" "UPDATE thread_state SET state_code = 3, wait = 'thread' WHERE state_code IN (2, 3, 4);
	UPDATE block_request SET disk = '254:0', dev = 254 << 20"
ctanalyze report -q "$scratch/colours.db" -o "$scratch/colours.html"
numbers=$(sqlite3 -readonly -separator ' ' "$scratch/run.db" "
	SELECT (SELECT sum(events) FROM event_class), (SELECT count(*) FROM message),
	       (SELECT max(latency_ns) FROM message)")
# shellcheck disable=SC2086 # a word a number
node "$CT_SOURCE/tests/readers/report.mjs" "$scratch" $numbers "$scratch/run.db"
