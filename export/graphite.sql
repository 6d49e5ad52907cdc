-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Points for Graphite, in an order that is always the same: samples by metric, node and
-- time; then what events say of processors and messages, in intervals that begin at whole
-- multiples since the epoch and bear the time of their end. A row of "points" is a path
-- (CLUSTER.NODE.ACTIVITY.ITEM.METRIC), a second since the epoch, the nearest one, and a
-- value. Parameters: begin (?1) and end (?2) of what was asked for, --prefix (?3), the
-- interval in ns (?4), and globs of activities as a JSON list (?5, NULL: all but process).
-- `chosen` has the nodes.

-- Parts of paths: letters, digits, - and _ stay, "%" becomes percent_, "/s" at the end
-- _per_s, and everything else _.
--- table graphite_text (text)
WITH RECURSIVE text AS (
	SELECT name AS text FROM metric UNION SELECT coalesce(activity, '') FROM metric
	UNION SELECT name FROM metric_item UNION SELECT name FROM node UNION SELECT value || '' FROM meta WHERE key = 'name'),
part (text, rest, part) AS (
	SELECT text, CASE WHEN text LIKE '_%/s' THEN substr(text, 1, length(text) - 2) ELSE text END, '' FROM text
	UNION ALL
	SELECT text, substr(rest, 2), part || CASE WHEN substr(rest, 1, 1) GLOB '[A-Za-z0-9_-]' THEN substr(rest, 1, 1)
		WHEN substr(rest, 1, 1) = '%' THEN 'percent_' ELSE '_' END
	FROM part WHERE rest <> '')
SELECT text, CASE WHEN text = '' THEN '_' WHEN text LIKE '_%/s' THEN part || '_per_s' ELSE part END AS part
FROM part WHERE rest = ''

-- The same of each name; of names that become the same the second gets _2.
--- table graphite_part (kind, id)
SELECT kind, id, part || CASE WHEN place > 1 THEN '_' || place ELSE '' END AS part
FROM (SELECT kind, id, part, row_number() OVER (PARTITION BY kind, kin, lower(part) ORDER BY id) AS place
	FROM (SELECT 'metric' AS kind, id, activity AS kin, name FROM metric
		UNION ALL SELECT 'item', id, type, name FROM metric_item
		UNION ALL SELECT 'node', id, NULL, name FROM node)
	JOIN graphite_text ON text = name)

--- table graphite_cluster
SELECT coalesce(?3, (SELECT part FROM meta JOIN graphite_text ON text = value WHERE key = 'name' AND value <> ''),
	'cluster') AS cluster

--- table graphite_wanted (activity)
SELECT activity FROM (SELECT coalesce(activity, '') AS activity FROM metric UNION SELECT 'events' UNION SELECT 'messages')
WHERE CASE WHEN ?5 IS NULL THEN activity <> 'process'
	ELSE EXISTS (SELECT 1 FROM json_each(?5) AS g WHERE activity GLOB replace(g.value, '[!', '[^')) END

-- The parts of the name before and after the item.
--- table graphite_series
SELECT m.id AS metric, c.id AS node, g.cluster || '.' || n.part || '.' || a.part || '.' AS head, '.' || p.part AS tail
FROM metric AS m JOIN graphite_wanted AS w ON w.activity = coalesce(m.activity, '')
JOIN graphite_text AS a ON a.text = w.activity JOIN graphite_part AS p ON p.kind = 'metric' AND p.id = m.id
CROSS JOIN chosen AS c JOIN graphite_part AS n ON n.kind = 'node' AND n.id = c.id CROSS JOIN graphite_cluster AS g
WHERE c.chosen ORDER BY m.id, c.id

--- points
SELECT r.head || coalesce(i.part, 'node') || r.tail, (s.ts_ns + 500000000) / 1000000000, s.value
FROM graphite_series AS r CROSS JOIN sample AS s ON s.metric = r.metric AND s.node = r.node
LEFT JOIN graphite_part AS i ON i.kind = 'item' AND i.id = s.item
WHERE s.ts_ns BETWEEN ?1 AND ?2 ORDER BY r.rowid, s.item, s.ts_ns, s.rowid

