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
