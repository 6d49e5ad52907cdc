#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Requests and their critical paths in simulated runs by ctanalyze, against what
# the simulator did. With perfect clocks (and --no-sync) both are on one axis; with clocks
# that drift and are synchronized, what goes from node to node is within its bound.
#
# A message's own stamps are a little before it was handed to the card, and a little beside
# its entry into the receive path where several are merged: 20 us at most.
load common
load ctf
load capture

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	made perfect --no-sync --seed 21 --set drift_ppm=0 --set offset_s=0 --set workers=4 \
		--set cpus=1 --set spawn_ms=30 --set interval_ms=10
	made large --no-sync --seed 22 --set drift_ppm=0 --set offset_s=0 --set request_bytes=20000 \
		--set gso=no --set gro=no
	made lossy --no-sync --seed 23 --set drift_ppm=0 --set offset_s=0 --set loss=0.03
	made nattcp --no-sync --seed 25 --set drift_ppm=0 --set offset_s=0 --set nat=2 --set servers=3
	made natudp --no-sync --seed 25 --set drift_ppm=0 --set offset_s=0 --set nat=2 --set servers=3 --set protocol=udp
	made drifting --quiet --seed 24 --set drift_ppm=80 --set workers=2
}

# made NAME MERGE-OPTION SIM-OPTION...: a timeline with the tables truth (of requests) and
# runs (of threads), both in true time.
made()
{
	ctsim -q --spans "${@:3}" --set seconds=3 clients -o "$1" || return
	ctmerge -q "$2" "$1" -o "$1.db" 2>"$1.log" || return
	ctanalyze requests --log --limit 0 --format csv "$1.db" | tr -d '\r' >"$1.csv" || return
	sqlite3 "$1.db" <<-END
		.mode csv
		.import $1/truth.csv clocks
		.import $1/spans.csv spans
		.import $1/requests.csv given
		.import $1.csv said
		CREATE TABLE truth AS SELECT client, server, client_tid + 0 AS client_tid,
			server_tid + 0 AS server_tid, asked_ns + 0 AS asked_ns, arrived_ns + 0 AS arrived_ns,
			taken_ns + 0 AS taken_ns, replied_ns + 0 AS replied_ns, ended_ns + 0 AS ended_ns FROM given;
		CREATE TABLE runs AS
		WITH boot AS (SELECT node, min(host_ns - mono_ns) AS ns FROM clocks GROUP BY node)
			SELECT s.node, tid + 0 AS tid, begin_ns + ns AS begin_ns, end_ns + ns AS end_ns
			FROM spans AS s JOIN boot AS b ON b.node = s.node WHERE kind = 'run' AND tid <> '0';
		CREATE INDEX runs_tid ON runs (node, tid, begin_ns);
		CREATE TABLE asked AS SELECT client, server, iif(client_tid = '', NULL, client_tid + 0) AS client_tid, tid + 0 AS tid,
			request + 0 AS request, begin_ns + 0 AS begin_ns,
			(SELECT arrived_ns FROM request AS r WHERE r.id = said.request) AS arrived_ns,
			(SELECT arrived_ns FROM request AS r WHERE r.id = said.request) + queue_ns AS taken_ns,
			(SELECT responded_ns FROM request AS r WHERE r.id = said.request) AS replied_ns,
			begin_ns + total_ns AS end_ns, resent_ns + 0 AS resent_ns,
			there_ns + 0 AS there_ns, back_ns + 0 AS back_ns, bound_ns + 0 AS bound_ns,
			running_ns + 0 AS running_ns, runnable_ns + 0 AS runnable_ns, unknown_ns + 0 AS unknown_ns,
			total_ns + 0 AS total_ns FROM said;
		-- The n-th request of each client.
		CREATE TABLE both AS SELECT * FROM
			(SELECT *, row_number() OVER (PARTITION BY client, server ORDER BY begin_ns) AS n
			 FROM asked) AS a
			JOIN (SELECT client AS t_client, server AS t_server, client_tid AS t_client_tid,
				server_tid AS t_tid, asked_ns AS t_asked, arrived_ns AS t_arrived, taken_ns AS t_taken,
				replied_ns AS t_replied, ended_ns AS t_end,
				row_number() OVER (PARTITION BY client, server ORDER BY asked_ns) AS t_n
				FROM truth) AS t
			ON t.t_client = a.client AND t.t_server = a.server AND t.t_n = a.n;
	END
}

