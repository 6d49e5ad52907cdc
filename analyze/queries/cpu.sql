-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: cpu
-- summary: who used the processors: nodes, processes, threads, over time
-- description: Tables: nodes; cpus; threads (or processes, names, priorities: --group);
--   with --interval also intervals, the use of each processor over time. A thread
--   runs from the switch that brings it in to the next switch; interrupts in
--   between count as its own time (see irq). --tid, --pid and --procname select
--   threads in all tables: BUSY, SWITCHES and MIGRATIONS are then theirs.
-- example: ctanalyze cpu --group process --node db run.db
-- groups: thread process name priority
-- records: kernel

-- with ran
SELECT s.node, s.tid, s.thread, s.comm, s.cpu, s.last_cpu, s.priority, s.preempted,
       CASE WHEN s.begin_ns < :begin_ns THEN :begin_ns ELSE s.begin_ns END AS begin_ns,
       CASE WHEN s.end_ns > :end_ns THEN :end_ns ELSE s.end_ns END AS end_ns,
       CASE WHEN s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns THEN s.duration_ns
            ELSE least(s.end_ns, :end_ns) - greatest(s.begin_ns, :begin_ns) END AS run_ns,
       CASE WHEN s.cut % 4 < 2 AND s.end_ns <= :end_ns THEN 1 ELSE 0 END AS is_switch
FROM thread_state AS s
WHERE s.state = 'running' AND s.begin_ns < :end_ns AND s.end_ns > :begin_ns
  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR s.cpu IN (SELECT cpu FROM chosen_cpu));

-- Everything but the intervals is summed up from `use`. A thread has migrated where it runs elsewhere
-- than the last time; idle does not.
-- temporary use
SELECT node, tid, thread, comm, cpu, priority, count(*) AS runs, sum(run_ns) AS run_ns, max(run_ns) AS longest_ns,
       sum(is_switch) AS switches, count(*) FILTER (WHERE preempted = 1 AND is_switch = 1) AS preempted,
       count(*) FILTER (WHERE last_cpu <> cpu AND tid <> 0) AS migrations
FROM ran GROUP BY node, tid, thread, cpu, priority, comm;

-- Use of each processor by the selected threads. Options cannot select idle.
-- with used_cpu
SELECT node, cpu, sum(run_ns) AS known_ns, coalesce(sum(run_ns) FILTER (WHERE tid <> 0 AND is_chosen = 1),
                                                    0) AS busy_ns,
       coalesce(sum(run_ns) FILTER (WHERE tid = 0), 0) AS idle_ns,
       coalesce(sum(switches) FILTER (WHERE is_chosen = 1), 0) AS switches,
       coalesce(sum(migrations) FILTER (WHERE is_chosen = 1), 0) AS migrations
FROM (SELECT node, cpu, tid, run_ns, switches, migrations,
             CASE WHEN :all_threads = 1 OR (tid <> 0 AND thread IN (SELECT id FROM chosen_thread)) THEN 1
             ELSE 0 END AS is_chosen
      FROM use) AS u
GROUP BY node, cpu;

-- table nodes: Nodes
WITH used AS (
	SELECT node, count(*) AS cpus, sum(known_ns) AS known_ns, sum(busy_ns) AS busy_ns, sum(idle_ns) AS idle_ns,
	       sum(switches) AS switches, sum(migrations) AS migrations
	FROM used_cpu GROUP BY node)
SELECT n.name AS node, u.cpus AS cpus, u.busy_ns AS busy_ns, u.idle_ns AS idle_ns,
       1e2 * u.busy_ns / nullif(u.known_ns, 0) AS busy_percent, u.switches AS switches,
       u.migrations AS migrations, CASE WHEN u.node IS NOT NULL THEN coalesce(k.recorded_ns, 0) END AS recorded_ns
FROM chosen_node AS n LEFT JOIN used AS u ON u.node = n.id LEFT JOIN kernel_recorded AS k ON k.node = n.id
WHERE (SELECT count(*) FROM used) > 0
ORDER BY n.id;

-- table cpus: Processors
-- sort: node,cpu
SELECT n.name AS node, u.cpu AS cpu, u.busy_ns AS busy_ns, u.idle_ns AS idle_ns,
       1e2 * u.busy_ns / nullif(u.known_ns, 0) AS busy_percent, u.switches AS switches
FROM used_cpu AS u JOIN node AS n ON n.id = u.node;

