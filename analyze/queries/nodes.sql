-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: nodes
-- summary: the machines, their sources, and which events there are
-- description: Tables: nodes; sources, with the clock's name; classes of events, with
--   the number of events. Always of the whole timeline: --begin and --end have no
--   effect.
-- example: ctanalyze nodes run.db

-- table nodes: Nodes
-- column cpu_hertz: Hz, CLOCK
WITH recorded_by AS (
	SELECT node, count(*) AS sources, sum(events) AS events, sum(discarded) AS discarded,
	       min(begin_ns) AS begin_ns, max(end_ns) AS end_ns
	FROM source GROUP BY node),
sampled AS (SELECT node, count(*) AS samples FROM sample GROUP BY node),
born AS (SELECT node, count(*) AS processes FROM process WHERE pid <> 0 GROUP BY node),
odd AS (
	SELECT s.node, count(*) AS problems
	FROM problem AS p JOIN source AS s ON s.id = p.source GROUP BY s.node)
SELECT n.name AS node, n.hostname, n.kernel, n.cpus, n.cpu_mhz * 1e6 AS cpu_hertz,
       n.mem_kib * 1024 AS memory_bytes, coalesce(r.sources, 0) AS sources,
       coalesce(r.events, 0) AS events, coalesce(r.discarded, 0) AS discarded, r.begin_ns,
       r.end_ns - r.begin_ns AS span_ns, coalesce(s.samples, 0) AS samples,
       coalesce(b.processes, 0) AS processes, coalesce(o.problems, 0) AS problems
FROM chosen_node AS n LEFT JOIN recorded_by AS r ON r.node = n.id
LEFT JOIN sampled AS s ON s.node = n.id LEFT JOIN born AS b ON b.node = n.id
LEFT JOIN odd AS o ON o.node = n.id
ORDER BY n.id;

-- table sources: Sources
SELECT n.name AS node, s.name AS source, s.kind, s.events, s.discarded, s.begin_ns,
       s.end_ns - s.begin_ns AS span_ns, s.path
FROM source AS s JOIN chosen_node AS n ON n.id = s.node
ORDER BY n.id, s.id;

-- By name, as a tracer's update makes two classes of one.
-- table classes: Events by class
-- sort: -events,class
-- limit: 20
SELECT name AS class, kind, sum(events) AS events FROM event_class
GROUP BY name, kind HAVING sum(events) > 0;
