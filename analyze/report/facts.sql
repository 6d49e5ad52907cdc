-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: facts
-- summary: the numbers of a run that compare ranks, also by eighths
-- description: The numbers that compare --against compares. VALUE is of the whole
--   run if EIGHTH is -1, otherwise of an eighth of it, from 0: how much they vary
--   is the run's own noise. A number with SUM 1 is 0 where it has no row.
--   WEIGHT is the time that one unit of the number costs in the whole run, ERROR
--   what the clocks may have added to it or taken from it.
-- example: ctanalyze facts --format csv run.db
-- unit text: measure subject unit
-- unit id: eighth
-- column value: of row, VALUE
-- column weight_ns: ns, WEIGHT
-- column error_ns: ns, ERROR
-- column is_sum: id, SUM

-- with eighth
SELECT step, (step * 8 - step * 8 % steps) / steps AS eighth FROM (SELECT DISTINCT step FROM page_step UNION SELECT DISTINCT step FROM page_bin) AS s CROSS JOIN page_fact;

-- The recorded time of each node, as far as it is known: rates are per that time.
-- temporary node_extent
-- index: node
SELECT n.id AS node, least(1e0, coalesce(1e0 * k.recorded_ns / (:end_ns - :begin_ns), 1e0)) AS share, :end_ns - :begin_ns AS span_ns,
       b.bound_ns, b.widest_ns
FROM chosen_node AS n LEFT JOIN kernel_recorded AS k ON k.node = n.id
LEFT JOIN (SELECT node AS name, max(worst_bound_ns) AS bound_ns, (SELECT max(worst_bound_ns) FROM page_clocks) AS widest_ns
           FROM page_clocks GROUP BY node HAVING count(*) = count(worst_bound_ns)) AS b ON b.name = n.name
WHERE :end_ns > :begin_ns;

-- Numbers a second are not known where a node was not recorded all the time.
-- with throughout
SELECT CASE WHEN min(share) >= 0.95 THEN 1 ELSE 0 END AS is_known FROM node_extent;

-- Activity of processors, by node.
-- temporary node_eighth
SELECT p.node, e.eighth, sum(known_ns) AS known_ns, sum(busy_ns) AS busy_ns, sum(irq_ns + softirq_ns) AS irq_ns
FROM page_step AS p JOIN eighth AS e ON e.step = p.step GROUP BY 1, 2 HAVING sum(known_ns) > 0
UNION ALL
SELECT node, -1, sum(known_ns), sum(busy_ns), sum(irq_ns + softirq_ns) FROM page_step GROUP BY 1 HAVING sum(known_ns) > 0;

-- temporary process_eighth
WITH ran AS (
	SELECT r.node, r.comm, e.eighth, sum(run_ns) AS run_ns FROM page_run AS r JOIN eighth AS e ON e.step = r.step GROUP BY 1, 2, 3
	UNION ALL SELECT node, comm, -1, sum(run_ns) FROM page_run GROUP BY 1, 2),
cpus AS (SELECT node, count(DISTINCT cpu) AS cpus FROM page_step WHERE known_ns > 0 GROUP BY node)
SELECT n.node, n.comm, e.eighth, 1e2 * coalesce(r.run_ns, 0) * c.cpus / e.known_ns AS percent
FROM (SELECT DISTINCT node, comm FROM page_run) AS n JOIN node_eighth AS e ON e.node = n.node JOIN cpus AS c ON c.node = n.node
LEFT JOIN ran AS r ON r.node = n.node AND r.comm = n.comm AND r.eighth = e.eighth;

-- temporary wait_eighth
SELECT w.node, e.eighth, sum(wait_ns) AS wait_ns FROM page_wait AS w JOIN eighth AS e ON e.step = w.step GROUP BY 1, 2
UNION ALL SELECT node, -1, sum(wait_ns) FROM page_wait GROUP BY 1;

-- Requests by server and port, messages by pair of nodes, requests to disks.
-- temporary bin_eighth
WITH named AS (
	SELECT kind, CASE kind WHEN 'requests' THEN b ELSE a END AS node, CASE kind WHEN 'requests' THEN c ELSE b END AS what, step, count, took_ns,
	       first_sum, there_ns, queue_ns, ran_ns, ready_ns, disk_ns, node_ns, other_ns, unknown_ns, back_ns FROM page_bin),
summed AS (
	SELECT n.*, e.eighth FROM named AS n JOIN eighth AS e ON e.step = n.step UNION ALL SELECT n.*, -1 FROM named AS n)
SELECT kind, node, what, eighth, sum(count) AS count, sum(took_ns) AS took_ns, sum(first_sum) AS resent_ns, sum(there_ns) AS there_ns,
       sum(queue_ns) AS queue_ns, sum(ran_ns) AS ran_ns, sum(ready_ns) AS ready_ns, sum(disk_ns) AS disk_ns, sum(node_ns) AS node_ns,
       sum(other_ns) AS other_ns, sum(unknown_ns) AS unknown_ns, sum(back_ns) AS back_ns
