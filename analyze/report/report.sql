-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: report
-- summary: the run as one HTML page
-- description: A self-contained HTML file that needs no network. It has findings (the
--   slowest request, the busiest processor, how far to trust the clocks, what was
--   lost), a timeline of all nodes and processors with messages and the curves of
--   sar that zooms and can be searched, critical paths of the slowest requests,
--   messages, clocks, and tables that can be sorted and filtered. If there are more
--   spans than --detail allows, they are summed by steps of time, and drawn one by
--   one only around the slowest requests; the page says where. Without scripts the
--   page shows the findings and tables, but no pictures.

-- The first view: the time in which all selected nodes were recorded, if there is any. A node is recorded by its kernel
-- trace, if it has none by its other traces, if it has none by its captures, and if it has none by its samples.
-- temporary home
WITH own AS (
	SELECT node, CASE kind WHEN 'kernel' THEN 1 WHEN 'capture' THEN 3 ELSE 2 END AS place, begin_ns, end_ns
	FROM source WHERE end_ns >= begin_ns AND node IN (SELECT id FROM chosen_node)
	UNION ALL
	SELECT node, 4, ts_ns - coalesce(interval_ns, 0), ts_ns FROM sample
	WHERE node IN (SELECT id FROM chosen_node WHERE id NOT IN (SELECT node FROM source WHERE node IS NOT NULL))),
best AS (SELECT node, min(place) AS place FROM own GROUP BY node),
life AS (
	SELECT min(begin_ns) AS begin_ns, max(end_ns) AS end_ns
	FROM own AS o JOIN best AS b ON b.node = o.node AND b.place = o.place GROUP BY o.node),
common AS (
	SELECT greatest(:begin_ns, coalesce(max(begin_ns), :begin_ns)) AS begin_ns,
	       least(:end_ns, coalesce(min(end_ns), :end_ns)) AS end_ns FROM life)
SELECT CASE WHEN begin_ns < end_ns THEN begin_ns ELSE :begin_ns END AS begin_ns,
       CASE WHEN begin_ns < end_ns THEN end_ns ELSE :end_ns END AS end_ns, begin_ns < end_ns AS is_common,
       (SELECT count(*) FROM life) AS recorded
FROM common;

-- When to say how sure the clocks are: in steps all along, and while all nodes were recorded at
-- both ends and wherever a bound was stated.
-- temporary instant
WITH RECURSIVE drawn AS (
	SELECT CASE WHEN count(*) > 50 THEN 20 WHEN count(*) > 20 THEN 40 ELSE 120 END AS points FROM node),
step AS (
	SELECT 0 AS k, (:end_ns - :begin_ns) * 1e0 / points AS width, points FROM drawn
	UNION ALL SELECT k + 1, width, points FROM step WHERE k + 1 < points),
span AS (SELECT CAST(width * k AS BIGINT) AS from_ns, CAST(width * (k + 1) AS BIGINT) AS to_ns FROM step)
SELECT n.id AS node, from_ns, to_ns, :begin_ns + (from_ns + to_ns) / 2 AS at_ns FROM chosen_node AS n CROSS JOIN span
UNION ALL SELECT n.id, NULL, NULL, h.begin_ns FROM chosen_node AS n CROSS JOIN home AS h
UNION ALL SELECT n.id, NULL, NULL, h.end_ns FROM chosen_node AS n CROSS JOIN home AS h
UNION ALL SELECT n.id, NULL, NULL, c.at_ns
FROM chosen_node AS n JOIN node_source AS s ON s.node = n.id JOIN clock_step AS c ON c.source = s.source
JOIN home AS h ON c.at_ns BETWEEN h.begin_ns AND h.end_ns;

-- By the source that stands for the node, and where that has no bound by the widest of the others.
-- temporary instant_bound
WITH known AS (
	SELECT i.node, i.from_ns, i.to_ns, i.at_ns, c.source, CASE WHEN c.source = o.source THEN 1 ELSE 0 END AS is_own,
	       CASE WHEN c.low_ns IS NOT NULL
	       AND c.high_ns IS NOT NULL THEN greatest(-c.low_ns, c.high_ns) END AS width_ns
	FROM instant AS i LEFT JOIN node_source AS o ON o.node = i.node LEFT JOIN source AS s ON s.node = i.node
	LEFT JOIN uncertainty_span AS u ON u.source = s.id
	LEFT JOIN clock_uncertainty AS c ON c.source = s.id AND c.begin_ns > i.at_ns - u.longest_ns
	       AND c.begin_ns <= i.at_ns + 0
	 AND i.at_ns < c.end_ns AND coalesce(c.low_ns, c.high_ns) IS NOT NULL)
SELECT node, from_ns, to_ns, CASE WHEN max(is_own) = 1 THEN max(width_ns) FILTER (WHERE is_own = 1)
       WHEN count(width_ns) = count(source) THEN max(width_ns) END AS bound_ns
FROM known GROUP BY node, at_ns, from_ns, to_ns;

-- The end of its path, where it is one.
-- table name: What the run is called
SELECT coalesce((
	SELECT CASE WHEN value LIKE '%/' THEN value ELSE replace(value, rtrim(value, replace(value, '/', '')), '') END
	FROM meta WHERE key IN ('name', 'run') AND value <> '' ORDER BY key LIMIT 1), 'run') AS name;

-- table home: What is shown first
SELECT begin_ns - :begin_ns AS begin_ns, end_ns - :begin_ns AS end_ns FROM home;

-- Nodes are told by their place, from 0.
-- temporary place
-- index: node
SELECT id AS node, row_number() OVER (ORDER BY id) - 1 AS place FROM chosen_node;

-- Processor -1 is the node as a whole: what its kernel recorded, or where none did all others.
-- table gaps: What was not recorded
WITH span AS (
	SELECT node, coalesce(cpu, -1) AS cpu, begin_ns, end_ns FROM recorded
	WHERE kind IN ('kernel', 'cpu') OR node NOT IN (SELECT node FROM recorded WHERE kind = 'kernel')
	UNION ALL SELECT node, -1, begin_ns, end_ns FROM source WHERE node NOT IN (SELECT node FROM recorded)
	UNION ALL SELECT node, -1, :begin_ns, :begin_ns FROM place
	UNION ALL SELECT DISTINCT node, cpu, :begin_ns, :begin_ns FROM recorded WHERE kind = 'cpu'),
gap AS (
	SELECT node, cpu, greatest(max(end_ns) OVER life, :begin_ns) AS from_ns,
	       least(coalesce(lead(begin_ns) OVER life, :end_ns), :end_ns) AS until_ns
	FROM span WINDOW life AS (PARTITION BY node, cpu ORDER BY begin_ns))
SELECT p.place AS node, cpu, from_ns - :begin_ns AS from_ns, until_ns - :begin_ns AS until_ns
FROM gap AS g JOIN place AS p ON p.node = g.node WHERE from_ns < until_ns ORDER BY 1, 2, 3;

