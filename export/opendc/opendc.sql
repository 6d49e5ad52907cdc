-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The tasks of a timeline and what they worked, for OpenDC: docs/opendc.md says what each
-- number is. Parameters: begin (?1) and end (?2) of what was asked for; the kind of the
-- tasks (?3); whether kernel threads are tasks (?4) and parents are told (?5); the MHz of
-- cores (?6) and the kB of memory (?7, NULL: what fits) where none is recorded; whether spans
-- were left out when the timeline was made (?8); the cores that a host is said to have (?9,
-- NULL: those of its node). `chosen` has the nodes.

-- Speeds of processors: the first one held before it, too.
--- table opendc_speed (node, cpu, from_ns)
SELECT node, cpu, CASE row_number() OVER own WHEN 1 THEN min(ts_ns, ?1) ELSE ts_ns END AS from_ns,
	lead(ts_ns, 1, max(ts_ns, ?2)) OVER own AS to_ns, khz / 1000.0 AS mhz
FROM (SELECT e.node, coalesce(f.cpu_id, e.cpu, -1) AS cpu, e.ts_ns, e.id, f.state AS khz
	FROM (SELECT id, cpu_id, state FROM power_cpu_frequency UNION ALL SELECT id, cpu_id, state FROM cpu_frequency) AS f
	CROSS JOIN event AS e ON e.id = f.id WHERE e.ts_ns BETWEEN ?1 AND ?2 AND f.state > 0)
WINDOW own AS (PARTITION BY node, cpu ORDER BY ts_ns, id)

-- Nodes begin and end with their kernel's trace: before it nobody knows what ran.
--- table opendc_node (id)
WITH traced AS (
	SELECT node, min(begin_ns) FILTER (WHERE traced) AS begin_ns, max(end_ns) FILTER (WHERE traced) AS end_ns,
		max(traced) AS traced
	FROM (SELECT *, kind IN ('kernel', 'trace') AND coalesce(events, 0) > 0 AS traced FROM source) GROUP BY node)
SELECT n.id, n.name, max(?1, coalesce(t.begin_ns, ?1)) AS begin_ns, min(?2, coalesce(t.end_ns, ?2)) AS end_ns,
	coalesce(t.traced, 1) AND EXISTS (SELECT 1 FROM thread_state AS s WHERE s.node = n.id) AS switches,
	CASE WHEN n.cpus > 0 THEN n.cpus END AS cpus, CASE WHEN n.mem_kib > 0 THEN n.mem_kib END AS mem_kib,
	nullif(max(CASE WHEN n.cpu_mhz > 0 AND n.cpu_mhz < 1e9 THEN n.cpu_mhz ELSE 0 END,
		coalesce((SELECT max(mhz) FROM opendc_speed AS f WHERE f.node = n.id), 0)), 0) AS mhz,
	(SELECT max(node) FROM opendc_speed AS f WHERE f.node = n.id) AS paced
FROM node AS n JOIN chosen AS c ON c.id = n.id AND c.chosen LEFT JOIN traced AS t ON t.node = n.id

-- Running time of threads: by tid, and by thread if several had one tid.
--- table opendc_ran (thread)
WITH whole AS MATERIALIZED (
	SELECT node, tid, min(coalesce(thread, -1)) AS first, max(coalesce(thread, -1)) AS last,
		sum(CASE WHEN begin_ns >= ?1 AND end_ns <= ?2 THEN duration_ns ELSE min(end_ns, ?2) - max(begin_ns, ?1) END)
			AS ran_ns
	FROM thread_state WHERE state_code = 1 AND begin_ns < ?2 AND end_ns > ?1 GROUP BY node, tid)
SELECT node, tid, first AS thread, ran_ns FROM whole WHERE tid = 0 OR first = last
UNION ALL
SELECT s.node, s.tid, s.thread, sum(min(s.end_ns, ?2) - max(s.begin_ns, ?1))
FROM whole AS w CROSS JOIN thread_state AS s ON s.node = w.node AND s.tid = w.tid
WHERE w.first < w.last AND w.tid <> 0 AND s.state_code = 1 AND s.begin_ns < ?2 AND s.end_ns > ?1
GROUP BY s.node, s.tid, s.thread

-- Samples of processes: of an item "1234 cc1" the number and the name, with the sample
-- before. Items of equal names are others on each node.
--- table opendc_sample (metric, node, pid, ts_ns)
SELECT m.name AS metric, s.rowid AS place, s.node, s.ts_ns, CAST(i.name AS INTEGER) AS pid,
	substr(i.name, instr(i.name, ' ') + 1) AS comm, s.item, s.value, lag(s.ts_ns) OVER own AS last_ns,
	lag(s.value) OVER own AS last, n.switches
FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id JOIN metric_item AS i ON i.id = s.item
JOIN opendc_node AS n ON n.id = s.node
WHERE m.id IN (SELECT min(id) FROM metric WHERE activity = 'process' AND name IN ('utime', 'stime', 'rss', 'ppid')
		GROUP BY name)
	AND s.ts_ns BETWEEN ?1 AND ?2 AND i.type = 'process' AND typeof(s.value) IN ('integer', 'real')
	AND substr(i.name, 1, instr(i.name, ' ')) = CAST(i.name AS INTEGER) || ' '
