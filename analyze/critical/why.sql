-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: why
-- summary: what the slow requests lose their time to
-- description: requests with the same client, server, port and serving process are
--   a group (--group: fewer of these), and the slowest 1 % of a group are compared
--   with those around its median, the middle tenth (of more than 1,000 a hundred,
--   or 1 %). slow: one line per group, WHY is what the slow ones have most more of
--   than the others, MORE of it on average; ways between client and server are
--   within BOUND. parts: what the end of each request waited for, back to its
--   arrival at the server as in critical-path, and before that the way there:
--   SUM over all requests of the group, MEDIAN and SLOWEST the mean per request.
--   The parts of a group add up to the time of its requests, to the nanosecond.
--   STATE is running; runnable, waiting for a processor, which OTHER had
--   meanwhile; disk, timer, interrupt; thread, waiting for the thread OTHER;
--   network, on the way from the node FROM; resent, lost on that way until it
--   was sent again; unknown, it was not recorded. --min and --max apply to the
--   total, --tid, --pid and --procname to the serving thread, --node to the
--   client or the server. Needs what critical-path needs.
-- example: ctanalyze why --begin +12.3 --end +12.8 run.db
-- groups: pair port process
-- unit text: state why
-- unit count: requests slow
-- column comm: text, NAME
-- column more_ns: ns, MORE
-- column median_ns: ns, MEDIAN
-- column slowest_ns: ns, SLOWEST
-- column other: text, OTHER
-- column other_percent: %, BEHIND
-- column port: id, PORT

-- notes
SELECT note FROM path_note;

-- notes
SELECT 'no request of those asked for had a response' AS note
WHERE NOT EXISTS (SELECT 1 FROM answered_group) AND EXISTS (SELECT 1 FROM message)
UNION ALL
SELECT 'messages between nodes: not recorded (enable net_dev_queue, net_if_receive_skb on both nodes)'
WHERE NOT EXISTS (SELECT 1 FROM message);

-- with answered
SELECT r.id AS request, CASE WHEN :group = 'pair' THEN r.client END AS client, r.server,
       CASE WHEN :group IN ('pair', 'port') THEN r.protocol END AS protocol,
       CASE WHEN :group IN ('pair', 'port') THEN r.server_port END AS port, coalesce(t.process, t.comm) AS process,
       r.end_ns - r.begin_ns AS total_ns, r.bound_ns, r.begin_ns
FROM request AS r
LEFT JOIN known_thread AS t ON t.node = r.server AND t.tid = r.server_tid AND r.server_tid > 0
 AND t.from_ns <= r.responded_ns AND t.until_ns > r.responded_ns
WHERE r.id >= :first_message AND r.begin_ns >= :begin_ns AND r.responded_ns <= :end_ns
  AND r.end_ns - r.begin_ns BETWEEN :min_ns AND :max_ns
  AND (:all_nodes = 1 OR r.client IN (SELECT id FROM chosen_node) OR r.server IN (SELECT id FROM chosen_node))
  AND (:all_threads = 1 OR t.id IN (SELECT id FROM chosen_thread));

-- A group has the number of its first request. One request may be both slow and in the middle.
-- temporary answered_group
-- index: first
SELECT client, server, protocol, port, process, min(request) AS "first", count(*) AS requests, sum(total_ns) AS sum_ns,
       quantile(total_ns, 0.5) AS p50_ns, count(bound_ns) AS bounds, max(bound_ns) AS bound_ns
FROM answered GROUP BY 1, 2, 3, 4, 5;

-- Run first, by why.c, which gets the rows of the groups. It ranks the requests of each by their times, into `compared`,
-- and follows these, into `path_part`.
-- table walked: Requests that are compared
-- when: plot
SELECT sum(requests) AS requests FROM answered_group;

-- temporary compared_sum
SELECT "first", sum(is_slow) AS slow, sum(is_middle) AS middle, sum(total_ns * is_slow) AS slow_ns FROM compared
GROUP BY 1;

-- temporary compared_group
-- index: first
SELECT g.*, s.slow, s.middle, s.slow_ns FROM answered_group AS g JOIN compared_sum AS s ON s."first" = g."first";