-- with bound_curve
SELECT 0 AS n, p.place AS node, from_ns, to_ns, bound_ns AS value, 1 AS merged
FROM instant_bound AS b JOIN place AS p ON p.node = b.node WHERE from_ns IS NOT NULL AND bound_ns IS NOT NULL;

-- sar's samples, each of the interval before it.
-- with sample_point
WITH curve AS (
	SELECT id AS metric, CASE activity WHEN 'cpu' THEN 1 WHEN 'memory' THEN 2 WHEN 'disk' THEN 3 ELSE 4 END AS n
	FROM metric
	WHERE (activity = 'cpu' AND name = '%idle') OR (activity = 'memory' AND name = 'kbmemused')
	   OR (activity = 'disk' AND name IN ('rkB/s', 'wkB/s')) OR (activity = 'net' AND name IN ('rxkB/s', 'txkB/s')))
SELECT n, p.place AS node, s.ts_ns AS till, max(coalesce(nullif(s.interval_ns, 0), 1000000000)) AS took,
       CASE n WHEN 1 THEN 100 - max(s.value) WHEN 2 THEN max(s.value) * 1024 ELSE sum(s.value) * 1024 END AS value
FROM curve AS c JOIN sample AS s ON s.metric = c.metric LEFT JOIN metric_item AS i ON i.id = s.item
LEFT JOIN place AS p ON p.node = s.node
WHERE s.value IS NOT NULL AND s.ts_ns > :begin_ns
  AND CASE n WHEN 1 THEN i.name = 'all' WHEN 2 THEN 1
      ELSE s.item IN (SELECT id FROM analyzed_item) AND i.name <> 'lo' AND i.name NOT LIKE 'loop%'
      AND i.name NOT LIKE 'dm-%' END
GROUP BY n, s.node, s.ts_ns HAVING s.ts_ns - max(coalesce(nullif(s.interval_ns, 0), 1000000000)) < :end_ns;

-- Reduce many samples: groups of them become their mean over time, if no sample is missing in between.
-- with sample_curve
WITH point AS MATERIALIZED (SELECT * FROM sample_point),
merge AS (
	SELECT n, (count(*) - 1) / (
		SELECT CASE WHEN 6000 / count(*) < 30 THEN 30 * count(*) ELSE 6000 END FROM node) + 1 AS size
	FROM point GROUP BY n),
apart AS (
	SELECT *, till - took > lag(till) OVER of_node + took / 2 AS gap, row_number() OVER of_node - 1 AS number
	FROM point WHERE node IS NOT NULL WINDOW of_node AS (PARTITION BY n, node ORDER BY till)),
part AS (SELECT *, sum(coalesce(gap, 0)) OVER (PARTITION BY n, node ORDER BY till) AS run FROM apart)
SELECT n, node, min(till - took) - :begin_ns AS from_ns, max(till) - :begin_ns AS to_ns,
       sum(value * took) / sum(took) AS value, size AS merged
FROM part JOIN merge USING (n) GROUP BY n, node, run, number / size;

-- table curves: Below the lanes
SELECT * FROM bound_curve UNION ALL SELECT * FROM sample_curve ORDER BY 1, 2, 3;

-- If there are more messages between nodes than can be drawn, keep the slowest of each pair of nodes and direction in
-- each `per` steps. These parts of the time are about equal: a short last one would look like many messages at the end.
-- temporary link_step
WITH longest AS (
	SELECT messages,
	       CASE
	       WHEN messages > 2000 THEN greatest(1,
	       CAST(steps * 2e0 * pairs / CASE WHEN pairs > 60 THEN 1000 ELSE 2000 END AS BIGINT)) ELSE 0 END AS per, steps,
	       step_ns
	FROM (SELECT coalesce(sum(count), 0) AS messages FROM page_bin WHERE kind = 'pairs') AS a CROSS JOIN page_fact
	CROSS JOIN (
		SELECT count(*) AS pairs FROM (
			SELECT DISTINCT a.node, b.node FROM clock_pair AS p JOIN source AS a ON a.id = p.a
			JOIN source AS b ON b.id = p.b) AS c) AS d),
part AS (SELECT *, CASE WHEN per > 0 THEN (steps - 1 - (steps - 1) % per) / per + 1 END AS parts FROM longest)
SELECT messages, CASE WHEN per > 0 THEN (steps - 1 - (steps - 1) % parts) / parts + 1 ELSE 0 END AS per, step_ns
FROM part;

-- table messages: How many there are, and of which steps those are that are drawn
SELECT messages, per * step_ns AS step_ns FROM link_step;

-- table links: The messages that are drawn
WITH link AS (
	SELECT id, recv_ns - send_ns AS took_ns FROM link_step CROSS JOIN message
	WHERE per = 0 AND id BETWEEN :first_message AND :last_message AND src_node <> dst_node AND recv_ns IS NOT NULL
	       AND send_ns BETWEEN :begin_ns AND :end_ns
	  AND (:all_nodes = 1 OR src_node IN (SELECT id FROM chosen_node) OR dst_node IN (SELECT id FROM chosen_node))
	UNION ALL
	SELECT longest_id, max(most_ns) FROM link_step CROSS JOIN page_bin WHERE per > 0 AND kind = 'pairs'
	GROUP BY a, b, (step - step % per) / per ORDER BY 2 DESC, 1 LIMIT 4000)
SELECT m.id, a.place AS from_place, (SELECT cpu FROM event WHERE id = m.send_event) AS from_cpu,
       b.place AS to_place, (SELECT cpu FROM event WHERE id = m.recv_event) AS to_cpu,
       m.send_ns - :begin_ns AS sent_ns, m.recv_ns - :begin_ns AS came_ns, m.low_ns, m.high_ns,
       coalesce(m.bytes, -1) AS bytes, coalesce(m.sport, -1) AS sport, coalesce(m.dport, -1) AS dport, m.protocol
FROM link AS l CROSS JOIN message AS m ON m.id = l.id LEFT JOIN place AS a ON a.node = m.src_node
LEFT JOIN place AS b ON b.node = m.dst_node
ORDER BY took_ns DESC, m.id;

-- Node and times of tasks; an end that was not recorded is NULL.
-- table tasks: The tasks that are drawn
SELECT p.place AS node, i.begin_ns - :begin_ns AS from_ns, i.end_ns - :begin_ns AS to_ns, coalesce(i.name, '') AS name,
       coalesce(i.status, -1) AS status, coalesce(i.pid, -1) AS pid
FROM invocation AS i JOIN place AS p ON p.node = i.node
WHERE i.begin_ns <= :end_ns AND coalesce(i.end_ns, :end_ns) >= :begin_ns ORDER BY i.begin_ns, i.id LIMIT 4000;

