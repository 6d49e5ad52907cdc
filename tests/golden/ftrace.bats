#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs that trace-cmd recorded beside LTTng and tcpdump: tests/fixtures/README.md.
# shellcheck disable=SC2016 # messages quote by backticks
load common

# a_run PART...: the parts of both nodes: kernel, trace.dat, pcap.
a_run()
{
	local node part
	for node in node1 node2; do
		mkdir -p "run/$node"
		cp "$CT_SOURCE/tests/fixtures/ftrace/$node"/{node.json,clock.csv} "run/$node"
		for part; do
			[ "$part" != pcap ] || part=$node.pcap
			cp -R "$CT_SOURCE/tests/fixtures/ftrace/$node/$part" "run/$node"
		done
	done
}

ask()
{
	sqlite3 -readonly "$1" "$2"
}

@test "a trace.dat has the clock of LTTng's trace of that boot" {
	a_run kernel trace.dat
	ends_with 0 ctmerge --no-spans -o run.db run
	[ "$(ask run.db "SELECT count(*) FROM source WHERE path LIKE '%trace.dat' AND quality = 'exact'")" = 2 ]
	# Both say the same switches, within what a tracer takes.
	[ "$(ask run.db "SELECT count(*) > 300 FROM sched_switch l JOIN event a USING (id)
		JOIN sched_switch_2 f JOIN event b ON b.id = f.id
		WHERE a.node = b.node AND b.ts_ns BETWEEN a.ts_ns AND a.ts_ns + 1000000
		AND (l.prev_tid, l.next_tid, l.prev_state) = (f.prev_tid, f.next_tid, f.prev_state)")" = 1 ]
}

@test "without LTTng the capture is tied to it by clock.csv" {
	a_run trace.dat pcap
	ends_with 0 ctsync run
	grep -E '^node1:node1.pcap: tied to node1 within .* by [0-9]+ samples of clock.csv$' "$scratch/stdout"
	! grep -E 'islands|header' "$scratch/stdout" "$scratch/stderr" || false
	ends_with 0 ctmerge -o run.db run
	[ "$(ask run.db 'SELECT count(*) > 10 FROM message')" = 1 ]
	[ "$(ask run.db "SELECT count(*) > 100 FROM thread_state WHERE state = 'running'")" = 1 ]
}

# In the time that both recorded, spans that are complete in one are complete in the other.
@test "spans are those of LTTng's trace" {
	local tracer
	for tracer in kernel trace.dat; do
		rm -rf run
		a_run "$tracer"
		ends_with 0 ctmerge --no-sync -o "$tracer.db" run
	done
	# LTTng of that time did not know the names of some calls.
	for span in "syscall|ret" "block_request|operation || sector || bytes" "irq|kind || number"; do
		ask trace.dat.db "SELECT ${span#*|} FROM ${span%%|*} WHERE node = 1 AND NOT cut ORDER BY begin_ns" >ftrace
		ask kernel.db "SELECT ${span#*|} FROM ${span%%|*} WHERE node = 1 AND NOT cut ORDER BY begin_ns" >lttng
		[ "$(wc -l <ftrace)" -ge 10 ]
		# LTTng's trace begins earlier and ends later; no line may be missing between.
		[ "$(diff ftrace lttng | grep -c '^<')" -le 2 ]
	done
}

# Each processor and each thread of a run of two nodes with two processors: what LTTng says it
# did, one after the other, is a part of what ftrace says, whose pages reach further.
@test "two processors a node: both tracers tell the same" {
	local tracer node
	for tracer in kernel trace.dat; do
		for node in node1 node2; do
			mkdir -p "$tracer/$node"
			cp -R "$CT_SOURCE/tests/fixtures/ftrace/both/$node"/{node.json,clock.csv,$tracer} "$tracer/$node"
		done
		ends_with 0 ctmerge --no-sync -o "$tracer.db" "$tracer"
	done
	sqlite3 kernel.db >said <<-END
		ATTACH 'trace.dat.db' AS f;
		CREATE TEMP VIEW told AS
			SELECT 'lttng' AS tracer, 'switch' AS what, e.node, e.cpu AS lane, e.id AS n,
					s.prev_tid || '>' || s.next_tid || ' ' || s.prev_state AS text
				FROM main.sched_switch AS s JOIN main.event AS e USING (id)
			UNION ALL SELECT 'ftrace', 'switch', e.node, e.cpu, e.id,
					s.prev_tid || '>' || s.next_tid || ' ' || s.prev_state
				FROM f.sched_switch AS s JOIN f.event AS e USING (id)
			UNION ALL SELECT 'lttng', 'call', node, tid, begin_ns, ret FROM main.syscall WHERE NOT cut
			UNION ALL SELECT 'ftrace', 'call', node, tid, begin_ns, ret FROM f.syscall WHERE NOT cut
			UNION ALL SELECT 'lttng', 'state', node, tid, begin_ns, state FROM main.thread_state
				WHERE NOT cut AND tid > 0
			UNION ALL SELECT 'ftrace', 'state', node, tid, begin_ns, state FROM f.thread_state
				WHERE NOT cut AND tid > 0;
		CREATE TEMP TABLE lane AS SELECT tracer, what, node, lane,
			'|' || group_concat(text, '|') || '|' AS text, count(*) AS items
			FROM (SELECT * FROM told ORDER BY tracer, what, node, lane, n) GROUP BY 1, 2, 3, 4;
		SELECT l.what, count(*), sum(l.items), sum(instr(coalesce(g.text, ''), l.text) = 0)
			FROM lane AS l LEFT JOIN lane AS g ON g.tracer = 'ftrace'
				AND (g.what, g.node, g.lane) = (l.what, l.node, l.lane)
			WHERE l.tracer = 'lttng' GROUP BY l.what;
		-- Interrupts nest, so that their order is that of the stamps.
		SELECT 'irq', count(*), max(apart_ns) FROM (
			SELECT (SELECT min(abs(g.begin_ns - l.begin_ns)) FROM f.irq AS g
				WHERE (g.node, g.cpu, g.kind, g.number) = (l.node, l.cpu, l.kind, l.number)) AS apart_ns
			FROM main.irq AS l WHERE NOT cut);
	END
	diff - said <<-END
		call|23|1929|0
		state|37|620|0
		switch|4|291|0
		irq|934|88978
	END
}

