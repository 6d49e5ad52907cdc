-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: clocks
-- summary: how the clocks relate, and how certain that is
-- description: clocks: OFFSET is what is added to a clock in the middle of its
--   source, DRIFT the rate at which that changes. The truth lies within BOUND
--   there; WORST is the widest bound that is known, and where it is. pairs: the
--   messages that tie two sources, and how many were received before they were sent.
--   bounds: the bounds over time.
-- example: ctanalyze clocks run.db

-- Begin, middle and end of each source: on the axis, and by its own clock, as the last segment
-- that has begun there tells.
-- with instant
SELECT id AS source, 1 AS what, begin_ns AS at_ns FROM source WHERE begin_ns IS NOT NULL AND end_ns IS NOT NULL
UNION ALL
SELECT id, 2, begin_ns + CAST((end_ns - begin_ns - (end_ns - begin_ns) % 2) / 2e0 AS BIGINT) FROM source
WHERE begin_ns IS NOT NULL AND end_ns IS NOT NULL
UNION ALL
SELECT id, 3, end_ns FROM source WHERE begin_ns IS NOT NULL AND end_ns IS NOT NULL;

-- with begun
SELECT i.source, i.what, i.at_ns, max(s.n) AS n
FROM instant AS i LEFT JOIN clock_segment AS s ON s.source = i.source AND (s.n = 1 OR s.ref_ns <= i.at_ns)
GROUP BY i.source, i.what, i.at_ns;

-- with local_instant
SELECT b.source, b.what, b.at_ns,
       coalesce(s.local_ns + (b.at_ns - s.ref_ns)
                - CAST(round((b.at_ns - s.ref_ns) * s.rate / (1 + s.rate)) AS BIGINT), b.at_ns) AS local_ns
FROM begun AS b LEFT JOIN clock_segment AS s ON s.source = b.source AND s.n = b.n;

-- The mean rate between begin and end, steps left out.
-- with life
SELECT b.source, b.local_ns AS begin_ns, e.local_ns AS end_ns
FROM local_instant AS b JOIN local_instant AS e ON e.source = b.source AND b.what = 1 AND e.what = 3;

-- with part
SELECT l.source, s.rate, (l.end_ns - l.begin_ns) * 1e0 AS span_ns,
       CASE WHEN s.n = 1 OR s.local_ns < l.begin_ns THEN l.begin_ns ELSE s.local_ns END AS from_ns,
       CASE WHEN s.until_ns IS NULL OR s.until_ns > l.end_ns THEN l.end_ns ELSE s.until_ns END AS to_ns
FROM life AS l LEFT JOIN clock_segment AS s ON s.source = l.source
WHERE l.end_ns > l.begin_ns;

-- with drift
SELECT source, 1e6 * coalesce(sum(rate * (to_ns - from_ns) / span_ns) FILTER (WHERE to_ns > from_ns), 0) AS drift_ppm
FROM part GROUP BY source;

-- with width
SELECT source, n, at_ns, CASE WHEN low_ns IS NOT NULL AND high_ns IS NOT NULL
       THEN greatest(-low_ns, high_ns) END AS bound_ns
FROM clock_step;

-- The time of the widest bound that is known.
-- with worst
SELECT source, at_ns, bound_ns FROM (
	SELECT source, at_ns, bound_ns,
	       row_number() OVER (PARTITION BY source ORDER BY CASE WHEN bound_ns IS NULL THEN 1 ELSE 0 END,
	                          coalesce(bound_ns, 0) DESC, n) AS place
	FROM width) AS ranked
WHERE place = 1;

-- The bound in the middle of each source. A clock that was set back shows some times twice.
-- with middle
SELECT m.source, CASE WHEN count(u.low_ns) = count(*) AND count(u.high_ns) = count(*)
                      THEN max(greatest(-u.low_ns, u.high_ns)) END AS bound_ns
FROM local_instant AS m
JOIN clock_uncertainty AS u ON u.source = m.source AND m.at_ns >= u.begin_ns AND m.at_ns < u.end_ns
WHERE m.what = 2 GROUP BY m.source;

-- with segments
SELECT source, count(*) AS segments FROM clock GROUP BY source;

-- table clocks: Clocks
-- column worst_bound_ns: +-ns, WORST
-- column worst_at_ns: epoch_ns, AT
SELECT n.name AS node, s.name AS source, r.name AS reference, s.quality, coalesce(g.segments, 0) AS segments,
       d.drift_ppm, m.at_ns - m.local_ns AS offset_ns,
       u.bound_ns, w.bound_ns AS worst_bound_ns, w.at_ns AS worst_at_ns
FROM source AS s JOIN chosen_node AS n ON n.id = s.node
LEFT JOIN source AS r ON r.id = s.reference LEFT JOIN segments AS g ON g.source = s.id
LEFT JOIN local_instant AS m ON m.source = s.id AND m.what = 2
LEFT JOIN drift AS d ON d.source = s.id
LEFT JOIN middle AS u ON u.source = s.id
LEFT JOIN worst AS w ON w.source = s.id
ORDER BY s.node, s.id;

-- table pairs: Sources with messages between
-- column messages_ab: count, MESSAGES A>B
-- column messages_ba: count, B>A
-- column rejected: count, FALSE
-- column violations_before: count, VIOLATED BEFORE
-- column violations_after: count, VIOLATED AFTER
-- column min_latency_ab_ns: ns, MIN A>B
-- column min_latency_ba_ns: ns, MIN B>A
SELECT a.name AS a, b.name AS b, p.messages_ab, p.messages_ba, p.rejected, p.violations_before,
       p.violations_after, p.min_latency_ab_ns, p.min_latency_ba_ns, p.quality
FROM clock_pair AS p JOIN source AS a ON a.id = p.a JOIN source AS b ON b.id = p.b
WHERE a.node IN (SELECT id FROM chosen_node) AND b.node IN (SELECT id FROM chosen_node)
ORDER BY p.a, p.b;

-- table bounds: Bounds over time
-- limit: 10
-- column at_ns: epoch_ns, TIME
SELECT n.name AS node, s.name AS source, c.at_ns, c.low_ns, c.high_ns
FROM clock_step AS c JOIN source AS s ON s.id = c.source JOIN chosen_node AS n ON n.id = s.node
WHERE c.at_ns BETWEEN :begin_ns AND :end_ns
ORDER BY s.node, s.id, c.n;

-- notes
SELECT DISTINCT n.name || ', ' || s.name || ': at some times nothing bounds its clock (--table bounds)' AS note
FROM width AS w JOIN source AS s ON s.id = w.source JOIN chosen_node AS n ON n.id = s.node
WHERE w.bound_ns IS NULL;