-- table periods: The longest periods of user space
SELECT p.place AS node, u.tid, coalesce(t.comm, '') AS comm, u.begin_ns - :begin_ns AS from_ns,
       u.end_ns - :begin_ns AS to_ns,
       u.from_name, u.to_name
FROM user_period AS u JOIN place AS p ON p.node = u.node
LEFT JOIN known_thread AS t ON t.node = u.node AND t.tid = u.tid AND u.begin_ns >= t.from_ns AND u.begin_ns < t.until_ns
ORDER BY u.duration_ns DESC, u.begin_ns, p.place, u.tid, u.from_name LIMIT 4000;

-- Number of events in each step of time: of user space and, for nodes without a kernel trace, of the other sources.
-- table density: Events of user space and captures
WITH counted AS (
	SELECT id FROM source AS s WHERE kind = 'user'
	   OR NOT EXISTS (SELECT 1 FROM thread_state AS t WHERE t.node = s.node) AND kind <> 'kernel'),
step AS (SELECT (:end_ns - :begin_ns) / 800 + 1 AS ns)
SELECT p.place AS node, (e.ts_ns - :begin_ns) / step.ns AS cell, count(*) AS events, step.ns AS step_ns
FROM step CROSS JOIN event AS e JOIN place AS p ON p.node = e.node
WHERE EXISTS (SELECT 1 FROM counted) AND e.source IN (SELECT id FROM counted) AND e.ts_ns BETWEEN :begin_ns AND :end_ns
GROUP BY 1, 2, 4 ORDER BY 1, 2;

-- table again: Segments that were sent again, by step
SELECT coalesce(p.place, -1) AS "from", coalesce(q.place, -1) AS "to",
       (a.ts_ns - :begin_ns - (a.ts_ns - :begin_ns) % step_ns) / step_ns AS step, count(*) AS count
FROM page_again AS a CROSS JOIN page_fact LEFT JOIN place AS p ON p.node = a.src_node
LEFT JOIN place AS q ON q.node = a.dst_node
WHERE a.ts_ns BETWEEN :begin_ns AND :end_ns GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 20000;

-- One row for what is the same of many nodes.
-- table folded: Problems in the input
-- limit: 100
SELECT node, CASE WHEN count(*) > 1 THEN 'and ' || (count(*) - 1) || ' more' ELSE place END AS place, kind,
       sum(count) AS count, text
FROM node_problem GROUP BY kind, text ORDER BY min(id);

-- Totals that activity.c computed from the spans: page_lane, page_thread and page_handler.
-- temporary page_processors
SELECT n.name AS node, l.cpu, k.recorded_ns, l.known_ns, l.busy_ns, 1e2 * l.busy_ns / l.known_ns AS busy_percent,
       1e2 * l.irq_ns / k.recorded_ns AS irq_percent, 1e2 * l.softirq_ns / k.recorded_ns AS softirq_percent, l.full_ns
FROM page_lane AS l JOIN node AS n ON n.id = l.node JOIN cpu_recorded AS k ON k.node = l.node AND k.cpu = l.cpu
WHERE l.known_ns > 0 ORDER BY l.rowid;

-- A thread has an entry for each of its names.
-- temporary page_threads
SELECT h.comm, n.name AS node, h.tid, coalesce(t.process, '') AS process, h.busy_ns AS cpu_ns, t.id AS thread,
       t.comm AS last_comm,
       h.waits, h.wait_ns, h.most_wait_ns, h.node AS of_node, h.first_ns, h.last_ns, h.run, h.wait_count, h.wait_sum,
       h.wait_most, h.rowid - 1 AS entry
FROM page_thread AS h JOIN node AS n ON n.id = h.node
LEFT JOIN known_thread AS t ON t.node = h.node AND t.tid = h.tid AND h.first_ns >= t.from_ns AND h.first_ns < t.until_ns
ORDER BY h.busy_ns DESC, h.rowid;

-- As cpu and sched count: by thread, which has its last name.
-- temporary page_thread_sum
SELECT coalesce(last_comm, max(comm)) AS comm, node, tid, process, sum(cpu_ns) AS cpu_ns, sum(waits) AS waits,
       sum(wait_ns) AS wait_ns,
       max(most_wait_ns) AS most_wait_ns
FROM page_threads GROUP BY of_node, tid, thread, last_comm, node, process HAVING sum(cpu_ns) > 0
ORDER BY sum(cpu_ns) DESC, node, tid;

-- The threads that the page names: those that ran longest, as many as there is space for.
-- temporary page_named
WITH sized AS (
	SELECT *, rowid AS n, sum(length(wait_count || wait_sum || wait_most)) OVER (ORDER BY rowid) AS wait_size,
	       sum(length(run) + 40) OVER (ORDER BY rowid) AS run_size
	FROM page_threads)
SELECT * FROM sized WHERE cpu_ns > 0 AND run_size < 100000 ORDER BY n LIMIT 2000;

-- The page has the waits by steps for as many of them as fit.
-- table threads_named: Those that have a name in the page
SELECT p.place AS node, tid, comm, process, cpu_ns, first_ns - :begin_ns AS first_ns, last_ns - :begin_ns AS last_ns,
       run,
       CASE WHEN wait_size < 120000 THEN wait_count END AS wait_count,
       CASE WHEN wait_size < 120000 THEN wait_sum END AS wait_sum,
       CASE WHEN wait_size < 120000 THEN wait_most END AS wait_most, entry
FROM page_named AS h JOIN place AS p ON p.node = h.of_node ORDER BY h.n;

-- table handlers: What the script calls an interrupt
SELECT soft, number, handler AS name FROM page_handler ORDER BY rowid;

-- table processors: Processors
-- column recorded_ns: ns, RECORDED
-- column busy_percent: %, SHARE
-- column irq_percent: %, INTERRUPTS
-- column softirq_percent: %, SOFTIRQS
SELECT node, cpu, recorded_ns, busy_ns, busy_percent, irq_percent, softirq_percent FROM page_processors ORDER BY rowid;

-- table threads: Threads by processor time
-- sort: -cpu_ns,node,tid
-- limit: 60
-- column comm: text, THREAD
-- column cpu_ns: ns, CPU TIME
-- column waits: count, WAITS FOR A CPU
-- column wait_ns: ns, IN ALL
-- column most_wait_ns: ns, LONGEST
SELECT comm, node, tid, process, cpu_ns, waits, wait_ns, most_wait_ns FROM page_thread_sum;

-- table interrupts: Interrupts by handler
-- sort: -sum_ns,node,kind,number,name
-- limit: 60
-- column name: text, HANDLER
SELECT nullif(h.handler, '') AS name, n.name AS node, CASE h.soft WHEN 1 THEN 'soft' ELSE 'hard' END AS kind, h.number,
       h.count,
       h.sum_ns, 1e0 * h.sum_ns / h.count AS mean_ns, h.max_ns
FROM page_handler AS h JOIN node AS n ON n.id = h.node WHERE h.count > 0;

