-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: sched
-- summary: how long threads waited for a processor, and who woke them
-- description: Tables: latencies, from a thread's wakeup (sched_waking, else
--   sched_wakeup) to the switch that brings it in; preempted, from losing the
--   processor to running again; wakers; holders, the threads that left the
--   processor last; top and log, each wait; freq. --min and --max apply to the
--   wait. A wait that began before the selected time or ended after it does not
--   count. Which interrupt woke a thread also needs irq_handler_entry and _exit,
--   irq_softirq_entry and _exit, timer_hrtimer_expire_entry and _exit.
-- example: ctanalyze sched --group process --min 1ms run.db
-- groups: thread process name priority cpu node
-- forms: stats top
-- records: kernel
-- column source: text, FROM

-- Kept with all names, as every table reads them. Who woke it, or had the processor, is what the number
-- was then; idle is none that is of use.
-- temporary waited
SELECT s.node, s.tid, s.thread, t.pid, coalesce(t.comm, s.comm) AS comm, coalesce(t.process, t.comm, s.comm) AS process,
       s.cpu, s.priority, coalesce(s.preempted, 0) AS preempted, s.begin_ns, s.end_ns - s.begin_ns AS latency_ns,
       CASE WHEN s.wait_assumed = 0 THEN s.wait END AS source, s.waker_tid, s.prev_tid,
       CASE WHEN s.waker_tid = 0 THEN '(idle)' ELSE a.comm END AS waker,
       CASE WHEN s.prev_tid = 0 THEN '(idle)' ELSE b.comm END AS holder
FROM thread_state AS s LEFT JOIN known_thread AS t ON t.id = s.thread
LEFT JOIN known_thread AS a ON a.node = s.node AND a.tid = s.waker_tid AND a.from_ns <= s.begin_ns AND a.until_ns > s.begin_ns
LEFT JOIN known_thread AS b ON b.node = s.node AND b.tid = s.prev_tid AND b.from_ns <= s.begin_ns AND b.until_ns > s.begin_ns
WHERE s.state = 'runnable' AND s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
  AND (:all_spans = 1 OR s.end_ns - s.begin_ns BETWEEN :min_ns AND :max_ns)
  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR s.cpu IN (SELECT cpu FROM chosen_cpu))
  AND (:all_threads = 1 OR s.thread IN (SELECT id FROM chosen_thread));

-- with grouped
SELECT CASE WHEN :group <> 'name' THEN node END AS node, CASE WHEN :group = 'thread' THEN tid END AS tid,
       CASE WHEN :group IN ('thread', 'process') THEN pid END AS pid, CASE WHEN :group = 'thread' THEN comm END AS comm,
       CASE WHEN :group IN ('process', 'name') THEN process END AS process,
       CASE WHEN :group IN ('thread', 'priority') THEN priority END AS priority,
       CASE WHEN :group = 'cpu' THEN cpu END AS cpu, preempted, latency_ns
FROM waited;

-- table latencies: From wakeup to running
-- form: stats
-- sort: -max_ns,node,tid,pid,process,priority,cpu
-- limit: 20
-- shown: node [thread process node priority cpu], tid [thread], pid [thread process], comm [thread],
--   process [process name], priority [thread priority], cpu [cpu]
SELECT n.name AS node, tid, pid, comm, process, priority, cpu,
       count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node WHERE g.preempted = 0
GROUP BY g.node, n.name, tid, pid, comm, process, priority, cpu;

-- table preempted: From losing the processor to running again
-- form: stats
-- sort: -max_ns,node,tid,pid,process,priority,cpu
-- limit: 20
-- shown: node [thread process node priority cpu], tid [thread], pid [thread process], comm [thread],
--   process [process name], priority [thread priority], cpu [cpu]
SELECT n.name AS node, tid, pid, comm, process, priority, cpu,
       count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node WHERE g.preempted = 1
GROUP BY g.node, n.name, tid, pid, comm, process, priority, cpu;

-- Who wakes from an interrupt does so by chance: only its kind tells something.
-- table wakers: By waker
-- form: stats
-- sort: -sum_ns,node,waker,source
-- limit: 20
WITH by_waker AS (
	SELECT node, CASE WHEN source IS NULL OR source = 'thread' THEN
	            CASE WHEN waker_tid IS NOT NULL THEN coalesce(waker, '') END END AS waker, source, latency_ns
	FROM waited WHERE preempted = 0)
SELECT n.name AS node, w.waker AS waker, w.source AS source, count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM by_waker AS w JOIN node AS n ON n.id = w.node
GROUP BY w.node, w.waker, w.source, n.name;

-- table holders: By previous holder of the processor
-- form: stats
-- sort: -sum_ns,node,holder
-- limit: 20
SELECT n.name AS node, coalesce(w.holder, '') AS holder, count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM waited AS w JOIN node AS n ON n.id = w.node WHERE w.prev_tid > 0
GROUP BY w.node, coalesce(w.holder, ''), n.name;

-- table freq: Histogram of latencies, from wakeup to running
-- form: freq
-- sort: to_ns
frequency(latency_ns, waited WHERE preempted = 0);

-- table top: The longest waits
-- form: top
-- sort: -latency_ns,begin_ns,node,tid
-- limit: 10
-- table log: Every wait
-- form: log
-- sort: begin_ns,node,tid
-- column begin_ns: epoch_ns, WOKEN
SELECT w.begin_ns AS begin_ns, w.latency_ns AS latency_ns, n.name AS node, w.tid AS tid, w.pid AS pid, w.comm AS comm,
       w.priority AS priority, w.cpu AS cpu, w.source AS source,
       w.waker_tid AS waker_tid, CASE WHEN w.waker_tid IS NOT NULL THEN coalesce(w.waker, '') END AS waker,
       w.prev_tid AS holder_tid, CASE WHEN w.prev_tid IS NOT NULL THEN coalesce(w.holder, '') END AS holder
FROM waited AS w JOIN node AS n ON n.id = w.node
WHERE w.preempted = 0;

-- notes
SELECT 'scheduling: not recorded (enable sched_switch)' AS note
WHERE 'sched_switch' NOT IN (SELECT name FROM recorded_class)
UNION ALL
SELECT 'latency from wakeup to running: not recorded (enable sched_waking or sched_wakeup)'
WHERE NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('sched_waking', 'sched_wakeup'));