# ftrace's events of packets have no headers: a capture says which packet it was.
@test "who sent a captured packet is known by the kernel's own event of it" {
	a_run kernel pcap
	ends_with 0 ctmerge -o lttng.db run
	rm -r run
	a_run trace.dat pcap
	ends_with 0 ctmerge -o run.db run
	who="SELECT DISTINCT sport, dport, seq, send_by, send_tid FROM message WHERE seq IS NOT NULL AND send_tid IS NOT NULL ORDER BY 1, 2, 3"
	ask lttng.db "$who" >lttng
	ask run.db "$who" >ftrace
	[ "$(wc -l <ftrace)" -eq 6 ]
	diff lttng ftrace
	[ "$(ask run.db "SELECT count(*) FROM message m JOIN event e ON e.id = m.recv_event JOIN event_class c ON c.id = e.class
		WHERE c.name = 'net_if_receive_skb' AND m.recv_batch IS NOT NULL AND abs(e.ts_ns - m.recv_ns) < 10000000")" = 6 ]
}

@test "the slowest request has one critical path, whatever the tracer" {
	local tracer
	for tracer in kernel trace.dat; do
		rm -rf run
		a_run $tracer pcap
		ctmerge -q -o $tracer.db run
		ends_with 0 ctanalyze critical-path --format json $tracer.db
		node -e "for (const row of JSON.parse(require('fs').readFileSync(0)).tables[0].rows)
			console.log(row.state, row.node, row.tid, row.comm, row.from)" <"$scratch/stdout" >$tracer.path
	done
	diff kernel.path trace.dat.path
	[ "$(cat kernel.path)" = "network node1 null null node2
interrupt node1 null null null
runnable node1 185 vctraffic null
running node1 185 vctraffic null
network node2 null null node1" ]
}

# Names that the kernel remembered at the end.
@test "threads have names without events of the scheduler" {
	ends_with 0 ctmerge --no-sync -o run.db "$CT_SOURCE/tests/fixtures/ftrace/names.dat"
	[ "$(ask run.db "SELECT group_concat(DISTINCT comm) FROM (SELECT comm FROM thread ORDER BY comm)")" = cat,ls,sh,sleep,trace-cmd,vctraffic ]
	[ "$(ask run.db 'SELECT count(*) FROM thread WHERE comm IS NULL')" = 0 ]
}

# The clock of a trace, with the brackets around another one, of as many letters.
with_clock()
{
	LC_ALL=C sed "s/\[mono\] mono_raw boot/$1/" "$2"
}

@test "a clock that nothing relates to others is told" {
	local clocks
	a_run pcap
	for clocks in 'mono [mono_raw] boot' 'mono mono_raw [boot]'; do
		with_clock "$clocks" "$CT_SOURCE/tests/fixtures/ftrace/names.dat" >run/node1/trace.dat
		cut -d , -f 1-2 "$CT_SOURCE/tests/fixtures/ftrace/node1/clock.csv" >clock.csv
		rm -f run/node1/clock.csv
		mv clock.csv run/node1
		ends_with 3 ctsync run
		grep 'run/node1/trace.dat: recorded with the clock `.*`, which nothing relates to others.*; record with trace-cmd record -C mono' "$scratch/stderr"
	done
}

@test "the clock boot is CLOCK_MONOTONIC where clock.csv says so" {
	a_run trace.dat pcap
	ctsync --json run | sed 's/"path": "[^"]*"//' >mono
	cp "$CT_SOURCE/tests/fixtures/ftrace/node1/trace.dat" whole.dat
	rm run/node1/trace.dat
	with_clock 'mono mono_raw [boot]' whole.dat >run/node1/trace.dat
	! cmp whole.dat run/node1/trace.dat || false
	ctsync --json run | sed 's/"path": "[^"]*"//' | cmp mono -
	# after a suspend of 3 s it is not
	awk -F , -v OFS=, 'NR > 1 { $3 = substr($3, 1, length($3) - 10) \
		substr($3, length($3) - 9, 1) + 3 substr($3, length($3) - 8) } { print }' \
		"$CT_SOURCE/tests/fixtures/ftrace/node1/clock.csv" >clock.csv
	rm run/node1/clock.csv
	mv clock.csv run/node1
	ends_with 3 ctsync run
	grep 'recorded with the clock `boot`, which nothing relates' "$scratch/stderr"
}

@test "a trace.dat by itself is a trace" {
	a_run trace.dat
	ends_with 0 ctmerge -o run.db run/node1/trace.dat
	[ "$(ask run.db "SELECT events FROM source")" -gt 1000 ]
	grep -F 'ftrace records no packet headers; capture the packets as well' "$scratch/stderr"
}