WINDOW own AS (PARTITION BY s.metric, s.node, s.item ORDER BY s.ts_ns, s.rowid)

-- Processes that events tell of, cut to what was recorded of their node; what ran idle is
-- none. A thread of which no process is known stands for one of its own.
--- table opendc_known (node, pid)
SELECT row_number() OVER (ORDER BY alone, node, pid, e.begin_ns, own) AS id, alone, own, node, pid, ppid, comm,
	max(coalesce(e.begin_ns, n.begin_ns), n.begin_ns) AS begin_ns, min(coalesce(e.end_ns, n.end_ns), n.end_ns) AS end_ns
FROM (SELECT 0 AS alone, id AS own, node, pid, coalesce(ppid, -1) AS ppid, coalesce(comm, '') AS comm, begin_ns, end_ns
		FROM process
	UNION ALL SELECT 1, id, node, tid, -1, coalesce(comm, ''), begin_ns, end_ns FROM thread WHERE process IS NULL) AS e
JOIN opendc_node AS n ON n.id = e.node
WHERE pid <> 0 AND coalesce(e.begin_ns, n.begin_ns) <= n.end_ns AND coalesce(e.end_ns, n.end_ns) >= n.begin_ns

-- On nodes without events of their scheduler samples tell of more, from the first of each
-- to its last. A counter that falls is another process with the same number and name.
--- table opendc_every (id; own, alone; node, pid, begin_ns)
WITH life AS (
	SELECT node, item, pid, comm, life, min(ts_ns) AS begin_ns, max(ts_ns) AS end_ns
	FROM (SELECT *, coalesce(sum(value < last) OVER (PARTITION BY node, item ORDER BY ts_ns, place), 0) AS life
		FROM opendc_sample WHERE metric = 'utime' AND NOT switches)
	GROUP BY node, item, life)
SELECT id, alone, own, node, pid, ppid, comm, begin_ns, end_ns FROM opendc_known
UNION ALL
SELECT row_number() OVER (ORDER BY l.node, l.begin_ns, l.item) + (SELECT count(*) FROM opendc_known), NULL, NULL, l.node,
	l.pid, -1, l.comm, l.begin_ns, l.end_ns
FROM life AS l WHERE l.life > 0 OR NOT EXISTS (SELECT 1 FROM opendc_known AS k
	WHERE k.node = l.node AND k.pid = l.pid AND l.begin_ns BETWEEN k.begin_ns AND k.end_ns)

--- table opendc_thread (process; id; node, tid, begin_ns)
SELECT t.id, t.node, t.tid, coalesce(t.begin_ns, -9223372036854775807) AS begin_ns, e.id AS process, 1 AS running
FROM thread AS t CROSS JOIN opendc_every AS e ON e.own = coalesce(t.process, t.id) AND e.alone = (t.process IS NULL)
ORDER BY t.node, t.tid DESC, t.begin_ns DESC, t.id DESC

-- Processor use of a process between two samples, as a share of that time.
--- table opendc_stretch (process)
SELECT s.node, s.last_ns AS begin_ns, s.ts_ns AS end_ns, (s.value - s.last) / (s.ts_ns - s.last_ns) AS share,
	(SELECT IIF(e.end_ns >= s.last_ns, e.id, NULL) FROM opendc_every AS e
		WHERE e.node = s.node AND e.pid = s.pid AND e.begin_ns <= s.last_ns
		ORDER BY e.begin_ns DESC, e.id DESC LIMIT 1) AS process
FROM opendc_sample AS s
WHERE s.metric IN ('utime', 'stime') AND NOT s.switches AND s.last_ns < s.ts_ns AND s.value >= s.last
ORDER BY s.metric DESC, s.node, s.ts_ns, s.place

-- Events with the process that they are about: of those that had the thread's number the
-- last that had begun, or, as an event may come just before that, the first.
--- table opendc_told
WITH told AS (
	SELECT id, 'alloc' AS what, pfn AS a, page AS b, "order" AS c, NULL AS about FROM kmem_mm_page_alloc
	UNION ALL SELECT id, 'alloc', pfn, page, "order", NULL FROM mm_page_alloc
	UNION ALL SELECT id, 'free', pfn, page, "order", NULL FROM kmem_mm_page_free
	UNION ALL SELECT id, 'free', pfn, page, "order", NULL FROM mm_page_free
	UNION ALL SELECT id, 'rss', curr, member, size, NULL FROM kmem_rss_stat
	UNION ALL SELECT id, 'rss', curr, member, size, NULL FROM rss_stat
	UNION ALL SELECT id, 'setsid', ret, NULL, NULL, NULL FROM syscall_exit_setsid WHERE ?3 = 'session'
	UNION ALL SELECT id, 'dump', NULL, ns_inum, NULL, tid FROM lttng_statedump_process_cgroup_ns WHERE ?3 = 'cgroup'
	UNION ALL SELECT id, 'context', NULL, cgroup_ns, NULL, prev_tid FROM sched_switch
		WHERE ?3 = 'cgroup' AND cgroup_ns IS NOT NULL),
