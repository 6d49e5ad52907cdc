-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: critical-path
-- summary: what a request or a thread waited for, across nodes
-- description: path: back from the end, each wait is replaced by what ended it was doing
--   meanwhile: threads that woke others, messages and their senders on other nodes,
--   disks, timers, interrupts. The rows follow each other without gaps and add up
--   to the whole. TOOK of a message is within BOUND, which follows from both
--   clocks. OTHER is the thread that had the processor while this one was runnable,
--   or that woke it. states and threads: the sums. With --tid, --pid or --procname
--   (and --node, --begin, --end) of one thread; otherwise of a request, that of
--   --request or the slowest. unknown: it was not recorded. Needs sched_switch,
--   sched_waking or sched_wakeup, irq_handler_entry and _exit, irq_softirq_entry
--   and _exit, net_if_receive_skb, net_dev_queue; for timers and disks also
--   timer_hrtimer_expire_entry and _exit, block_rq_complete.
-- example: ctanalyze critical-path --request 1234 run.db
-- unit text: state
-- unit count: times
-- column other: text, NAME
-- column other_tid: id, OTHER

-- notes
SELECT note FROM path_note;

-- path_segment is what path.c found, in order. How sure a message's way is, both clocks tell.
-- temporary segment
SELECT s.n, s.state, s.begin_ns, s.end_ns - s.begin_ns AS took_ns, s.node, s.tid, s.cpu, s.other_tid, s.from_node,
       s.message,
       CASE WHEN s.from_node IS NULL OR a.source = b.source OR (a.clock_uuid <> '' AND a.clock_uuid = b.clock_uuid)
       THEN 0
            WHEN t.low_ns - f.high_ns IS NOT NULL AND t.high_ns - f.low_ns IS NOT NULL
            THEN greatest(f.high_ns - t.low_ns, t.high_ns - f.low_ns) END AS bound_ns
FROM path_segment AS s LEFT JOIN node_source AS a ON a.node = s.from_node LEFT JOIN node_source AS b ON b.node = s.node
LEFT JOIN clock_uncertainty AS f ON f.source = a.source AND s.sent_ns >= f.begin_ns AND s.sent_ns < f.end_ns
LEFT JOIN clock_uncertainty AS t ON t.source = b.source AND s.end_ns >= t.begin_ns AND s.end_ns < t.end_ns;

-- table path: Critical path
-- limit: 100
SELECT s.begin_ns, s.took_ns, CASE WHEN s.from_node IS NOT NULL THEN s.bound_ns END AS bound_ns, s.state,
       coalesce(n.name, '') AS node, s.tid, t.pid, CASE WHEN s.tid > 0 THEN coalesce(t.comm, '') END AS comm, s.cpu,
       f.name AS "from", s.message, s.other_tid, CASE WHEN s.other_tid > 0 THEN coalesce(o.comm, '') END AS other
FROM segment AS s LEFT JOIN node AS n ON n.id = s.node LEFT JOIN node AS f ON f.id = s.from_node
LEFT JOIN known_thread AS t ON t.node = s.node AND t.tid = s.tid AND s.tid > 0
 AND s.begin_ns >= t.from_ns AND s.begin_ns < t.until_ns
LEFT JOIN known_thread AS o ON o.node = s.node AND o.tid = s.other_tid AND s.other_tid > 0
 AND s.begin_ns >= o.from_ns AND s.begin_ns < o.until_ns
ORDER BY s.n;

-- table states: By node and state
-- sort: -sum_ns,node,state
WITH spent AS (
	SELECT node, state, count(*) AS times, sum(took_ns) AS sum_ns, max(took_ns) AS max_ns,
	       CASE WHEN state = 'network' AND count(bound_ns) = count(*) THEN sum(bound_ns) END AS bound_ns
	FROM segment GROUP BY node, state)
SELECT coalesce(n.name, '') AS node, state, times, sum_ns,
       1e2 * sum_ns / (SELECT sum(took_ns) FROM segment) AS share_percent, max_ns, bound_ns
FROM spent AS s LEFT JOIN node AS n ON n.id = s.node;

-- table threads: By thread
-- sort: -sum_ns,node,tid
-- limit: 10
WITH spent AS (
	SELECT node, tid, min(begin_ns) AS begin_ns, sum(took_ns) AS sum_ns,
	       coalesce(sum(took_ns) FILTER (WHERE state = 'running'), 0) AS running_ns
	FROM segment WHERE tid > 0 GROUP BY node, tid)
SELECT coalesce(n.name, '') AS node, s.tid, t.pid, coalesce(t.comm, '') AS comm, sum_ns,
       1e2 * sum_ns / (SELECT sum(took_ns) FROM segment) AS share_percent, running_ns
FROM spent AS s LEFT JOIN node AS n ON n.id = s.node
LEFT JOIN known_thread AS t ON t.node = s.node AND t.tid = s.tid AND s.begin_ns >= t.from_ns
 AND s.begin_ns < t.until_ns;
