#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Messages that a file declares: which events of traces send and receive them.
load common
load ctf

ask()
{
	sqlite3 -readonly run.db "$1"
}

second=1700000000000000000

# node NAME EVENTS: a user-space trace run/NAME/ust of a host of that name. EVENTS are lines of
# ctf_event, for stream 0.
node()
{
	mkdir -p "run/$1/ust"
	{
		ctf_metadata "$1"
		cat
	} >"run/$1/ust/metadata"
	le 4 0xc1fc1fc1 0 >"run/$1/ust/stream"
}

# The events of ROS 2 (Iron and later), by tracetools.
ros2_node()
{
	{
		ctf_event 0 ros2:rmw_publish \
			' uint64_t _rmw_publisher_handle; uint64_t _message; stamp_int _timestamp; '
		ctf_event 1 ros2:rmw_take \
			' uint64_t _rmw_subscription_handle; uint64_t _message; stamp_int _source_timestamp; uint8_t _taken; '
	} | sed 's/stamp_int/uint64_t/' | node "$1"
}

# publish NODE NS STAMP; take NODE NS STAMP SUBSCRIPTION [TAKEN]
publish()
{
	{ le 2 0; le 8 "$2" 0x5500 0x7f00 "$3"; } >>"run/$1/ust/stream"
}

take()
{
	{ le 2 1; le 8 "$2" "$4" 0x7f10 "$3"; le 1 "${5:-1}"; } >>"run/$1/ust/stream"
}

# Node a and b publish to each other, ten times a second; b's clock is 5 s ahead, a message
# takes 1 ms.
ros2_talk()
(
	for ((i = 0; i < 20; i++)); do
		at=$((second + i * 100000000))
		publish a $at $at
		take b $((at + 5001000000)) $at 1
		publish b $((at + 5010000000)) $((at + 5010000000))
		take a $((at + 11000000)) $((at + 5010000000)) 1
	done
)