FROM summed GROUP BY 1, 2, 3, 4;

-- temporary bin_whole
-- index: kind, node, what
SELECT kind, node, what, count, 1e0 * took_ns / count AS mean_ns FROM bin_eighth WHERE eighth = -1 AND count > 0;

-- with part
SELECT b.*, 'reaching the server' AS measure, there_ns AS ns FROM bin_eighth AS b
UNION ALL SELECT b.*, 'queued at the server', queue_ns FROM bin_eighth AS b
UNION ALL SELECT b.*, 'running', CASE WHEN ran_ns + ready_ns + disk_ns + node_ns + other_ns > 0 THEN ran_ns END FROM bin_eighth AS b
UNION ALL SELECT b.*, 'waiting for a processor', CASE WHEN ran_ns + ready_ns + disk_ns + node_ns + other_ns > 0 THEN ready_ns END FROM bin_eighth AS b
UNION ALL SELECT b.*, 'waiting for a disk', CASE WHEN ran_ns + ready_ns + disk_ns + node_ns + other_ns > 0 THEN disk_ns END FROM bin_eighth AS b
UNION ALL SELECT b.*, 'waiting for other nodes', CASE WHEN ran_ns + ready_ns + disk_ns + node_ns + other_ns > 0 THEN node_ns END FROM bin_eighth AS b
UNION ALL SELECT b.*, 'other waits', CASE WHEN ran_ns + ready_ns + disk_ns + node_ns + other_ns > 0 THEN other_ns END FROM bin_eighth AS b
UNION ALL SELECT b.*, 'not recorded', unknown_ns FROM bin_eighth AS b
UNION ALL SELECT b.*, 'coming back', back_ns FROM bin_eighth AS b
UNION ALL SELECT b.*, 'lost, until sent again', resent_ns FROM bin_eighth AS b;

-- temporary again_eighth
WITH again AS (
	SELECT src_node AS node, dst_node AS what, least(7, (8 * (ts_ns - :begin_ns) - 8 * (ts_ns - :begin_ns) % (:end_ns - :begin_ns)) / (:end_ns - :begin_ns)) AS eighth
	FROM page_again WHERE ts_ns BETWEEN :begin_ns AND :end_ns AND :end_ns > :begin_ns)
SELECT node, what, eighth, count(*) AS count FROM again GROUP BY 1, 2, 3
UNION ALL SELECT node, what, -1, count(*) FROM again GROUP BY 1, 2;

-- Samples of sar, by node.
-- temporary sampled_eighth
WITH point AS (
	SELECT s.node, m.activity || ' ' || m.name AS name, s.value,
	       least(7, (8 * (s.ts_ns - :begin_ns) - 8 * (s.ts_ns - :begin_ns) % (:end_ns - :begin_ns)) / (:end_ns - :begin_ns)) AS eighth
	FROM metric AS m JOIN sample AS s ON s.metric = m.id LEFT JOIN metric_item AS i ON i.id = s.item
	WHERE s.ts_ns > :begin_ns AND s.ts_ns <= :end_ns AND s.value IS NOT NULL
	  AND ((m.activity = 'cpu' AND m.name = '%idle' AND i.name = 'all') OR (m.activity = 'memory' AND m.name = '%memused') OR m.name = 'pswpout/s'))
SELECT node, name, eighth, avg(value) AS value FROM point GROUP BY 1, 2, 3
UNION ALL SELECT node, name, -1, avg(value) FROM point GROUP BY 1, 2;

