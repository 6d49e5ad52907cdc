-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: sched
-- summary: how long threads waited for a processor, and who woke them
-- description: Tables: latencies, from a thread's wakeup (sched_waking, else
--   sched_wakeup) to the switch that brings it in; preempted, from losing the
--   processor to running again; wakers; holders, the threads that left the
--   processor last; blocked, how long threads slept and
--   what ended it; top and log, each wait; freq. --min and --max apply to the
--   wait. A wait that began before the selected time or ended after it does not
--   count. Which interrupt woke a thread also needs irq_handler_entry and _exit,
--   irq_softirq_entry and _exit, timer_hrtimer_expire_entry and _exit.
-- example: ctanalyze sched --group process --min 1ms run.db
-- groups: thread process name priority cpu node
-- forms: stats top
-- records: kernel
-- column source: text, FROM

-- Stored with all names, because every table reads them. The waker and the thread that left the
-- processor have the names of that time.
-- temporary waited
SELECT s.node, s.tid, s.thread, t.pid, s.comm AS former, coalesce(s.comm, t.comm) AS comm, t.comm AS last_comm,
       t.process,
       s.cpu, s.priority, coalesce(s.preempted, 0) AS preempted, s.begin_ns, s.end_ns - s.begin_ns AS latency_ns,
       CASE WHEN s.wait_assumed = 0 THEN s.wait END AS source, s.waker_tid, s.prev_tid,
       CASE WHEN s.waker_tid = 0 THEN '(idle)' ELSE coalesce(an.comm, a.comm) END AS waker,
       CASE WHEN s.prev_tid = 0 THEN '(idle)' ELSE coalesce(bn.comm, b.comm) END AS holder
FROM thread_state AS s LEFT JOIN known_thread AS t ON t.id = s.thread
LEFT JOIN known_thread AS a ON a.node = s.node AND a.tid = s.waker_tid AND a.from_ns <= s.begin_ns
 AND a.until_ns > s.begin_ns
LEFT JOIN former_name AS an ON an.thread = a.id AND an.from_ns <= s.begin_ns AND an.until_ns > s.begin_ns
LEFT JOIN known_thread AS b ON b.node = s.node AND b.tid = s.prev_tid AND b.from_ns < s.end_ns
 AND b.until_ns >= s.end_ns
LEFT JOIN former_name AS bn ON bn.thread = b.id AND bn.from_ns < s.end_ns AND bn.until_ns >= s.end_ns
WHERE s.state = 'runnable' AND s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
  AND (:all_spans = 1 OR s.end_ns - s.begin_ns BETWEEN :min_ns AND :max_ns)
  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR s.cpu IN (SELECT cpu FROM chosen_cpu))
  AND (:all_threads = 1 OR s.thread IN (SELECT id FROM chosen_thread));

-- Threads and processes are known by their numbers and have their last name; by name, time counts
-- for the name of that time. A process is called what its first thread is.
-- with grouped
SELECT CASE WHEN :group <> 'name' THEN node END AS node, CASE WHEN :group = 'thread' THEN tid END AS tid,
       CASE WHEN :group = 'thread' THEN thread END AS thread,
       CASE WHEN :group IN ('thread', 'process') THEN pid END AS pid,
       CASE WHEN :group = 'thread' THEN coalesce(last_comm, former) END AS comm,
       CASE WHEN :group = 'name' AND former IS NOT NULL AND coalesce(pid, tid) = tid THEN former
            WHEN :group IN ('process', 'name') THEN coalesce(process, last_comm, former) END AS process,
       CASE WHEN :group = 'priority' THEN priority END AS of_priority, priority,
       CASE WHEN :group = 'cpu' THEN cpu END AS cpu, preempted, latency_ns
FROM waited;

-- table latencies: From wakeup to running
-- form: stats
-- sort: -max_ns,node,tid,pid,process,priority,cpu
-- limit: 20
-- shown: node [thread process node priority cpu], tid [thread], pid [thread process], comm [thread],
--   process [process name], priority [thread priority], cpu [cpu]
SELECT n.name AS node, tid, pid, comm, process,
       CASE WHEN min(priority) = max(priority) THEN min(priority) END AS priority, cpu,
       count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node WHERE g.preempted = 0
