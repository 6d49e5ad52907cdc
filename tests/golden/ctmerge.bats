#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on the recorded run: what is in the timeline, and what was selected.
load common

net3=fixtures/net3

# own.db: the whole run, by each trace's own clock. Tests read it.
setup_file()
{
	setup
	ctmerge -q --no-sync $net3 -o own.db 2>"$BATS_FILE_TMPDIR/stderr"
	mv own.db "$BATS_FILE_TMPDIR"
	teardown
	export own=$BATS_FILE_TMPDIR/own.db
}

# ask FILE QUERY: the answer, a row a line.
ask()
{
	sqlite3 -readonly "$1" "$2"
}

# Print its messages, except how the samples of a run without clock.csv are placed.
told()
{
	grep -v ': no clock.csv, samples and tasks are placed as if' "$1"
}

# The file is sound, ordered, and refers to nothing that is not there.
is_sound()
{
	[ "$(ask "$1" 'PRAGMA integrity_check')" = ok ]
	[ -z "$(ask "$1" 'PRAGMA foreign_key_check')" ]
	[ "$(ask "$1" 'SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1
		WHERE b.ts_ns < a.ts_ns')" = 0 ]
	[ "$(ask "$1" 'SELECT min(id), max(id) = count(*) FROM event')" = '1|1' ]
}

# Stamp, node and class of every event of the traces, as babeltrace2 has them.
events_by_babeltrace()
{
	local node
	for node in node1 node2 node3; do
		babeltrace2 --no-delta --clock-seconds $net3/$node/kernel |
			awk -v node=$node '{
				gsub(/[][.]/, "", $1)
				sub(/:$/, "", $3)
				print $1 "|" node "|" $3
			}'
	done
}

@test "every event is there, by its own clock, as babeltrace2 has it" {
	[ -z "$(told "$BATS_FILE_TMPDIR/stderr")" ]
	is_sound "$own"
	events_by_babeltrace | sort >wanted
	ask "$own" "SELECT t.ts_ns, t.node, t.class FROM timeline t JOIN event USING (id)
		JOIN source s ON s.id = event.source WHERE s.kind = 'kernel'" | sort >got
	cmp wanted got
	[ "$(ask "$own" 'SELECT sum(events) FROM source')" = 97891 ]
	[ -z "$(ask "$own" "SELECT value FROM meta WHERE key = 'reference'")" ]
	[ "$(ask "$own" 'SELECT sum(events) FROM event_class')" = 97891 ]
}

