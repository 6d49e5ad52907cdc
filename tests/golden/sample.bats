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
	cd "$CT_SOURCE" && ctmerge -q datasets/sample -o "$CT_SAMPLE" 2>/dev/null
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

# Each processor's lane is hatched where its node's kernel was not traced, to a pixel of a thousand.
@test "the report hatches what was not recorded" {
	ctanalyze report "$CT_SAMPLE" -o report.html
	sed -n '/id="lanes"/,/<\/svg>/s/.*<path class="unrecorded" d="\([^"]*\)".*/\1/p' report.html | grep -o 'M[0-9]* [0-9]*H[0-9]*' |
		tr 'MH' '  ' | sort -k 2n -k 1n | awk '{ print $1, $3 }' >said
	sqlite3 "$CT_SAMPLE" "WITH whole AS (SELECT min(least) AS a, max(most) AS b FROM (
				SELECT min(ts_ns) AS least, max(ts_ns) AS most FROM event
				UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample
				UNION ALL SELECT min(send_ns), max(recv_ns) FROM message
				UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)), max(end_ns) FROM invocation)),
			gap AS (SELECT node, a AS x, begin_ns AS y FROM source, whole WHERE kind = 'kernel'
				UNION ALL SELECT node, end_ns, b FROM source, whole WHERE kind = 'kernel')
		SELECT printf('%.0f', (x - a) * 1e6 / (b - a)) || ' ' || printf('%.0f', (y - a) * 1e6 / (b - a))
		FROM gap, whole WHERE y > x ORDER BY node, x" | diff - said
	# Nor is anything known of them in the charts of disks and network.
	grep -A 12 'figure class="chart" id="network"' report.html | grep -c 'aria-label="Network, node[1-3]" data-up=",,,,,,,,,,'
}

# The picture of the bounds and the tile beside it say what the table says.
@test "the report's bounds are those of the clocks" {
	ctanalyze report "$CT_SAMPLE" -o report.html
	ctanalyze clocks --limit 0 --format json "$CT_SAMPLE" >clocks.json
	worst=$(sqlite3 :memory: "SELECT max(value ->> 'worst_bound_ns') FROM json_each(readfile('clocks.json'), '\$.tables[0].rows')")
	[ "$worst" -gt 0 ]
	grep -q "<dt>widest clock bound</dt><dd data-v=\"$worst\">" report.html
	# Before node2's kernel trace it is as wide as the table says, and not as the trace begins.
	sed -n 's/.*aria-label="Bounds of the clocks, node2" data-up="[^"]*" data-down="\([^,"]*\),.*/\1/p' report.html >first
	sqlite3 :memory: "SELECT printf('%.4g', -(value ->> 'low_ns')) FROM json_each(readfile('clocks.json'), '\$.tables[2].rows')
		WHERE value ->> 'node' = 'node2'" | grep -qxF -f first
	ends_with 1 grep -qxE '[0-5]\..*e[+]06' first
	# The reference has none where it was not recorded.
	grep -q 'aria-label="Bounds of the clocks, node1" data-up=",,,,' report.html
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
	golden sample_opendc tr -d '\r' <opendc/tasks.csv
}