-- Exact use of each processor: running spans, cut at the intervals. Of what runs for
-- more than a day only the ends are told: one stamp of a far year makes it.
--- points
WITH RECURSIVE piece (node, cpu, busy, begin_ns, end_ns) AS (
	SELECT s.node, s.cpu, s.tid <> 0, max(s.begin_ns, ?1), min(s.end_ns, ?2)
	FROM graphite_wanted AS w CROSS JOIN thread_state AS s JOIN chosen AS c ON c.id = s.node AND c.chosen
	WHERE w.activity = 'events' AND s.state_code = 1 AND s.cpu IS NOT NULL AND s.begin_ns < ?2 AND s.end_ns > ?1
	UNION ALL
	SELECT node, cpu, busy, CASE WHEN end_ns - begin_ns > 86400000000000 THEN end_ns / ?4 * ?4
		ELSE (begin_ns / ?4 + 1) * ?4 END, end_ns
	FROM piece WHERE end_ns > (begin_ns / ?4 + 1) * ?4),
busy AS MATERIALIZED (
	SELECT node, begin_ns / ?4 AS interval, cpu,
		sum(CASE busy WHEN 1 THEN min(end_ns, (begin_ns / ?4 + 1) * ?4) - begin_ns ELSE 0 END) AS busy_ns,
		sum(min(end_ns, (begin_ns / ?4 + 1) * ?4) - begin_ns) AS known_ns
	FROM piece GROUP BY node, interval, cpu)
SELECT (SELECT cluster FROM graphite_cluster) || '.' || n.part || '.events.' || coalesce('cpu' || b.cpu, 'all') || '.percent_busy',
	(b.interval + 1) * ?4 / 1000000000, 100.0 * b.busy_ns / b.known_ns
FROM (SELECT *, 0 AS whole FROM busy
	UNION ALL SELECT node, interval, NULL, sum(busy_ns), sum(known_ns), 1 FROM busy GROUP BY node, interval) AS b
JOIN graphite_part AS n ON n.kind = 'node' AND n.id = b.node
WHERE b.known_ns > 0 ORDER BY b.node, b.interval, b.whole, b.cpu

--- points
WITH sent AS (
	SELECT m.src_node, m.dst_node, m.send_ns / ?4 AS interval, count(*) AS messages, sum(m.bytes) AS bytes
	FROM graphite_wanted AS w CROSS JOIN message AS m
	WHERE w.activity = 'messages' AND m.send_ns BETWEEN ?1 AND ?2 GROUP BY m.src_node, m.dst_node, interval)
SELECT (SELECT cluster FROM graphite_cluster) || '.' || a.part || '.messages.to_' || b.part || '.' || v.word, (s.interval + 1) * ?4 / 1000000000,
	CASE v.word WHEN 'count_per_s' THEN s.messages ELSE s.bytes END / (?4 / 1000000000.0)
FROM sent AS s JOIN chosen AS c ON c.id = s.src_node AND c.chosen JOIN chosen AS d ON d.id = s.dst_node AND d.chosen
JOIN graphite_part AS a ON a.kind = 'node' AND a.id = s.src_node
JOIN graphite_part AS b ON b.kind = 'node' AND b.id = s.dst_node
CROSS JOIN (SELECT 'count_per_s' AS word UNION ALL SELECT 'bytes_per_s') AS v
ORDER BY s.src_node, s.dst_node, s.interval, v.word DESC