# A query returns the given line.
holds()
{
	local told
	told=$(sqlite3 "$BATS_FILE_TMPDIR/$1.db" "$3")
	[ "$told" = "$2" ] || {
		echo "$1: wanted $2, got $told"
		return 1
	}
}

# Each request is found, and none that was not there; but of each of the three clients the
# last one may have had a part of its response when the recording ended.
counts()
{
	holds "$1" '1|1|1' "SELECT (SELECT count(*) FROM said) - (SELECT count(*) FROM truth) BETWEEN 0 AND 3,
		(SELECT count(*) FROM both) = (SELECT count(*) FROM truth), (SELECT count(*) FROM truth) > $2"
}

@test "requests are those that there were" {
	counts perfect 150
	counts large 100
	counts lossy 50
	counts drifting 150
}

@test "requests: who asked, who served, when" {
	local run
	for run in perfect large; do
		holds $run '0|0|0|0' "SELECT sum(tid <> t_tid OR client_tid <> t_client_tid), sum(abs(begin_ns - t_asked) > 20000),
			sum(abs(replied_ns - t_replied) > 20000), sum(abs(end_ns - t_end) > 20000) FROM both"
	done
	# Lost packets were first sent by the thread that asked, and again after a round trip or 200 ms.
	holds lossy '0|0|0|0|0|1' "SELECT sum(tid <> t_tid OR client_tid <> t_client_tid),
		sum(abs(begin_ns - t_asked) > 20000), sum(abs(replied_ns - t_replied) > 20000),
		sum(abs(end_ns - t_end) > 20000), sum(there_ns + back_ns > 100000000),
		sum(resent_ns > 0) > 10 FROM both"
	# One packet; so when it came is sure.
	for run in perfect lossy; do
		holds $run '0|0' 'SELECT sum(arrived_ns <> t_arrived), sum(taken_ns <> t_taken) FROM both'
	done
	holds large '0|0' 'SELECT sum(abs(arrived_ns - t_arrived) > 20000), sum(taken_ns <> t_taken) FROM both'
}

# While a thread serves it runs, or waits for its turn.
@test "requests: what servers did" {
	local run
	for run in perfect large lossy; do
		holds $run '0|0|1' "WITH ran AS (SELECT b.*, (SELECT sum(min(r.end_ns, b.replied_ns) - max(r.begin_ns, b.taken_ns))
				FROM runs AS r WHERE r.node = b.server AND r.tid = b.tid
				AND r.begin_ns < b.replied_ns AND r.end_ns > b.taken_ns) AS ran_ns FROM both AS b)
			SELECT sum(running_ns <> ran_ns), sum(unknown_ns), sum(running_ns) > 0 FROM ran"
	done
	holds perfect '1' 'SELECT sum(runnable_ns) > 0 FROM both'
}

@test "requests: the way there and back is within its bound" {
	holds drifting '0|0|0|1' "SELECT sum(abs(there_ns - (t_arrived - t_asked)) > bound_ns + 20000),
		sum(abs(back_ns - (t_end - t_replied)) > bound_ns + 20000), sum(bound_ns IS NULL),
		max(bound_ns) < 2000000 FROM both"
	# Durations by one clock are as exact as it: 200 ppm of some milliseconds.
	holds drifting '0|0' "SELECT sum(abs(total_ns - (t_end - t_asked)) > 25000),
		sum(abs((replied_ns - taken_ns) - (t_replied - t_taken)) > 25000) FROM both"
}

