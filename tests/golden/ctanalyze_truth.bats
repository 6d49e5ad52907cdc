#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Answers of ctanalyze for simulated runs, against their truth; and for the recorded run,
# against what sar counted in the same seconds.
load common

# Truth of a run as SQL: when was it really, when a node's clock said local_ns. The
# trace's stamps are the node's real time as it was when tracing began.
setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	local scenario
	for scenario in clients ripple; do
		ctsim -q --seed 3 --set seconds=4 "$scenario" -o "$scenario"
		ctmerge -q "$scenario" -o "$scenario.db" 2>/dev/null || [ "$?" = 3 ]
	done
	recorded tests/fixtures/net3 "$BATS_FILE_TMPDIR/net3.db"
}

# Each message's true latency lies between what is said to be its least and its most; two
# nanoseconds are for rounding four stamps.
truth()
{
	cp "$BATS_FILE_TMPDIR/$1.db" run.db
	ctanalyze messages --log --limit 0 --format csv run.db | tr -d '\r' >log.csv
	sqlite3 run.db >judged <<-END
		.mode csv
		.import "$BATS_FILE_TMPDIR/$1/truth.csv" given
		.import log.csv log
		CREATE TABLE truth AS SELECT n.id AS node, CAST(host_ns AS INTEGER) AS host_ns,
			CAST(real_ns AS INTEGER) AS real_ns
			FROM given JOIN node AS n ON n.name = given.node;
		CREATE INDEX truth_real ON truth (node, real_ns);
		CREATE TABLE stamp (message, sent, node, ref_ns, local_ns);
		INSERT INTO stamp (message, sent, node, ref_ns)
			SELECT id, 1, src_node, send_ns FROM message
			UNION ALL SELECT id, 0, dst_node, recv_ns FROM message;
		UPDATE stamp SET local_ns = (SELECT c.local_ns + (stamp.ref_ns - c.ref_ns)
			- CAST(round((stamp.ref_ns - c.ref_ns) * (c.rate_ppb / 1e9)
				/ (1 + c.rate_ppb / 1e9)) AS INTEGER)
			FROM clock AS c JOIN source AS s ON s.id = c.source AND s.node = stamp.node
			WHERE c.ref_ns <= stamp.ref_ns OR c.ref_ns = (SELECT min(ref_ns) FROM clock AS d
				WHERE d.source = c.source)
			ORDER BY c.ref_ns DESC LIMIT 1);
		CREATE TABLE host AS SELECT message, sent, (SELECT a.host_ns
			+ CAST(round((s.local_ns - a.real_ns) * 1.0 * (b.host_ns - a.host_ns)
				/ (b.real_ns - a.real_ns)) AS INTEGER)
			FROM truth AS a JOIN truth AS b ON b.node = a.node AND b.real_ns =
				(SELECT min(real_ns) FROM truth AS c
				 WHERE c.node = a.node AND c.real_ns > a.real_ns)
			WHERE a.node = s.node AND a.real_ns <= s.local_ns
			ORDER BY a.real_ns DESC LIMIT 1) AS host_ns
			FROM stamp AS s;
		SELECT l.message, r.host_ns - s.host_ns AS truth, l.least_ns, l.most_ns
			FROM log AS l
			JOIN host AS s ON s.message = CAST(l.message AS INTEGER) AND s.sent
			JOIN host AS r ON r.message = s.message AND NOT r.sent;
	END
	[ "$(wc -l <judged)" -eq "$(sqlite3 run.db 'SELECT count(*) FROM message')" ]
	tr -d '\r"' <judged | awk -F, '
	$2 <= 0 || $2 + 2 < $3 || $2 - 2 > $4 { print "message " $1 ": truly " $2 ", said " $3 " to " $4; wrong++ }
	$4 - $3 > 5e6 { print "message " $1 ": " $4 - $3 " ns wide"; wrong++ }
	END {
		print NR " messages"
		exit wrong > 0 || NR < 200
	}'
}

@test "message latencies of a server and clients" {
	truth clients
}

@test "message latencies where clocks bend" {
	truth ripple
}

