-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: overview
-- summary: what a timeline contains, and which analyses fit it
-- description: nodes: from when to when each was recorded, the number of events, and
--   how far its clock may be off at worst. tasks: what a scheduler ran. periods:
--   times between pairs of user-space events of one thread whose names suggest it,
--   such as app:begin and app:end. answers: the analyses for which events were
--   recorded. start: three to start with. Times apply to tasks and periods.
-- example: ctanalyze run.db

-- with widest
SELECT s.node, max(CASE WHEN c.low_ns IS NULL OR c.high_ns IS NULL THEN NULL
                   ELSE greatest(-c.low_ns, c.high_ns) END) AS bound_ns,
       count(*) FILTER (WHERE c.low_ns IS NULL OR c.high_ns IS NULL) AS opened
FROM clock_bound AS c JOIN source AS s ON s.id = c.source
GROUP BY s.node;

-- table nodes: Nodes
SELECT n.name AS node, count(s.id) AS sources, sum(coalesce(s.events, 0)) AS events, sum(s.discarded) AS discarded,
       coalesce(max(p.samples), 0) AS samples,
       min(s.begin_ns) AS begin_ns, max(s.end_ns) - min(s.begin_ns) AS span_ns,
       max(CASE WHEN w.opened = 0 THEN w.bound_ns END) AS worst_bound_ns
FROM chosen_node AS n LEFT JOIN source AS s ON s.node = n.id LEFT JOIN widest AS w ON w.node = n.id
LEFT JOIN (SELECT node, count(*) AS samples FROM sample GROUP BY node) AS p ON p.node = n.id
GROUP BY n.id, n.name
ORDER BY n.id;

-- table tasks: Tasks
-- when: rows
-- sort: -sum_ns,task
-- limit: 10
-- column ended: count, ENDED
SELECT i.name AS task, count(*) AS count, count(i.end_ns - i.begin_ns) AS ended,
       count(*) FILTER (WHERE i.status <> 0) AS failed,
       distribution(i.end_ns - i.begin_ns), sum(i.end_ns - i.begin_ns) AS sum_ns
FROM invocation AS i
WHERE (:all_nodes = 1 OR i.node IN (SELECT id FROM chosen_node))
  AND coalesce(i.begin_ns, i.enqueue_ns, :begin_ns) <= :end_ns
  AND coalesce(i.end_ns, :end_ns) >= :begin_ns
GROUP BY i.name;

-- table periods: Periods between events of user space, in one thread
-- when: rows
-- sort: -sum_ns,from,to
-- limit: 10
SELECT from_name AS "from", to_name AS "to", count(*) AS count, distribution(duration_ns), sum(duration_ns) AS sum_ns
FROM user_period GROUP BY from_name, to_name;

-- with has
SELECT EXISTS (SELECT 1 FROM message) AS messages, EXISTS (SELECT 1 FROM request) AS requests,
       EXISTS (SELECT 1 FROM thread_state WHERE state = 'running') AS threads,
       EXISTS (SELECT 1 FROM syscall) AS syscalls,
       EXISTS (SELECT 1 FROM irq) AS irqs, EXISTS (SELECT 1 FROM block_request) AS disks,
       EXISTS (SELECT 1 FROM sample) AS samples, EXISTS (SELECT 1 FROM process WHERE pid <> 0) AS processes,
       EXISTS (SELECT 1 FROM problem) AS problems,
       EXISTS (SELECT 1 FROM event_class WHERE events > 0 AND kind IN ('user', 'trace')) AS users,
       EXISTS (SELECT 1 FROM thread_state WHERE state = 'runnable' AND waker_tid > 0) AS wakers,
       EXISTS (SELECT 1 FROM event_class WHERE events > 0
               AND name IN ('net_dev_queue', 'net_if_receive_skb', 'netif_receive_skb')) AS packets;

-- with answer
SELECT 1 AS place, 'requests' AS analysis, 'requests between nodes' AS about FROM has WHERE requests
UNION ALL SELECT 2, 'why', 'what the slow requests lose their time to' FROM has WHERE requests AND threads
UNION ALL SELECT 2, 'critical-path', 'what the slowest request waited for' FROM has WHERE requests AND threads
UNION ALL SELECT 3, 'messages', 'how long messages between nodes took' FROM has WHERE messages
UNION ALL SELECT 4, 'cpu', 'who used the processors' FROM has WHERE threads
UNION ALL SELECT 5, 'sched', 'how long threads waited for them' FROM has WHERE threads
UNION ALL SELECT 6, 'wakeups', 'who woke whom' FROM has WHERE wakers
UNION ALL SELECT 7, 'syscalls', 'system calls' FROM has WHERE syscalls
UNION ALL SELECT 8, 'irq', 'interrupts' FROM has WHERE irqs
UNION ALL SELECT 9, 'io', 'disk requests' FROM has WHERE disks
UNION ALL SELECT 10, 'net', 'traffic and retransmissions' FROM has WHERE packets
UNION ALL SELECT 11, 'metrics', 'what sar and others sampled' FROM has WHERE samples
UNION ALL SELECT 12, 'proc', 'processes' FROM has WHERE processes
UNION ALL SELECT 13, 'problems', 'what was lost, left out or odd' FROM has WHERE problems
UNION ALL SELECT 14, 'events', 'events as text, also those of user space' FROM has WHERE users
UNION ALL SELECT 15, 'periods', 'the time from one event to another, both named by you' FROM has WHERE users
UNION ALL SELECT 16, 'nodes', 'machines, sources, classes of events'
UNION ALL SELECT 17, 'clocks', 'how the clocks relate';

-- table answers: What can be asked: ctanalyze ANALYSIS TIMELINE
SELECT analysis, about FROM answer ORDER BY place;

-- table start: To begin with
SELECT command FROM (
	SELECT 0 AS place, 'ctanalyze report TIMELINE -o report.html' AS command
	UNION ALL SELECT 13, 'ctanalyze periods --from EVENT --to EVENT --group node,tid TIMELINE' FROM answer
	WHERE analysis = 'periods'
	UNION ALL SELECT place, 'ctanalyze ' || analysis || ' TIMELINE' FROM answer
	WHERE analysis IN ('requests', 'cpu', 'messages', 'nodes')) AS first
ORDER BY place
LIMIT 3;
