-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The files of a Tracekit run, of one node; a record is a row, and NAME of a statement is
-- the file. Names of members and units are Tracekit's: ts_ms is milliseconds since the
-- epoch, rss_kb KiB, cpu_util percent, rx_Bps bytes a second. A member whose value is not
-- known is null where Tracekit's scripts want it there, and left out elsewhere.
-- Parameters: the node's id (?1), the begin (?2) and end (?3) of what was asked for, the
-- node's name (?4) and the stage (?5). Milliseconds are rounded down.

-- The node, with the interface that moved the most, but for the loopback.
--- table tracekit_node
SELECT n.*, nullif(max(n.cpus, 0), 0) AS cores, CASE WHEN n.mem_kib >= 1024 THEN n.mem_kib / 1024 END AS mem_mb,
	(SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.cpu_model') END
		FROM meta WHERE key = 'node.json.' || n.name) AS model,
	CASE WHEN n.cpu_mhz > 0 THEN n.cpu_mhz END AS mhz,
	(SELECT i.name FROM sample AS s JOIN metric AS m ON m.id = s.metric JOIN metric_item AS i ON i.id = s.item
		WHERE s.node = ?1 AND m.activity = 'net' AND m.name IN ('rxkB/s', 'txkB/s') AND i.name <> 'lo'
		GROUP BY i.id ORDER BY sum(s.value) DESC, i.name LIMIT 1) AS nic
FROM node AS n WHERE n.id = ?1

-- Tasks, with what their records say besides as `d`.
--- table tracekit_task
SELECT t.*, json_extract(d, '$.trace_id') AS trace_id, coalesce(json_extract(d, '$.module_id'), name) AS module,
	coalesce(json_extract(d, '$.instance_id'), 'pid-' || pid) AS instance,
	queued_ns / 1000000 AS queued_ms,
	started_ns / 1000000 AS started_ms,
	begin_ns / 1000000 AS begin_ms,
	end_ns / 1000000 AS end_ms
FROM (SELECT *, CASE WHEN json_valid(data) THEN CASE json_type(data) WHEN 'object' THEN data ELSE '{}' END
		ELSE '{}' END AS d,
	coalesce(enqueue_ns, begin_ns) AS queued_ns, coalesce(begin_ns, enqueue_ns) AS started_ns
	FROM invocation WHERE node = ?1 AND coalesce(end_ns, begin_ns, ?3) >= ?2
		AND coalesce(enqueue_ns, begin_ns, ?2) <= ?3) AS t
ORDER BY queued_ns, id

-- Processes by time: the item's name begins with the pid; NULL where not sampled.
--- table tracekit_process
SELECT s.ts_ns, s.ts_ns / 1000000 AS ts_ms, s.item,
	CAST(i.name AS INTEGER) AS pid,
	CAST(round(max(s.value) FILTER (WHERE m.name = 'utime')) AS INTEGER) AS utime,
	CAST(round(max(s.value) FILTER (WHERE m.name = 'stime')) AS INTEGER) AS stime,
	CAST(round(max(s.value) FILTER (WHERE m.name = 'rss')) AS INTEGER) AS rss
FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1 AND s.ts_ns BETWEEN ?2 AND ?3
JOIN metric_item AS i ON i.id = s.item
WHERE m.activity = 'process' AND m.name IN ('utime', 'stime', 'rss') GROUP BY s.ts_ns, s.item

-- One more task at a time, or one less; and how many wait or run from then on.
--- table tracekit_change (at_ns)
SELECT at_ns, sum(sum(by)) OVER (ORDER BY at_ns) AS in_flight
FROM (SELECT queued_ns AS at_ns, 1 AS by FROM tracekit_task WHERE queued_ns IS NOT NULL
	UNION ALL SELECT end_ns, -1 FROM tracekit_task WHERE queued_ns + end_ns IS NOT NULL)
GROUP BY at_ns

--- node_meta.json
SELECT json_object('run_id', (SELECT value FROM meta WHERE key = 'name'), 'node', name, 'stage', ?5,
	'host', hostname, 'iface', nic, 'cpu_cores', cores, 'mem_mb', mem_mb, 'cpu_model', model,
	'cpu_freq_mhz', mhz) FROM tracekit_node

--- link_meta.json
SELECT json_object('iface', nic, 'BW_bps', NULL, 'PR_s', NULL) FROM tracekit_node

--- cctf/nodes.json
SELECT json_array(json_object('node_id', name, 'stage', ?5, 'cpu_cores', cores, 'mem_mb', mem_mb,
	'cpu_model', model, 'cpu_freq_mhz', mhz)) FROM tracekit_node

--- cctf/links.json
SELECT json_array(json_object('u', ?4, 'v', ?4 || '.net', 'BW_bps', NULL, 'PR_s', NULL))

--- cctf/invocations.jsonl
SELECT json_patch(json_object('trace_id', coalesce(trace_id, 'invocation-' || id),
	'span_id', coalesce(json_extract(d, '$.span_id'), 'invocation-' || id),
	'parent_id', json_extract(d, '$.parent_id'), 'module_id', module, 'instance_id', instance,
	'method', json_extract(d, '$.method'), 'path', json_extract(d, '$.path'),
	'bytes_in', json_extract(d, '$.bytes_in'),
	'bytes_out', coalesce(json_extract(d, '$.bytes_out'), json_extract(d, '$.bytes')),
	'ts_enqueue', queued_ms, 'ts_start', started_ms, 'ts_end', end_ms, 'node', ?4, 'stage', ?5, 'pid', pid,
	'status', coalesce(status, json_extract(d, '$.status'))),
	json_object('queue_time_ms', started_ms - queued_ms, 'service_time_ms', end_ms - started_ms,
	'rt_ms', end_ms - queued_ms)) FROM tracekit_task ORDER BY queued_ns, id