at AS (
	SELECT e.id AS place, e.ts_ns, e.node, t.what, t.a, t.b, t.c, coalesce(t.about, e.tid) AS about
	FROM told AS t CROSS JOIN event AS e ON e.id = t.id
	WHERE e.ts_ns BETWEEN ?1 AND ?2 AND e.node IN (SELECT id FROM chosen WHERE chosen))
SELECT *, coalesce((SELECT t.process FROM opendc_thread AS t WHERE t.node = e.node AND t.tid = e.about AND t.begin_ns <= e.ts_ns
			ORDER BY t.begin_ns DESC LIMIT 1),
		(SELECT t.process FROM opendc_thread AS t WHERE t.node = e.node AND t.tid = e.about
			ORDER BY t.begin_ns LIMIT 1)) AS process
FROM at AS e

-- Groups of processes. Of what told one the last counts: a record before an event, and the
-- context, which stands in each event, after others and from its first on.
--- table opendc_label (process)
WITH label AS (
	SELECT process, a || '' AS label, place FROM opendc_told WHERE ?3 = 'session' AND what = 'setsid' AND a > 0
	UNION ALL SELECT process, b || '', place FROM opendc_told WHERE ?3 = 'cgroup' AND what = 'dump' AND b > 0
	UNION ALL SELECT process, b || '', -place FROM opendc_told WHERE ?3 = 'cgroup' AND what = 'context' AND b > 0
	UNION ALL SELECT e.id, CASE ?3 WHEN 'cgroup' THEN json_extract(i.data, '$.cgroup')
		ELSE coalesce(json_extract(i.data, '$.session'), json_extract(i.data, '$.session_id')) END || '',
		(1 << 62) + i.id
	FROM invocation AS i JOIN opendc_every AS e ON e.own = i.process AND e.alone = 0
	WHERE ?3 IN ('cgroup', 'session') AND json_valid(i.data))
SELECT process, label, max(place) AS place FROM label WHERE process IS NOT NULL AND label <> '' GROUP BY process

-- Invocations, cut to the scope. Each is of its process's row, else of who had its number
-- half way through, or when it began.
--- table opendc_invocation (process; id)
WITH record AS (
	SELECT i.*, n.end_ns AS known_ns, CASE WHEN json_valid(data) THEN CASE json_type(data) WHEN 'object' THEN data
		ELSE '{}' END ELSE '{}' END AS d
	FROM invocation AS i JOIN opendc_node AS n ON n.id = i.node
	WHERE ?3 = 'invocation' AND i.begin_ns <= ?2 AND coalesce(i.end_ns, n.end_ns) >= ?1),
cut AS (
	SELECT id, node, pid, coalesce(name, '') AS name, process AS own, d, end_ns IS NULL AS unended, enqueue_ns,
		max(begin_ns, ?1) AS begin_ns, max(min(coalesce(end_ns, known_ns), ?2), max(begin_ns, ?1)) AS end_ns
	FROM record),
moment AS (SELECT *, begin_ns + (end_ns - begin_ns) / 2 AS middle_ns FROM cut)
SELECT id, node, name, unended, begin_ns, end_ns,
	CASE WHEN enqueue_ns BETWEEN ?1 AND begin_ns THEN enqueue_ns ELSE begin_ns END AS submit_ns,
	CASE json_type(d, '$.cpus') WHEN 'integer' THEN json_extract(d, '$.cpus') END AS cpus,
	CASE json_type(d, '$.deadline_ns') WHEN 'integer' THEN json_extract(d, '$.deadline_ns') END AS deadline_ns,
	coalesce((SELECT e.id FROM opendc_every AS e WHERE e.own = m.own AND e.alone = 0),
		(SELECT IIF(e.end_ns >= m.middle_ns, e.id, NULL) FROM opendc_every AS e WHERE e.node = m.node
			AND e.pid = m.pid AND e.begin_ns <= m.middle_ns ORDER BY e.begin_ns DESC, e.id DESC LIMIT 1),
		(SELECT IIF(e.end_ns >= m.begin_ns, e.id, NULL) FROM opendc_every AS e WHERE e.node = m.node
			AND e.pid = m.pid AND e.begin_ns <= m.begin_ns ORDER BY e.begin_ns DESC, e.id DESC LIMIT 1)) AS process
FROM moment AS m

-- Parents of processes. On nodes without events, samples have the parent's number.
--- table opendc_child (parent)
WITH told AS (
	SELECT e.*, (SELECT l.label FROM opendc_label AS l WHERE l.process = e.id) AS label,
		(SELECT i.process FROM opendc_invocation AS i WHERE i.process = e.id LIMIT 1) AS keeper,
		CASE WHEN e.ppid >= 0 THEN e.ppid ELSE coalesce((SELECT CAST(s.value AS INTEGER) FROM opendc_sample AS s
			WHERE s.metric = 'ppid' AND s.node = e.node AND s.pid = e.pid AND NOT s.switches
				AND s.ts_ns BETWEEN e.begin_ns AND e.end_ns ORDER BY s.ts_ns LIMIT 1), -1) END AS of_pid
	FROM opendc_every AS e)
