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

-- What is shown first: the time in which all chosen nodes were recorded, if there is any.
-- temporary home
WITH life AS (
	SELECT min(begin_ns) AS begin_ns, max(end_ns) AS end_ns FROM source
	WHERE end_ns >= begin_ns AND kind <> 'capture' AND node IN (SELECT id FROM chosen_node)
	  AND (kind = 'kernel' OR node NOT IN (SELECT node FROM source WHERE kind = 'kernel' AND node IS NOT NULL))
	GROUP BY node),
common AS (
	SELECT greatest(:begin_ns, coalesce(max(begin_ns), :begin_ns)) AS begin_ns,
	       least(:end_ns, coalesce(min(end_ns), :end_ns)) AS end_ns FROM life)
SELECT CASE WHEN begin_ns < end_ns THEN begin_ns ELSE :begin_ns END AS begin_ns,
       CASE WHEN begin_ns < end_ns THEN end_ns ELSE :end_ns END AS end_ns FROM common;

-- When to say how sure the clocks are: in steps all along, and while all nodes were recorded at
-- both ends and wherever a bound was stated.
-- temporary instant
WITH RECURSIVE drawn AS (SELECT CASE WHEN count(*) > 20 THEN 40 ELSE 120 END AS points FROM node),
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
	       CASE WHEN c.low_ns IS NOT NULL AND c.high_ns IS NOT NULL THEN greatest(-c.low_ns, c.high_ns) END AS width_ns
	FROM instant AS i LEFT JOIN node_source AS o ON o.node = i.node LEFT JOIN source AS s ON s.node = i.node
	LEFT JOIN uncertainty_span AS u ON u.source = s.id
	LEFT JOIN clock_uncertainty AS c ON c.source = s.id AND c.begin_ns > i.at_ns - u.longest_ns AND c.begin_ns <= i.at_ns + 0
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

-- Processor -1 is the node as a whole.
-- table gaps: What was not recorded
WITH span AS (
	SELECT node, coalesce(cpu, -1) AS cpu, begin_ns, end_ns FROM recorded WHERE kind IN ('kernel', 'cpu')
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
	SELECT id AS metric, CASE activity WHEN 'cpu' THEN 1 WHEN 'memory' THEN 2 WHEN 'disk' THEN 3 ELSE 4 END AS n FROM metric
	WHERE (activity = 'cpu' AND name = '%idle') OR (activity = 'memory' AND name = 'kbmemused')
	   OR (activity = 'disk' AND name IN ('rkB/s', 'wkB/s')) OR (activity = 'net' AND name IN ('rxkB/s', 'txkB/s')))
SELECT n, p.place AS node, s.ts_ns AS till, max(coalesce(nullif(s.interval_ns, 0), 1000000000)) AS took,
       CASE n WHEN 1 THEN 100 - max(s.value) WHEN 2 THEN max(s.value) * 1024 ELSE sum(s.value) * 1024 END AS value
FROM curve AS c JOIN sample AS s ON s.metric = c.metric LEFT JOIN metric_item AS i ON i.id = s.item
LEFT JOIN place AS p ON p.node = s.node
WHERE s.value IS NOT NULL AND s.ts_ns > :begin_ns
  AND CASE n WHEN 1 THEN i.name = 'all' WHEN 2 THEN 1
      ELSE s.item IN (SELECT id FROM analyzed_item) AND i.name <> 'lo' AND i.name NOT LIKE 'loop%' AND i.name NOT LIKE 'dm-%' END
GROUP BY n, s.node, s.ts_ns HAVING s.ts_ns - max(coalesce(nullif(s.interval_ns, 0), 1000000000)) < :end_ns;