# path REQUEST: the table path of a run with perfect clocks.
path()
{
	ctanalyze critical-path --request "$1" --format csv --table path --limit 0 "$BATS_FILE_TMPDIR/perfect.db" |
		tr -d '\r' >path.csv
}

# The way of each request goes from the client over the server's thread back to the client.
@test "critical paths cross the nodes as the requests did" {
	local request
	for request in $(sqlite3 "$BATS_FILE_TMPDIR/perfect.db" 'SELECT request FROM both ORDER BY total_ns DESC LIMIT 12'); do
		path "$request"
		sqlite3 "$BATS_FILE_TMPDIR/perfect.db" <<-END >judged
			CREATE TEMP TABLE path (begin_ns INTEGER, took_ns INTEGER, bound_ns, state, node, tid INTEGER, pid,
				comm, cpu, "from", message, other_tid, other);
			.mode csv
			.import --skip 1 path.csv path
			.mode list
			SELECT count(*) > 4, sum(took_ns) = b.total_ns, min(p.begin_ns) = b.begin_ns,
				sum(p.node = b.server AND p.state = 'network' AND p."from" = b.client),
				sum(p.node = b.client AND p.state = 'network' AND p."from" = b.server),
				sum(p.node NOT IN (b.server, b.client)),
				sum(p.node = b.server AND p.state NOT IN ('network', 'interrupt') AND p.tid <> b.t_tid),
				sum(p.took_ns) FILTER (WHERE p.state = 'network' AND p.node = b.server) = b.there_ns,
				sum(p.took_ns) FILTER (WHERE p.state = 'network' AND p.node = b.client) = b.back_ns,
				sum(p.took_ns) FILTER (WHERE p.state = 'running' AND p.node = b.server) =
					(SELECT sum(min(r.end_ns, b.replied_ns) - max(r.begin_ns, b.arrived_ns)) FROM runs AS r
					 WHERE r.node = b.server AND r.tid = b.tid
					 AND r.begin_ns < b.replied_ns AND r.end_ns > b.arrived_ns)
			FROM path AS p, both AS b WHERE b.request = $request;
		END
		echo '1|1|1|1|1|0|0|1|1|1' | diff - judged || {
			cat path.csv
			return 1
		}
	done
}

# A client waits, from one request to the next, for its server's work and for timers.
@test "the critical path of a client has its server's work" {
	ctanalyze critical-path --node node3 --procname client --format json --table path --limit 0 \
		"$BATS_FILE_TMPDIR/perfect.db" >path.json
	# Each request's computing is in it, but for what went on while the client still ran.
	sqlite3 "$BATS_FILE_TMPDIR/perfect.db" "WITH p AS (SELECT value ->> 'state' AS state, value ->> 'node' AS node,
			value ->> 'tid' AS tid, value ->> 'took_ns' AS took_ns, value ->> 'comm' AS comm
			FROM json_each(readfile('path.json'), '\$.tables[0].rows'))
		SELECT (SELECT sum(took_ns) FROM p WHERE node = 'node1' AND state = 'running' AND comm = 'server') BETWEEN
			0.99 * (SELECT sum(running_ns) FROM both WHERE client = 'node3') AND
			1.05 * (SELECT sum(running_ns) FROM both WHERE client = 'node3'),
			(SELECT count(*) FROM p WHERE state = 'network' AND node = 'node1') =
			(SELECT count(*) FROM both WHERE client = 'node3'),
			(SELECT count(*) FROM p WHERE node NOT IN ('node1', 'node3'))" >judged
	echo '1|1|0' | diff - judged
}

