-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: relations
-- summary: what the other files share

-- What is known of each thread: from when until when its number is this thread. What comes
-- before the first one of a number counts as that.
-- temporary known_thread
-- index: id; node, tid
WITH born AS (
	SELECT id, node, tid, process, comm, coalesce(begin_ns, -4611686018427387904) AS born_ns
	FROM thread)
SELECT b.id, b.node, b.tid, p.pid, b.comm, p.comm AS process, p.container,
       CASE WHEN row_number() OVER life = 1 THEN -4611686018427387904 ELSE b.born_ns END AS from_ns,
       coalesce(lead(b.born_ns) OVER life, 4611686018427387904) AS until_ns
FROM born AS b LEFT JOIN process AS p ON p.id = b.process
WINDOW life AS (PARTITION BY b.node, b.tid ORDER BY b.born_ns, b.id);

-- 1, 2, 5, 10, ... and what is below 1.
-- temporary duration_bin
WITH RECURSIVE power AS (
	SELECT CAST(1 AS BIGINT) AS one
	UNION ALL SELECT one * 10 FROM power WHERE one < 1000000000000000000)
SELECT -4611686018427387904 AS least_ns, 1 AS below_ns
UNION ALL SELECT one, 2 * one FROM power
UNION ALL SELECT 2 * one, 5 * one FROM power WHERE one < 1000000000000000000
UNION ALL SELECT 5 * one, 10 * one FROM power WHERE one < 1000000000000000000;

-- The segments of each clock's correction, in order.
-- temporary clock_segment
-- index: source
SELECT source, local_ns, ref_ns, rate_ppb * 1e-9 AS rate,
       row_number() OVER correction AS n, lead(local_ns) OVER correction AS until_ns
FROM clock
WINDOW correction AS (PARTITION BY source ORDER BY local_ns);

-- What was stated of a clock's bounds, at times of the timeline's axis. Between two such the
-- wider of the two holds.
-- temporary clock_step
SELECT b.source, b.low_ns, b.high_ns, row_number() OVER stated AS n,
       coalesce(s.ref_ns + (b.local_ns - s.local_ns)
                + CAST(round((b.local_ns - s.local_ns) * s.rate) AS BIGINT), b.local_ns) AS at_ns
FROM clock_bound AS b LEFT JOIN clock_segment AS s ON s.source = b.source
 AND (s.n = 1 OR s.local_ns <= b.local_ns) AND (s.until_ns IS NULL OR s.until_ns > b.local_ns)
WINDOW stated AS (PARTITION BY b.source ORDER BY b.local_ns);

-- How sure a source's clock is: what it stamped from begin_ns on and before end_ns happened
-- between so much before (low_ns) and after (high_ns); NULL: open. A stamp that was corrected
-- twice may be off by some: 1 us beyond both ends.
-- temporary clock_uncertainty
-- index: source, begin_ns
WITH step AS (
	SELECT source, at_ns, low_ns, high_ns, n,
	       lead(at_ns) OVER stated AS next_ns, lead(low_ns) OVER stated AS next_low_ns,
	       lead(high_ns) OVER stated AS next_high_ns
	FROM clock_step
	WINDOW stated AS (PARTITION BY source ORDER BY n))
SELECT source, CASE WHEN n = 1 THEN at_ns - 1000 ELSE at_ns END AS begin_ns,
       CASE WHEN next_ns IS NULL THEN at_ns + 1001 ELSE at_ns + 1 END AS end_ns, low_ns, high_ns
FROM step WHERE next_ns IS NULL OR next_ns > at_ns
UNION ALL
SELECT source, at_ns + 1, next_ns,
       CASE WHEN low_ns < next_low_ns THEN low_ns WHEN low_ns IS NOT NULL THEN next_low_ns END,
       CASE WHEN high_ns > next_high_ns THEN high_ns WHEN high_ns IS NOT NULL THEN next_high_ns END
FROM step WHERE next_ns > at_ns + 1;

-- The source that stands for a node where no event is named: its kernel's trace, else its first.
-- temporary node_source
-- index: node
SELECT node, source, clock_uuid, kind FROM (
	SELECT node, id AS source, clock_uuid, kind,
	       row_number() OVER (PARTITION BY node ORDER BY CASE kind WHEN 'kernel' THEN 0 ELSE 1 END, id) AS n
	FROM source) AS ranked
WHERE n = 1;

-- Captures of what their node's kernel trace saw of messages, too, unless they have its clock.
-- temporary second_view
SELECT s.id AS source FROM source AS s JOIN node_source AS n ON n.node = s.node
WHERE s.kind <> 'kernel' AND n.kind = 'kernel'
  AND NOT (coalesce(s.clock_uuid, '') <> '' AND s.clock_uuid = coalesce(n.clock_uuid, ''))
  AND n.source IN (SELECT a FROM clock_pair UNION SELECT b FROM clock_pair);