SELECT *, CASE WHEN of_pid > 0 THEN nullif((SELECT IIF(e.end_ns >= t.begin_ns, e.id, NULL) FROM opendc_every AS e
	WHERE e.node = t.node AND e.pid = t.of_pid AND e.begin_ns <= t.begin_ns
	ORDER BY e.begin_ns DESC, e.id DESC LIMIT 1), id) END AS parent
FROM told AS t

-- Children are in the group of their parent, and work for its invocations (`keeper`: itself
-- or the nearest ancestor that has some). `depth` counts ancestors that began at the same
-- time, as all do that were there before. Who is among its own ancestors has no parent.
-- `first_ns` and `last_ns`: when it had a processor.
--- table opendc_process (id; keeper)
WITH RECURSIVE line AS (
	SELECT id, NULL AS parent, 0 AS depth, begin_ns, label, keeper FROM opendc_child WHERE parent IS NULL
	UNION ALL
	SELECT c.id, c.parent, IIF(c.begin_ns = p.begin_ns, p.depth + 1, 0), c.begin_ns, coalesce(c.label, p.label),
		coalesce(c.keeper, p.keeper)
	FROM line AS p JOIN opendc_child AS c ON c.parent = p.id),
own AS (
	SELECT process, min(first_ns) AS first_ns, max(last_ns) AS last_ns
	FROM (SELECT process, (SELECT max(s.begin_ns, ?1) FROM thread_state AS s WHERE s.node = t.node AND s.tid = t.tid
				AND s.thread = t.id AND s.state_code = 1 AND s.end_ns > ?1 ORDER BY s.begin_ns LIMIT 1) AS first_ns,
			(SELECT min(s.end_ns, ?2) FROM thread_state AS s WHERE s.node = t.node AND s.tid = t.tid
				AND s.thread = t.id AND s.state_code = 1 AND s.begin_ns < ?2 ORDER BY s.begin_ns DESC LIMIT 1) AS last_ns
		FROM opendc_thread AS t
		UNION ALL SELECT process, begin_ns, end_ns FROM opendc_stretch)
	GROUP BY process)
SELECT c.id, c.node, c.comm, c.begin_ns, max(c.end_ns, coalesce(o.last_ns, c.end_ns)) AS end_ns, o.first_ns, o.last_ns,
	c.of_pid = 2 OR (c.pid = 2 AND c.of_pid = 0) AS kernel, l.parent, coalesce(l.depth, 0) AS depth,
	CASE ?3 WHEN 'node' THEN '*' WHEN 'comm' THEN c.comm ELSE coalesce(l.label, c.label) END AS label, coalesce(l.keeper, c.keeper) AS keeper
FROM opendc_child AS c LEFT JOIN line AS l ON l.id = c.id LEFT JOIN own AS o ON o.process = c.id

-- Number of processes with a group.
--- labelled
SELECT count(label) FROM opendc_process

--- table opendc_task (id; process; node, label; invocation)
SELECT row_number() OVER (ORDER BY submit_ns, begin_ns, node, place) AS id, *
FROM (SELECT node, name, submit_ns, begin_ns, end_ns, id AS place, CASE WHEN cpus BETWEEN 1 AND 2147483647 THEN cpus END
		AS cpus, CASE WHEN deadline_ns > 0 THEN deadline_ns END AS deadline_ns, id AS invocation, NULL AS process,
		NULL AS label
	FROM opendc_invocation
	UNION ALL
	SELECT node, comm, begin_ns, begin_ns, end_ns, depth << 32 | id, NULL, NULL, NULL, id, NULL
	FROM opendc_process WHERE ?3 = 'process' AND (?4 OR NOT kernel)
	UNION ALL
	SELECT id, name, begin_ns, begin_ns, end_ns, id, NULL, NULL, NULL, NULL, '*' FROM opendc_node AS n
	WHERE ?3 = 'node' AND begin_ns < end_ns AND (switches OR EXISTS (SELECT 1 FROM opendc_stretch AS s WHERE s.node = n.id))
	UNION ALL
	SELECT p.node, p.label || '@' || n.name, min(p.begin_ns), min(p.begin_ns), max(p.end_ns), min(p.id), NULL, NULL, NULL,
		NULL, p.label
	FROM opendc_process AS p JOIN opendc_node AS n ON n.id = p.node
	WHERE ?3 IN ('cgroup', 'session', 'comm') AND p.label IS NOT NULL AND (?4 OR NOT p.kernel) GROUP BY p.node, p.label)

-- The parent of each task; NULL if it is not there.
--- table opendc_named
WITH record AS (
	SELECT id, CASE WHEN json_valid(data) THEN CASE json_type(data) WHEN 'object' THEN data ELSE '{}' END ELSE '{}' END AS d
	FROM invocation WHERE ?3 = 'invocation' AND ?5),
identity AS (
	SELECT id, d, coalesce(json_extract(d, '$.trace_id'), '') || '' AS trace,
		coalesce(json_extract(d, '$.span_id'), json_extract(d, '$.invocation_id'), json_extract(d, '$.id')) || '' AS own,
		coalesce(json_extract(d, '$.parent_id'), json_extract(d, '$.parent_span_id'), json_extract(d, '$.parent')) || ''
			AS parent
	FROM record),
child AS (
	SELECT id, trace, parent FROM identity WHERE parent <> ''
	UNION ALL SELECT n.id, n.trace, e.value || '' FROM identity AS n JOIN json_each(n.d, '$.parents') AS e
		WHERE e.value IS NOT NULL),