-- A remark if there are too many pairs of nodes to show all.
-- table slow_pairs: The pairs with the longest medians
-- sort: -p50_ns
-- limit: 20
SELECT "from", "to", messages, bytes, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, bound_ns, negative
FROM page_pairs;

-- The findings. Of page_..., which C gives, most is what analyses told for this page. In a text
-- {ns:5} is a number with its unit and {a:clocks|Clocks} a link; {{ is a bracket.
-- with told_lost
-- The number of events in discarded packets is unknown.
SELECT discarded, bad, silent, nodes, CASE WHEN silent < nodes THEN silent ELSE 0 END AS missing,
       (SELECT count(*) FROM page_problems) AS notes,
       greatest((SELECT coalesce(sum(count), 0) FROM page_problems WHERE kind = 'discarded') - discarded, 0) AS packets
FROM page_fact, (SELECT coalesce(sum(discarded), 0) AS discarded FROM page_lost) AS l;

-- with told_clocks
SELECT count(*) AS clocks, count(*) FILTER (WHERE worst_bound_ns IS NULL) AS open, max(worst_bound_ns) AS most_ns,
       count(*) FILTER (WHERE quality NOT IN ('exact', 'accurate')
       AND NOT (quality = 'absent' AND source = reference AND islands = 1)) AS bad,
       (SELECT coalesce(sum(messages), 0) FROM page_pairs) AS messages,
       (SELECT coalesce(sum(negative), 0) FROM page_pairs) AS after
FROM page_clocks, (SELECT count(DISTINCT reference) AS islands FROM page_clocks) AS i;

-- with told_request
SELECT * FROM page_requests ORDER BY rowid LIMIT 1;

-- The parts of a request by its critical path if that is drawn, otherwise by the request itself.
-- with told_part
SELECT row_number() OVER (ORDER BY ns DESC, place) AS n, ns, name FROM (
	SELECT 1 AS place, there_ns AS ns, 'on the way there' AS name FROM told_request
	UNION ALL SELECT 2, queue_ns, 'between arrival and the server''s begin' FROM told_request
	UNION ALL SELECT 3, running_ns, 'running on the server' FROM told_request
	UNION ALL SELECT 4, runnable_ns, 'waiting for the server''s processor' FROM told_request
	UNION ALL SELECT 5, disk_ns, 'waiting for the server''s disk' FROM told_request
	UNION ALL SELECT 6, node_ns, 'waiting for other nodes' FROM told_request
	UNION ALL SELECT 7, other_ns, 'waiting for something else on the server' FROM told_request
	UNION ALL SELECT 8, unknown_ns, 'on the server, of which nothing more was recorded' FROM told_request
	UNION ALL SELECT 9, back_ns, 'on the way back' FROM told_request
	UNION ALL SELECT 10, resent_ns, 'lost, until it was sent again' FROM told_request
	UNION ALL SELECT 11, at_server_ns, 'at the server' FROM told_request) AS parts
WHERE ns > 0 AND NOT EXISTS (SELECT 1 FROM page_path WHERE request = (SELECT request FROM told_request))
UNION ALL
SELECT row_number() OVER (ORDER BY sum(ns) DESC, state), sum(ns),
       CASE state WHEN 'running' THEN 'running' WHEN 'runnable' THEN 'waiting for a processor'
       WHEN 'disk' THEN 'waiting for a disk'
       WHEN 'network' THEN 'in the network' WHEN 'timer' THEN 'waiting for a timer'
       WHEN 'interrupt' THEN 'waiting for an interrupt'
       WHEN 'thread' THEN 'waiting for another thread'
       WHEN 'resent' THEN 'lost, until it was sent again' ELSE 'of which nothing was recorded' END
FROM page_path WHERE request = (SELECT request FROM told_request) AND ns > 0 GROUP BY state;

-- with told_parts
SELECT group_concat('{ns:' || ns || '} ({share:' || (1e0 * ns / total_ns) || '}) ' || p.name, ', and ') AS text
FROM told_request AS r JOIN told_part AS p ON p.n = 1 OR (p.n = 2 AND p.ns >= r.total_ns / 20e0);

-- with told_node
SELECT node, 1e2 * sum(busy_ns) / sum(known_ns) AS busy_percent, min(rowid) AS first
FROM page_processors GROUP BY node ORDER BY 2 DESC, 3 LIMIT 1;

-- with told_processor
SELECT node, cpu, busy_percent, rowid AS place FROM page_processors ORDER BY busy_percent DESC, rowid LIMIT 1;

-- For nodes without traced processors, the samples of sar: how busy, and for how long at a time 98 % and more.
-- with told_sampled
WITH step AS (
	SELECT node, till, took, value, CASE WHEN value >= 98
	       AND till - took <= coalesce(lag(till) OVER of_node, till) + took / 2 THEN 0 ELSE 1 END AS parted
	FROM sample_point WHERE n = 1 AND node IS NOT NULL WINDOW of_node AS (PARTITION BY node ORDER BY till)),
stretch AS (SELECT node, took, value, sum(parted) OVER (PARTITION BY node ORDER BY till) AS stretch FROM step),
full AS (SELECT node, sum(took) FILTER (WHERE value >= 98) AS full_ns, sum(took) AS ns, sum(value * took) AS busy
FROM stretch GROUP BY node, stretch)
SELECT n.name AS node, sum(busy) / sum(ns) AS busy_percent, coalesce(max(full_ns), 0) AS full_ns, p.place
FROM full AS f JOIN place AS p ON p.place = f.node JOIN node AS n ON n.id = p.node
GROUP BY p.place ORDER BY 2 DESC, 4 LIMIT 1;

-- The processor that was busy for longest without a break.
-- with told_full
SELECT node, cpu, full_ns FROM page_processors WHERE full_ns >= 5000000000 ORDER BY full_ns DESC, rowid LIMIT 1;

-- ---- Activity over time: sums by slots of some steps each, about 60 in all.
-- temporary slot_width
SELECT step_ns, steps, greatest(1, CAST(steps / 6e1 AS BIGINT)) AS per,
       step_ns * greatest(1, CAST(steps / 6e1 AS BIGINT)) AS slot_ns FROM page_fact;

-- temporary lane_slot
SELECT node, cpu, (step - step % per) / per AS slot, sum(known_ns) AS known_ns, sum(busy_ns) AS busy_ns,
       sum(irq_ns + softirq_ns) AS irq_ns
FROM page_step CROSS JOIN slot_width WHERE known_ns > 0 GROUP BY 1, 2, 3;

-- temporary node_slot
SELECT node, slot, sum(known_ns) AS known_ns, sum(busy_ns) AS busy_ns, sum(irq_ns) AS irq_ns FROM lane_slot
GROUP BY 1, 2;

-- temporary bin_slot
SELECT kind, a, b, c, (step - step % per) / per AS slot, sum(count) AS count, sum(took_ns) AS took_ns,
       max(most_ns) AS most_ns,
       sum(first_sum) AS first_sum, sum(ran_ns) AS ran_ns
FROM page_bin CROSS JOIN slot_width GROUP BY 1, 2, 3, 4, 5;

-- Means by slot of messages, disk requests and requests, and the median of these means.
-- temporary mean_slot
SELECT kind, a, b, c, slot, count, took_ns, most_ns, ran_ns, 1e0 * took_ns / count AS mean_ns
FROM (SELECT kind, a, b, CASE kind WHEN 'disks' THEN '' ELSE coalesce(c, '') END AS c, slot, sum(ran_ns) AS ran_ns,
       sum(count) AS count,
             sum(took_ns) AS took_ns, max(most_ns) AS most_ns FROM bin_slot WHERE kind IN ('pairs', 'disks', 'requests')
             GROUP BY 1, 2, 3, 4, 5) AS s
WHERE count > 0;

-- temporary usual
SELECT kind, a, b, c, quantile(mean_ns, 0.5) AS usual_ns, count(*) AS slots, sum(count) AS count FROM mean_slot
GROUP BY 1, 2, 3, 4;

-- Segments sent again, and sar's samples of memory.
-- temporary again_slot
SELECT a.src_node AS a, a.dst_node AS b, (a.ts_ns - :begin_ns - (a.ts_ns - :begin_ns) % slot_ns) / slot_ns AS slot,
       count(*) AS count
FROM page_again AS a CROSS JOIN slot_width GROUP BY 1, 2, 3;

-- with memory_point
SELECT s.node, s.ts_ns, max(s.value) FILTER (WHERE m.name = '%memused') AS used,
       max(s.value) FILTER (WHERE m.name = 'kbmemused') AS used_kb,
       max(s.value) FILTER (WHERE m.name = 'kbavail') AS left_kb,
       max(s.value) FILTER (WHERE m.name = 'pswpout/s') AS swapped
FROM metric AS m CROSS JOIN sample AS s
WHERE m.name IN ('%memused', 'kbmemused', 'kbavail', 'pswpout/s') AND s.metric = m.id
       AND s.ts_ns BETWEEN :begin_ns AND :end_ns
GROUP BY s.node, s.ts_ns;

-- Total memory less what is available.
-- temporary memory_slot
SELECT node, (ts_ns - :begin_ns - (ts_ns - :begin_ns) % slot_ns) / slot_ns AS slot, swapped,
       CASE WHEN used_kb > 0 AND used > 0 AND left_kb IS NOT NULL THEN 1e2 - left_kb * used / used_kb
       ELSE used END AS value
FROM memory_point CROSS JOIN slot_width WHERE node IS NOT NULL;

-- Slots that stand out, by what: `value` is a share or a number of times.
-- temporary odd_slot
SELECT 'saturated' AS finding, node AS a, NULL AS b, NULL AS c, slot, 1e2 * busy_ns / known_ns AS value
FROM node_slot WHERE busy_ns >= 0.95 * known_ns
UNION ALL
SELECT 'interrupts', node, NULL, NULL, slot, 1e2 * irq_ns / known_ns FROM node_slot WHERE irq_ns >= 0.3 * known_ns
UNION ALL
SELECT 'disk', a, b, NULL, slot, 1e2 * took_ns / slot_ns FROM bin_slot CROSS JOIN slot_width
WHERE kind = 'busy' AND took_ns >= 0.9 * slot_ns
UNION ALL
SELECT 'slow-disk', m.a, m.b, NULL, m.slot, m.mean_ns / u.usual_ns
FROM mean_slot AS m JOIN usual AS u ON u.kind = 'disks' AND u.a = m.a AND u.b = m.b
WHERE m.kind = 'disks' AND u.slots >= 8 AND m.count >= 3 AND m.mean_ns >= 4 * u.usual_ns
UNION ALL
SELECT 'way', m.a, m.b, NULL, m.slot, m.mean_ns / u.usual_ns
FROM mean_slot AS m JOIN usual AS u ON u.kind = 'pairs' AND u.a = m.a AND u.b = m.b
WHERE m.kind = 'pairs' AND u.slots >= 8 AND m.count >= 4 AND m.mean_ns >= 3 * u.usual_ns
       AND m.mean_ns - u.usual_ns >= 200000
UNION ALL
SELECT 'requests', NULL, m.b, m.c, m.slot, sum(m.took_ns) / sum(m.count * u.usual_ns)
FROM mean_slot AS m JOIN usual AS u ON u.kind = 'requests' AND u.a = m.a AND u.b = m.b AND u.c = m.c
WHERE m.kind = 'requests' AND u.slots >= 8 GROUP BY m.b, m.c, m.slot
HAVING sum(m.count) >= 2 AND sum(m.took_ns) >= CASE WHEN sum(m.count) < 4 THEN 5e0
       ELSE 2e0 END * sum(m.count * u.usual_ns)
UNION ALL
SELECT 'resent', a, b, NULL, slot, count FROM again_slot
UNION ALL
SELECT 'offline', l.node, l.cpu, NULL, l.slot, 1e2 * n.busy_ns / n.known_ns
FROM lane_slot AS l JOIN node_slot AS n ON n.node = l.node AND n.slot = l.slot
WHERE l.busy_ns = 0 AND n.busy_ns >= 0.15 * n.known_ns
UNION ALL
SELECT 'memory', m.node, NULL, NULL, m.slot, m.value FROM memory_slot AS m
JOIN (SELECT node, min(value) AS least FROM memory_slot GROUP BY node) AS l ON l.node = m.node
WHERE m.value >= 92 OR m.value >= l.least + 30
UNION ALL
SELECT 'swap', node, NULL, NULL, slot, swapped FROM memory_slot WHERE swapped > 0
UNION ALL
SELECT 'sampled', node, NULL, NULL, slot, busy FROM (
	SELECT p.node, (s.till - :begin_ns - 1 - (s.till - :begin_ns - 1) % slot_ns) / slot_ns AS slot,
	       min(s.value) AS busy
	FROM sample_point AS s CROSS JOIN slot_width JOIN place AS p ON p.place = s.node WHERE s.n = 1
	GROUP BY 1, 2) AS b
WHERE busy >= 95 AND NOT EXISTS (SELECT 1 FROM page_processors);

-- Slots in a row, with at most one between them that does not stand out; of what was sent again with five.
-- temporary stretch
WITH apart AS (
	SELECT *, CASE WHEN slot - coalesce(lag(slot) OVER of_row, -9) > CASE finding WHEN 'resent' THEN 6
	       ELSE 2 END THEN 1 ELSE 0 END AS begins
	FROM odd_slot WINDOW of_row AS (PARTITION BY finding, coalesce(a, -1), coalesce(b, ''), coalesce(c, '')
	ORDER BY slot)),
numbered AS (SELECT *, sum(begins) OVER (PARTITION BY finding, coalesce(a, -1), coalesce(b, ''), coalesce(c, '')
ORDER BY slot) AS n FROM apart)
SELECT finding, a, b, c, min(slot) AS slot, max(slot) + 1 AS end_slot, count(*) AS slots, max(value) AS most,
       avg(value) AS value
FROM numbered GROUP BY finding, a, b, c, n;

-- The weightiest of each kind that are long enough, and how they are told.
-- temporary told_stretch
WITH long AS (
	SELECT s.*, w.per, w.slot_ns, w.steps, row_number() OVER (PARTITION BY finding
	ORDER BY slots * value DESC, slot, a, b, c) AS rank
	FROM stretch AS s CROSS JOIN slot_width AS w
	WHERE s.slots >= CASE finding WHEN 'offline' THEN 6 WHEN 'memory' THEN 1 WHEN 'swap' THEN 1
	       WHEN 'sampled' THEN 1 WHEN 'resent' THEN 1 ELSE 2 END
	  AND (s.finding <> 'resent' OR s.slots * s.value >= 3)
	  AND (s.finding <> 'offline' OR EXISTS (SELECT 1 FROM lane_slot AS l
	  WHERE l.node = s.a AND l.cpu = s.b AND l.busy_ns > 0.05 * l.known_ns)))
SELECT l.*, coalesce(replace(a.name, '{', '{{'), '') AS name, replace(b.name, '{', '{{') AS other,
       ' from {w:' || (slot * per) || ' ' || least(end_slot * per, steps) || '/' || CASE finding
       WHEN 'saturated' THEN 'busy' WHEN 'interrupts' THEN 'busy'
       WHEN 'offline' THEN 'busy' WHEN 'disk' THEN 'disk' WHEN 'slow-disk' THEN 'disk' WHEN 'resent' THEN 'again'
       WHEN 'memory' THEN 'memory' WHEN 'swap' THEN 'memory'
       WHEN 'sampled' THEN 'sar' ELSE 'slowest' END || '|' || (slot * slot_ns) || '} for {span:'
       || ((end_slot - slot) * slot_ns) || '}' AS at
FROM long AS l LEFT JOIN node AS a ON a.id = l.a
LEFT JOIN node AS b ON b.id = l.b AND l.finding IN ('way', 'resent', 'requests')
WHERE rank <= 2;

-- The threads that ran most in them, and the durations of disk requests, messages and requests.
-- temporary told_runner
SELECT rank, comm, share FROM (
	SELECT t.rank, r.comm, 1e0 * sum(r.run_ns) / sum(sum(r.run_ns)) OVER (PARTITION BY t.rank) AS share,
	       row_number() OVER (PARTITION BY t.rank ORDER BY sum(r.run_ns) DESC, r.comm) AS n
	FROM told_stretch AS t CROSS JOIN page_run AS r
	WHERE t.finding = 'saturated' AND r.node = t.a AND r.step >= t.slot * t.per AND r.step < t.end_slot * t.per
	GROUP BY t.rank, r.comm) AS s
WHERE n = 1;

-- temporary told_mean
SELECT t.finding, t.rank, 1e0 * sum(m.took_ns) / sum(m.count) AS mean_ns, max(m.most_ns) AS most_ns,
       sum(m.count) AS count,
       sum(m.took_ns) / sum(m.count * u.usual_ns) AS times
FROM told_stretch AS t JOIN mean_slot AS m ON m.slot >= t.slot AND m.slot < t.end_slot
 AND m.kind = CASE t.finding WHEN 'way' THEN 'pairs' WHEN 'resent' THEN 'pairs' WHEN 'requests' THEN 'requests'
 ELSE 'disks' END
 AND m.b = t.b AND CASE t.finding WHEN 'requests' THEN m.c = t.c ELSE m.a = t.a END
JOIN usual AS u ON u.kind = m.kind AND u.a = m.a AND u.b = m.b AND u.c = m.c
WHERE t.finding IN ('way', 'requests', 'disk', 'slow-disk', 'resent') GROUP BY t.finding, t.rank;

-- A server that computes longer for its requests than the others do.
-- temporary told_peer
WITH served AS (SELECT b, c, 1e0 * sum(ran_ns) / sum(count) AS ran_ns, sum(count) AS count FROM mean_slot
WHERE kind = 'requests' GROUP BY b, c HAVING sum(count) >= 20),
disked AS (SELECT a, 1e0 * sum(took_ns) / sum(count) AS mean_ns FROM mean_slot WHERE kind = 'disks' GROUP BY a
HAVING sum(count) >= 20),
used AS (SELECT node, 1e2 * sum(busy_ns) / sum(known_ns) AS busy FROM node_slot GROUP BY node)
SELECT 'serves' AS what, s.b AS node, s.ran_ns AS value, s.ran_ns / o.usual AS times
FROM served AS s JOIN (SELECT c, quantile(ran_ns, 0.5) AS usual, count(*) AS n FROM served GROUP BY c) AS o ON o.c = s.c
WHERE o.n >= 3 AND o.usual > 0 AND s.ran_ns >= CASE WHEN s.count >= 200 THEN 1.3 ELSE 1.5 END * o.usual
UNION ALL
SELECT 'disk', d.a, d.mean_ns, d.mean_ns / o.usual
FROM disked AS d CROSS JOIN (SELECT quantile(mean_ns, 0.5) AS usual, count(*) AS n FROM disked) AS o
WHERE o.n >= 3 AND d.mean_ns >= 2.5 * o.usual
UNION ALL
SELECT 'busy', u.node, u.busy, u.busy / o.usual
FROM used AS u CROSS JOIN (SELECT quantile(busy, 0.5) AS usual, count(*) AS n FROM used) AS o
WHERE o.n >= 3 AND o.usual > 0 AND u.busy >= 1.5 * o.usual AND u.busy >= o.usual + 20;

-- The amount by which a clock was set, from the segments of its correction.
-- temporary told_set
WITH part AS (
	SELECT s.node, g.n, g.ref_ns,
	       CAST(lag(g.ref_ns) OVER own + (g.local_ns - lag(g.local_ns) OVER own) * (1e0 + lag(g.rate) OVER own)
	            - g.ref_ns AS BIGINT) AS by_ns
	FROM clock_segment AS g JOIN source AS s ON s.id = g.source JOIN node_source AS o ON o.source = s.id
	WINDOW own AS (PARTITION BY g.source ORDER BY g.n))
SELECT node, ref_ns AS at_ns, by_ns FROM part WHERE abs(by_ns) >= 1000000 AND ref_ns BETWEEN :begin_ns AND :end_ns
ORDER BY abs(by_ns) DESC LIMIT 2;

-- table findings: What the page opens with
SELECT 'requests' AS finding, 'bad' AS grade, 'Worst window' AS title,
       'Requests to ' || other || ', port ' || c || ', took {ns:' || m.mean_ns || '} on average, {n:' || round(m.times)
       || '} times as long as usual,' || at
       || ', at most {span:' || m.most_ns || '}. {a:requests|Requests}' AS text, b AS node, slot * slot_ns AS begin_ns,
       (end_slot - slot) * slot_ns AS span_ns
FROM told_stretch AS t JOIN told_mean AS m ON m.finding = t.finding AND m.rank = t.rank
WHERE t.finding = 'requests' AND t.rank = 1
UNION ALL
SELECT 'saturated', 'bad', 'Processors saturated', name || ': its processors were busy {percent:' || value
       || '} of the time' || at
       || coalesce('; most of it ran ' || replace(r.comm, '{', '{{') || ', {share:' || r.share || '}', '')
       || '. {a:processors|Processors}',
       a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch AS t LEFT JOIN told_runner AS r ON r.rank = t.rank WHERE t.finding = 'saturated'
UNION ALL
SELECT 'sampled', 'bad', 'Processors saturated, by sar', name || ': its processors were busy {percent:' || value
       || '} of the time' || at
       || '. What ran was not recorded: enable sched_switch. {a:timeline|Timeline}', a, slot * slot_ns,
       (end_slot - slot) * slot_ns
FROM told_stretch WHERE finding = 'sampled'
UNION ALL
SELECT CASE finding WHEN 'disk' THEN 'disk' ELSE 'slow-disk' END, 'bad',
       CASE finding WHEN 'disk' THEN 'A disk at its limit' ELSE 'A slow disk' END,
       name || ' ' || replace(b, '{', '{{') || CASE finding WHEN 'disk' THEN ' was busy {percent:' || value
       || '} of the time' || at || '; its requests took {ns:' || m.mean_ns || '} on average'
       ELSE ': its requests took {ns:' || m.mean_ns || '} on average' || at END
       || CASE WHEN m.times >= 1.5 THEN ', {n:' || round(m.times) || '} times as long as usual' ELSE '' END
       || '. {a:resources|Disks}',
       a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch AS t LEFT JOIN told_mean AS m USING (finding, rank) WHERE finding IN ('disk', 'slow-disk')
UNION ALL
SELECT 'way', 'bad', 'A slow way', 'Messages from ' || name || ' to ' || other || ' took {ns:' || m.mean_ns
       || '} {dim}('
       || '{bound:'
       || coalesce((SELECT bound_ns FROM page_pairs AS p
       WHERE p."from" = (SELECT name FROM node WHERE id = t.a) AND p."to" = (SELECT name FROM node WHERE id = t.b)), '')
       || '}){/dim} on average, {n:' || round(m.times) || '} times as long as usual,' || at
       || '. {a:messages|Messages}', a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch AS t JOIN told_mean AS m USING (finding, rank) WHERE finding = 'way'
UNION ALL
SELECT 'resent', 'bad', 'Segments sent again', '{n:' || CAST(t.value * t.slots AS BIGINT) || '} segments from ' || name
       || ' to ' || coalesce(other, 'elsewhere')
       || ' were sent again' || coalesce(', to {n:' || m.count || '} messages that arrived,', '') || at
       || ': data or its acknowledgements were lost. {a:messages|Messages}',
       a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch AS t LEFT JOIN told_mean AS m USING (finding, rank) WHERE finding = 'resent'
UNION ALL
SELECT 'offline', 'bad', 'A processor ran nothing', 'Processor ' || b || ' of ' || name || ' ran no thread at all' || at
       || ', while the node as a whole was busy {percent:' || value || '}. {a:processors|Processors}', a,
       slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch WHERE finding = 'offline'
UNION ALL
SELECT finding, 'bad', CASE finding WHEN 'memory' THEN 'Memory pressure' ELSE 'Memory was swapped out' END,
       name || CASE finding WHEN 'memory' THEN ' had up to {percent:' || most || '} of its memory in use'
       ELSE ' swapped out up to {n:' || round(most) || '} pages a second' END || at
       || '. {a:timeline|Timeline}', a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch WHERE finding IN ('memory', 'swap')
UNION ALL
SELECT 'interrupts', 'bad', 'Interrupts took much time', 'Interrupts and softirqs took {percent:' || value || '} of '
       || name || '''s processors' || at || '. {a:processors|Processors}',
       a, slot * slot_ns, (end_slot - slot) * slot_ns
FROM told_stretch WHERE finding = 'interrupts'
UNION ALL
SELECT 'peer', 'bad', 'A node stands out', replace(n.name, '{', '{{') || CASE what WHEN 'serves' THEN ' computes {ns:'
       || p.value || '} for a request' WHEN 'disk' THEN ' waits {ns:' || p.value || '} for a disk request'
       ELSE ' was busy {percent:' || p.value || '}' END
       || ', ' || round(p.times, 1) || ' times what is usual among its peers. {a:requests|Requests}', p.node, 0,
       :end_ns - :begin_ns
FROM (SELECT *, row_number() OVER (PARTITION BY what ORDER BY times DESC, node) AS rank FROM told_peer) AS p
JOIN node AS n ON n.id = p.node WHERE rank = 1
UNION ALL
SELECT 'set', 'info', 'A clock was set', 'The clock of ' || replace(n.name, '{', '{{') || ' was set ' || CASE
       WHEN by_ns > 0 THEN 'forward' ELSE 'back' END || ' by {ns:' || abs(by_ns)
       || '} at {span:' || (at_ns - :begin_ns) || '}. {a:clocks|Clocks}', n.id, at_ns - :begin_ns, 0
FROM told_set AS s JOIN node AS n ON n.id = s.node
UNION ALL
SELECT 'failed', 'bad', 'Tasks failed', '{n:' || count(*) || '} of {n:'
       || (SELECT count(*) FROM invocation) || '} tasks ended with a status other than 0, first '
       || replace(min(coalesce(name, '?')), '{', '{{')
       || '. {a:user|Tasks}', min(node), min(begin_ns) - :begin_ns, 0
FROM invocation WHERE status <> 0 HAVING count(*) > 0
UNION ALL
SELECT 'lost', CASE WHEN discarded + packets + bad + missing > 0 THEN 'bad' WHEN notes > 0 THEN 'info' ELSE 'good' END,
       CASE WHEN discarded + packets + bad + missing > 0 THEN 'Something was lost' ELSE 'Nothing was lost' END,
       'Tracers discarded {n:' || discarded || '} events' || CASE WHEN packets > 0 THEN ' and {n:' || packets
       || '} packets of events' ELSE '' END
       || '; {n:' || bad || '} input' || CASE bad WHEN 1 THEN '' ELSE 's' END
       || ' could not be used as given' || CASE WHEN notes > bad THEN '; ' || (notes - bad) || ' note'
       || CASE notes - bad WHEN 1 THEN '' ELSE 's' END || ' on the input' ELSE '' END
       || CASE WHEN silent = nodes THEN '; no kernel was traced'
          WHEN silent > 0 THEN '; of ' || silent || ' nodes no kernel trace is there' ELSE '' END
       || CASE WHEN recorded BETWEEN 1 AND nodes - 1 THEN '. Nothing was recorded of ' || (nodes - recorded) || ' node'
          || CASE nodes - recorded WHEN 1 THEN '' ELSE 's' END || '; the rest were '
          WHEN is_common THEN '. All nodes were ' ELSE '. The nodes were ' END
       || CASE WHEN is_common THEN 'recorded together for {span:' || (end_ns - begin_ns) || '} of {span:'
          || (:end_ns - :begin_ns) || '}.' ELSE 'at no time recorded together.' END
       || CASE WHEN notes > 0 THEN ' {a:problems|Problems and notes}' ELSE '' END, NULL, NULL, NULL
FROM told_lost, home
UNION ALL
SELECT 'clocks', 'info', 'The clocks were not compared',
       'Nothing ties the nodes'' clocks together: samples and tasks are placed by the clock of their own node.', NULL,
       NULL, NULL
FROM told_clocks WHERE clocks = 0
UNION ALL
SELECT 'clocks', 'good', 'One clock', 'A single clock stamped all events. {a:clocks|Clocks}', NULL, NULL, NULL
FROM told_clocks WHERE clocks = 1
UNION ALL
SELECT 'clocks', CASE WHEN open + bad + after > 0 THEN 'bad' ELSE 'good' END, 'How far to trust the clocks',
       CASE WHEN open > 0 THEN '{n:' || open || '} of ' || clocks || ' clocks are not bounded from both sides: '
       || 'times of these nodes cannot be compared with others. ' ELSE '' END
       || coalesce(CASE WHEN open > 0 THEN 'Of the others,' ELSE 'All' END || ' times are within {within:' || most_ns
       || '} of the reference clock, at worst on '
       || (SELECT replace(node, '{', '{{') FROM page_clocks WHERE worst_bound_ns = most_ns ORDER BY rowid LIMIT 1)
       || coalesce((SELECT '; while all nodes were recorded, within {within:' || max(bound_ns) || '}' FROM instant_bound
                    WHERE from_ns IS NULL HAVING count(bound_ns) = count(*) AND max(bound_ns) < 0.9 * most_ns), '')
                    || '.', '')
       || CASE WHEN messages > 0 THEN ' By the corrected clocks {n:' || after || '} of {n:' || messages
       || '} messages came before they were sent.' ELSE '' END || ' {a:clocks|Clocks}', NULL, NULL, NULL
FROM told_clocks WHERE clocks > 1
UNION ALL
SELECT 'request', 'info', 'Slowest request',
       '{ns:' || total_ns || '} {dim}(ways between nodes {bound:' || coalesce(bound_ns, '') || '}){/dim} from '
       || replace(client, '{', '{{') || ' to ' || replace(server, '{', '{{')
       || coalesce(' (' || replace(comm, '{', '{{') || ')', '')
       || coalesce(': ' || text, '') || CASE WHEN EXISTS (SELECT 1 FROM page_path AS p WHERE p.request = r.request)
          THEN '. {request:' || r.request || '|Its critical path}' ELSE '. {a:requests|Requests}' END, NULL, NULL, NULL
FROM told_request AS r, told_parts
UNION ALL
SELECT 'why', 'info', 'What slows the slowest requests', '{ns:' || more_ns || '} more than around the median: '
       || replace(why, '{', '{{') || '. Mean of the slowest {n:' || slow || '} of {n:' || requests || '} requests from '
       || replace(client, '{', '{{') || ' to ' || replace(server, '{', '{{')
       || coalesce(' (' || replace(process, '{', '{{') || ')', '')
       || '. {a:why|Where the slow ones lose their time}', NULL, NULL, NULL
FROM (SELECT * FROM page_why WHERE state <> 'unknown' AND requests >= 10 ORDER BY rowid LIMIT 1) AS w
UNION ALL
SELECT 'request', 'info', 'No request between nodes was seen',
       'Requests are made of messages that connect nodes both ways.', NULL, NULL, NULL
WHERE NOT EXISTS (SELECT 1 FROM told_request)
UNION ALL
SELECT 'message', 'info', 'Slowest message',
       '{ns:' || latency_ns || '}' || coalesce(' (surely {span:' || least_ns || '} to {span:' || most_ns || '})', '')
       || ' from ' || replace("from", '{', '{{') || ' to ' || replace("to", '{', '{{') || '. {a:messages|Messages}',
       NULL, NULL, NULL
FROM (SELECT * FROM page_messages ORDER BY rowid LIMIT 1) AS m WHERE latency_ns >= 0
UNION ALL
SELECT 'busiest',
       CASE WHEN p.busy_percent > 98 OR EXISTS (SELECT 1 FROM told_full WHERE full_ns >= 10000000000)
            THEN 'bad' ELSE 'info' END,
       'Busiest node and processor',
       replace(n.node, '{', '{{') || ' was busy {percent:' || n.busy_percent || '} of its processors'' recorded time'
       || CASE WHEN p.place <> n.first
          THEN '; processor ' || p.cpu || ' of ' || replace(p.node, '{', '{{') || ' {percent:' || p.busy_percent || '}'
          ELSE '' END
       || coalesce((SELECT '. Processor ' || cpu || ' of ' || replace(node, '{', '{{') || ' was busy for {ns:'
       || full_ns
                           || '} at a time' FROM told_full), '')
       || coalesce((SELECT '. Most of all ran ' || replace(comm, '{', '{{') || ' on ' || replace(node, '{', '{{')
                           || ', {ns:' || cpu_ns || '}' FROM page_thread_sum ORDER BY rowid LIMIT 1), '')
       || '. {a:processors|Processors}', NULL, NULL, NULL
FROM told_node AS n, told_processor AS p
UNION ALL
SELECT 'busiest', CASE WHEN busy_percent > 98 OR full_ns >= 10000000000 THEN 'bad' ELSE 'info' END, 'Busiest node',
       'The processors of ' || replace(node, '{', '{{') || ' were busy {percent:' || busy_percent
       || '} of the time that sar sampled'
       || CASE WHEN full_ns >= 5000000000 THEN ', and all of them for {ns:' || full_ns || '} at a time' ELSE '' END
       || '. What processors did was not recorded: enable sched_switch to see who ran. {a:timeline|Timeline}', NULL,
       NULL, NULL
FROM told_sampled WHERE NOT EXISTS (SELECT 1 FROM page_processors)
UNION ALL
SELECT 'busiest', 'info', 'What processors did was not recorded', 'Enable sched_switch to see who ran where.', NULL,
       NULL, NULL
WHERE NOT EXISTS (SELECT 1 FROM page_processors) AND NOT EXISTS (SELECT 1 FROM told_sampled);