-- table facts: The numbers of the run
WITH fact AS (
	SELECT 'processors' AS kind, n.node, CAST(NULL AS TEXT) AS subject, 'busy' AS measure, '%' AS unit, n.eighth, 1e2 * n.busy_ns / n.known_ns AS value,
	       w.known_ns / 1e2 AS weight_ns, 0 AS is_sum, 0 AS error_ns
	FROM node_eighth AS n JOIN node_eighth AS w ON w.node = n.node AND w.eighth = -1
	UNION ALL
	SELECT 'interrupts', n.node, NULL, 'share', '%', n.eighth, 1e2 * n.irq_ns / n.known_ns, w.known_ns / 1e2, 0, 0
	FROM node_eighth AS n JOIN node_eighth AS w ON w.node = n.node AND w.eighth = -1
	UNION ALL
	SELECT 'processes', p.node, comm, 'running, of one processor', '%', eighth, percent, span_ns / 1e2, 1, 0
	FROM process_eighth AS p JOIN node_extent AS x ON x.node = p.node
	UNION ALL
	SELECT 'waiting', w.node, NULL, 'threads waiting for a processor', 'number', eighth, CASE eighth WHEN -1 THEN 1e0 / share ELSE 8e0 END * wait_ns / span_ns, span_ns, 1, 0
	FROM wait_eighth AS w JOIN node_extent AS x ON x.node = w.node
	UNION ALL
	SELECT b.kind, b.node, b.what, 'mean', 'ns', b.eighth, 1e0 * b.took_ns / b.count, w.count, 0, CASE b.kind WHEN 'pairs' THEN x.bound_ns + y.bound_ns ELSE 0 END
	FROM bin_eighth AS b JOIN bin_whole AS w ON w.kind = b.kind AND w.node = b.node AND w.what = b.what
	LEFT JOIN node_extent AS x ON x.node = b.node LEFT JOIN node_extent AS y ON y.node = b.what
	WHERE b.kind <> 'busy' AND w.count >= 20 AND b.count >= 3
	UNION ALL
	SELECT b.kind, b.node, b.what, q.measure, 'ns', b.eighth, q.value, w.count * q.share, 0, CASE b.kind WHEN 'pairs' THEN x.bound_ns + y.bound_ns ELSE 0 END
	FROM page_quantile AS q JOIN bin_eighth AS b ON b.kind = q.kind AND b.node = q.a AND b.what = q.b AND b.eighth = q.eighth
	JOIN bin_whole AS w ON w.kind = b.kind AND w.node = b.node AND w.what = b.what
	LEFT JOIN node_extent AS x ON x.node = b.node LEFT JOIN node_extent AS y ON y.node = b.what
	WHERE b.count >= 20
	UNION ALL
	SELECT b.kind, b.node, b.what, 'a second', '1/s', b.eighth, CASE b.eighth WHEN -1 THEN 1e9 ELSE 8e9 END * b.count / span_ns, w.mean_ns * span_ns / 1e9, 1, 0
	FROM bin_eighth AS b JOIN bin_whole AS w ON w.kind = b.kind AND w.node = b.node AND w.what = b.what
	JOIN node_extent AS x ON x.node = b.node CROSS JOIN throughout WHERE b.kind <> 'busy' AND is_known = 1
	UNION ALL
	SELECT 'disks', b.node, b.what, 'busy', '%', b.eighth, CASE b.eighth WHEN -1 THEN 1e2 / share ELSE 8e2 END * b.took_ns / span_ns, span_ns / 1e2, 1, 0
	FROM bin_eighth AS b JOIN node_extent AS x ON x.node = b.node WHERE b.kind = 'busy'
	UNION ALL
	SELECT p.kind, p.node, p.what, p.measure, 'ns', p.eighth, 1e0 * p.ns / p.count, w.count, 0,
	       CASE WHEN p.measure IN ('reaching the server', 'coming back', 'queued at the server') THEN x.bound_ns + x.widest_ns ELSE 0 END
	FROM part AS p JOIN bin_whole AS w ON w.kind = p.kind AND w.node = p.node AND w.what = p.what
	LEFT JOIN node_extent AS x ON x.node = p.node
	WHERE p.kind = 'requests' AND w.count >= 20 AND p.count >= 3 AND p.ns IS NOT NULL
	UNION ALL
	SELECT 'messages', node, what, 'segments sent again', 'count', eighth, count * CASE eighth WHEN -1 THEN 1 ELSE 8 END, NULL, 1, 0 FROM again_eighth
	UNION ALL
	SELECT 'messages', w.node, w.what, 'segments sent again', 'count', -1, 0, NULL, 1, 0 FROM bin_whole AS w
	WHERE w.kind = 'pairs' AND NOT EXISTS (SELECT 1 FROM again_eighth AS a WHERE a.node = w.node AND a.what = w.what)
	UNION ALL
	SELECT CASE WHEN name LIKE 'cpu%' THEN 'sar' ELSE 'memory' END, node, NULL, CASE name WHEN 'cpu %idle' THEN 'processors busy' WHEN 'memory %memused' THEN 'in use' ELSE 'pages swapped out a second' END,
	       CASE WHEN name LIKE '%pswpout/s' THEN '1/s' ELSE '%' END, eighth, CASE name WHEN 'cpu %idle' THEN 1e2 - value ELSE value END, NULL, 0, 0
	FROM sampled_eighth
	UNION ALL
	SELECT 'clocks', NULL, NULL, 'widest bound', 'ns', -1, max(worst_bound_ns), NULL, 0, 0 FROM page_clocks HAVING count(worst_bound_ns) = count(*) AND count(*) > 0
	UNION ALL
	SELECT 'clocks', NULL, NULL, 'clocks without a bound', 'count', -1, count(*) - count(worst_bound_ns), :end_ns - :begin_ns, 1, 0 FROM page_clocks HAVING count(*) > 0
	UNION ALL
	SELECT 'clocks', s.node, NULL, 'steps and changes of rate', 'count', -1, max(g.n) - 1, NULL, 1, 0
	FROM clock_segment AS g JOIN source AS s ON s.id = g.source WHERE s.node IS NOT NULL GROUP BY s.node
	UNION ALL
	SELECT 'recorded', x.node, NULL, 'time without a trace', '%', -1, round(1e2 - 1e2 * share), NULL, 1, 0
	FROM node_extent AS x WHERE x.node IN (SELECT node FROM kernel_recorded)
	UNION ALL
	SELECT 'lost', n.id, NULL, 'events discarded', 'count', -1, sum(l.discarded), NULL, 1, 0 FROM page_lost AS l JOIN node AS n ON n.name = l.node GROUP BY n.id
	UNION ALL
	SELECT 'tasks', node, NULL, 'failed', 'count', -1, count(*) FILTER (WHERE status <> 0), NULL, 1, 0 FROM invocation GROUP BY node)