# Without the events of interrupts the same is found, by what follows a packet's receive.
@test "requests and paths without interrupts" {
	ctmerge -q --no-sync --skip 'irq_*,timer_*' "$BATS_FILE_TMPDIR/perfect" -o hidden.db
	ctanalyze requests --log --limit 0 --format csv hidden.db | tr -d '\r' >hidden.csv
	diff "$BATS_FILE_TMPDIR/perfect.csv" hidden.csv
	local request
	for request in $(sqlite3 "$BATS_FILE_TMPDIR/perfect.db" 'SELECT request FROM both ORDER BY total_ns DESC LIMIT 8'); do
		path "$request"
		ctanalyze critical-path --request "$request" --format csv --table path --limit 0 hidden.db |
			tr -d '\r' | diff path.csv -
	done
	ctanalyze critical-path hidden.db | grep -q '^interrupts are not recorded: '
}

# servers KIND: a line a thread that serves, of a recording of two nodes.
servers()
{
	ctmerge -q -o "$1.db" "fixtures/requests/$1" || return
	ends_with 0 ctanalyze requests --group thread --table totals --sort server,tid \
		--format csv --limit 0 "$1.db"
	tr -d '\r' <"$scratch/stdout" | cut -d , -f 1,2,4
}

# Behind NAT it is an interrupt, or another thread that it interrupts, that queues what leaves
# the node: what a process of a container sent is still its request.
@test "requests of containers behind NAT have their processes" {
	servers nat >served
	diff - served <<-END
		server,tid,comm
		node1,231,vctraffic
		node1,473,vctraffic
		node1,612,vctraffic
		node2,226,vctraffic
		node2,472,vctraffic
		node2,568,vctraffic
	END
	ctanalyze requests --log --limit 0 --format csv nat.db | tr -d '\r' >log
	[ "$(awk -F , 'NR > 1 { print $3, $4 }' log | sort -u | tr '\n' ' ')" = \
		'node1 228 node1 530 node1 594 node2 229 node2 531 node2 582 ' ]
}