-- Of many samples some at a time become their mean by time, as long as none is missing between them.
-- with sample_curve
WITH point AS MATERIALIZED (SELECT * FROM sample_point),
merge AS (
	SELECT n, (count(*) - 1) / (SELECT CASE WHEN 10000 / count(*) < 60 THEN 60 * count(*) ELSE 10000 END FROM node) + 1 AS size
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

-- with way
SELECT id, src_node, dst_node, send_ns, recv_ns - send_ns AS took_ns
FROM message
WHERE src_node <> dst_node AND recv_ns IS NOT NULL AND send_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR src_node IN (SELECT id FROM chosen_node) OR dst_node IN (SELECT id FROM chosen_node));

-- Of more messages between nodes than can be drawn the slowest of each pair of nodes and direction in each step.
-- temporary link_step
SELECT messages, CASE WHEN messages > 2000 THEN (:end_ns - :begin_ns) / (2000 / greatest(2 * pairs, 2) + 1) + 1 ELSE 0 END AS step_ns
FROM (SELECT count(*) AS messages FROM way) AS a CROSS JOIN (
	SELECT count(*) AS pairs FROM (
		SELECT DISTINCT a.node, b.node FROM clock_pair AS p JOIN source AS a ON a.id = p.a JOIN source AS b ON b.id = p.b) AS c) AS d;

-- table messages: How many there are, and of which steps those are that are drawn
SELECT messages, step_ns FROM link_step;

-- table links: The messages that are drawn
WITH link AS (
	SELECT id, max(took_ns) AS took_ns FROM way CROSS JOIN link_step
	GROUP BY src_node, dst_node, CASE WHEN step_ns > 0 THEN (send_ns - :begin_ns) / step_ns ELSE id END
	ORDER BY 2 DESC, 1 LIMIT 4000)
SELECT m.id, a.place AS from_place, (SELECT cpu FROM event WHERE id = m.send_event) AS from_cpu,
       b.place AS to_place, (SELECT cpu FROM event WHERE id = m.recv_event) AS to_cpu,
       m.send_ns - :begin_ns AS sent_ns, m.recv_ns - :begin_ns AS came_ns, m.low_ns, m.high_ns,
       coalesce(m.bytes, -1) AS bytes, coalesce(m.sport, -1) AS sport, coalesce(m.dport, -1) AS dport, m.protocol
FROM link AS l JOIN message AS m ON m.id = l.id LEFT JOIN place AS a ON a.node = m.src_node
LEFT JOIN place AS b ON b.node = m.dst_node
ORDER BY took_ns DESC, m.id;

-- Where and when tasks ran; an end that was not recorded is NULL.
-- table tasks: The tasks that are drawn
SELECT p.place AS node, i.begin_ns - :begin_ns AS from_ns, i.end_ns - :begin_ns AS to_ns, coalesce(i.name, '') AS name,
       coalesce(i.status, -1) AS status, coalesce(i.pid, -1) AS pid
FROM invocation AS i JOIN place AS p ON p.node = i.node
WHERE i.begin_ns <= :end_ns AND coalesce(i.end_ns, :end_ns) >= :begin_ns ORDER BY i.begin_ns, i.id LIMIT 4000;

-- table periods: The longest periods of user space
SELECT p.place AS node, u.tid, coalesce(t.comm, '') AS comm, u.begin_ns - :begin_ns AS from_ns, u.end_ns - :begin_ns AS to_ns,
       u.from_name, u.to_name
FROM user_period AS u JOIN place AS p ON p.node = u.node
LEFT JOIN known_thread AS t ON t.node = u.node AND t.tid = u.tid AND u.begin_ns >= t.from_ns AND u.begin_ns < t.until_ns
ORDER BY u.duration_ns DESC, u.begin_ns, p.place, u.tid, u.from_name LIMIT 4000;

-- How many events there are in each step of time: of user space, and where no kernel was traced of the other sources.
-- table density: Events of user space and captures
WITH counted AS (
	SELECT id FROM source AS s WHERE kind = 'user'
	   OR NOT EXISTS (SELECT 1 FROM thread_state AS t WHERE t.node = s.node) AND kind <> 'kernel'),
