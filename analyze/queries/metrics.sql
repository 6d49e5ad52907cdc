-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: metrics
-- summary: what sar and others sampled, as tables and pictures
-- description: metrics: processors waiting and busy, memory, swap, disks and
--   interfaces; --metric and --item select others ('*': all). --interval: over
--   time. --plot DIR draws pictures, each with all nodes: cpu/iowait,
--   cpu/utilization, memory/utilization, swap/utilization, disk/DEVICE_read,
--   _write, _utilization, network/INTERFACE_in, _out. --alias NAME=ALIAS names a
--   device or interface; the aliases of the recipe apply, too. If the recipe names
--   disks (filesystem_names) or interfaces (net_interfaces), only these are shown,
--   unless --item is given. processes: processor time from proc.csv. A kB of sar is
--   1024 bytes.
-- example: ctanalyze metrics --metric '*kB/s' --item eth0 --interval 10s run.db

-- The metrics that are shown by default. Of processors only the totals, unless an item is named.
-- with wanted
SELECT m.id AS metric, m.activity, m.name, m.unit
FROM chosen_metric AS m
WHERE :all_metrics = 0 OR m.activity = 'sensor'
   OR (coalesce(m.activity, '') <> 'process'
       AND m.name IN ('%iowait', '%idle', '%usr', '%sys', 'kbmemused', '%memused', 'kbswpused', 'rkB/s', 'wkB/s',
                      'rd_sec/s', 'wr_sec/s', '%util', 'rxkB/s', 'txkB/s'));

-- with sampled
SELECT w.activity, w.name AS metric, w.unit, s.node, s.item, s.ts_ns, s.value
FROM wanted AS w JOIN sample AS s ON s.metric = w.metric LEFT JOIN metric_item AS i ON i.id = s.item
WHERE s.ts_ns BETWEEN :begin_ns AND :end_ns AND s.node IN (SELECT id FROM chosen_node)
  AND CASE WHEN :all_items = 1 THEN s.item IS NULL OR s.item IN (SELECT id FROM analyzed_item)
      ELSE s.item IN (SELECT id FROM chosen_item) END
  AND (:all_items = 0 OR coalesce(w.activity, '') <> 'cpu' OR i.name = 'all');

-- table metrics: Metrics
-- sort: activity,metric,item,node
SELECT t.activity, t.metric, t.unit, n.name AS node, coalesce(i.alias, '') AS item, count(t.value) AS samples,
       min(t.value) AS min, avg(t.value) AS mean, max(t.value) AS max
FROM sampled AS t JOIN node AS n ON n.id = t.node LEFT JOIN chosen_item AS i ON i.id = t.item
GROUP BY t.activity, t.metric, t.unit, t.node, n.name, t.item, coalesce(i.alias, '');

-- table over_time: Metrics over time
-- when: interval
-- sort: begin_ns,activity,metric,item,node
SELECT t.ts_ns - (t.ts_ns - :begin_ns) % :interval_ns AS begin_ns, t.activity, t.metric, t.unit, n.name AS node,
       coalesce(i.alias, '') AS item, avg(t.value) AS mean, max(t.value) AS max
FROM sampled AS t JOIN node AS n ON n.id = t.node LEFT JOIN chosen_item AS i ON i.id = t.item
GROUP BY 1, t.activity, t.metric, t.unit, t.node, n.name, t.item, coalesce(i.alias, '');

-- Counters since a process began; one that falls is of another process with its number and name.
-- table processes: Processor time of processes, from proc.csv
-- when: rows
-- sort: -cpu_ns,node,process
-- limit: 20
-- column user_ns: ns, USER
-- column system_ns: ns, SYSTEM
-- column cpu_ns: ns, CPU TIME
-- column percent: %, OF ONE CPU
-- column sampled_ns: ns, SAMPLED FOR
-- column total_ns: ns, SINCE ITS BEGIN
WITH counted AS (
	SELECT m.name AS metric, s.node, s.item, s.ts_ns, s.value,
	       lag(s.value) OVER (PARTITION BY m.id, s.node, s.item ORDER BY s.ts_ns) AS last_value
	FROM chosen_metric AS m JOIN sample AS s ON s.metric = m.id
	WHERE m.activity = 'process' AND m.name IN ('utime', 'stime') AND s.value IS NOT NULL
	  AND s.ts_ns BETWEEN :begin_ns AND :end_ns AND s.node IN (SELECT id FROM chosen_node)
	  AND (:all_items = 1 OR s.item IN (SELECT id FROM chosen_item))),
grown AS (
	SELECT metric, node, item, ts_ns, value,
	       CASE WHEN last_value IS NULL THEN NULL
	       WHEN value >= last_value THEN value - last_value ELSE value END AS more_ns
	FROM counted)