# Behind NAT either end sees the other under another address. The table has what each calls itself.
@test "requests behind NAT have their responses" {
	local kind protocol
	for protocol in 6:tcp 17:udp; do
		for kind in snat dnat both; do
			rm -rf run
			pcap_translated "$kind" "${protocol%:*}" 8
			ends_with 0 ctmerge -q --no-sync run -o "$kind.db" --force
			sqlite3 "$kind.db" "SELECT n.name, client_address, client_port, server_address, server_port, count(*),
				count(end_ns), min(end_ns - begin_ns), max(end_ns - begin_ns), sum(request_bytes), sum(response_bytes)
				FROM request JOIN node AS n ON n.id = client GROUP BY client, server_address, server_port" >told
			local data=80:160
			[ "$protocol" = 6:tcp ] || data=304:384
			diff - told <<-END
				n1|10.0.0.1|5000|10.0.0.3|80|8|8|4000000|4000000|${data%:*}|${data#*:}
				n2|10.0.0.2|5000|10.0.0.3|80|8|8|4000000|4000000|${data%:*}|${data#*:}
			END
			[ "$(sqlite3 "$kind.db" 'SELECT count(*) FROM message AS a WHERE NOT EXISTS (SELECT 1 FROM message AS b
				WHERE b.src = a.dst AND b.sport = a.dport AND b.dst = a.src AND b.dport = a.sport)')" = 0 ]
			ctanalyze requests --group port --table totals --format csv "$kind.db" | tr -d '\r' |
				grep -q "^n3,,${protocol#*:},80,16,4000000,"
		done
	done
}

# Servers behind a translated address, whose large responses are merged on arrival.
@test "requests of simulated nodes behind NAT" {
	local run
	for run in nattcp natudp; do
		holds $run '1|1|0|0' "SELECT (SELECT count(*) FROM both) = (SELECT count(*) FROM truth), count(*) > 150,
			sum(abs(begin_ns - t_asked) > 20000), sum(abs(end_ns - t_end) > 20000) FROM both"
		holds $run '0' "SELECT count(*) FROM request WHERE server_port <> 7001 OR client_port < 32768"
	done
}

@test "what a tunnel sends is no request" {
	servers wireguard >served
	diff - served <<-END
		server,tid,comm
		node1,211,vctraffic
		node1,484,vctraffic
		node2,206,vctraffic
		node2,482,vctraffic
	END
	ctanalyze requests wireguard.db | grep -E -x '[1-9][0-9]* messages are of tunnels and carry others: no requests'
}

@test "requests by container" {
	servers nat >/dev/null
	sqlite3 nat.db "INSERT INTO process (id, node, pid, comm, container)
			VALUES (1000, 2, 472, 'vctraffic', 'net:7');
		UPDATE thread SET process = 1000 WHERE node = 2 AND tid = 472"
	by_container >some
	diff - some <<-END
		server,container,process
		node1,,vctraffic
		node2,net:7,vctraffic
		node2,,vctraffic
	END
}

by_container()
{
	ctanalyze requests --group container --table totals --sort server,container \
		--format csv nat.db | tr -d '\r' | cut -d , -f 1-3
}

# A request without a response is a row, too; without spans, rows lack what servers did.
@test "the table request" {
	holds drifting '1|0|0' "SELECT count(*) > 150, sum((responded_ns IS NULL) <> (last_message IS NULL)),
		sum(resent_ns + there_ns + queue_ns + running_ns + runnable_ns + disk_ns + node_ns + other_ns + unknown_ns + back_ns
			<> end_ns - begin_ns) FROM request"
	ctmerge -q --no-spans "$BATS_FILE_TMPDIR/drifting" -o bare.db
	sqlite3 bare.db "ATTACH '$BATS_FILE_TMPDIR/drifting.db' AS full;
		SELECT count(queue_ns), count(running_ns), count(unknown_ns), sum(there_ns + back_ns > 0) = count(end_ns) FROM request;
		SELECT count(*) FROM (SELECT id, client, server, client_tid, server_tid, begin_ns, arrived_ns, responded_ns,
			end_ns, there_ns, back_ns, bound_ns FROM request EXCEPT
			SELECT id, client, server, client_tid, server_tid, begin_ns, arrived_ns, responded_ns,
			end_ns, there_ns, back_ns, bound_ns FROM full.request)" >judged
	printf '0|0|0|1\n0\n' | diff - judged
	ctanalyze requests bare.db | grep -x 'what servers did: omitted by ctmerge --no-spans'
}

# A request has the id of a message that arrived, which was sent again after the window.
@test "what was sent again counts in the window in which it began" {
	ctsim -q --seed 1 --nodes 3 --set seconds=30 loss30 -o lossy
	ctmerge -q lossy -o lossy.db
	sqlite3 -separator ' ' lossy.db "SELECT r.begin_ns, m.send_ns - 1, (SELECT count(*) FROM request AS o
		WHERE o.responded_ns IS NULL AND o.begin_ns BETWEEN r.begin_ns AND m.send_ns - 1)
		FROM request AS r JOIN message AS m ON m.id = r.id
		WHERE r.responded_ns IS NULL AND m.send_ns > r.begin_ns" >windows
	[ -s windows ]
	while read -r begin end silent; do
		ctanalyze requests --begin "$begin" --end "$end" lossy.db |
			grep -x "$silent requests of all had no response"
	done <windows
}

# Tables that are joined of parts have other ids than the timeline whose times are taken.
@test "printed SQL for Parquet limits no ids of a window" {
	for dialect in duckdb spark; do
		ctanalyze requests --begin +0.2 --print-sql=$dialect "$BATS_FILE_TMPDIR/drifting.db" >printed
		grep -F 'id >= (-9223372036854775808)' printed
	done
	ctanalyze requests --begin +0.2 --print-sql "$BATS_FILE_TMPDIR/drifting.db" >printed
	grep -E 'id >= [1-9]' printed
}