-- Samples of processes that were not asked for: whose (NULL: the timeline's), count, text.
--- notes
SELECT NULL, count(*), count(*) || ' samples of processes are left out, --activity ''*'' has them'
FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id JOIN chosen AS c ON c.id = s.node AND c.chosen
WHERE m.activity = 'process' AND 'process' NOT IN (SELECT activity FROM graphite_wanted)
	AND s.ts_ns BETWEEN ?1 AND ?2 HAVING count(*) > 0

-- A dashboard for Grafana (its JSON model, schemaVersion 39) over these points: gauges and
-- graphs, every node in one picture. It asks which data source to take when it is imported;
-- nodes, disks and interfaces are chosen on it. A row of it is 24 wide; $c is the cluster;
-- legends are the path from the node on. A gauge stands left of its graph.
--- dashboard
WITH panel (place, title, gauge, graph, more, gauge_unit, unit) AS (VALUES
	(0, 'CPU utilization', 'offset(scale($c.$node.cpu.all.percent_idle, -1), 100)',
		'offset(scale($c.$node.cpu.all.percent_idle, -1), 100)', NULL, 'percent', 'percent'),
	(1, 'CPU waiting for disks', '$c.$node.cpu.all.percent_iowait', '$c.$node.cpu.all.percent_iowait', NULL, 'percent',
		'percent'),
	(2, 'CPU busy, by scheduler events', '$c.$node.events.all.percent_busy', '$c.$node.events.cpu*.percent_busy', NULL,
		'percent', 'percent'),
	(3, 'Memory', '$c.$node.memory.node.percent_memused', '$c.$node.memory.node.kbmemused', NULL, 'percent', 'deckbytes'),
	(4, 'Swap', '$c.$node.swap.node.percent_swpused', '$c.$node.swap.node.kbswpused', NULL, 'percent', 'deckbytes'),
	(5, 'Disks: read and written', NULL, '$c.$node.disk.$disk.rkB_per_s', '$c.$node.disk.$disk.wkB_per_s', NULL, 'KBs'),
	(6, 'Disks: utilization', '$c.$node.disk.$disk.percent_util', '$c.$node.disk.$disk.percent_util', NULL, 'percent',
		'percent'),
	(7, 'Network: received and sent', '$c.$node.net.$interface.percent_ifutil', '$c.$node.net.$interface.rxkB_per_s',
		'$c.$node.net.$interface.txkB_per_s', 'percent', 'KBs'),
	(8, 'Messages between nodes', NULL, '$c.$node.messages.*.bytes_per_s', NULL, NULL, 'Bps')),
drawn AS (
	SELECT place, title, 1 AS is_gauge, 0 AS x, 6 AS w, gauge AS target, NULL AS more, gauge_unit AS unit FROM panel
	WHERE gauge IS NOT NULL
	UNION ALL
	SELECT place, title, 0, iif(gauge IS NULL, 0, 6), iif(gauge IS NULL, 24, 18), graph, more, unit FROM panel),
aliased AS (
	SELECT d.*, 'aliasByNode(' || replace(target, '$c.', cluster || '.') || alias AS a,
		'aliasByNode(' || replace(more, '$c.', cluster || '.') || alias AS b
	FROM drawn AS d JOIN (SELECT cluster, printf(', %d, %d, %d, %d)', dots + 1, dots + 2, dots + 3, dots + 4) AS alias
		FROM (SELECT cluster, length(cluster) - length(replace(cluster, '.', '')) AS dots FROM graphite_cluster)))
SELECT json_object('title', 'clustertrace: ' || cluster, 'tags', json_array('clustertrace'), 'schemaVersion', 39,
	'timezone', 'utc', 'editable', json('true'), 'time', json_object(
		'from', strftime('%Y-%m-%dT%H:%M:%fZ', ?1 / 1000000 / 1e3, 'unixepoch'),
		'to', strftime('%Y-%m-%dT%H:%M:%fZ', ?2 / 1000000 / 1e3, 'unixepoch')),
	'templating', json_object('list', (SELECT json_group_array(json(variable)) FROM (
		SELECT json_object('name', 'datasource', 'type', 'datasource', 'query', 'graphite') AS variable
		UNION ALL
		SELECT json_object('name', column1, 'type', 'query', 'query', replace(column2, '$c.', cluster || '.'),
			'datasource', json_object('type', 'graphite', 'uid', '${datasource}'), 'multi', json('true'),
			'includeAll', json('true'), 'refresh', 1, 'current', json_object('selected', json('true'),
				'text', json_array('All'), 'value', json_array('$__all')))
		FROM (VALUES ('node', '$c.*'), ('disk', '$c.$node.disk.*'), ('interface', '$c.$node.net.*'))))),
	'panels', (SELECT json_group_array(json(panel)) FROM (
		SELECT json_object('id', 2 * place + 1 + is_gauge, 'title', title, 'type', iif(is_gauge, 'gauge', 'timeseries'),
			'datasource', json_object('type', 'graphite', 'uid', '${datasource}'),
			'gridPos', json_object('x', x, 'y', 8 * place, 'w', w, 'h', 8),
			'fieldConfig', json_object('defaults', iif(is_gauge, json_object('unit', unit, 'min', 0, 'max', 100),
				json_object('unit', unit, 'min', 0)), 'overrides', json_array()),
			'targets', iif(more IS NULL, json_array(json_object('refId', 'A', 'target', a)),
				json_array(json_object('refId', 'A', 'target', a), json_object('refId', 'B', 'target', b))),
			'options', json_object()) AS panel
		FROM aliased ORDER BY place, is_gauge DESC)))
FROM graphite_cluster
