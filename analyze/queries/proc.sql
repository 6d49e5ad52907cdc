-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: proc
-- summary: processes: the tree, how long they lived, how they ended
-- description: programs: processes of one name, how many ended, and how many of these
--   with an exit status other than 0. tree: each process below the one that started
--   it; BEGIN and END are empty if they lie outside the recording. --min and --max
--   apply to the lifetime. Needs sched_process_fork, sched_process_exec,
--   sched_process_exit, exit_group and a statedump.
-- example: ctanalyze proc --procname make run.db

-- Each process by node, number and begin, and until when the number is its own.
-- with born
SELECT id, node, pid, ppid, comm, exe, begin_ns, end_ns, exit_status,
       coalesce(begin_ns, -4611686018427387904) AS born_ns
FROM process WHERE pid <> 0;

-- with ranked
SELECT id, node, pid, ppid, comm, exe, begin_ns, end_ns, exit_status, born_ns,
       1000000000 + row_number() OVER (ORDER BY node, pid, born_ns, id) AS place,
       coalesce(lead(born_ns) OVER (PARTITION BY node, pid ORDER BY born_ns, id), 4611686018427387904) AS until_ns
FROM born;

-- with child
SELECT c.id, p.id AS parent
FROM ranked AS c JOIN ranked AS p ON p.node = c.node AND p.pid = c.ppid AND p.id <> c.id
 AND c.born_ns >= p.born_ns AND c.born_ns < p.until_ns;

-- The processes of selected threads whose tid is the pid.
-- with main_thread
SELECT t.process FROM thread AS t JOIN chosen_thread AS c ON c.id = t.id AND c.tid = c.pid;

-- with wanted
SELECT r.id, r.node, r.pid, r.ppid, coalesce(r.comm, '?') AS comm, r.exe, r.begin_ns, r.end_ns, r.exit_status,
       r.end_ns - r.begin_ns AS life_ns, r.place
FROM ranked AS r
WHERE r.node IN (SELECT id FROM chosen_node) AND r.born_ns <= :end_ns
  AND (r.end_ns IS NULL OR r.end_ns >= :begin_ns)
  AND (:all_spans = 1 OR r.end_ns - r.begin_ns BETWEEN :min_ns AND :max_ns)
  AND (:all_threads = 1 OR r.id IN (SELECT process FROM main_thread));

-- table programs: Processes by name
-- sort: -count,node,process
-- limit: 20
-- column min_ns: ns, LIFE MIN
SELECT n.name AS node, w.comm AS process, count(*) AS count, count(w.end_ns) AS ended,
       count(*) FILTER (WHERE w.exit_status > 0) AS failed, min(w.life_ns) AS min_ns,
       avg(w.life_ns) AS mean_ns, max(w.life_ns) AS max_ns
FROM wanted AS w JOIN node AS n ON n.id = w.node
GROUP BY w.node, n.name, w.comm;

-- table tree: Processes
-- limit: 100
-- column exit_status: id, EXIT
-- column exe: text, PROGRAM
WITH RECURSIVE tree AS (
	SELECT r.id, 0 AS depth, '' AS indent, r.place || '' AS path
	FROM ranked AS r WHERE r.id NOT IN (SELECT id FROM child)
	UNION ALL
	SELECT r.id, t.depth + 1, CASE WHEN t.depth < 100 THEN t.indent || '  ' ELSE t.indent END, t.path || r.place
	FROM tree AS t JOIN child AS c ON c.parent = t.id JOIN ranked AS r ON r.id = c.id),
crew AS (SELECT process, count(*) AS threads FROM thread GROUP BY process)
SELECT n.name AS node, t.indent || w.comm AS process, t.depth, w.pid, w.ppid,
       coalesce(c.threads, 0) AS threads, w.begin_ns, w.end_ns, w.life_ns, w.exit_status, w.exe
FROM tree AS t JOIN wanted AS w ON w.id = t.id JOIN node AS n ON n.id = w.node
LEFT JOIN crew AS c ON c.process = w.id
ORDER BY t.path;

-- notes
SELECT 'processes: not recorded (enable sched_switch, sched_process_fork, sched_process_exec, sched_process_exit and a statedump)' AS note
WHERE NOT EXISTS (SELECT 1 FROM born)
UNION ALL
SELECT 'processor time of processes: sampled, see ctanalyze metrics --table processes'
WHERE EXISTS (SELECT 1 FROM metric WHERE activity = 'process' AND name = 'utime');