-- Threads by name: a request of many is served by a thread of its own.
-- temporary named_part
SELECT c.request, c."first", p.node, p.from_node, p.state, CASE WHEN p.tid > 0 THEN coalesce(t.comm, '') END AS comm,
       CASE WHEN p.other_tid = 0 THEN 'idle' WHEN p.other_tid > 0 THEN coalesce(o.comm, '') END AS other,
       p.took_ns, c.weight, p.took_ns * c.is_slow AS slow_ns, p.took_ns * c.is_middle AS middle_ns
FROM path_part AS p JOIN compared AS c ON c.request = p.request
LEFT JOIN known_thread AS t ON t.node = p.node AND t.tid = p.tid AND p.tid > 0
 AND p.begin_ns >= t.from_ns AND p.begin_ns < t.until_ns
LEFT JOIN known_thread AS o ON o.node = p.node AND o.tid = p.other_tid AND p.other_tid > 0
 AND p.begin_ns >= o.from_ns AND p.begin_ns < o.until_ns;

-- temporary spent
SELECT "first", node, from_node, state, comm, other, count(*) AS times, sum(took_ns) AS sum_ns, sum(slow_ns) AS slow_ns,
       sum(middle_ns) AS middle_ns
FROM named_part GROUP BY 1, 2, 3, 4, 5, 6;

-- temporary part_row
SELECT g."first", c.name AS client, s.name AS server, g.protocol, g.port, g.process, g.requests, g.sum_ns AS group_ns,
       n.name AS node, p.comm, p.state, f.name AS "from", p.other, p.sum_ns, 1e2 * p.sum_ns / g.sum_ns AS share_percent,
       1e0 * p.middle_ns / g.middle AS median_ns, 1e0 * p.slow_ns / g.slow AS slowest_ns,
       1e0 * p.slow_ns / g.slow - 1e0 * p.middle_ns / g.middle AS more_ns
FROM spent AS p JOIN compared_group AS g ON g."first" = p."first" JOIN node AS s ON s.id = g.server
LEFT JOIN node AS c ON c.id = g.client LEFT JOIN node AS n ON n.id = p.node LEFT JOIN node AS f ON f.id = p.from_node;

-- with loss
WITH cause AS (
	SELECT "first", node, comm, state, "from", sum(more_ns) AS more_ns, sum(slowest_ns) AS slowest_ns
	FROM part_row GROUP BY 1, 2, 3, 4, 5),
worst AS (
	SELECT *, row_number() OVER (PARTITION BY "first"
	                             ORDER BY more_ns DESC, state, coalesce(node, ''), coalesce(comm, ''),
	                             coalesce("from", '')) AS n
	FROM cause),
other AS (
	SELECT p."first", p.other, 1e2 * p.slowest_ns / w.slowest_ns AS other_percent,
	       row_number() OVER (PARTITION BY p."first" ORDER BY p.slowest_ns DESC, p.other) AS n
	FROM part_row AS p JOIN worst AS w ON w.n = 1 AND w."first" = p."first" AND w.state = p.state
	 AND coalesce(w.node, '') = coalesce(p.node, '') AND coalesce(w.comm, '') = coalesce(p.comm, '')
	 AND coalesce(w."from", '') = coalesce(p."from", '')
	WHERE p.other IS NOT NULL AND w.slowest_ns > 0)
SELECT w."first", w.more_ns, w.node, w.comm, w.state, w."from", o.other, o.other_percent,
       CASE w.state WHEN 'network' THEN 'network' || coalesce(' from ' || w."from", '')
       || coalesce(' to ' || w.node, '')
       WHEN 'resent' THEN 'data lost from ' || coalesce(w."from", '?') || ' to ' || coalesce(w.node, '?')
       || ', until sent again'
       ELSE coalesce(w.node, 'a node that is not known') || coalesce(' ' || nullif(w.comm, ''), '') || ' '
       || CASE w.state
       WHEN 'running' THEN 'runs' WHEN 'runnable' THEN 'waits for a processor' WHEN 'disk' THEN 'waits for a disk'
       WHEN 'timer' THEN 'waits for a timer' WHEN 'interrupt' THEN 'in interrupts'
       WHEN 'thread' THEN 'waits for a lock or another thread'
       ELSE 'did what was not recorded' END END
       || coalesce(', ' || CAST(round(o.other_percent) AS BIGINT) || ' % behind ' || nullif(o.other, ''), '') AS why