step AS (SELECT (:end_ns - :begin_ns) / 800 + 1 AS ns)
SELECT p.place AS node, (e.ts_ns - :begin_ns) / step.ns AS cell, count(*) AS events, step.ns AS step_ns
FROM step CROSS JOIN event AS e JOIN place AS p ON p.node = e.node
WHERE EXISTS (SELECT 1 FROM counted) AND e.source IN (SELECT id FROM counted) AND e.ts_ns BETWEEN :begin_ns AND :end_ns
GROUP BY 1, 2, 4 ORDER BY 1, 2;

-- One row for what is the same of many nodes.
-- table folded: Problems in the input
-- limit: 100
SELECT node, CASE WHEN count(*) > 1 THEN 'and ' || (count(*) - 1) || ' more' ELSE place END AS place, kind,
       sum(count) AS count, text
FROM node_problem GROUP BY kind, text ORDER BY min(id);

-- What C has summed up as it read the spans: page_lane and page_thread.
-- temporary page_processors
SELECT n.name AS node, l.cpu, k.recorded_ns, l.known_ns, l.busy_ns, 1e2 * l.busy_ns / l.known_ns AS busy_percent,
       1e2 * l.irq_ns / k.recorded_ns AS irq_percent, 1e2 * l.softirq_ns / k.recorded_ns AS softirq_percent, l.full_ns
FROM page_lane AS l JOIN node AS n ON n.id = l.node JOIN cpu_recorded AS k ON k.node = l.node AND k.cpu = l.cpu
WHERE l.known_ns > 0 ORDER BY l.rowid;

-- A thread has an entry for each of its names.
-- temporary page_threads
SELECT h.comm, n.name AS node, h.tid, coalesce(t.process, '') AS process, h.busy_ns AS cpu_ns, t.id AS thread, t.comm AS last_comm,
       h.waits, h.wait_ns, h.most_wait_ns, h.node AS of_node, h.first_ns, h.last_ns, h.run, h.wait_count, h.wait_sum, h.wait_most, h.rowid - 1 AS entry
FROM page_thread AS h JOIN node AS n ON n.id = h.node
LEFT JOIN known_thread AS t ON t.node = h.node AND t.tid = h.tid AND h.first_ns >= t.from_ns AND h.first_ns < t.until_ns
ORDER BY h.busy_ns DESC, h.rowid;

-- As cpu and sched count: by thread, which has its last name.
-- temporary page_thread_sum
SELECT coalesce(last_comm, max(comm)) AS comm, node, tid, process, sum(cpu_ns) AS cpu_ns, sum(waits) AS waits, sum(wait_ns) AS wait_ns,
       max(most_wait_ns) AS most_wait_ns
FROM page_threads GROUP BY of_node, tid, thread, last_comm, node, process HAVING sum(cpu_ns) > 0 ORDER BY sum(cpu_ns) DESC, node, tid;

-- Of as many threads as there is space for, the page has their waits by steps.
-- table threads_named: Those that have a name in the page
WITH sized AS (
	SELECT *, rowid AS n, sum(length(wait_count || wait_sum || wait_most)) OVER (ORDER BY rowid) AS size FROM page_threads)
SELECT p.place AS node, tid, comm, process, cpu_ns, first_ns - :begin_ns AS first_ns, last_ns - :begin_ns AS last_ns, run,
       CASE WHEN size < 120000 THEN wait_count END AS wait_count, CASE WHEN size < 120000 THEN wait_sum END AS wait_sum,
       CASE WHEN size < 120000 THEN wait_most END AS wait_most, entry
FROM sized AS h JOIN place AS p ON p.node = h.of_node WHERE h.cpu_ns > 0 ORDER BY h.n LIMIT 2000;

