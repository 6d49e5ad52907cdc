-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: mem
-- summary: memory and swap of nodes, resident memory, pages
-- description: nodes: from sar, memory in use, the least available, swap, pages
--   swapped in and out (of 4 KiB) and major faults. processes: resident memory as
--   sampled. pages: pages that each thread allocated and freed, from
--   kmem_mm_page_alloc and kmem_mm_page_free; one thread may free what another
--   allocated.
-- example: ctanalyze mem run.db

-- sar has kB of 1024 bytes, and pages, taken to be of 4 KiB, and rates over intervals.
-- with sampled
SELECT s.node, m.name, s.value, s.interval_ns / 1e9 AS seconds
FROM metric AS m JOIN sample AS s ON s.metric = m.id
WHERE m.name IN ('kbmemused', '%memused', 'kbavail', 'kbswpused', 'pswpin/s', 'pswpout/s', 'majflt/s')
  AND s.ts_ns BETWEEN :begin_ns AND :end_ns AND s.node IN (SELECT id FROM chosen_node);

-- table nodes: Memory by node, from sar
-- column used_mean_bytes: bytes, USED
-- column used_max_bytes: bytes, MAX
-- column used_max_percent: %, MAX
-- column available_min_bytes: bytes, AVAILABLE
-- column swapped_in_bytes: bytes, IN
-- column swapped_out_bytes: bytes, OUT
SELECT n.name AS node, n.mem_kib * 1024 AS memory_bytes,
       avg(value) FILTER (WHERE t.name = 'kbmemused') * 1024 AS used_mean_bytes,
       max(value) FILTER (WHERE t.name = 'kbmemused') * 1024 AS used_max_bytes,
       max(value) FILTER (WHERE t.name = '%memused') AS used_max_percent,
       min(value) FILTER (WHERE t.name = 'kbavail') * 1024 AS available_min_bytes,
       max(value) FILTER (WHERE t.name = 'kbswpused') * 1024 AS swap_max_bytes,
       sum(value * seconds) FILTER (WHERE t.name = 'pswpin/s') * 4096 AS swapped_in_bytes,
       sum(value * seconds) FILTER (WHERE t.name = 'pswpout/s') * 4096 AS swapped_out_bytes,
       round(sum(value * seconds) FILTER (WHERE t.name = 'majflt/s')) AS major_faults
FROM node AS n JOIN sampled AS t ON t.node = n.id
GROUP BY n.id, n.name, n.mem_kib ORDER BY n.id;

-- with resident
SELECT s.node, s.item, s.value, row_number() OVER up AS n, row_number() OVER down AS back
FROM metric AS m JOIN sample AS s ON s.metric = m.id
WHERE m.activity = 'process' AND m.name = 'rss' AND s.ts_ns BETWEEN :begin_ns AND :end_ns
  AND s.node IN (SELECT id FROM chosen_node)
WINDOW up AS (PARTITION BY s.node, s.item ORDER BY s.ts_ns),
       down AS (PARTITION BY s.node, s.item ORDER BY s.ts_ns DESC);

-- table processes: Resident memory by process
-- sort: -max_bytes,node,process
-- limit: 10
SELECT n.name AS node, i.name AS process, max(1024 * r.value) FILTER (WHERE r.n = 1) AS first_bytes,
       max(1024 * r.value) AS max_bytes, max(1024 * r.value) FILTER (WHERE r.back = 1) AS last_bytes,
       count(*) AS samples
FROM resident AS r JOIN metric_item AS i ON i.id = r.item JOIN node AS n ON n.id = r.node
GROUP BY r.node, r.item, n.name, i.name;

-- with page_event
SELECT id, "order", 1 AS took FROM kmem_mm_page_alloc
UNION ALL SELECT id, "order", 1 FROM mm_page_alloc
UNION ALL SELECT id, "order", 0 FROM kmem_mm_page_free
UNION ALL SELECT id, "order", 0 FROM mm_page_free;

-- with page_count
SELECT e.node, e.tid, p."order", p.took, count(*) AS events, max(e.ts_ns) AS last_ns
FROM page_event AS p CROSS JOIN event AS e
WHERE e.id = p.id AND p.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR e.cpu IN (SELECT cpu FROM chosen_cpu))
GROUP BY e.node, e.tid, p."order", p.took;

-- Events took pages of 2 to the power of their order; more than 30 is damage.
-- table pages: Pages by thread
-- sort: -allocated_bytes,-allocations,node,tid
-- limit: 10
-- column allocated_bytes: bytes, BYTES
-- column freed_bytes: bytes, BYTES
WITH RECURSIVE size AS (
	SELECT 0 AS "order", CAST(4096 AS BIGINT) AS bytes
	UNION ALL SELECT "order" + 1, 2 * bytes FROM size WHERE "order" < 30),
taker AS (
	SELECT c.node, c.tid, max(c.last_ns) AS last_ns,
	       coalesce(sum(c.events) FILTER (WHERE c.took = 1), 0) AS allocations,
	       coalesce(sum(c.events * s.bytes) FILTER (WHERE c.took = 1), 0) AS allocated,
	       coalesce(sum(c.events) FILTER (WHERE c.took = 0), 0) AS frees,
	       coalesce(sum(c.events * s.bytes) FILTER (WHERE c.took = 0), 0) AS freed
	FROM page_count AS c LEFT JOIN size AS s ON s."order" = coalesce(c."order", 0)
	GROUP BY c.node, c.tid)
SELECT n.name AS node, coalesce(t.comm, '') AS process, k.tid, k.allocations,
       k.allocated AS allocated_bytes, k.frees, k.freed AS freed_bytes, k.allocated - k.freed AS net_bytes
FROM taker AS k LEFT JOIN node AS n ON n.id = k.node
LEFT JOIN known_thread AS t ON t.node = k.node AND t.tid = k.tid AND k.last_ns >= t.from_ns AND k.last_ns < t.until_ns
WHERE :all_threads = 1 OR t.id IN (SELECT id FROM chosen_thread);

-- notes
SELECT 'memory of nodes: not recorded (collect with sar)' AS note WHERE NOT EXISTS (SELECT 1 FROM sampled)
UNION ALL
SELECT 'memory of processes: not recorded (sample proc.csv)' WHERE NOT EXISTS (SELECT 1 FROM resident)
UNION ALL
SELECT 'pages: not recorded (enable kmem_mm_page_alloc, kmem_mm_page_free)'
WHERE NOT EXISTS (SELECT 1 FROM event_class WHERE name IN ('kmem_mm_page_alloc', 'mm_page_alloc') AND events > 0);