GROUP BY g.node, n.name, tid, thread, pid, comm, process, of_priority, cpu;

-- table preempted: From losing the processor to running again
-- form: stats
-- sort: -max_ns,node,tid,pid,process,priority,cpu
-- limit: 20
-- shown: node [thread process node priority cpu], tid [thread], pid [thread process], comm [thread],
--   process [process name], priority [thread priority], cpu [cpu]
SELECT n.name AS node, tid, pid, comm, process,
       CASE WHEN min(priority) = max(priority) THEN min(priority) END AS priority, cpu,
       count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node WHERE g.preempted = 1
GROUP BY g.node, n.name, tid, thread, pid, comm, process, of_priority, cpu;

-- Sleeps by what ended them. What of a sleep lies in the selected time counts as CUT where the sleep
-- began before or ended after it, or one of the two was not recorded.
-- temporary slept
WITH sleep AS (
	SELECT s.node, s.tid, s.thread, s.comm, s.syscall, CASE WHEN s.wait_assumed = 0 THEN s.wait END AS wait,
	       CASE WHEN s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
	       THEN s.duration_ns END AS duration_ns,
	       least(s.end_ns, :end_ns) - greatest(s.begin_ns, :begin_ns) AS within_ns
	FROM thread_state AS s
	WHERE s.state IN ('interruptible', 'uninterruptible', 'blocked') AND s.begin_ns < :end_ns
	  AND s.end_ns > :begin_ns
	  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node))
	  AND (:all_threads = 1 OR s.thread IN (SELECT id FROM chosen_thread)))
SELECT node, tid, thread, comm, coalesce(wait, 'unknown') AS cause, syscall, count(duration_ns) AS count,
       sum(duration_ns) AS sum_ns, max(duration_ns) AS max_ns,
       sum(CASE WHEN duration_ns IS NULL THEN within_ns ELSE 0 END) AS cut_ns
FROM sleep WHERE duration_ns IS NULL OR :all_spans = 1 OR duration_ns BETWEEN :min_ns AND :max_ns
GROUP BY node, tid, thread, comm, coalesce(wait, 'unknown'), syscall;

-- table blocked: Blocked, by what ended it
-- form: stats
-- group: thread process name node
-- sort: -sum_ns,-cut_ns,node,tid,pid,comm,process,cause,syscall
-- limit: 20
-- column cut_ns: ns, CUT
-- shown: node [thread process node], tid [thread], pid [thread process], comm [thread], process [process name]
WITH named AS (
	SELECT thread_group(s, t),
	       s.cause, s.syscall, s.count, s.sum_ns, s.max_ns, s.cut_ns
	FROM slept AS s LEFT JOIN known_thread AS t ON t.id = s.thread)
SELECT n.name AS node, tid, pid, comm, process, cause, syscall, sum(count) AS count, coalesce(sum(sum_ns), 0) AS sum_ns,
       1e0 * sum(sum_ns) / nullif(sum(count), 0) AS mean_ns, max(max_ns) AS max_ns, sum(cut_ns) AS cut_ns
FROM named AS g LEFT JOIN node AS n ON n.id = g.node
GROUP BY g.node, n.name, tid, thread, pid, comm, process, cause, syscall;

-- The thread that was interrupted is a waker by chance: only the kind of the interrupt matters.
-- table wakers: By waker
-- form: stats
-- sort: -sum_ns,node,waker,source
-- limit: 20
WITH by_waker AS (
	SELECT node, CASE WHEN source IS NULL OR source = 'thread' THEN
	            CASE WHEN waker_tid IS NOT NULL THEN coalesce(waker, '') END END AS waker, source, latency_ns
	FROM waited WHERE preempted = 0)
SELECT n.name AS node, w.waker AS waker, w.source AS source, count(latency_ns) AS count, distribution(latency_ns),
       sum(latency_ns) AS sum_ns
FROM by_waker AS w JOIN node AS n ON n.id = w.node
GROUP BY w.node, w.waker, w.source, n.name;

-- table holders: By previous holder of the processor
-- form: stats
-- sort: -sum_ns,node,holder
-- limit: 20
SELECT n.name AS node, coalesce(w.holder, '') AS holder, count(latency_ns) AS count, distribution(latency_ns),
       sum(latency_ns) AS sum_ns
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