owner AS (SELECT trace, own, min(id) AS id FROM identity WHERE own <> '' GROUP BY trace, own)
SELECT t.id AS child, (SELECT p.id FROM opendc_task AS p WHERE p.invocation = o.id) AS parent
FROM child AS c JOIN opendc_task AS t ON t.invocation = c.id
LEFT JOIN owner AS o ON o.trace = c.trace AND o.own = c.parent
UNION ALL
SELECT t.id, p.id FROM opendc_process AS c JOIN opendc_task AS t ON t.process = c.id
JOIN opendc_task AS p ON p.process = c.parent WHERE ?5

-- A parent is submitted before its child, which also leaves no circles.
--- table opendc_edge (child, parent; parent, child)
SELECT DISTINCT child, parent FROM opendc_named WHERE parent < child

-- The claims of an invocation about its process, and those that rank after a keeper's own:
-- those of its nearest ancestor that has some.
--- table opendc_claim (process, begin_ns)
SELECT i.process, t.begin_ns, t.end_ns, t.id AS task
FROM opendc_task AS t JOIN opendc_invocation AS i ON i.id = t.invocation
WHERE i.process IS NOT NULL AND t.begin_ns < t.end_ns

--- table opendc_above (keeper)
WITH RECURSIVE above AS (
	SELECT DISTINCT keeper, 0 AS level, keeper AS process FROM opendc_process WHERE keeper IS NOT NULL
	UNION ALL
	SELECT a.keeper, a.level + 1, p.keeper FROM above AS a JOIN opendc_process AS c ON c.id = a.process
	JOIN opendc_process AS p ON p.id = c.parent WHERE p.keeper IS NOT NULL)
SELECT * FROM above

-- For whom a keeper works from when to when: all that claim it then share equally; task 0
-- where nobody does.
--- table opendc_moment (keeper, from_ns)
SELECT keeper, at_ns AS from_ns, lead(at_ns) OVER (PARTITION BY keeper ORDER BY at_ns) AS to_ns
FROM (SELECT keeper, ?1 AS at_ns FROM opendc_above UNION SELECT keeper, ?2 FROM opendc_above
	UNION SELECT a.keeper, c.begin_ns FROM opendc_above AS a JOIN opendc_claim AS c ON c.process = a.process
	UNION SELECT a.keeper, c.end_ns FROM opendc_above AS a JOIN opendc_claim AS c ON c.process = a.process)

--- table opendc_turn (keeper, from_ns)
WITH turn AS (
	SELECT m.keeper, m.from_ns, m.to_ns, c.task, c.begin_ns,
		rank() OVER (PARTITION BY m.keeper, m.from_ns ORDER BY a.level) AS rank,
		count(*) OVER (PARTITION BY m.keeper, m.from_ns, a.level) AS sharing
	FROM opendc_above AS a CROSS JOIN opendc_claim AS c ON c.process = a.process
	CROSS JOIN opendc_moment AS m ON m.keeper = a.keeper AND m.from_ns >= c.begin_ns AND m.from_ns < c.end_ns)
SELECT keeper, from_ns, to_ns, task, 1.0 / sharing AS share, begin_ns FROM turn WHERE rank = 1 AND to_ns IS NOT NULL
UNION ALL
SELECT keeper, from_ns, to_ns, 0, 1.0, NULL FROM opendc_moment AS m WHERE to_ns IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM turn AS t WHERE t.keeper = m.keeper AND t.from_ns = m.from_ns)

--- table opendc_segment (task; process)
SELECT p.id AS process, ?1 AS from_ns, ?2 AS to_ns, CASE WHEN ?4 OR NOT p.kernel THEN
	coalesce((SELECT t.id FROM opendc_task AS t WHERE t.process = p.id),
		(SELECT t.id FROM opendc_task AS t WHERE t.node = p.node AND t.label = p.label), 0) ELSE 0 END AS task, 1.0 AS share,
	p.kernel AND ?3 <> 'invocation' AS kernel
FROM opendc_process AS p WHERE p.keeper IS NULL
UNION ALL
SELECT p.id, u.from_ns, u.to_ns, u.task, u.share, 0
FROM opendc_process AS p JOIN opendc_turn AS u ON u.keeper = p.keeper AND u.from_ns < p.last_ns AND u.to_ns > p.first_ns
ORDER BY task, process DESC, from_ns

