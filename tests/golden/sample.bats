#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The sample run that ./demo and the README show: what the programs say of it.
load common
load schema

setup_file()
{
	CT_SAMPLE=$BATS_FILE_TMPDIR/sample.db
	export CT_SAMPLE
	recorded datasets/sample "$CT_SAMPLE"
}

@test "clocks" {
	golden sample_clocks ctsync datasets/sample
	golden sample_straight ctsync --bounds straight datasets/sample
}

@test "messages" {
	golden sample_messages ctanalyze messages --table pairs "$CT_SAMPLE"
}

@test "processors and threads" {
	golden sample_cpu ctanalyze cpu --limit 10 "$CT_SAMPLE"
	golden sample_sched ctanalyze sched --limit 10 "$CT_SAMPLE"
}

# node1 and node3 were traced later: what they did then is not known.
@test "what was not recorded is neither idle nor left out" {
	golden sample_unrecorded ctanalyze cpu --begin +25 --end +29 --interval 1s --table nodes "$CT_SAMPLE"
	golden sample_begins ctanalyze cpu --begin +29 --end +32 --interval 1s --table intervals "$CT_SAMPLE"
	golden sample_nothing ctanalyze cpu --begin +2 --end +20 "$CT_SAMPLE"
	golden sample_irq_unrecorded ctanalyze irq --begin +25 --end +29 --table cpus "$CT_SAMPLE"
}

# The lanes of a node are hatched where its kernel was not traced.
@test "the report hatches what was not recorded" {
	ctanalyze report "$CT_SAMPLE" -o report.html
	page_data report.html >data.json
	sqlite3 -readonly "$CT_SAMPLE" "SELECT gap.value ->> 2, gap.value ->> 3
		FROM json_each(readfile('data.json'), '\$.gaps') AS gap WHERE gap.value ->> 1 = -1
		ORDER BY gap.value ->> 0, gap.value ->> 2" >said
	[ "$(wc -l <said)" -eq 6 ]
	sqlite3 -readonly "$CT_SAMPLE" "WITH whole AS (SELECT min(least) AS a, max(most) AS b FROM (
				SELECT min(ts_ns) AS least, max(ts_ns) AS most FROM event
				UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample
				UNION ALL SELECT min(send_ns), max(recv_ns) FROM message
				UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)), max(end_ns) FROM invocation)),
			gap AS (SELECT node, a AS x, begin_ns AS y FROM source, whole WHERE kind = 'kernel'
				UNION ALL SELECT node, end_ns, b FROM source, whole WHERE kind = 'kernel')
		SELECT x - a, y - a FROM gap, whole WHERE y > x ORDER BY node, x" | diff - said
}

# The finding and the curve of the bounds say what the table says.
@test "the report's bounds are those of the clocks" {
	ctanalyze report "$CT_SAMPLE" -o report.html
	page_data report.html >data.json
	ctanalyze clocks --limit 0 --format json "$CT_SAMPLE" >clocks.json
	worst=$(sqlite3 :memory: "SELECT max(value ->> 'worst_bound_ns') FROM json_each(readfile('clocks.json'), '\$.tables[0].rows')")
	[ "$worst" -gt 0 ]
	grep -q "id=\"finding-clocks\">.*<b data-v=\"$worst\">" report.html
	# Before node2's kernel trace the curve is as wide as the table says, and not as the trace begins.
	sqlite3 :memory: "SELECT value ->> 4 FROM json_each(readfile('data.json'), '\$.curves')
		WHERE value ->> 0 = 0 AND value ->> 1 = 1 LIMIT 1" >first
	sqlite3 :memory: "SELECT -(value ->> 'low_ns') FROM json_each(readfile('clocks.json'), '\$.tables[2].rows')
		WHERE value ->> 'node' = 'node2'" | grep -qxF -f first
	[ "$(cat first)" -gt 5000000 ]
	# The reference has none where it was not recorded.
	[ "$(sqlite3 :memory: "SELECT min(value ->> 2) > 30000000000 FROM json_each(readfile('data.json'), '\$.curves')
		WHERE value ->> 0 = 0 AND value ->> 1 = 0")" -eq 1 ]
}

@test "tasks and processes" {
	golden sample_proc ctanalyze proc --limit 10 "$CT_SAMPLE"
}

