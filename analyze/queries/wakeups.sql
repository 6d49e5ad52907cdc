-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: wakeups
-- summary: which threads woke each other, also across nodes by messages
-- description: local: who woke whom on a node, and how long the woken thread then
--   waited for a processor. remote: threads that a packet woke, with the thread on
--   another node that sent it, and the time from sending to running; the true time
--   of each lies within BOUND, which follows from both clocks; for UNBOUNDED ones a
--   side is open, and BOUND is that of the others. A wakeup counts if
--   it is in the selected time; --tid, --pid and --procname select the woken
--   thread. Needs sched_switch and sched_waking or sched_wakeup; remote also
--   net_dev_queue, net_if_receive_skb, irq_softirq_entry and _exit.
-- example: ctanalyze wakeups --procname server run.db
-- records: kernel

-- with woken
SELECT s.node, s.tid, s.thread, s.begin_ns, s.end_ns, s.waker_tid, s.wait_assumed,
       CASE WHEN s.wait_assumed = 1 THEN NULL ELSE s.wait END AS wait,
       CASE WHEN s.wait_assumed = 1 THEN NULL ELSE s.wake_first_recv END AS first_recv,
       CASE WHEN s.wait_assumed = 1 THEN NULL ELSE s.wake_last_recv END AS last_recv
FROM thread_state AS s
WHERE s.state = 'runnable' AND s.preempted = 0 AND s.cut = 0
  AND s.begin_ns BETWEEN :begin_ns AND :end_ns AND s.node IN (SELECT id FROM chosen_node)
  AND (:all_threads = 1 OR s.thread IN (SELECT id FROM chosen_thread));

-- temporary local_pair
SELECT node, waker_tid, thread, tid, max(begin_ns) AS at_ns, count(*) AS count, avg(end_ns - begin_ns) AS mean_ns,
       quantile(end_ns - begin_ns, 0.99) AS p99_ns, max(end_ns - begin_ns) AS max_ns
FROM woken WHERE waker_tid > 0 AND coalesce(wait, 'thread') = 'thread'
GROUP BY node, waker_tid, thread, tid;

-- table local: Who woke whom
-- sort: -count,node,waker_tid,tid
-- limit: 20
-- column mean_ns: ns, MEAN WAIT
SELECT n.name AS node, p.waker_tid, w.comm AS waker, p.tid, t.comm AS woken, p.count, p.mean_ns, p.p99_ns, p.max_ns
FROM local_pair AS p JOIN node AS n ON n.id = p.node LEFT JOIN known_thread AS t ON t.id = p.thread
LEFT JOIN known_thread AS w ON w.node = p.node AND w.tid = p.waker_tid AND p.at_ns >= w.from_ns
 AND p.at_ns < w.until_ns;

-- The last packet that the softirq had taken in when it woke the thread.
-- with arrived
SELECT w.node, w.tid, w.thread, w.end_ns, m.src_node, m.send_tid, m.send_ns, m.low_ns, m.high_ns
FROM woken AS w JOIN message AS m ON m.recv_event = w.last_recv
WHERE w.wait = 'network' AND m.send_by = 'thread' AND coalesce(m.send_assumed, 0) = 0;

-- temporary remote_pair
SELECT src_node, send_tid, node, thread, tid, max(send_ns) AS at_ns, count(*) AS count,
       avg(end_ns - send_ns) AS mean_ns, quantile(end_ns - send_ns, 0.99) AS p99_ns, max(end_ns - send_ns) AS max_ns,
       min(low_ns) FILTER (WHERE high_ns IS NOT NULL) AS low_ns,
       max(high_ns) FILTER (WHERE low_ns IS NOT NULL) AS high_ns,
       count(*) - count(low_ns + high_ns) AS unbounded
FROM arrived GROUP BY src_node, send_tid, node, thread, tid;

-- table remote: Who woke whom on another node
-- sort: -count,from,waker_tid,to,tid
-- limit: 20
-- column waker_tid: id, SENDER TID
-- column waker: text, SENDER
SELECT a.name AS "from", p.send_tid AS waker_tid, w.comm AS waker, b.name AS "to", p.tid, t.comm AS woken,
       p.count, p.mean_ns, p.p99_ns, p.max_ns,
       CASE WHEN unbounded < count THEN greatest(0, greatest(-low_ns, high_ns)) END AS bound_ns, unbounded
FROM remote_pair AS p JOIN node AS a ON a.id = p.src_node JOIN node AS b ON b.id = p.node
LEFT JOIN known_thread AS t ON t.id = p.thread
LEFT JOIN known_thread AS w ON w.node = p.src_node AND w.tid = p.send_tid AND p.at_ns >= w.from_ns
 AND p.at_ns < w.until_ns;

-- notes
SELECT 'wakeups: not recorded (enable sched_switch, sched_waking or sched_wakeup)' AS note
WHERE 'sched_switch' NOT IN (SELECT name FROM recorded_class)
   OR NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('sched_waking', 'sched_wakeup'));