-- Memory that processes were seen with, or pages that they took, until it is told anew or,
-- but for pages, they end; and the most of a task at one time.
--- table opendc_memory (task)
WITH seen AS (
	SELECT 1 AS what, ts_ns, place, process, CAST(value AS INTEGER) * 1024 AS bytes, process AS of, 0 AS part
	FROM (SELECT s.*, (SELECT IIF(e.end_ns >= s.ts_ns, e.id, NULL) FROM opendc_every AS e
			WHERE e.node = s.node AND e.pid = s.pid AND e.begin_ns <= s.ts_ns
			ORDER BY e.begin_ns DESC, e.id DESC LIMIT 1) AS process
		FROM opendc_sample AS s WHERE s.metric = 'rss' AND s.value >= 0 AND s.value < (1 << 52))
	UNION ALL
	SELECT 2, ts_ns, place, process, c, process, CASE b WHEN 'MM_FILEPAGES' THEN 0 WHEN 'MM_ANONPAGES' THEN 1
		WHEN 'MM_SHMEMPAGES' THEN 3 ELSE b END
	FROM opendc_told WHERE what = 'rss' AND coalesce(a, 1) = 1 AND b IN (0, 1, 3, 'MM_FILEPAGES', 'MM_ANONPAGES',
		'MM_SHMEMPAGES') AND typeof(c) = 'integer' AND c BETWEEN 0 AND (1 << 61)
	UNION ALL
	SELECT 3, ts_ns, place, IIF(what = 'alloc', process, NULL), 4096 << coalesce(c, 0), node, coalesce(a, b)
	FROM opendc_told WHERE what IN ('alloc', 'free') AND coalesce(a, b) IS NOT NULL AND coalesce(c, 0) BETWEEN 0 AND 20),
held AS (
	SELECT s.what, s.ts_ns, s.bytes, min(lead(s.ts_ns, 1, 9223372036854775807) OVER own,
			IIF(s.what < 3, p.end_ns + 1, 9223372036854775807)) AS until_ns,
		CASE ?3 WHEN 'invocation' THEN (SELECT u.task FROM opendc_turn AS u WHERE u.keeper = p.keeper AND u.from_ns <= s.ts_ns
				AND u.to_ns >= s.ts_ns AND u.task > 0 ORDER BY u.from_ns DESC, u.begin_ns DESC, u.task DESC LIMIT 1)
			ELSE (SELECT nullif(g.task, 0) FROM opendc_segment AS g WHERE g.process = s.process) END AS task
	FROM seen AS s LEFT JOIN opendc_process AS p ON p.id = s.process WHERE s.what = 3 OR s.process IS NOT NULL
	WINDOW own AS (PARTITION BY s.what, s.of, s.part ORDER BY s.ts_ns, s.place)),
change AS (
	SELECT what, task, ts_ns AS at_ns, bytes FROM held WHERE task IS NOT NULL
	UNION ALL SELECT what, task, until_ns, -bytes FROM held WHERE task IS NOT NULL),
level AS (
	SELECT what, task, sum(sum(bytes)) OVER (PARTITION BY what, task ORDER BY at_ns) AS bytes
	FROM change GROUP BY what, task, at_ns)
SELECT task, coalesce(max(bytes) FILTER (WHERE what < 3), max(bytes)) AS bytes FROM level GROUP BY task

-- Hosts of the topology: cores and MHz of a node, or ?9 slower ones of the same speed in all.
-- OpenDC takes a task's kB / 1000 for MiB, as which `most_kb` is the memory of the host; what
-- is taken for a task without memory is what all that run at a time may have, at most 16 MiB.
--- table opendc_host (id)
WITH change AS (
	SELECT node, begin_ns AS at_ns, 1 AS tasks FROM opendc_task UNION ALL SELECT node, max(end_ns, begin_ns + 1), -1
	FROM opendc_task),
level AS (SELECT node, sum(tasks) OVER (PARTITION BY node ORDER BY at_ns, tasks ROWS UNBOUNDED PRECEDING) AS tasks
	FROM change),
host AS (
	SELECT id, name, coalesce(cpus, (SELECT max(s.cpu) + 1 FROM thread_state AS s WHERE s.node = n.id), 1) AS cpus,
		coalesce(mhz, ?6) AS mhz, CASE WHEN mem_kib < (1 << 52) THEN mem_kib END AS mem_kib,
		(SELECT max(tasks) FROM level AS l WHERE l.node = n.id) AS tasks
	FROM opendc_node AS n)
SELECT id, name, cpus, mhz, coalesce(?9, cpus) AS cores, mhz * cpus / coalesce(?9, cpus) AS core_mhz, mem_kib, tasks,
	mem_kib / 1024 * 1000 AS most_kb,
	coalesce(?7, min(16778, coalesce(mem_kib / 1024 * 1000 / tasks, 16778))) AS default_kb
FROM host

--- table opendc_wanted (task)
SELECT t.id AS task, t.node, m.task IS NOT NULL AS told, min(coalesce(m.bytes / 1000 + (m.bytes % 1000 > 0), h.default_kb),
	coalesce(h.most_kb, 9223372036854775807)) AS kb
FROM opendc_task AS t JOIN opendc_host AS h ON h.id = t.node LEFT JOIN opendc_memory AS m ON m.task = t.id

-- The columns of a task in the program: begin, end, processors allocated and in all, and
-- their speed.
--- task
SELECT t.begin_ns, t.end_ns, coalesce(t.cpus, 0), h.cpus, h.mhz
FROM opendc_task AS t JOIN opendc_host AS h ON h.id = t.node ORDER BY t.id