-- What interrupts did, in the order in which they lie; a time is of those that lie within the scope as a whole.
-- temporary page_handler
SELECT i.node, CASE i.kind WHEN 'softirq' THEN 1 ELSE 0 END AS soft, i.number, i.handler, sum(is_whole) AS count,
       sum(is_whole * duration_ns) AS sum_ns, max(is_whole * duration_ns) AS max_ns
FROM (SELECT node, kind, number, handler, duration_ns,
             CASE WHEN cut = 0 AND begin_ns >= :begin_ns AND begin_ns + duration_ns <= :end_ns THEN 1 ELSE 0 END AS is_whole
      FROM irq WHERE begin_ns < :end_ns AND begin_ns + duration_ns > :begin_ns) AS i
WHERE i.node IN (SELECT id FROM chosen_node)
GROUP BY i.node, i.kind, i.number, i.handler ORDER BY i.node, i.kind, i.number, i.handler;

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
SELECT nullif(h.handler, '') AS name, n.name AS node, CASE h.soft WHEN 1 THEN 'soft' ELSE 'hard' END AS kind, h.number, h.count,
       h.sum_ns, 1e0 * h.sum_ns / h.count AS mean_ns, h.max_ns
FROM page_handler AS h JOIN node AS n ON n.id = h.node WHERE h.count > 0;

-- Where there are too many pairs of nodes to show all.
-- table slow_pairs: The pairs with the longest medians
-- sort: -p50_ns
-- limit: 20
SELECT "from", "to", messages, bytes, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, bound_ns, negative FROM page_pairs;