@test "traffic and memory" {
	golden sample_net ctanalyze net --limit 10 "$CT_SAMPLE"
	golden sample_mem ctanalyze mem --limit 10 "$CT_SAMPLE"
}

@test "interrupts and disks" {
	golden sample_irq ctanalyze irq --limit 10 "$CT_SAMPLE"
	golden sample_io ctanalyze io --limit 10 "$CT_SAMPLE"
}

@test "requests, and what the slowest one waited for" {
	golden sample_requests ctanalyze requests --limit 10 "$CT_SAMPLE"
	golden sample_critical ctanalyze critical-path "$CT_SAMPLE"
	golden sample_why ctanalyze why --limit 12 "$CT_SAMPLE"
}

@test "the questions of the schema's document" {
	local name
	for name in processors latencies before-slow disk path kept-from-running slow-disk meanwhile cpu-by-process scheduling-latency interrupt-share \
		failed-calls waits history wakers; do
		ask_question "$CT_SAMPLE" $name sample_question_$name
	done
}

@test "what was not recorded is told, and is no failure" {
	golden sample_syscalls ctanalyze syscalls "$CT_SAMPLE"
}

@test "a workload for a simulator" {
	ends_with 0 ctexport opendc -q --format csv "$CT_SAMPLE" -o opendc
	golden sample_opendc_nodes sed 's/\r$//' opendc/tasks.csv
	golden sample_opendc_run cat opendc/topology.json opendc/topology-legacy.json opendc/experiment.json opendc/experiment-legacy.json
	ends_with 0 ctexport opendc -q --force --tasks process --parents --format csv "$CT_SAMPLE" -o opendc
	golden sample_opendc sed 's/\r$//; 40q' opendc/tasks.csv
}

# The sample as run.db, with the clock of node2 set back, so that it shows some times twice. $1: more SQL.
set_clock_back()
{
	cp "$CT_SAMPLE" run.db
	chmod u+w run.db
	sqlite3 run.db "CREATE TEMP TABLE half AS SELECT c.source, s.begin_ns - c.ref_ns + c.local_ns AS local_ns, s.begin_ns AS ref_ns,
			s.end_ns - s.begin_ns AS span_ns, c.rate_ppb FROM clock AS c JOIN source AS s ON s.id = c.source
			WHERE s.name = 'node2';
		INSERT INTO clock (source, local_ns, ref_ns, rate_ppb)
			SELECT source, local_ns + span_ns * 6 / 10, ref_ns + span_ns * 4 / 10, rate_ppb FROM half; $1"
}

@test "a clock is one row, also if it was set back, and its widest known bound is told beside open ones" {
	set_clock_back "UPDATE clock_bound SET high_ns = NULL WHERE source = (SELECT source FROM half)
			AND local_ns = (SELECT min(local_ns) FROM clock_bound WHERE source = (SELECT source FROM half))"
	ctanalyze clocks --table clocks --format csv run.db | tr -d '\r' >clocks.csv
	[ "$(grep -c '^node2,node2,' clocks.csv)" = 1 ]
	worst=$(head -n 1 clocks.csv | tr , '\n' | grep -n -x worst_bound_ns | cut -d : -f 1)
	[ "$(grep '^node2,node2,' clocks.csv | cut -d , -f "$worst")" -gt 0 ]
	ctanalyze clocks run.db | grep -qxF 'node2, node2: at some times nothing bounds its clock (--table bounds)'
}

@test "periods and critical paths between nodes are one row each, also if a clock was set back" {
	local periods=(--from 'net_dev_queue[node = "node1"]' --to 'net_dev_queue[node = "node2"]' --log --limit 0 --format csv -q)
	local path=(--request 167 --table path --limit 0 --format csv -q)
	ctanalyze periods "${periods[@]}" "$CT_SAMPLE" >before
	ctanalyze critical-path "${path[@]}" "$CT_SAMPLE" >path_before
	set_clock_back
	ctanalyze periods "${periods[@]}" run.db >after
	ctanalyze critical-path "${path[@]}" run.db >path_after
	[ "$(wc -l <before)" -gt 500 ]
	[ "$(wc -l <path_before)" -gt 5 ]
	[ "$(wc -l <after)" = "$(wc -l <before)" ]
	[ "$(wc -l <path_after)" = "$(wc -l <path_before)" ]
}