-- When a task had a processor: task (0: none), node, whether it is a kernel thread, begin,
-- end, share of that time, MHz. Threads of which nothing is known are of their node alone. The spans of a thread lie by begin, and none overlap. Terms of
-- the spans alone (state_code = 1) would have SQLite read all of them before, for a filter.
--- worked
WITH ran AS (
	SELECT g.task, t.node, g.kernel, max(s.begin_ns, g.from_ns) AS begin_ns, min(s.end_ns, g.to_ns) AS end_ns, g.share, s.cpu,
		n.paced, n.mhz
	FROM opendc_segment AS g CROSS JOIN opendc_thread AS t ON t.process = g.process
	CROSS JOIN opendc_node AS n ON n.id = t.node
	CROSS JOIN thread_state AS s ON s.node = t.node AND s.tid = t.tid AND s.thread = t.id AND s.state_code = t.running
		AND s.begin_ns < g.to_ns AND s.end_ns > g.from_ns AND s.begin_ns >= coalesce((SELECT max(b.begin_ns)
			FROM thread_state AS b WHERE b.node = t.node AND b.tid = t.tid AND b.begin_ns <= g.from_ns), g.from_ns)
	UNION ALL
	SELECT k.id, s.node, 0, max(s.begin_ns, ?1), min(s.end_ns, ?2), 1.0, s.cpu, n.paced, n.mhz
	FROM opendc_task AS k CROSS JOIN opendc_node AS n ON n.id = k.node
	CROSS JOIN thread_state AS s ON s.node = k.node AND s.state_code = 1 AND s.tid <> 0 AND s.begin_ns < ?2 AND s.end_ns > ?1
	WHERE ?3 = 'node' AND NOT EXISTS (SELECT 1 FROM opendc_thread AS t WHERE t.id = s.thread))
SELECT r.task, r.node, r.kernel, max(r.begin_ns, coalesce(f.from_ns, r.begin_ns)) AS begin_ns,
	min(r.end_ns, coalesce(f.to_ns, r.end_ns)) AS end_ns, r.share, coalesce(f.mhz, r.mhz, ?6)
FROM ran AS r LEFT JOIN opendc_speed AS f ON f.node = r.paced AND f.cpu = r.cpu AND f.from_ns < r.end_ns AND f.to_ns > r.begin_ns
	AND f.from_ns >= (SELECT max(b.from_ns) FROM opendc_speed AS b
		WHERE b.node = r.paced AND b.cpu = r.cpu AND b.from_ns <= r.begin_ns)
UNION ALL
SELECT g.task, s.node, g.kernel, max(s.begin_ns, g.from_ns), min(s.end_ns, g.to_ns), g.share * s.share, coalesce(n.mhz, ?6)
FROM opendc_segment AS g CROSS JOIN opendc_stretch AS s ON s.process = g.process CROSS JOIN opendc_node AS n ON n.id = s.node
WHERE s.begin_ns < g.to_ns AND s.end_ns > g.from_ns
ORDER BY 1

-- A task: place, name, submission, begin, memory, parents, children, deadline, node.
--- tasks
SELECT t.id, t.name, t.submit_ns, t.begin_ns, w.kb, (SELECT group_concat(parent, ';') FROM (SELECT parent FROM opendc_edge
		WHERE child = t.id ORDER BY parent)),
	(SELECT group_concat(child, ';') FROM (SELECT child FROM opendc_edge WHERE parent = t.id ORDER BY child)),
	t.deadline_ns, n.name
FROM opendc_task AS t JOIN opendc_node AS n ON n.id = t.node JOIN opendc_wanted AS w ON w.task = t.id ORDER BY t.id

--- table opendc_run
SELECT nullif(value, '') AS name FROM meta WHERE key = 'name' AND typeof(value) = 'text'

-- If a node's memory is unknown, it is what its tasks may want at once, and
-- not less than 1 GiB.
--- table opendc_topology
SELECT of, json_object('clusters', json_array(json_object('name', coalesce((SELECT name FROM opendc_run), 'C01'), 'hosts', json_group_array(json(host))))) AS topology
FROM (SELECT of, json_object('name', name, 'count', 1, 'cpu', json_object('coreCount', cores, 'coreSpeed', core_mhz),
	'memory', json_object(of, bytes || ' Bytes')) AS host
	FROM (SELECT 'size' AS of UNION ALL SELECT 'memorySize') CROSS JOIN
		(SELECT *, coalesce(mem_kib * 1024, max(1 << 30, CAST(min((SELECT total(w.kb) FROM opendc_wanted AS w
			WHERE w.node = h.id) * 1049, 9e18) AS INTEGER))) AS bytes
		FROM opendc_host AS h) ORDER BY of, id)
GROUP BY of

-- Experiments that simulate the tasks on the topology: for OpenDC after 2.4u, and up to it,
-- which refuses keys that it does not know.
--- topology.json
SELECT topology FROM opendc_topology WHERE of = 'size'

--- topology-legacy.json
SELECT topology FROM opendc_topology WHERE of = 'memorySize'

--- experiment.json
SELECT json_object('name', coalesce((SELECT name FROM opendc_run), 'run'),
	'topologies', json_array(json_object('importFrom', 'topology.json')),
	'workloads', json_array(json_object('type', 'trace', 'source', json_object('type', 'named', 'name', '.'))),
	'allocationPolicies', json_array(json_object('type', 'prefab', 'prefabName', 'TaskNumMemorizing')),
	'exportModels', json_array(json_object('exportInterval', '1 seconds')))