# The totals of sar's rates, and of what the interfaces were handed. The kernel counts
# received frames with their link header, of 14 bytes, and sar's seconds begin and end a
# little beside the trace.
@test "bytes of interfaces against sar's" {
	ctanalyze net --table interfaces --format csv "$BATS_FILE_TMPDIR/net3.db" | tr -d '\r' >net.csv
	sqlite3 -csv "$BATS_FILE_TMPDIR/net3.db" "SELECT n.name,
		sum(s.value * s.interval_ns / 1e9) FILTER (WHERE m.name = 'txkB/s') * 1024,
		sum(s.value * s.interval_ns / 1e9) FILTER (WHERE m.name = 'rxkB/s') * 1024,
		sum(s.value * s.interval_ns / 1e9) FILTER (WHERE m.name = 'txpck/s'),
		sum(s.value * s.interval_ns / 1e9) FILTER (WHERE m.name = 'rxpck/s')
		FROM sample AS s JOIN metric AS m ON m.id = s.metric JOIN metric_item AS i ON i.id = s.item
		JOIN node AS n ON n.id = s.node WHERE i.name = 'eth0' GROUP BY n.id" | tr -d '\r' >sar.csv
	awk -F, 'function near(a, b) { return a > 0.98 * b && a < 1.02 * b }
	FNR == NR { if (FNR > 1) { tx[$1] = $4; rx[$1] = $7 + 14 * $6; sent[$1] = $3; got[$1] = $6 } next }
	{
		print $1, tx[$1], $2, rx[$1], $3
		if (!near(tx[$1], $2) || !near(rx[$1], $3) || !near(sent[$1], $4) || !near(got[$1], $5))
			wrong = 1
		seen++
	}
	END { exit wrong || seen != 3 }' net.csv sar.csv
}

# Retransmissions as TCP itself counted them, in a lossy run.
@test "nothing was sent again where sar says so" {
	ctanalyze net --table pairs --format csv "$BATS_FILE_TMPDIR/net3.db" | tr -d '\r' |
		awk -F, 'NR > 1 { again += $6 } END { exit again != 0 }'
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/net3.db" "SELECT CAST(sum(value) AS INTEGER) FROM sample AS s JOIN metric AS m
		ON m.id = s.metric WHERE m.name = 'retrans/s' AND m.activity = 'tcp'")" = 0 ]
}

# A simulated run with loss sends again what the simulator says that it did.
@test "what was sent again" {
	ctsim -q --seed 2 --set seconds=3 --set loss=0.1 clients -o lossy
	ctmerge -q lossy -o lossy.db 2>/dev/null || [ "$?" = 3 ]
	ctanalyze net --table pairs --format csv lossy.db | tr -d '\r' |
		awk -F, 'NR > 1 { again += $6; packets += $4 } END { print again, packets
			exit again < 0.03 * packets || again > 0.3 * packets }'
}

# what_became FROM,TO,PROTOCOL,SENT,RECEIVED,LOST,UNKNOWN,AGAIN...: of the timeline run.db's packets.
what_became()
{
	ctanalyze net --table protocols --format csv run.db | tr -d '\r' | tail -n +2 >found
	printf '%s\n' "$@" | diff - found
}