@test "the clocks are those of ctsync" {
	ctsync -q --json $net3 >map.json
	ends_with 0 ctmerge -q $net3 -o run.db
	[ -z "$(told "$scratch/stderr")" ]
	is_sound run.db
	[ "$(ask run.db 'SELECT count(*) FROM event')" = 97891 ]
	ctmerge -q --clocks map.json $net3 -o other.db
	for db in run.db other.db; do
		[ "$(ask $db "SELECT value FROM meta WHERE key = 'reference'")" = \
			"$(sed -n 's/^  "reference": "\(.*\)",/\1/p' map.json)" ]
		ask $db 'SELECT s.name, c.local_ns, c.ref_ns, printf("%.3f", c.rate_ppb)
			FROM clock c JOIN source s ON s.id = c.source' >$db.clocks
	done
	cmp run.db.clocks other.db.clocks
	[ "$(ask run.db 'SELECT (SELECT count(*) FROM message) + count(*)
		FROM message_observation')" = \
		"$(grep -o '"matched": [0-9]*' map.json | cut -d ' ' -f 2)" ]
	[ "$(ask run.db 'SELECT count(*) FROM message WHERE latency_ns < 0')" = 0 ]
	[ "$(ask run.db "SELECT count(*) FROM message m
		JOIN event s ON s.id = m.send_event JOIN event r ON r.id = m.recv_event
		WHERE s.id < r.id AND s.node = m.src_node AND r.node = m.dst_node")" = \
		"$(ask run.db 'SELECT count(*) FROM message')" ]
}

@test "an event's own stamp comes back from the clock" {
	ctmerge -q $net3 -o run.db
	# Two neighbours of a fast clock may have one corrected timestamp.
	[ "$(sqlite3 run.db "ATTACH '$own' AS own;
		SELECT count(*), max(abs(a.local - b.ts_ns)) FROM (
			SELECT row_number() OVER (ORDER BY id) AS n, local_ns +
				CAST(round((ts_ns - ref_ns) / (1 + rate_ppb * 1e-9)) AS INTEGER) AS local
			FROM event JOIN clock USING (source) WHERE source = 2) AS a
		JOIN (SELECT row_number() OVER (ORDER BY id) AS n, ts_ns
			FROM own.event WHERE source = 2) AS b USING (n)")" = '27285|1' ]
}

@test "the order of a stream is kept" {
	babeltrace2 --no-delta --clock-seconds $net3/node2/kernel |
		awk '{ sub(/:$/, "", $3); print $3 }' >wanted
	ask "$own" "SELECT t.class FROM timeline t JOIN event e USING (id)
		JOIN source s ON s.id = e.source WHERE s.name = 'node2' ORDER BY t.id" | cmp wanted -
}

@test "the same timeline with any number of threads, and on standard output" {
	ctmerge -q --no-sync -j 1 $net3 >one.db
	sed "/'command'/d" <(sqlite3 one.db .dump) >wanted
	ctmerge -q --no-sync -j 16 $net3 | cat >many.db
	for other in many.db "$own"; do
		sqlite3 "$other" .dump | sed "/'command'/d" | cmp wanted -
	done
}

@test "events of some classes" {
	ctmerge -q --no-sync $net3 -o run.db --events 'net_dev_*,packet' --skip '*_xmit'
	is_sound run.db
	[ "$(ask run.db 'SELECT kind, name, events FROM event_class ORDER BY 1, 2')" = \
		"capture|packet|19226
kernel|net_dev_queue|15733" ]
	ctmerge -q --no-sync $net3 -o two.db --events net_dev_queue --events packet
	[ "$(ask two.db 'SELECT count(*) FROM event')" = 34959 ]
	ctmerge -q --no-sync $net3 -o none.db --skip '*'
	[ "$(ask none.db 'SELECT count(*) FROM event')" = 0 ]
}

@test "events of some nodes" {
	ctmerge -q --no-sync $net3 -o run.db --node 'node[12]' --node node3,other
	[ "$(ask run.db 'SELECT count(*) FROM event')" = 97891 ]
	ctmerge -q --no-sync $net3 -o one.db --node node1
	is_sound one.db
	[ "$(ask one.db 'SELECT DISTINCT node, count(*) FROM timeline')" = 'node1|29582' ]
	[ "$(ask one.db 'SELECT count(*) FROM node')" = 3 ]
}

@test "events of some time" {
	local begin=1795228752744820292 end=1795228755000000000
	ask "$own" "SELECT ts_ns, node, class FROM timeline
		WHERE ts_ns BETWEEN $begin AND $end" >wanted
	ctmerge -q --no-sync $net3 -o run.db --begin $begin --end 1795228755
	is_sound run.db
	ask run.db 'SELECT ts_ns, node, class FROM timeline' | cmp wanted -
	ctmerge -q --no-sync $net3 -o utc.db --begin 02:39:12.744820292 --end 2026-11-21T02:39:15Z
	ask utc.db 'SELECT ts_ns, node, class FROM timeline' | cmp wanted -
	ctmerge -q --no-sync $net3 -o plus.db --end +0
	[ "$(ask plus.db 'SELECT ts_ns FROM event')" = 1795228737738293189 ]
}

@test "events without their fields" {
	ctmerge -q --no-sync --no-payload $net3 -o run.db
	is_sound run.db
	[ "$(ask run.db "SELECT count(*) FROM event_class WHERE table_name NOT NULL")" = 0 ]
	ask "$own" 'SELECT * FROM timeline' >wanted
	ask run.db 'SELECT * FROM timeline' | cmp wanted -
}

@test "threads and processes do not depend on what is selected" {
	local query
	ctsim -q --set seconds=2 --set activity=full --nodes 2 \
		datasets/simulate/scenarios/chain4.scenario -o sim
	ctmerge -q --no-sync sim -o all.db
	ctmerge -q --no-sync sim -o some.db --events 'net_*'
	ctmerge -q --no-sync sim -o bare.db --no-payload
	[ "$(ask all.db 'SELECT count(*) > 10 FROM process')" = 1 ]
	for query in 'SELECT * FROM process' 'SELECT * FROM thread' \
		"SELECT ts_ns, node, cpu, tid, class FROM timeline WHERE class GLOB 'net_*'"; do
		ask all.db "$query" >wanted
		[ -s wanted ]
		ask some.db "$query" | cmp wanted -
		ask bare.db "$query" | cmp wanted -
	done
}

@test "facts of the run and its nodes" {
	[ "$(ask "$own" "SELECT value FROM meta WHERE key = 'command'")" = \
		"ctmerge -q --no-sync $net3 -o own.db" ]
	[ "$(ask "$own" "SELECT value FROM meta WHERE key = 'name'")" = net3 ]
	[ "$(ask "$own" "SELECT name, kernel, cpus FROM node WHERE id = 2")" = \
		'node2|6.1.0-56-cloud-amd64|1' ]
	[ "$(ask "$own" "SELECT name, kind, events, discarded FROM source WHERE node = 3")" = \
		"node3|kernel|21798|0
node3:node3.pcap|capture|8942|0" ]
}

@test "a trace or a capture by itself" {
	ctmerge -q $net3/node1/kernel -o trace.db
	is_sound trace.db
	[ "$(ask trace.db 'SELECT DISTINCT node, count(*) FROM timeline')" = 'node1|29582' ]
	ctmerge -q $net3/node2/node2.pcap -o capture.db
	is_sound capture.db
	[ "$(ask capture.db 'SELECT DISTINCT node, count(*) FROM timeline')" = 'node2|10284' ]
}

@test "samples without a trace" {
	mkdir -p run/a
	cp $net3/node1/sar.sadf run/a
	ends_with 0 ctmerge -q run -o run.db
	[ "$(ask run.db 'SELECT count(*) FROM event')" = 0 ]
	[ "$(ask run.db 'SELECT count(*) > 0 FROM sample')" = 1 ]
}

@test "a node's directory is that node" {
	ctmerge -q datasets/sample/node2 -o node2.db
	[ "$(sqlite3 node2.db 'SELECT group_concat(name) FROM node')" = node2 ]
	[ "$(sqlite3 node2.db 'SELECT count(*) FROM source')" -eq 2 ]
	[ "$(sqlite3 node2.db 'SELECT count(*) > 0 FROM sample')" -eq 1 ]
	ends_with 0 ctsync datasets/sample/node1/ datasets/sample/node2/
	grep -q '^node2:node2.pcap .* accurate$' "$scratch/stdout"
}

@test "a class that nodes recorded with different fields has one table, and no answer lacks a node" {
	cp -rL fixtures/net3 run && chmod -R u+w run
	# A field of the headers by another name, as in another version of the tracer.
	LC_ALL=C sed -i 's/_checksum/_checksun/g' run/node2/kernel/metadata
	ctmerge -q run -o other.db 2>/dev/null
	is_sound other.db
	[ "$(ask other.db "SELECT group_concat(table_name) FROM event_class WHERE name = 'net_dev_queue'")" = net_dev_queue ]
	[ "$(ask other.db 'SELECT count(*), count(network_header_ipv4_checksum), count(network_header_ipv4_checksun) FROM net_dev_queue')" = \
		"$(ask "$own" "SELECT count(*), count(network_header_ipv4_checksum) FILTER (WHERE n.name <> 'node2'),
			count(network_header_ipv4_checksum) FILTER (WHERE n.name = 'node2')
			FROM net_dev_queue AS q JOIN event AS e ON e.id = q.id JOIN node AS n ON n.id = e.node")" ]
	mkdir same && ctmerge -q fixtures/net3 -o same/other.db 2>/dev/null
	for analysis in net messages io; do
		diff <(cd same && ctanalyze "$analysis" --format json other.db) <(ctanalyze "$analysis" --format json other.db)
	done
}
