#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Common to all formats of ctexport: words, options, the timeline, the output.
load common

setup_file()
{
	CT_TIMELINE=$BATS_FILE_TMPDIR/run.db
	export CT_TIMELINE
	ctmerge -q --no-sync --events net_dev_queue "$CT_SOURCE/tests/fixtures/net3" \
		-o "$CT_TIMELINE" 2>/dev/null
}

@test "formats are listed and near names suggested" {
	ends_with 0 ctexport --help
	grep -q '^  csv ' "$scratch/stdout"
	fails_with 2 "ctexport: unknown format 'cvs'; did you mean 'csv'?" ctexport cvs run.db
	fails_with 2 "ctexport: unknown format 'nothing' (expected one of opendc, parquet, csv, json, graphite, perfetto, tracekit)" ctexport nothing
	fails_with 2 'ctexport: missing FORMAT, the first argument (see --help)' ctexport
}

@test "one timeline is wanted" {
	fails_with 2 'ctexport: expected one RUN.db, got 0 (see --help)' \
		ctexport csv --query 'SELECT 1'
	fails_with 2 'ctexport: expected one RUN.db, got 2 (see --help)' \
		ctexport csv --query 'SELECT 1' a b
	fails_with 1 'ctexport: a: No such file or directory' ctexport csv --query 'SELECT 1' a
	echo text >a
	fails_with 1 'ctexport: a: not a timeline (expected a file made by ctmerge)' \
		ctexport csv --query 'SELECT 1' a
	cp "$CT_TIMELINE" b.db
	chmod u+w b.db
	sqlite3 b.db 'PRAGMA user_version = 99'
	fails_with 1 'ctexport: b.db: timeline of version 99 (expected version 3); make it again with ctmerge RUN -o b.db --force' \
		ctexport csv --query 'SELECT 1' b.db
}

@test "tracekit tells what is missing" {
	ctsim --seed 5 --set seconds=1 clients -o run 2>/dev/null
	rm run/*/sar.sadf # in one second there is no sample
	ctmerge -q run -o run.db 2>/dev/null
	ends_with 0 ctexport tracekit run.db --node node1 --node node2 -o out
	for file in proc_metrics proc_cpu proc_rss host_metrics link_metrics invocations \
		placement_events system_stats; do
		[ -f "out/node1/cctf/$file.jsonl" ]
		[ ! -s "out/node1/cctf/$file.jsonl" ]
	done
	sort "$scratch/stderr" >said
	diff said - <<-END
		ctexport: node1, node2: no samples of %idle and kbmemfree (sar): host_metrics is empty
		ctexport: node1, node2: no samples of processes (proc.csv): proc_metrics, proc_cpu and proc_rss are empty
		ctexport: node1, node2: no samples of rxkB/s and txkB/s (sar): link_metrics is empty
		ctexport: node1, node2: no tasks (invocations.jsonl): invocations, placement_events and system_stats are empty
	END
}

@test "a full disk and a closed pipe leave nothing" {
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 1 bash -c 'exec ctexport csv "$1" --query "SELECT * FROM timeline" >/dev/full' \
		- "$CT_TIMELINE"
	grep -q '^ctexport: standard output: No space left on device$' "$scratch/stderr"
	# shellcheck disable=SC2016
	ends_with 1 bash -c 'ulimit -f 10; exec ctexport csv "$1" \
		--query "SELECT * FROM timeline" -o out.csv' - "$CT_TIMELINE"
	grep -q '^ctexport: out.csv: File too large$' "$scratch/stderr"
	[ "$(find . -mindepth 1 | sort | xargs)" = "./datasets ./fixtures" ]
}

@test "a reader that goes away ends it quietly" {
	# shellcheck disable=SC2016
	ends_with 141 bash -c 'ctexport csv -q --query "SELECT * FROM timeline" "$1" | false
		exit ${PIPESTATUS[0]}' - "$CT_TIMELINE"
	[ ! -s "$scratch/stderr" ]
}

# The events are visited, not every second of 50 years.
@test "one stamp of 1970 or 2068 in a timeline" {
	local format
	recorded datasets/sample sample.db
	cp sample.db old.db
	sqlite3 old.db "UPDATE sample SET ts_ns = 1000000000 WHERE rowid = 1;
		UPDATE invocation SET end_ns = 3100000000000000000 WHERE id = 1"
	for format in graphite tracekit opendc perfetto; do
		# shellcheck disable=SC2016 # the inner shell expands
		ends_with 0 bash -c 'ulimit -f 40000; exec timeout 60 ctexport "$0" old.db -o "$0"' $format
	done
	# The time without work is there, as one fragment: durations add up.
	ends_with 0 ctexport opendc -q --format csv old.db -o csv
	tr -d '\r' <csv/tasks.csv | awk -F, 'NR == FNR { sum[$1] += $4; next }
		{ sum[$1] -= $2 } END { for (id in sum) if (id != "id" && sum[id]) exit 1 }' \
		- <(tr -d '\r' <csv/fragments.csv)
	# In the quiet years one line tells how many tasks there are, and the last one none.
	[ "$(cat tracekit/node1/*/cctf/system_stats.jsonl tracekit/node1/cctf/system_stats.jsonl 2>/dev/null | wc -l)" -lt 1000 ]
}

# Every event is a line, with what SQL finds in the timeline.
@test "json: events with their fields" {
	ends_with 0 ctexport json -q "$CT_TIMELINE" -o all.jsonl
	{ printf '['; sed '$!s/$/,/' all.jsonl; printf ']'; } >all.json
	sqlite3 "$CT_TIMELINE" "SELECT e.ts_ns, n.name, e.cpu, e.tid, c.name FROM event AS e
		JOIN node AS n ON n.id = e.node JOIN event_class AS c ON c.id = e.class
		ORDER BY e.id" >wanted
	sqlite3 :memory: "SELECT v ->> 'ts_ns', v ->> 'node', v ->> 'cpu', v ->> 'tid', v ->> 'class'
		FROM (SELECT value AS v FROM json_each(readfile('all.json')))" | diff wanted -
	[ -s wanted ]
	sqlite3 "$CT_TIMELINE" "SELECT count(*), count(name), sum(len) FROM net_dev_queue" >wanted
	sqlite3 :memory: "SELECT count(*), count(v ->> 'name'), sum(v ->> 'len')
		FROM (SELECT value ->> 'fields' AS v FROM json_each(readfile('all.json'))
			WHERE value ->> 'class' = 'net_dev_queue')" | diff wanted -
	ends_with 0 ctexport json -q --events 'net_*' --node node1 "$CT_TIMELINE"
	[ "$(grep -o '"node":"[^"]*"\|"class":"[^"]*"' "$scratch/stdout" | sort -u | xargs)" = \
		'class:net_dev_queue node:node1' ]
	fails_with 2 'ctexport: --events: no matching event class; see ctanalyze nodes --table classes' \
		ctexport json --events 'x*' "$CT_TIMELINE"
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 1 bash -c 'exec ctexport json "$1" >/dev/full' - "$CT_TIMELINE"
	grep -q '^ctexport: standard output: No space left on device$' "$scratch/stderr"
}