SELECT f.kind, n.name AS node, CASE WHEN f.kind = 'messages' THEN 'to ' || coalesce((SELECT name FROM node AS o WHERE o.id = f.subject), 'elsewhere')
       WHEN f.kind = 'requests' THEN 'port ' || f.subject ELSE CAST(f.subject AS TEXT) END AS subject, f.measure, f.unit, f.eighth, f.value, f.weight_ns, f.is_sum, f.error_ns
FROM (SELECT CASE kind WHEN 'pairs' THEN 'messages' ELSE kind END AS kind, node, subject, measure, unit, eighth, value, weight_ns, is_sum, error_ns FROM fact) AS f
LEFT JOIN node AS n ON n.id = f.node ORDER BY f.kind, f.node, f.subject, f.measure, f.eighth;

-- table heat: What the page's map and timeline of this run show, of a run that another is held against
-- when: plot
SELECT 'known' AS measure, n.name, n.name AS node, p.step, 1 AS value
FROM page_step AS p JOIN node AS n ON n.id = p.node WHERE p.known_ns > 0 GROUP BY p.node, n.name, 4
UNION ALL
SELECT 'lane', n.name || ' ' || p.cpu, n.name, p.step, 1e5 * p.busy_ns / p.known_ns
FROM page_step AS p JOIN node AS n ON n.id = p.node WHERE p.known_ns > 0
UNION ALL
SELECT 'lane-irq', n.name || ' ' || p.cpu, n.name, p.step, 1e5 * (p.irq_ns + p.softirq_ns) / p.known_ns
FROM page_step AS p JOIN node AS n ON n.id = p.node WHERE p.known_ns > 0
UNION ALL
SELECT 'busy', n.name, n.name, p.step, 1e5 * sum(p.busy_ns) / sum(p.known_ns)
FROM page_step AS p JOIN node AS n ON n.id = p.node WHERE p.known_ns > 0 GROUP BY p.node, n.name, 4
UNION ALL
SELECT 'waiting', n.name, n.name, w.step, 1e3 * sum(w.wait_ns) / step_ns
FROM page_wait AS w CROSS JOIN page_fact JOIN node AS n ON n.id = w.node GROUP BY w.node, n.name, 4, step_ns
UNION ALL
SELECT 'disk', n.name || ' ' || b.b, n.name, b.step, 1e5 * sum(b.took_ns) / step_ns
FROM page_bin AS b CROSS JOIN page_fact JOIN node AS n ON n.id = b.a WHERE b.kind = 'busy' GROUP BY n.name, b.b, 4, step_ns
UNION ALL
SELECT 'slowest', coalesce(c.name, '?') || ' ' || char(8594) || ' ' || s.name || ':' || b.c, s.name, b.step, max(b.most_ns)
FROM page_bin AS b CROSS JOIN page_fact JOIN node AS s ON s.id = b.b LEFT JOIN node AS c ON c.id = b.a WHERE b.kind = 'requests' GROUP BY c.name, s.name, b.c, 4
UNION ALL
SELECT 'slowest', s.name || ':' || b.c, s.name, b.step, max(b.most_ns)
FROM page_bin AS b CROSS JOIN page_fact JOIN node AS s ON s.id = b.b WHERE b.kind = 'requests' GROUP BY s.name, b.c, 4
UNION ALL
SELECT 'again', s.name || ' ' || char(8594) || ' ' || coalesce(d.name, '?'), s.name, (a.ts_ns - :begin_ns - (a.ts_ns - :begin_ns) % step_ns) / step_ns, count(*)
FROM page_again AS a CROSS JOIN page_fact JOIN node AS s ON s.id = a.src_node LEFT JOIN node AS d ON d.id = a.dst_node
WHERE a.ts_ns BETWEEN :begin_ns AND :end_ns GROUP BY s.name, d.name, 4
ORDER BY 1, 2, 4;