--- experiment-legacy.json
SELECT json_object('name', coalesce((SELECT name FROM opendc_run), 'run'),
	'topologies', json_array(json_object('pathToFile', 'topology-legacy.json')),
	'workloads', json_array(json_object('type', 'ComputeWorkload', 'pathToFile', '.')),
	'allocationPolicies', json_array(json_object('type', 'prefab', 'policyName', 'TaskNumMemorizing')),
	'exportModels', json_array(json_object('exportInterval', 1)))

-- Remarks for the user: node (NULL: the whole timeline), count, text.
--- notes
SELECT name, 1, 'no scheduling events, so processor time is '
	|| CASE WHEN EXISTS (SELECT 1 FROM opendc_stretch) THEN 'by samples of processes, where there are any'
		WHEN ?8 THEN 'unknown: needs a timeline with spans (ctmerge without --no-spans), or proc.csv'
		ELSE 'unknown: needs sched_switch, or proc.csv' END
FROM opendc_node WHERE NOT switches
UNION ALL
SELECT name, 1, printf('neither node.json nor events tell the speed of its cores, %g MHz is taken', ?6)
FROM opendc_node WHERE mhz IS NULL
UNION ALL
SELECT NULL, count, count || ' ' || text
FROM (SELECT count(*) AS count, 'invocations outside of the time, left out' AS text
	FROM invocation AS i JOIN opendc_node AS n ON n.id = i.node
	WHERE ?3 = 'invocation' AND (i.begin_ns > ?2 OR coalesce(i.end_ns, n.end_ns) < ?1)
	UNION ALL
	SELECT count(*), 'invocations without a begin or a node, left out' FROM invocation
	WHERE ?3 = 'invocation' AND (node IS NULL OR (begin_ns IS NULL AND node IN (SELECT id FROM opendc_node)))
	UNION ALL
	SELECT count(*), 'invocations whose process is not known, without processor time' FROM opendc_invocation
	WHERE process IS NULL
	UNION ALL
	SELECT coalesce(sum(unended), 0), 'invocations without an end, taken to last as long as the trace' FROM opendc_invocation
	UNION ALL
	SELECT count(*), 'processes without a group, left out' FROM opendc_process
	WHERE ?3 IN ('cgroup', 'session') AND label IS NULL AND (?4 OR NOT kernel)
	UNION ALL
	SELECT count(*), 'kernel threads left out' FROM opendc_process WHERE ?3 <> 'invocation' AND kernel AND NOT ?4
	UNION ALL
	SELECT count(*), 'parents left out that are no task, or begin after the child' FROM opendc_named
	WHERE parent IS NULL OR parent >= child
	UNION ALL
	SELECT count(*), 'processes outside of the time, left out' FROM process AS p JOIN opendc_node AS n ON n.id = p.node
	WHERE p.pid <> 0 AND (p.begin_ns > n.end_ns OR p.end_ns < n.begin_ns))
WHERE count > 0
UNION ALL
SELECT NULL, count(*), 'of ' || count(*) || ' tasks no memory is recorded, ' || min(kb)
	|| IIF(min(kb) < max(kb), ' to ' || max(kb), '') || ' kB are taken'
FROM opendc_wanted WHERE NOT told HAVING count(*) > 0
UNION ALL
SELECT name, 1, printf('up to %d tasks at a time for %d cores: OpenDC gives each task a core, and the others wait or are lost; use '
	|| '--tasks node, or --slots %d or more', tasks, cores, tasks)
FROM opendc_host WHERE tasks > cores
UNION ALL
SELECT NULL, count(*), printf('of %d tasks %.6f s lie where their node''s kernel was not traced: what they used '
	|| 'then is not known, and 0 in their fragments', count(*), sum(whole_ns - recorded_ns) / 1e9)
FROM (SELECT t.end_ns - t.begin_ns AS whole_ns, coalesce((SELECT sum(max(0, min(r.end_ns, t.end_ns) - max(r.begin_ns, t.begin_ns)))
		FROM recorded AS r WHERE r.node = t.node AND r.kind = 'kernel' AND r.cpu IS NULL), 0) AS recorded_ns
	FROM opendc_task AS t JOIN opendc_node AS n ON n.id = t.node WHERE n.switches)
WHERE recorded_ns < whole_ns HAVING count(*) > 0

-- Time of each node's processors, before tasks are considered: idle, busy, of
-- threads of which nothing is known.
--- account
SELECT n.id, coalesce(sum(a.ns) FILTER (WHERE a.what = 0), 0.0), coalesce(sum(a.ns) FILTER (WHERE a.what > 0), 0.0),
	coalesce(sum(a.ns) FILTER (WHERE a.what = 2), 0.0)
FROM opendc_node AS n LEFT JOIN (
	SELECT node, ran_ns + 0.0 AS ns, CASE WHEN tid = 0 THEN 0
		WHEN ?3 = 'node' OR EXISTS (SELECT 1 FROM opendc_thread AS t WHERE t.id = r.thread) THEN 1 ELSE 2 END AS what
	FROM opendc_ran AS r
	UNION ALL SELECT node, (end_ns - begin_ns) * share, IIF(process IS NULL, 2, 1) FROM opendc_stretch) AS a ON a.node = n.id
GROUP BY n.id