-- Threads and processes are known by their numbers and have their last name; by name, time counts
-- for the name of that time. A process is called what its first thread is.
-- table threads: Threads
-- group: thread
-- sort: -cpu_ns,node,tid,pid,priority
-- limit: 20
-- table processes: Processes
-- group: process
-- sort: -cpu_ns,node,pid,process
-- limit: 20
-- table names: By name, over all nodes
-- group: name
-- sort: -cpu_ns,process
-- limit: 20
-- table priorities: Priorities
-- group: priority
-- sort: -cpu_ns,node,priority
-- limit: 20
-- column cpu_ns: ns, CPU TIME
-- column cpu_percent: %, OF ONE CPU
-- column mean_ns: ns, MEAN RUN
-- column max_ns: ns, LONGEST RUN
-- shown: node [thread process priority], tid [thread], pid [thread process], comm [thread],
--   process [process name], priority [thread priority]
WITH grouped AS (
	SELECT thread_group(u, t),
	       CASE WHEN :group = 'priority' THEN u.priority END AS of_priority, u.priority,
	       u.runs, u.run_ns, u.longest_ns, u.preempted, u.migrations, k.recorded_ns
	FROM use AS u LEFT JOIN known_thread AS t ON t.id = u.thread LEFT JOIN kernel_recorded AS k ON k.node = u.node
	WHERE u.tid <> 0 AND (:all_threads = 1 OR u.thread IN (SELECT id FROM chosen_thread)))
SELECT n.name AS node, tid, pid, comm, process,
       CASE WHEN min(priority) = max(priority) THEN min(priority) END AS priority,
       sum(run_ns) AS cpu_ns,
       1e2 * sum(run_ns) / nullif(CASE WHEN :group = 'name' THEN (SELECT max(recorded_ns) FROM kernel_recorded
                                                                WHERE node IN (SELECT id FROM chosen_node))
                                       ELSE max(recorded_ns) END, 0) AS cpu_percent,
       sum(runs) AS runs, 1e0 * sum(run_ns) / sum(runs) AS mean_ns, max(longest_ns) AS max_ns,
       sum(preempted) AS preempted, sum(migrations) AS migrations
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node
GROUP BY g.node, n.name, tid, thread, pid, comm, process, of_priority;

-- Unknown time of a processor counts as neither. Each run is cut into the steps that it
-- lies in.
-- table intervals: Over time
-- when: interval
-- sort: begin_ns,node,cpu
WITH stepped AS (
	SELECT node, cpu, tid, thread, begin_ns, end_ns, begin_ns - (begin_ns - :begin_ns) % :interval_ns AS first_ns,
	       end_ns - 1 - (end_ns - 1 - :begin_ns) % :interval_ns AS last_ns
	FROM ran),
piece AS (
	SELECT r.node, r.cpu, k.begin_ns, r.tid,
	       CASE WHEN :all_threads = 1 OR r.thread IN (SELECT id FROM chosen_thread) THEN 1 ELSE 0 END AS is_chosen,
	       least(r.end_ns, k.begin_ns + :interval_ns) - greatest(r.begin_ns, k.begin_ns) AS run_ns
	FROM stepped AS r JOIN interval_step AS k ON k.begin_ns BETWEEN r.first_ns AND r.last_ns),
used AS (
	SELECT node, cpu, begin_ns, sum(run_ns) AS known_ns,
	       coalesce(sum(run_ns) FILTER (WHERE tid <> 0 AND is_chosen = 1), 0) AS busy_ns,
	       coalesce(sum(run_ns) FILTER (WHERE tid = 0), 0) AS idle_ns
	FROM piece GROUP BY node, cpu, begin_ns),
lane AS (SELECT DISTINCT node, cpu FROM use)
SELECT k.begin_ns AS begin_ns, n.name AS node, l.cpu AS cpu, u.busy_ns AS busy_ns, u.idle_ns AS idle_ns,
       1e2 * u.busy_ns / u.known_ns AS busy_percent
FROM interval_step AS k CROSS JOIN lane AS l JOIN node AS n ON n.id = l.node
LEFT JOIN used AS u ON u.node = l.node AND u.cpu = l.cpu AND u.begin_ns = k.begin_ns;

-- notes
SELECT 'use of processors: not recorded (enable sched_switch)'
       || CASE WHEN EXISTS (SELECT 1 FROM metric WHERE activity = 'cpu')
       THEN '; sar sampled it, see ctanalyze metrics' ELSE '' END AS note
WHERE 'sched_switch' NOT IN (SELECT name FROM recorded_class);