-- The findings. Of page_..., which C gives, most is what analyses told for this page. In a text
-- {ns:5} is a number with its unit and {a:clocks|Clocks} a link; {{ is a bracket.
-- with told_lost
-- How many events were in packets that were discarded, nobody knows.
SELECT discarded, bad, silent, nodes, CASE WHEN silent < nodes THEN silent ELSE 0 END AS missing, (SELECT count(*) FROM page_problems) AS notes,
       greatest((SELECT coalesce(sum(count), 0) FROM page_problems WHERE kind = 'discarded') - discarded, 0) AS packets
FROM page_fact, (SELECT coalesce(sum(discarded), 0) AS discarded FROM page_lost) AS l;

-- with told_clocks
SELECT count(*) AS clocks, count(*) FILTER (WHERE worst_bound_ns IS NULL) AS open, max(worst_bound_ns) AS most_ns,
       count(*) FILTER (WHERE quality NOT IN ('exact', 'accurate') AND NOT (quality = 'absent' AND source = reference AND islands = 1)) AS bad,
       (SELECT coalesce(sum(messages), 0) FROM page_pairs) AS messages, (SELECT coalesce(sum(negative), 0) FROM page_pairs) AS after
FROM page_clocks, (SELECT count(DISTINCT reference) AS islands FROM page_clocks) AS i;

-- with told_request
SELECT * FROM page_requests ORDER BY rowid LIMIT 1;

-- Where its critical path is drawn, what that says; else the parts of the request.
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
       CASE state WHEN 'running' THEN 'running' WHEN 'runnable' THEN 'waiting for a processor' WHEN 'disk' THEN 'waiting for a disk'
       WHEN 'network' THEN 'in the network' WHEN 'timer' THEN 'waiting for a timer' WHEN 'interrupt' THEN 'waiting for an interrupt'
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

-- Where no processor was traced, what sar sampled of them: how busy, and for how long at a time 98 % and more.
-- with told_sampled
WITH step AS (
	SELECT node, till, took, value, CASE WHEN value >= 98 AND till - took <= coalesce(lag(till) OVER of_node, till) + took / 2 THEN 0 ELSE 1 END AS parted
	FROM sample_point WHERE n = 1 AND node IS NOT NULL WINDOW of_node AS (PARTITION BY node ORDER BY till)),
stretch AS (SELECT node, took, value, sum(parted) OVER (PARTITION BY node ORDER BY till) AS stretch FROM step),
full AS (SELECT node, sum(took) FILTER (WHERE value >= 98) AS full_ns, sum(took) AS ns, sum(value * took) AS busy FROM stretch GROUP BY node, stretch)
SELECT n.name AS node, sum(busy) / sum(ns) AS busy_percent, coalesce(max(full_ns), 0) AS full_ns, p.place
FROM full AS f JOIN place AS p ON p.place = f.node JOIN node AS n ON n.id = p.node
GROUP BY p.place ORDER BY 2 DESC, 4 LIMIT 1;

-- The processor that was busy for longest without a break.
-- with told_full
SELECT node, cpu, full_ns FROM page_processors WHERE full_ns >= 5000000000 ORDER BY full_ns DESC, rowid LIMIT 1;

-- table findings: What the page opens with
SELECT 'lost' AS finding, CASE WHEN discarded + packets + bad + missing > 0 THEN 'bad' WHEN notes > 0 THEN 'info' ELSE 'good' END AS grade,
       CASE WHEN discarded + packets + bad + missing > 0 THEN 'Something was lost' ELSE 'Nothing was lost' END AS title,
       'Tracers discarded {n:' || discarded || '} events' || CASE WHEN packets > 0 THEN ' and {n:' || packets || '} packets of events' ELSE '' END
       || '; {n:' || bad || '} input' || CASE bad WHEN 1 THEN '' ELSE 's' END
       || ' could not be used as given' || CASE WHEN notes > bad THEN '; ' || (notes - bad) || ' note'
       || CASE notes - bad WHEN 1 THEN '' ELSE 's' END || ' on the input' ELSE '' END
       || CASE WHEN silent = nodes THEN '; no kernel was traced'
          WHEN silent > 0 THEN '; of ' || silent || ' nodes no kernel trace is there' ELSE '' END
       || '. All nodes were recorded together for {span:' || (end_ns - begin_ns) || '} of {span:' || (:end_ns - :begin_ns) || '}.'
       || CASE WHEN notes > 0 THEN ' {a:problems|Problems and notes}' ELSE '' END AS text
FROM told_lost, home
UNION ALL
SELECT 'clocks', 'info', 'The clocks were not compared',
       'Nothing ties the nodes'' clocks together: samples and tasks are placed by the clock of their own node.'
FROM told_clocks WHERE clocks = 0
UNION ALL
SELECT 'clocks', 'good', 'One clock', 'A single clock stamped all events. {a:clocks|Clocks}' FROM told_clocks WHERE clocks = 1
UNION ALL
SELECT 'clocks', CASE WHEN open + bad + after > 0 THEN 'bad' ELSE 'good' END, 'How far to trust the clocks',
       CASE WHEN open > 0 THEN '{n:' || open || '} of ' || clocks || ' clocks are not bounded from both sides: '
       || 'times of these nodes cannot be compared with others. ' ELSE '' END
       || coalesce(CASE WHEN open > 0 THEN 'Of the others,' ELSE 'All' END || ' times are within {within:' || most_ns
       || '} of the reference clock, at worst on '
       || (SELECT replace(node, '{', '{{') FROM page_clocks WHERE worst_bound_ns = most_ns ORDER BY rowid LIMIT 1)
       || coalesce((SELECT '; while all nodes were recorded, within {within:' || max(bound_ns) || '}' FROM instant_bound
                    WHERE from_ns IS NULL HAVING count(bound_ns) = count(*) AND max(bound_ns) < 0.9 * most_ns), '') || '.', '')
       || CASE WHEN messages > 0 THEN ' By the corrected clocks {n:' || after || '} of {n:' || messages
       || '} messages came before they were sent.' ELSE '' END || ' {a:clocks|Clocks}'
FROM told_clocks WHERE clocks > 1
UNION ALL
SELECT 'request', 'info', 'Slowest request',
       '{ns:' || total_ns || '} {dim}(ways between nodes {bound:' || coalesce(bound_ns, '') || '}){/dim} from '
       || replace(client, '{', '{{') || ' to ' || replace(server, '{', '{{') || coalesce(' (' || replace(comm, '{', '{{') || ')', '')
       || coalesce(': ' || text, '') || CASE WHEN EXISTS (SELECT 1 FROM page_path AS p WHERE p.request = r.request)
          THEN '. {request:' || r.request || '|Its critical path}' ELSE '. {a:requests|Requests}' END
FROM told_request AS r, told_parts
UNION ALL
SELECT 'why', 'info', 'What slows the slowest requests', '{ns:' || more_ns || '} more than around the median: '
       || replace(why, '{', '{{') || '. Mean of the slowest {n:' || slow || '} of {n:' || requests || '} requests from '
       || replace(client, '{', '{{') || ' to ' || replace(server, '{', '{{') || coalesce(' (' || replace(process, '{', '{{') || ')', '')
       || '. {a:why|Where the slow ones lose their time}'
FROM (SELECT * FROM page_why WHERE state <> 'unknown' AND requests >= 10 ORDER BY rowid LIMIT 1) AS w
UNION ALL
SELECT 'request', 'info', 'No request between nodes was seen', 'Requests are made of messages that connect nodes both ways.'
WHERE NOT EXISTS (SELECT 1 FROM told_request)
UNION ALL
SELECT 'message', 'info', 'Slowest message',
       '{ns:' || latency_ns || '}' || coalesce(' (surely {span:' || least_ns || '} to {span:' || most_ns || '})', '')
       || ' from ' || replace("from", '{', '{{') || ' to ' || replace("to", '{', '{{') || '. {a:messages|Messages}'
FROM (SELECT * FROM page_messages ORDER BY rowid LIMIT 1) AS m WHERE latency_ns >= 0
UNION ALL
SELECT 'busiest', CASE WHEN p.busy_percent > 98 OR EXISTS (SELECT 1 FROM told_full WHERE full_ns >= 10000000000) THEN 'bad' ELSE 'info' END,
       'Busiest node and processor',
       replace(n.node, '{', '{{') || ' was busy {percent:' || n.busy_percent || '} of its processors'' recorded time'
       || CASE WHEN p.place <> n.first
          THEN '; processor ' || p.cpu || ' of ' || replace(p.node, '{', '{{') || ' {percent:' || p.busy_percent || '}' ELSE '' END
       || coalesce((SELECT '. Processor ' || cpu || ' of ' || replace(node, '{', '{{') || ' was busy for {ns:' || full_ns
                           || '} at a time' FROM told_full), '')
       || coalesce((SELECT '. Most of all ran ' || replace(comm, '{', '{{') || ' on ' || replace(node, '{', '{{')
                           || ', {ns:' || cpu_ns || '}' FROM page_thread_sum ORDER BY rowid LIMIT 1), '')
       || '. {a:processors|Processors}'
FROM told_node AS n, told_processor AS p
UNION ALL
SELECT 'busiest', CASE WHEN busy_percent > 98 OR full_ns >= 10000000000 THEN 'bad' ELSE 'info' END, 'Busiest node',
       'The processors of ' || replace(node, '{', '{{') || ' were busy {percent:' || busy_percent || '} of the time that sar sampled'
       || CASE WHEN full_ns >= 5000000000 THEN ', and all of them for {ns:' || full_ns || '} at a time' ELSE '' END
       || '. What processors did was not recorded: enable sched_switch to see who ran. {a:timeline|Timeline}'
FROM told_sampled WHERE NOT EXISTS (SELECT 1 FROM page_processors)
UNION ALL
SELECT 'busiest', 'info', 'What processors did was not recorded', 'Enable sched_switch to see who ran where.'
WHERE NOT EXISTS (SELECT 1 FROM page_processors) AND NOT EXISTS (SELECT 1 FROM told_sampled);