FROM worst AS w LEFT JOIN other AS o ON o."first" = w."first" AND o.n = 1 WHERE w.n = 1 AND w.more_ns > 0;

-- table slow: What the slowest 1 % have that those around the median have not
-- sort: -more_ns,-requests,client,server,protocol,port,process
-- limit: 20
-- shown: client [pair], protocol [pair port], port [pair port]
SELECT c.name AS client, s.name AS server, g.protocol, g.port, g.process, g.requests, g.p50_ns, g.slow,
       1e0 * g.slow_ns / g.slow AS slowest_ns, l.more_ns, l.why,
       CASE WHEN g.bounds = g.requests THEN g.bound_ns END AS bound_ns, l.node, l.comm, l.state, l."from", l.other,
       l.other_percent
FROM compared_group AS g JOIN node AS s ON s.id = g.server LEFT JOIN node AS c ON c.id = g.client
LEFT JOIN loss AS l ON l."first" = g."first";

-- table parts: What the end of the requests waited for
-- sort: -more_ns,-sum_ns,client,server,protocol,port,process,node,comm,state,from,other
-- limit: 40
-- shown: client [pair], protocol [pair port], port [pair port]
-- column group_ns: ns, TOTAL
SELECT client, server, protocol, port, process, group_ns, node, comm, state, "from", other, sum_ns, share_percent,
       median_ns, slowest_ns, more_ns
FROM part_row;

-- The longest parts of each group, of the requests that a report follows; not of all.
-- table lost: What the slowest 1 % wait for longer than those around the median
-- when: plot
-- sort: -more_ns,client,server,protocol,port,process,node,comm,state,from,other
-- limit: 15
SELECT client, server, port, process, node, comm, state, "from", other, median_ns, slowest_ns, more_ns
FROM (SELECT *, row_number() OVER (PARTITION BY "first"
                                   ORDER BY more_ns DESC, state, coalesce(node, ''), coalesce(comm, ''),
                                   coalesce("from", ''), coalesce(other, '')) AS n FROM part_row) AS p
WHERE n <= 3 AND more_ns > 0;

-- Data with which a report can explain any window: groups, kinds of parts, and the parts of each request by their
-- number.
-- table groups: Groups of requests
-- when: plot
-- sort: first
SELECT g."first", c.name AS client, s.name AS server, g.protocol, g.port, g.process, g.requests
FROM compared_group AS g JOIN node AS s ON s.id = g.server LEFT JOIN node AS c ON c.id = g.client;

-- temporary part_kind
-- index: state, node
SELECT node, from_node, state, comm, other, row_number() OVER (ORDER BY state, node, from_node, comm, other) - 1 AS kind
FROM (SELECT DISTINCT coalesce(node, -1) AS node, coalesce(from_node, -1) AS from_node, state,
      coalesce(comm, '') AS comm,
      coalesce(other, '') AS other FROM named_part) AS p;

-- table kinds: Kinds of parts
-- when: plot
-- sort: kind
SELECT k.kind, n.name AS node, k.comm, k.state, f.name AS "from", k.other
FROM part_kind AS k LEFT JOIN node AS n ON n.id = k.node LEFT JOIN node AS f ON f.id = k.from_node;

-- table followed: Requests that were followed
-- when: plot
-- sort: first,begin_ns,request
SELECT "first", begin_ns, request, weight FROM compared WHERE weight > 0;

-- table followed_parts: Parts of the requests that were followed
-- when: plot
-- sort: request,kind
SELECT p.request, k.kind, sum(p.took_ns) AS sum_ns
FROM named_part AS p
JOIN part_kind AS k ON k.state = p.state AND k.node = coalesce(p.node, -1) AND k.from_node = coalesce(p.from_node, -1)
 AND k.comm = coalesce(p.comm, '') AND k.other = coalesce(p.other, '')
WHERE p.weight > 0 GROUP BY 1, 2;