# Nothing is lost without loss; of packets to a node that recorded, as many as the simulator lost.
@test "what became of packets" {
	local protocol lost
	for protocol in tcp udp icmp; do
		ctsim -q --captures --seed 4 --set seconds=3 --set protocol=$protocol two -o "$protocol"
		ctmerge -q --force "$protocol" -o run.db 2>/dev/null || [ "$?" = 3 ]
		ctanalyze net --table protocols --format csv run.db | tr -d '\r' | tail -n +2 >found
		[ "$(awk -F, -v name="$protocol" '$3 == name && $4 > 20 && $5 + $7 == $4 && $6 == 0 && $7 < 2' found |
			wc -l)" = 2 ]
	done
	ctsim -q --captures --seed 4 --set seconds=3 --set loss=0.1 --set protocol=udp two -o lost
	ctmerge -q --force lost -o run.db 2>/dev/null || [ "$?" = 3 ]
	lost=$(sqlite3 run.db "SELECT count(*) FROM packet AS p JOIN event AS e ON e.id = p.id JOIN node AS n ON n.id = e.node
		WHERE n.name = 'node1' AND p.src = '10.7.0.1' AND NOT EXISTS (SELECT 1 FROM packet AS q JOIN event AS f ON f.id = q.id
			WHERE f.node <> e.node AND q.src = p.src AND q.id_2 = p.id_2)")
	[ "$lost" -gt 1 ]
	[ "$(ctanalyze net --table protocols --format csv run.db | tr -d '\r' |
		awk -F, '$1 == "node1" { print $6 + $7, $5 + $6 + $7 - $4 }')" = "$lost 0" ]
}

# One capture of all interfaces has each packet three times: at the container, a bridge and the card.
@test "what became of packets of containers" {
	ctmerge -q fixtures/containers/any -o run.db 2>/dev/null || [ "$?" = 3 ]
	what_became nodeA,nodeB,tcp,98,98,0,0,0 nodeA,nodeB,udp,20,20,0,0, nodeB,nodeA,tcp,98,98,0,0,0 nodeB,nodeA,udp,20,20,0,0,
}

# The fate of packets to a node without a recording is unknown.
@test "what became of packets to a node that was not recorded" {
	ctsim -q --seed 4 --set seconds=3 two -o alone
	rm -r alone/node2
	ctmerge -q alone -o run.db 2>/dev/null || [ "$?" = 3 ]
	[ "$(ctanalyze net --table protocols --format csv run.db | tr -d '\r' |
		awk -F, 'NR > 1 { print $1, $2, ($4 > 20), $5 $6, $7 - $4 }')" = 'node1 10.7.0.2 1  0' ]
}

# A second capture of each node, without the first packet of the other.
@test "packets that two captures of a node saw count once" {
	command -v editcap >found || skip 'no editcap'
	ctsim -q --captures --seed 2 --set seconds=3 --set loss=0.1 clients -o one
	cp -r one both
	for file in both/*/*.pcap; do
		editcap "$file" "${file%/*}/second.pcap" 1
	done
	ctmerge -q one -o one.db 2>/dev/null || [ "$?" = 3 ]
	ctmerge -q both -o both.db 2>/dev/null || [ "$?" = 3 ]
	[ "$(sqlite3 both.db "SELECT count(*) FROM source WHERE kind = 'capture'")" = 8 ]
	ctanalyze net --table flows --format csv one.db >one.csv
	ctanalyze net --table flows --format csv both.db >both.csv
	[ "$(wc -l <one.csv)" = 7 ]
	diff one.csv both.csv
}

# One message without a bound takes it from no other.
@test "the bound of wakeups across nodes is that of those that have one" {
	ctsim -q --set activity=full --set seconds=2 clients -o run
	ctmerge -q run -o run.db 2>/dev/null || [ "$?" = 3 ]
	remote run.db >before
	IFS=, read -r from sender _ to tid _ count _ _ _ bound unbounded <before
	[ "$count" -gt 10 ] && [ "$bound" -gt 0 ] && [ "$unbounded" = 0 ]
	sqlite3 run.db "UPDATE message SET high_ns = NULL WHERE id IN (SELECT m.id FROM message AS m
		JOIN thread_state AS s ON s.wake_last_recv = m.recv_event AND s.wait = 'network' AND s.tid = $tid
		JOIN node AS a ON a.id = m.src_node JOIN node AS b ON b.id = m.dst_node
		WHERE s.state = 'runnable' AND s.preempted = 0 AND s.cut = 0 AND a.name = '$from' AND b.name = '$to'
		AND m.send_by = 'thread' AND m.send_tid = $sender LIMIT 1)"
	remote run.db >after
	IFS=, read -r _ _ _ _ _ _ count _ _ _ bound unbounded <after
	[ "$count" -gt 10 ] && [ "$bound" -gt 0 ] && [ "$unbounded" = 1 ]
}

remote()
{
	ctanalyze wakeups --table remote --limit 1 --format csv "$1" | tr -d '\r' | tail -n 1
}
