-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: syscalls
-- summary: system calls: how many, how long, with which errors
-- description: Tables: syscalls; errors, by errno; top and log, each call; freq. A
--   call lasts from its entry to its exit. UNFINISHED calls lack one of the two:
--   they began before the selected time, ended after it, have no exit, such as
--   exit_group, or the event was lost. They have no duration, and no ERROR that
--   counts; CUT says which end of a call is missing.
-- example: ctanalyze syscalls --group thread --node db run.db
-- groups: syscall thread process name node
-- forms: stats
-- records: kernel

-- Only whole calls have a duration and count with their errors.
-- with called
SELECT s.node, s.tid, s.thread, s.comm, s.cpu, s.name, s.fd, s.path, s.count, s.begin_ns,
       CASE WHEN s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
            THEN s.duration_ns END AS duration_ns,
       CASE WHEN s.end_ns <= :end_ns THEN s.ret END AS ret,
       CASE WHEN s.ret BETWEEN -4095 AND -1 AND s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
            THEN -s.ret END AS error_code,
       CASE WHEN s.cut % 2 = 1 OR s.begin_ns < :begin_ns
       THEN CASE WHEN s.cut % 4 >= 2 OR s.end_ns > :end_ns THEN 'both' ELSE 'begin' END
            WHEN s.cut % 4 >= 2 OR s.end_ns > :end_ns THEN 'end' WHEN s.cut >= 4 THEN 'lost' END AS cut
FROM :of_syscalls
WHERE s.begin_ns <= :end_ns AND s.end_ns >= :begin_ns
  AND (:all_spans = 1 OR (s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
                          AND s.end_ns - s.begin_ns BETWEEN :min_ns AND :max_ns))
  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR s.cpu IN (SELECT cpu FROM chosen_cpu))
  AND (:all_threads = 1 OR s.thread IN (SELECT id FROM chosen_thread));

-- temporary summed
SELECT s.name AS syscall, count(*) AS calls, count(duration_ns) AS count, distribution(duration_ns),
       sum(duration_ns) AS sum_ns, count(error_code) AS errors
FROM called AS s GROUP BY s.name;

-- table syscalls: System calls
-- form: stats
-- group: syscall
-- sort: -sum_ns,syscall
-- limit: 40
SELECT syscall, count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, sum_ns, errors, calls - count AS unfinished
FROM summed;

-- temporary grouped
WITH named AS (
	SELECT thread_group(s, t),
	       s.name AS syscall, s.duration_ns, s.error_code
	FROM called AS s LEFT JOIN known_thread AS t ON :group <> 'node' AND t.id = s.thread)
SELECT node, tid, thread, pid, comm, process, syscall, count(*) AS calls, count(duration_ns) AS count,
       distribution(duration_ns),
       sum(duration_ns) AS sum_ns, count(error_code) AS errors
FROM named GROUP BY node, tid, thread, pid, comm, process, syscall;

-- table syscalls: System calls
-- form: stats
-- group: thread process name node
-- sort: -sum_ns,node,tid,pid,process,syscall
-- limit: 40
-- shown: node [thread process node], tid [thread], pid [thread process], comm [thread],
--   process [process name]
SELECT n.name AS node, tid, pid, comm, process, syscall, count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns,
       sum_ns, errors, calls - count AS unfinished
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node;

-- table errors: Errors
-- form: stats
-- sort: -count,syscall,errno
-- limit: 40
WITH failed AS (
	SELECT name AS syscall, error_code AS errno, count(*) AS count FROM called WHERE error_code IS NOT NULL
	GROUP BY name, error_code)
SELECT f.syscall AS syscall, coalesce(e.name, '') AS error, f.errno AS errno, f.count AS count
FROM failed AS f LEFT JOIN errno AS e ON e.number = f.errno;

-- table freq: Histogram of durations
-- form: freq
-- sort: to_ns
frequency(duration_ns, called WHERE duration_ns IS NOT NULL);

-- with listed
SELECT s.begin_ns, s.duration_ns, n.name AS node, s.tid, t.pid, coalesce(s.comm, t.comm) AS comm,
       s.cpu, s.name AS syscall, s.fd, s.path, s.count AS size_bytes, s.ret AS result, e.name AS error, s.cut
FROM called AS s JOIN node AS n ON n.id = s.node LEFT JOIN known_thread AS t ON t.id = s.thread
LEFT JOIN errno AS e ON e.number = -s.ret;

-- table top: The longest calls
-- form: top
-- sort: -duration_ns,begin_ns,node,tid
-- limit: 10
SELECT begin_ns, duration_ns, node, tid, pid, comm, cpu, syscall, fd, path, size_bytes, result, error FROM listed
WHERE duration_ns IS NOT NULL;

-- table log: Every call
-- form: log
-- sort: begin_ns,node,tid
SELECT begin_ns, duration_ns, node, tid, pid, comm, cpu, syscall, fd, path, size_bytes, result, error, cut FROM listed;

-- notes
SELECT 'system calls: not recorded (enable syscall_entry_*, syscall_exit_*)' AS note
WHERE NOT EXISTS (SELECT 1 FROM recorded_class WHERE name LIKE 'syscall_entry_%')
   OR NOT EXISTS (SELECT 1 FROM recorded_class WHERE name LIKE 'syscall_exit_%');