--- cctf/placement_events.jsonl
SELECT json_object('ts', at_ms, 'app_id', coalesce(json_extract(d, '$.app_id'), module), 'module_id', module,
	'instance_id', instance, 'node_id', ?4, 'event', event, 'stage', ?5)
FROM (SELECT 0 AS place, 'start' AS event, begin_ms AS at_ms, * FROM tracekit_task
	UNION ALL SELECT 1, 'stop', end_ms, * FROM tracekit_task)
WHERE at_ms IS NOT NULL ORDER BY queued_ns, id, place

--- cctf/proc_metrics.jsonl
SELECT json_patch('{}', json_object('ts_ms', ts_ms, 'pid', pid, 'rss_kb', rss,
	'utime', CASE WHEN stime IS NOT NULL THEN utime / 10000000 END,
	'stime', CASE WHEN utime IS NOT NULL THEN stime / 10000000 END))
FROM tracekit_process ORDER BY ts_ns, item

-- Whole counts: their sum is right, though each is cut to whole ones. A count that went
-- back is of another process.
--- cctf/proc_cpu.jsonl
SELECT json_object('ts_ms', ts_ms, 'pid', pid,
	'cpu_ms', used_ns / 1000000
		- last_used_ns / 1000000, 'dt_ms', ts_ms - last_ms)
FROM (SELECT ts_ns, ts_ms, item, pid, utime + stime AS used_ns, lag(ts_ms) OVER one AS last_ms,
	lag(utime + stime) OVER one AS last_used_ns FROM tracekit_process WHERE utime + stime IS NOT NULL
	WINDOW one AS (PARTITION BY pid ORDER BY ts_ns, item))
WHERE used_ns >= last_used_ns ORDER BY ts_ns, item

--- cctf/proc_rss.jsonl
SELECT json_object('ts_ms', ts_ms, 'pid', pid, 'rss_kb', rss)
FROM tracekit_process WHERE rss IS NOT NULL ORDER BY ts_ns, item

--- cctf/host_metrics.jsonl
SELECT CASE name WHEN '%idle' THEN json_object('ts_ms', ts_ms, 'node', ?4, 'stage', ?5, 'cpu_util', 100 - value)
	ELSE json_object('ts_ms', ts_ms, 'node', ?4, 'stage', ?5, 'mem_free_mb', CAST(value / 1024 AS INTEGER)) END
FROM (SELECT m.name, s.ts_ns, s.value, s.ts_ns / 1000000 AS ts_ms
	FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1 AND s.ts_ns BETWEEN ?2 AND ?3
	WHERE (m.activity = 'cpu' AND m.name = '%idle'
		AND s.item IN (SELECT id FROM metric_item WHERE type = 'cpu' AND name = 'all'))
		OR (m.activity = 'memory' AND m.name = 'kbmemfree'))
ORDER BY ts_ns, name

--- cctf/link_metrics.jsonl
SELECT json_object('ts_ms', ts_ns / 1000000, 'node', ?4, 'stage', ?5,
	'link', ?4 || '.' || CASE name WHEN (SELECT nic FROM tracekit_node) THEN 'nic' ELSE name END,
	'rx_Bps', CAST(received * 1024 AS INTEGER), 'tx_Bps', CAST(sent * 1024 AS INTEGER))
FROM (SELECT s.ts_ns, i.name, max(s.value) FILTER (WHERE m.name = 'rxkB/s') AS received,
	max(s.value) FILTER (WHERE m.name = 'txkB/s') AS sent
	FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1 AND s.ts_ns BETWEEN ?2 AND ?3
	JOIN metric_item AS i ON i.id = s.item
	WHERE m.activity = 'net' AND m.name IN ('rxkB/s', 'txkB/s') AND i.name <> 'lo' GROUP BY s.ts_ns, s.item)
WHERE received + sent IS NOT NULL ORDER BY ts_ns, name

-- Number of tasks that wait or run, every second from the first change to the last. Of a longer
-- time than an hour without one only the begin is told, as a stamp may be of 2068.
--- cctf/system_stats.jsonl
WITH RECURSIVE tick (at_ns) AS (
	SELECT min(at_ns) FROM tracekit_change
	UNION ALL
	SELECT t.at_ns + 1000000000 + CASE WHEN next.at_ns - t.at_ns > 3601000000000
		THEN (next.at_ns - t.at_ns) / 1000000000 * 1000000000 - 1000000000 ELSE 0 END
	FROM tick AS t JOIN tracekit_change AS next
	ON next.at_ns = (SELECT min(c.at_ns) FROM tracekit_change AS c WHERE c.at_ns > t.at_ns))
SELECT json_object('ts_ms', t.at_ns / 1000000, 'node', ?4, 'stage', ?5,
	'metric', 'in_flight', 'value', (SELECT c.in_flight FROM tracekit_change AS c
		WHERE c.at_ns <= t.at_ns ORDER BY c.at_ns DESC LIMIT 1), 'instance_id', ?4)
FROM tick AS t WHERE t.at_ns IS NOT NULL
