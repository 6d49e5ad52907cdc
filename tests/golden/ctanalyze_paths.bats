#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Requests and critical paths of a simulated run of a server and three clients, and of a run without
# the events for them.
load common

setup_file()
{
	export CT_CLIENTS=$BATS_FILE_TMPDIR/clients.db CT_LIGHT=$BATS_FILE_TMPDIR/light.db
	cd "$BATS_FILE_TMPDIR" || return
	ctsim -q --seed 1 --set seconds=3 clients -o run
	ctmerge -q run -o "$CT_CLIENTS" 2>/dev/null
	ctsim -q --seed 1 --set seconds=2 two -o light
	ctmerge -q light -o "$CT_LIGHT" 2>/dev/null
}

clients()
{
	ln -sf "$CT_CLIENTS" clients.db
	golden "analyze_$1" ctanalyze "${@:2}" clients.db
}

@test "requests" {
	clients requests requests
	clients requests_process requests --group process --stats --freq --node node3
	clients requests_thread requests --group thread --table totals --min 2ms --format csv
	clients requests_port requests --group port --stats
	clients requests_flow requests --group flow --stats --format json --procname server --timerange +1,+2
	clients requests_log requests --log --timerange +1,+1.1 --format markdown
}

# The parts of each request are all of it; those at a server that was not recorded are unknown.
@test "requests: parts add up" {
	local run
	for run in "$CT_CLIENTS" "$CT_LIGHT"; do
		ctanalyze requests --log --limit 0 --format json --table log "$run" >log.json
		sqlite3 :memory: "WITH part AS (SELECT r.key, p.key AS name, p.value FROM
				json_each(readfile('log.json'), '\$.tables[0].rows') AS r, json_each(r.value) AS p)
			SELECT (SELECT count(DISTINCT key) > 80 FROM part), (SELECT count(*) FROM (SELECT sum(CASE name
				WHEN 'total_ns' THEN -value WHEN 'bound_ns' THEN 0 WHEN 'begin_ns' THEN 0 ELSE value END) AS rest
				FROM part WHERE name LIKE '%\_ns' ESCAPE '\' GROUP BY key) WHERE rest <> 0),
				(SELECT count(DISTINCT name) FROM part WHERE value IS NULL AND name LIKE '%\_ns' ESCAPE '\'),
				(SELECT sum(value) FROM part WHERE name = 'unknown_ns')"
	done >judged
	printf '%s\n' '1|0|0|0' '1|0|7|' | diff - judged
}

@test "requests: servers were not recorded" {
	golden analyze_requests_light ctanalyze requests --limit 3 "$CT_LIGHT"
}

@test "requests: none" {
	golden analyze_requests_none ctanalyze requests --min 1h "$CT_CLIENTS"
	ctsim -q --set seconds=1 two -o lone && rm -r lone/node2
	ctmerge -q lone -o lone.db 2>/dev/null || [ "$?" = 3 ]
	golden analyze_requests_lone ctanalyze requests lone.db
	fails_with 2 "ctanalyze: --group: unknown group 'disk' of requests (expected one of pair port process thread container flow)" \
		ctanalyze requests --group disk "$CT_CLIENTS"
}

@test "critical path of the slowest request" {
	clients critical_path critical-path
	clients critical_path_part critical-path --begin +1 --end +2 --node node3 --format json
}

@test "critical path of one request, by any of its messages" {
	clients critical_path_request critical-path --request 200 --table path --format csv
	number=$(ctanalyze critical-path --request 200 "$CT_CLIENTS" | sed -n 's/^of request \([0-9]*\):.*/\1/p')
	[ -n "$number" ]
	ctanalyze critical-path --request "$number" --format csv --table path "$CT_CLIENTS" >same
	diff "$CT_EXPECT/analyze_critical_path_request" same
}

@test "critical path of a thread" {
	clients critical_path_thread critical-path --node node1 --tid 900 --timerange +1,+1.1
	clients critical_path_name critical-path --node node2 --procname sadc --table states --format markdown
}

# The path of every request, and the sum of all parts of every group is that of its requests.
@test "why: parts add up" {
	local group keys
	clients why why
	clients why_part why --group port --node node3 --timerange +1,+2 --min 1ms --limit 3 --format json
	ctsim -q --seed 3 --set seconds=6 --set loss=0.02 --set service_us=100 clients -o lossy
	ctmerge -q lossy -o lossy.db 2>/dev/null
	for group in pair port process; do
		keys='s.name'
		[ "$group" = process ] || keys="r.server_port, $keys"
		[ "$group" != pair ] || keys="c.name, $keys"
		ctanalyze why --group $group --limit 0 --format json --table parts lossy.db >parts.json
		sqlite3 :memory: "SELECT count(*) > 10, sum(v ->> 'state' = 'resent') > 0, sum(v ->> 'sum_ns' < 0)
			FROM (SELECT value AS v FROM json_each(readfile('parts.json'), '\$.tables[0].rows'))" >judged
		echo "1|1|0" | diff - judged
		sqlite3 :memory: "SELECT sum(v ->> 'sum_ns'), max(v ->> 'group_ns'), min(v ->> 'group_ns')
			FROM (SELECT value AS v FROM json_each(readfile('parts.json'), '\$.tables[0].rows'))
			GROUP BY v ->> 'client', v ->> 'port', v ->> 'server' ORDER BY 1" >added
		sqlite3 lossy.db "SELECT sum(end_ns - begin_ns), sum(end_ns - begin_ns), sum(end_ns - begin_ns) FROM request AS r
			JOIN node AS c ON c.id = r.client JOIN node AS s ON s.id = r.server
			WHERE end_ns IS NOT NULL GROUP BY $keys ORDER BY 1" >sums
		[ -s sums ]
		diff sums added
	done
	# A hundredth of the requests lost a packet for a retransmission timeout.
	ctanalyze why --format json --table slow lossy.db >slow.json
	sqlite3 :memory: "SELECT count(*), sum(v ->> 'why' = 'data lost from ' || (v ->> 'from') || ' to ' || (v ->> 'node') || ', until sent again'),
		sum(v ->> 'more_ns' > 150e6) FROM (SELECT value AS v FROM json_each(readfile('slow.json'), '\$.tables[0].rows'))" >judged
	echo "3|3|3" | diff - judged
}

@test "why: servers were not recorded, none, misuse" {
	golden analyze_why_light ctanalyze why "$CT_LIGHT"
	golden analyze_why_none ctanalyze why --min 1h "$CT_CLIENTS"
	ctsim -q --seed 1 --set seconds=1 clients -o spanless
	ctmerge -q --no-spans spanless -o spanless.db 2>/dev/null
	ctanalyze why spanless.db | grep -x 'what threads, processors and disks did: omitted by ctmerge --no-spans'
	fails_with 2 "ctanalyze: --group: unknown group 'disk' of why (expected one of pair port process)" \
		ctanalyze why --group disk "$CT_CLIENTS"
}

# Whatever the interval: its rows follow each other, and add up to it exactly.
@test "critical paths have no gaps" {
	local from
	for from in 0.2 0.7 1.234567891 2.05; do
		ctanalyze critical-path --node node4 --procname client --begin "+$from" \
			--end +2.5 --format json --table path --limit 0 "$CT_CLIENTS" >path.json
		sqlite3 :memory: "WITH part AS (SELECT key, value ->> 'begin_ns' AS begin_ns,
				value ->> 'took_ns' AS took_ns
				FROM json_each(readfile('path.json'), '\$.tables[0].rows'))
			SELECT count(*) > 100, sum(took_ns <= 0), min(begin_ns) = readfile('path.json') ->> 'begin_ns',
				max(begin_ns + took_ns) = readfile('path.json') ->> 'end_ns',
				sum(begin_ns + took_ns <> (SELECT begin_ns FROM part AS b WHERE b.key = part.key + 1)),
				sum(took_ns) = max(begin_ns + took_ns) - min(begin_ns)
			FROM part" >judged
		echo "1|0|1|1|0|1" | diff - judged
	done
}

@test "critical path: nothing recorded" {
	golden analyze_critical_path_light ctanalyze critical-path "$CT_LIGHT"
}

@test "critical path: what is not there" {
	fails_with 1 "ctanalyze: $CT_CLIENTS: --request: message 999999 belongs to no request with a response; see ctanalyze requests --log" \
		ctanalyze critical-path --request 999999 "$CT_CLIENTS"
	fails_with 1 "ctanalyze: $CT_CLIENTS: no such thread in the selected time range; see ctanalyze cpu" \
		ctanalyze critical-path --tid 4711 "$CT_CLIENTS"
	fails_with 1 "ctanalyze: $CT_CLIENTS: 3 threads match (node2/900 client, node3/900 client, node4/900 client); choose one by --node and --tid" \
		ctanalyze critical-path --procname client "$CT_CLIENTS"
	fails_with 2 "ctanalyze: --request: invalid message number 'x'" \
		ctanalyze critical-path --request x "$CT_CLIENTS"
	fails_with 2 "ctanalyze: --request does not apply to cpu; see ctanalyze cpu --help" \
		ctanalyze cpu --request 3 "$CT_CLIENTS"
	fails_with 2 "ctanalyze: --request cannot be used with --tid, --pid or --procname" \
		ctanalyze critical-path --request 3 --tid 900 "$CT_CLIENTS"
}
