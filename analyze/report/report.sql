-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: report
-- summary: the run as one page to look at, in HTML
-- description: One self-contained HTML file that needs no network: findings (the slowest
--   request, the busiest processor, how far to trust the clocks, what was lost), a
--   timeline of all nodes and processors with messages and sar's curves that zooms
--   and searches, critical paths of the slowest requests, messages, clocks, and
--   tables that sort and filter. Where there are more spans than --detail, they
--   are summed by steps of time, and drawn one by one around the slowest requests
--   only; the page says where. Without scripts the findings and tables are there,
--   the pictures are not.

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
	LEFT JOIN clock_uncertainty AS c ON c.source = s.id AND i.at_ns >= c.begin_ns AND i.at_ns < c.end_ns
	 AND coalesce(c.low_ns, c.high_ns) IS NOT NULL)
SELECT node, from_ns, to_ns, CASE WHEN max(is_own) = 1 THEN max(width_ns) FILTER (WHERE is_own = 1)
       WHEN count(width_ns) = count(source) THEN max(width_ns) END AS bound_ns
FROM known GROUP BY node, at_ns, from_ns, to_ns;

-- table home: What is shown first
SELECT h.begin_ns, h.end_ns, CASE WHEN count(b.bound_ns) = count(*) THEN max(b.bound_ns) END AS bound_ns
FROM home AS h LEFT JOIN instant_bound AS b ON b.from_ns IS NULL GROUP BY h.begin_ns, h.end_ns;

-- table bounds: Bounds of the clocks: nodes by their place, from 0
-- column node: id
-- column from_ns: ns
SELECT (SELECT count(*) FROM chosen_node AS c WHERE c.id < b.node) AS node, from_ns, to_ns, bound_ns, 1 AS merged
FROM instant_bound AS b WHERE from_ns IS NOT NULL AND bound_ns IS NOT NULL ORDER BY 1, 2;

-- One row for what is the same of many nodes.
-- table folded: Problems in the input
-- limit: 100
SELECT node, CASE WHEN count(*) > 1 THEN 'and ' || (count(*) - 1) || ' more' ELSE place END AS place, kind,
       sum(count) AS count, text
FROM node_problem GROUP BY kind, text ORDER BY min(id);