SELECT n.name AS node, i.name AS process, sum(g.more_ns) FILTER (WHERE g.metric = 'utime') AS user_ns,
       sum(g.more_ns) FILTER (WHERE g.metric = 'stime') AS system_ns, sum(g.more_ns) AS cpu_ns,
       1e2 * sum(g.more_ns) / nullif(max(g.ts_ns) - min(g.ts_ns), 0) AS percent,
       max(g.ts_ns) - min(g.ts_ns) AS sampled_ns,
       max(g.value) FILTER (WHERE g.metric = 'utime') + max(g.value) FILTER (WHERE g.metric = 'stime') AS total_ns
FROM grown AS g JOIN node AS n ON n.id = g.node JOIN metric_item AS i ON i.id = g.item
GROUP BY g.node, n.name, g.item, i.name;

-- The pictures of clusterp. A value is `base` and the scaled sum of the metrics; `top` is the axis's, 0: as the
-- values are; of an `only` item there is one picture, else one each. Older versions of sysstat call some
-- otherwise. Their kB are 1024 bytes, their sectors 512.
-- table plots: The pictures of --plot
-- when: plot
WITH kind (number, file, title, unit, activity, metric, base, scale, top, "only") AS (VALUES
	(1, 'cpu/iowait', 'Processors waiting for disks', '%', 'cpu', '%iowait', 0, 1e0, 100, 'all'),
	(2, 'cpu/utilization', 'Processors busy', '%', 'cpu', '%iowait', 100, -1e0, 100, 'all'),
	(2, 'cpu/utilization', 'Processors busy', '%', 'cpu', '%idle', 100, -1e0, 100, 'all'),
	(3, 'memory/utilization', 'Memory in use', 'MiB', 'memory', 'kbmemused', 0, 1 / 1024e0, 0, NULL),
	(4, 'swap/utilization', 'Swap in use', 'MiB', 'swap', 'kbswpused', 0, 1 / 1024e0, 0, NULL),
	(5, 'disk/read', 'read', 'MiB/s', 'disk', 'rkB/s', 0, 1 / 1024e0, 0, NULL),
	(5, 'disk/read', 'read', 'MiB/s', 'disk', 'rd_sec/s', 0, 1 / 2048e0, 0, NULL),
	(6, 'disk/write', 'written', 'MiB/s', 'disk', 'wkB/s', 0, 1 / 1024e0, 0, NULL),
	(6, 'disk/write', 'written', 'MiB/s', 'disk', 'wr_sec/s', 0, 1 / 2048e0, 0, NULL),
	(7, 'disk/utilization', 'busy', '%', 'disk', '%util', 0, 1e0, 100, NULL),
	(8, 'network/in', 'received', 'MiB/s', 'net', 'rxkB/s', 0, 1 / 1024e0, 0, NULL),
	(9, 'network/out', 'sent', 'MiB/s', 'net', 'txkB/s', 0, 1 / 1024e0, 0, NULL))
SELECT k.file, k.title, k.unit, k.top, CASE WHEN k."only" IS NULL THEN coalesce(i.name, '') ELSE '' END AS item,
       coalesce(c.alias, '') AS alias, n.name AS node, s.ts_ns, max(s.interval_ns) AS interval_ns,
       k.base + sum(k.scale * s.value) AS value
FROM kind AS k JOIN metric AS m ON m.activity = k.activity AND m.name = k.metric JOIN sample AS s ON s.metric = m.id
JOIN chosen_node AS n ON n.id = s.node LEFT JOIN metric_item AS i ON i.id = s.item
LEFT JOIN chosen_item AS c ON c.id = s.item
WHERE s.value IS NOT NULL AND s.ts_ns BETWEEN :begin_ns AND :end_ns
  AND CASE WHEN k."only" IS NOT NULL THEN i.name = k."only"
      WHEN :all_items = 1 THEN s.item IS NULL OR s.item IN (SELECT id FROM analyzed_item) ELSE c.id IS NOT NULL END
GROUP BY k.number, k.file, k.title, k.unit, k.top, k."only", i.name, c.alias, n.id, n.name, s.ts_ns
ORDER BY k.number, i.name, n.id, s.ts_ns;

-- notes
SELECT CASE WHEN EXISTS (SELECT 1 FROM sample)
       THEN 'no metric that was sampled in the selected time matches (--metric ''*'' shows all)'
            ELSE 'metrics: not recorded (collect with sar)' END AS note WHERE NOT EXISTS (SELECT 1 FROM sampled)
UNION ALL
SELECT left_out || ' disks and interfaces that the recipe does not name are left out (--item ''*'' shows them)'
FROM (SELECT count(*) AS left_out FROM metric_item
      WHERE type IN ('disk', 'interface') AND id NOT IN (SELECT id FROM analyzed_item)) AS l
WHERE left_out > 0 AND :all_items = 1;