@test "ROS 2: a topic's publications and what takes them" {
	ros2_node a
	ros2_node b
	ros2_talk
	cp "$CT_SOURCE/tools/messages/ros2.yaml" run/messages.yaml
	ends_with 0 ctsync --json run
	[ ! -s "$scratch/stderr" ]
	ends_with 0 ctmerge -o run.db run
	[ ! -s "$scratch/stderr" ]
	[ "$(ask 'SELECT protocol, count(*), min(latency_ns), max(latency_ns), count(src), count(bytes)
		FROM message')" = 'ros2|40|1000000|1000000|0|0' ]
	[ "$(ask 'SELECT DISTINCT s.name, r.name FROM message AS m
		JOIN event AS a ON a.id = m.send_event JOIN event_class AS s ON s.id = a.class
		JOIN event AS b ON b.id = m.recv_event JOIN event_class AS r ON r.id = b.class
		WHERE a.ts_ns = m.send_ns AND b.ts_ns = m.recv_ns')" = 'ros2:rmw_publish|ros2:rmw_take' ]
	[ "$(ask 'SELECT count(*) FROM request UNION ALL SELECT count(*) FROM problem')" = $'0\n0' ]
}

@test "several take one publication; a key that is sent twice names none" {
	ros2_node a
	ros2_node b
	ros2_node c
	ros2_talk
	cp "$CT_SOURCE/tools/messages/ros2.yaml" run/messages.yaml
	at=$((second + 3000000000))
	publish a $at 42
	take b $((at + 5001000000)) 42 1
	take b $((at + 5002000000)) 42 2 # another subscription
	take c $((at + 1000)) 42 3
	take a $((at + 1000)) 42 4 # within the node
	take b $((at + 5003000000)) 42 1 0 # nothing was taken
	publish a $((at + 4000000000)) 43 # to nobody
	take c $((at + 4000000000)) 44 3 # from nobody
	publish a $((at + 5000000000)) 45
	publish b $((at + 10000000000)) 45 # by chance of the same nanosecond
	take c $((at + 6000000000)) 45 3
	ends_with 3 ctsync --stats run
	grep -qx 'declared  ros2: 43 messages; sent 44, 1 unmatched; received 46, 1 unmatched; ambiguous 3; within a node 1' \
		"$scratch/stdout"
	ends_with 3 ctmerge -o run.db run
	golden declared_problems ask 'SELECT kind, count, text FROM problem'
	[ "$(ask 'SELECT count(*) FROM message WHERE recv_event IN
		(SELECT id FROM "ros2:rmw_take" WHERE source_timestamp = 42)')" = 3 ]
	[ "$(ask 'SELECT count(*) FROM message_observation')" = 0 ]
}

# app_node NAME: events with a text and a context in their key.
app_node()
{
	{
		echo 'stream { id = 1; event.header := struct { uint16_t id; stamp_t stamp; };
			event.context := struct { uint32_t _vpid; string _procname; }; };'
		ctf_event 0 app:put ' string _topic; uint32_t _n; ' 1
		ctf_event 1 app:got ' string _topic; uint32_t _n; uint32_t _from; ' 1
	} | node "$1"
	le 4 0xc1fc1fc1 1 >"run/$1/ust/stream"
}

# put NODE NS VPID TOPIC N; got NODE NS FROM TOPIC N
put()
{
	{ le 2 0; le 8 "$2"; le 4 "$3"; printf 'app\0%s\0' "$4"; le 4 "$5"; } >>"run/$1/ust/stream"
}

got()
{
	{ le 2 1; le 8 "$2"; le 4 1; printf 'app\0%s\0' "$4"; le 4 "$5" "$3"; } >>"run/$1/ust/stream"
}

app_talk()
(
	for ((i = 0; i < 12; i++)); do
		at=$((second + i * 100000000))
		put a $at 7 "t$((i % 3))" $((i / 3))
		got b $((at + 2000001000)) 7 "t$((i % 3))" $((i / 3))
		put b $((at + 2000010000)) 8 "t$((i % 3))" $((i / 3))
		got a $((at + 11000)) 8 "t$((i % 3))" $((i / 3))
	done
)

@test "keys of texts, integers and contexts; conditions; a file by option and of a node" {
	app_node a
	app_node b
	app_talk
	cat >app.yaml <<-END
	- message: app
	  send:    {event: 'app:put', key: [vpid, topic, n], where: "procname == 'app' and n >= 1"}
	  receive: {event: 'app:got', key: [from, topic, n], where: 'n != 0'}
	END
	ends_with 0 ctsync --stats --declare app.yaml run
	grep -q '^declared  app: 18 messages; sent 18, 0 unmatched; received 18, 0 ' "$scratch/stdout"
	# the same of two files is one message
	cp app.yaml run/a/messages.yaml
	cp app.yaml run/b/messages.yaml
	ends_with 0 ctsync --stats --declare app.yaml run
	grep -q '^declared  app: 18 messages; sent 18, 0 unmatched; received 18, 0 ' "$scratch/stdout"
	ends_with 0 ctmerge -o run.db run
	[ "$(ask 'SELECT protocol, count(*), count(send_event), count(recv_event) FROM message')" \
		= 'app|18|18|18' ]
	[ "$(ask 'SELECT count(*) FROM problem')" = 0 ]
	# nothing is declared: nothing ties the traces
	rm run/*/messages.yaml
	ends_with 3 ctsync run
}

@test "counted: the k-th send of a key is the k-th receive of it" {
	app_node a
	app_node b
	app_talk
	cat >run/messages.yaml <<-END
	- message: app
	  count: true
	  send:    {event: 'app:put', key: [vpid, topic]}
	  receive: {event: 'app:got', key: [from, topic]}
	END
	ends_with 0 ctsync --stats run
	grep -q '^declared  app: 24 messages; sent 24, 0 unmatched; received 24, 0 ' "$scratch/stdout"
	ctsync --json run | sed 's/"path": "[^"]*"//' >whole
	# from extracts, which are counted where they are matched
	mkdir packets
	for node in a b; do ctsync -q --extract packets/$node.packets run/$node; done
	ctsync --json packets | sed 's/"path": "[^"]*"//' >of_packets
	cmp whole of_packets
}

@test "a node at a time" {
	app_node a
	app_node b
	app_talk
	cat >run/messages.yaml <<-END
	- message: app
	  count: true
	  send:    {event: 'app:put', key: [vpid, topic]}
	  receive: {event: 'app:got', key: [from, topic]}
	END
	ends_with 0 ctbatch -q -o out run
	for node in a b; do
		[ "$(sqlite3 out.work/parts/$node/part.db 'SELECT protocol, count(*), count(send_event), count(recv_event) FROM message')" \
			= 'app|24|12|12' ]
	done
}

@test "ctbatch --declare: a file for all nodes, and what it changes" {
	app_node a
	app_node b
	app_talk
	cat >app.yaml <<-END
	- message: app
	  send:    {event: 'app:put', key: [vpid, topic, n]}
	  receive: {event: 'app:got', key: [from, topic, n]}
	END
	part()
	{
		sqlite3 out.work/parts/b/part.db 'SELECT protocol, count(*), count(recv_event) FROM message'
	}
	ends_with 0 ctbatch -q --declare app.yaml -o out run
	[ "$(part)" = 'app|24|12' ]
	[ -z "$(ctbatch -n --declare app.yaml -o out run)" ]
	sed -i 's/: app$/: other/' app.yaml
	ends_with 0 ctbatch -q --declare app.yaml -o out run
	[ "$(part)" = 'other|24|12' ]
	mv app.yaml run/messages.yaml
	ends_with 0 ctbatch -q -o out run
	[ "$(part)" = 'other|24|12' ]
	sed -i 's/: other$/: third/' run/messages.yaml
	ends_with 0 ctbatch -q -o out run
	[ "$(part)" = 'third|24|12' ]
	fails_with 1 'ctbatch: app.yaml: no such file' ctbatch --declare app.yaml -o out run
}

# chunk NAME FROM TO: of app_talk, node a's side, as a trace of its own.
chunk()
{
	mkdir -p "run/a/$1"
	cp run/a/ust/metadata "run/a/$1"
	sed -i 's/clock { /&uuid = "8c7f6f0e-26ad-4d0f-b4c5-9b1e3d2a7c55"; /' "run/a/$1/metadata"
}

@test "counted: over the chunks of a session, in the order of their times" {
	app_node a
	app_node b
	app_talk
	cat >run/messages.yaml <<-END
	- message: app
	  count: true
	  send:    {event: 'app:put', key: [vpid]}
	  receive: {event: 'app:got', key: [from]}
	END
	ctsync --json run | sed 's/"path": "[^"]*"//' >whole
	# 12 rounds of a put and a got, of 27 and 31 bytes, after 8 bytes of a head
	size=$(wc -c <run/a/ust/stream)
	half=$(((size - 8) / 2 + 8))
	chunk z
	chunk b
	{ head -c $half run/a/ust/stream; } >run/a/z/stream
	{ head -c 8 run/a/ust/stream; tail -c +$((half + 1)) run/a/ust/stream; } >run/a/b/stream
	rm -r run/a/ust
	ends_with 0 ctsync --stats run
	grep -q '^declared  app: 24 messages; sent 24, 0 unmatched; received 24, 0 ' "$scratch/stdout"
	ctsync --json run | grep -o '"rate_ppb": [-0-9.]*' | tail -n 1 >rate
	grep -o '"rate_ppb": [-0-9.]*' whole | tail -n 1 | cmp - rate
}

@test "counted: after a loss the count is unknown" {
	app_node b
	{
		echo 'stream { id = 1; packet.context := struct { uint64_t events_discarded; };
			event.header := struct { uint16_t id; stamp_t stamp; };
			event.context := struct { uint32_t _vpid; string _procname; }; };'
		ctf_event 0 app:put ' string _topic; uint32_t _n; ' 1
		ctf_event 1 app:got ' string _topic; uint32_t _n; uint32_t _from; ' 1
	} | node a
	le 4 0xc1fc1fc1 1 >run/a/ust/stream
	le 8 3 >>run/a/ust/stream
	app_talk
	for count in true false; do
		cat >run/messages.yaml <<-END
		- message: app
		  count: $count
		  send:    {event: 'app:put', key: [vpid, topic, n]}
		  receive: {event: 'app:got', key: [from, topic, n]}
		END
		ctsync --stats run >stats.$count 2>said.$count || :
	done
	grep -q '^declared  app: 24 messages; ' stats.false
	grep -q '^declared  app: 0 messages; sent 12, 12 unmatched; received 12, 12 ' stats.true
	grep -q 'message app: 12 events app:put ignored, because events before them were lost' said.true
}

@test "a field that events lack, and events that no trace has" {
	app_node a
	app_node b
	app_talk
	cat >run/messages.yaml <<-END
	- message: app
	  send:    {event: 'app:put', key: [vpid, topc]}
	  receive: {event: 'app:got', key: [from, topic]}
	- message: other
	  send:    {event: 'app:putt', key: n}
	  receive: {event: 'app:gott', key: n}
	END
	ends_with 3 ctsync run
	cp "$scratch/stderr" said
	golden declared_lacking sort said
	ends_with 3 ctmerge -o run.db run
	[ "$(ask "SELECT sum(count) FROM problem WHERE kind = 'declared' AND text LIKE '%no field%'")" = 24 ]
}

# bad TEXT...: run/messages.yaml of these lines, and what is said of it.
bad()
{
	printf '%s\n' "$@" >run/messages.yaml
	for program in ctsync ctmerge; do
		[ $program = ctsync ] || set -- -o run.db
		[ $program = ctmerge ] || set --
		ends_with 1 $program "$@" run
		[ ! -e run.db ]
		[ "$(wc -l <"$scratch/stderr")" -eq 1 ]
	done
	ctsync run 2>&1 || :
}

@test "bad declarations name the file and the line" {
	app_node a
	app_node b
	good="send: {event: 'app:put', key: [n]}"
	end="receive: {event: 'app:got', key: [n]}"
	{
		bad 'message: app'
		bad '- app'
		bad '- {}'
		bad '- message: app'
		bad '- message: tcp' "  $good" "  $end"
		bad '- message: seventeen-letters' "  $good" "  $end"
		bad '- message: app' "  $good" '  recieve: {event: x, key: y}'
		bad '- message: app' '  send: {event: e, key: []}' "  $end"
		bad '- message: app' '  send: {event: e, key: [[a]]}' "  $end"
		bad '- message: app' '  send: {key: [n]}' "  $end"
		bad '- message: app' "  $good" '  receive: {event: e, key: [n, m]}'
		bad '- message: app' "  $good" '  receive: {event: e, key: [n], were: "n > 0"}'
		bad '- message: app' "  $good" '  receive: {event: e, key: [n], where: "n ~ 3"}'
		bad '- message: app' "  $good" '  receive: {event: e, key: [n], where: "n > 3 or n < 1"}'
		bad '- message: app' "  $good" '  receive: {event: e, key: [n], where: "n > 3 and"}'
		bad '- message: app' "  $good" "  receive: {event: e, key: [n], where: \"n < 'a'\"}"
		bad '- message: app' "  $good" '  receive: {event: e, key: [n], where: "n > 99999999999999999999"}'
		bad '- message: app' '  count: sometimes' "  $good" "  $end"
		bad '- message: app' "  $good" "  $end" '  answer: {send: {event: e, key: n}}'
		bad '- message: app' "  $good" "  $end" '  answer:' '    send: {event: e, key: [n, m]}' \
			'    receive: {event: e, key: [n, m]}'
		bad '- message: app' "	$good"
		bad '- message: app' "  $good" "  $good" "  $end"
		bad '[' 
		bad
	} >said
	golden declared_bad cat said
	rm run/messages.yaml
	ends_with 1 ctsync --declare missing.yaml run
	[ "$(cat "$scratch/stderr")" = 'ctsync: missing.yaml: No such file or directory' ]
}

@test "MPI, recorded with clocks that are known: no root, no packets" {
	# The last rank's clock is 207 ppm slow, beyond the limit: that looks like a slew.
	ends_with 0 ctsync --drift-limit 300 --stats fixtures/mpi
	[ ! -s "$scratch/stderr" ]
	ends_with 0 ctsync --stats fixtures/mpi
	grep -q '^ctsync: rank3: its clock was slewed by .*; a drift beyond the limit of 200 ppm looks the same, see --drift-limit$' \
		"$scratch/stderr"
	grep -qx 'messages  19502, 0 rejected as false matches' "$scratch/stdout"
	grep -q '^declared  mpi: 19502 messages; sent 19502, 0 unmatched; received 19502, 0 ' \
		"$scratch/stdout"
	recorded tests/fixtures/mpi run.db
	[ "$(ask 'SELECT protocol, count(*), min(latency_ns) >= 0 FROM message
		JOIN event AS a ON a.id = send_event AND a.ts_ns = send_ns AND a.node = src_node
		JOIN event AS b ON b.id = recv_event AND b.ts_ns = recv_ns AND b.node = dst_node')" \
		= 'mpi|19502|1' ]
	[ "$(ask 'SELECT count(*) FROM message AS m JOIN "mpi:send" AS s ON s.id = m.send_event
		JOIN "mpi:recv" AS r ON r.id = m.recv_event
		WHERE (s.comm, s.rank, s.dest, s.tag, s.seq, s.bytes)
			= (r.comm, r.source, r.rank, r.tag, r.seq, r.bytes)')" = 19502 ]
	[ "$(ask 'SELECT count(*) FROM request')" = 0 ]
	# the same where MPI's order is counted
	cp -rL fixtures/mpi run
	cat >run/messages.yaml <<-END
	- message: mpi
	  count: true
	  send:    {event: 'mpi:send', key: [comm, rank, dest, tag]}
	  receive: {event: 'mpi:recv', key: [comm, source, rank, tag]}
	END
	ctsync --json run | sed 's/"path": "[^"]*"//' >counted
	ctsync --json fixtures/mpi 2>/dev/null | sed 's/"path": "[^"]*"//' | cmp - counted
}

# MPI's messages of the tags 2 and 3 as questions and answers, by number or counted.
mpi_requests()
{
	local number=${1-, seq}
	cat <<-END
	- message: mpi
	  send:    {event: 'mpi:send', key: [comm, rank, dest, tag, seq], where: 'tag < 2'}
	  receive: {event: 'mpi:recv', key: [comm, source, rank, tag, seq], where: 'tag < 2'}
	- message: work
	  count: ${2-false}
	  send:    {event: 'mpi:send', key: [comm, rank, dest$number], where: 'tag == 2'}
	  receive: {event: 'mpi:recv', key: [comm, source, rank$number], where: 'tag == 2'}
	  answer:
	    send:    {event: 'mpi:send', key: [comm, dest, rank$number], where: 'tag == 3'}
	    receive: {event: 'mpi:recv', key: [comm, rank, source$number], where: 'tag == 3'}
	END
}

@test "a message and its answer are a request" {
	cp -rL fixtures/mpi run
	mpi_requests >run/messages.yaml
	ctmerge -q -o run.db run
	[ "$(ask 'SELECT protocol, count(*) FROM message GROUP BY 1')" = $'mpi|11144\nwork|8358' ]
	[ "$(ask 'SELECT count(*), count(end_ns), min(there_ns) >= 0, min(back_ns) >= 0 FROM request')" \
		= '4179|4179|1|1' ]
	[ "$(ask 'SELECT count(*) FROM request AS q
		JOIN "mpi:send" AS s ON s.id = q.request_event AND s.tag = 2
		JOIN "mpi:recv" AS r ON (r.tag, r.source, r.seq) = (2, s.rank, s.seq)
		JOIN "mpi:send" AS a ON a.id = q.response_event AND (a.tag, a.dest, a.seq) = (3, s.rank, s.seq)
		JOIN "mpi:recv" AS b ON (b.tag, b.rank, b.seq) = (3, s.rank, s.seq)
		JOIN event AS es ON es.id = s.id JOIN event AS er ON er.id = r.id
		JOIN event AS ea ON ea.id = a.id JOIN event AS eb ON eb.id = b.id
		WHERE (q.begin_ns, q.arrived_ns, q.responded_ns, q.end_ns)
			= (es.ts_ns, er.ts_ns, ea.ts_ns, eb.ts_ns)
		AND (q.client, q.client_tid, q.server, q.server_tid) = (es.node, es.tid, er.node, er.tid)')" = 4179 ]
	ctanalyze requests run.db >said
	grep -q 'SERVER rank0, PROCESS talk, COUNT 1393$' said
	ask 'SELECT begin_ns, arrived_ns, responded_ns, end_ns, client, server FROM request' >numbered
	mpi_requests '' true >run/messages.yaml
	ctmerge -q --force -o run.db run
	ask 'SELECT begin_ns, arrived_ns, responded_ns, end_ns, client, server FROM request' | cmp numbered -
}

@test "requests without an answer, of several servers, and an answer to nothing" {
	app_node a
	app_node b
	app_node c
	app_talk
	cat >run/messages.yaml <<-END
	- message: app
	  send:    {event: 'app:put', key: [vpid, topic, n], where: "topic != 'ask' and topic != 'told'"}
	  receive: {event: 'app:got', key: [from, topic, n], where: "topic != 'ask' and topic != 'told'"}
	- message: rpc
	  send:    {event: 'app:put', key: n, where: "topic == 'ask'"}
	  receive: {event: 'app:got', key: n, where: "topic == 'ask'"}
	  answer:
	    send:    {event: 'app:put', key: n, where: "topic == 'told'"}
	    receive: {event: 'app:got', key: n, where: "topic == 'told'"}
	END
	at=$((second + 3000000000))
	put a $at 7 ask 1 # to b, which answers, and c, which does not
	got b $((at + 2000001000)) 7 ask 1
	got c $((at + 1000)) 7 ask 1
	put b $((at + 2000003000)) 8 told 1
	got a $((at + 4000)) 8 told 1
	put a $((at + 10000)) 7 ask 2 # to nobody
	put a $((at + 20000)) 7 ask 3 # not answered
	got b $((at + 2000021000)) 7 ask 3
	put b $((at + 2000030000)) 8 told 4 # was not asked
	got a $((at + 31000)) 8 told 4
	ctmerge -q -o run.db run || [ $? -eq 3 ]
	[ "$(ask 'SELECT protocol, c.name, s.name, responded_ns - arrived_ns, end_ns - r.begin_ns
		FROM request AS r JOIN node AS c ON c.id = client JOIN node AS s ON s.id = server
		ORDER BY s.name, r.id')" = $'rpc|a|b|2000|4000\nrpc|a|b||\nrpc|a|c||' ]
}

@test "ctmerge adds the messages of a CSV file, by the names of traces" {
	app_node a
	app_node b
	app_talk
	{
		echo send_node,send_ns,recv_node,recv_ns
		for i in 0 1 2 3 4; do
			at=$((second + i * 200000000))
			echo "a,$at,b,$((at + 2000001000))"
			echo "b,$((at + 2000010000)),a,$((at + 11000))"
		done
	} >messages.csv
	ends_with 0 ctmerge --messages messages.csv -o run.db run
	[ ! -s "$scratch/stderr" ]
	[ "$(ask 'SELECT protocol, count(*), min(latency_ns), max(latency_ns), count(send_event) FROM message')" \
		= 'csv|10|1000|1000|0' ]
	ends_with 0 ctmerge --messages messages.csv --begin +0.1 --end +0.3 -o part.db run
	[ "$(sqlite3 part.db 'SELECT count(*) FROM message')" = 2 ]
	# what is wrong is told, and the rest used
	printf 'c,%d,b,1\na,%d,a,%d\n' $second $second $second >>messages.csv
	fails_with 1 "ctmerge: messages.csv:12: no trace is named 'c'; skipped
ctmerge: messages.csv:13: 'a' sends to itself; skipped" \
		ctmerge --messages messages.csv --force -o run.db run
	sed -i '1s/send_ns/send_time/' messages.csv
	ends_with 1 ctmerge --messages messages.csv --force -o run.db run
	grep -q "^ctmerge: messages.csv:1: missing column 'send_ns' (expected a header line: send_node,send_ns,recv_node,recv_ns)$" \
		"$scratch/stderr"
}

@test "a header with mistakes is shown" {
	talk()
	{
		printf '%s\na,%d,b,%d\nb,%d,a,%d\n' "$1" $second $((second + 5)) $second $((second + 5)) >messages.csv
	}
	talk send_node,send,recv_node,recv_ns
	fails_with 1 "ctsync: messages.csv:1: unknown column 'send' ignored
ctsync: messages.csv:1: missing column 'send_ns' (expected a header line: send_node,send_ns,recv_node,recv_ns)
ctsync: messages.csv: no messages" ctsync -q --messages messages.csv
	talk 'send_node;send_ns;recv_node;recv_ns'
	fails_with 1 "ctsync: messages.csv:1: unknown column 'send_node;send_ns;recv_node;recv_ns' ignored
ctsync: messages.csv:1: missing column 'send_node' (expected a header line: send_node,send_ns,recv_node,recv_ns)
ctsync: messages.csv: no messages" ctsync -q --messages messages.csv
	talk sender,send_ns,recv_node,recv_ns
	fails_with 1 "ctsync: messages.csv:1: unknown column 'sender' ignored
ctsync: messages.csv:1: missing column 'send_node' (expected a header line: send_node,send_ns,recv_node,recv_ns)
ctsync: messages.csv: no messages" ctsync -q --messages messages.csv
	# columns in another order are right
	talk recv_node,recv_ns,send_node,send_ns
	ends_with 0 ctsync -q --messages messages.csv
}
