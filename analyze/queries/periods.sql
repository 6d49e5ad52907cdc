-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: periods
-- summary: the time from one event to another, both named by you
-- description: EVENT is a class, or CLASS[CONDITION]: 'sched_switch[next_comm ~ "kwork*"]',
--   'block_rq_issue[dev = 8388608 && nr_sector > 8]'. Classes, and values after ~,
--   may contain * and ?. Conditions compare fields of the event, and node, cpu, tid
--   and procname; .tid is the event's own field. --group FIELD,... pairs only
--   events that are equal in these fields: cpu,tid; or a field of the beginning
--   with one of the end: next_tid=prev_tid. If a period begins twice before it
--   ends, the later beginning counts. No period goes on over a time in which a
--   processor of its nodes was not recorded. BOUND is the uncertainty of a period
--   that ends on another node. --min and --max apply to the period.
-- example: ctanalyze periods --from sched_switch --to sched_switch run.db
-- forms: stats top

-- temporary source_hole
-- index: source, until_ns, from_ns
SELECT s.id AS source, h.until_ns, h.from_ns
FROM source AS s JOIN hole AS h ON h.node = s.node AND h.is_user = CASE s.kind WHEN 'kernel' THEN 0 ELSE 1 END
WHERE s.kind <> 'capture';

-- Each end with what precedes it in its group, and each begin that another one precedes: all that
-- tables and notes read. One event may end a period and begin the next. What a window carries costs
-- time, so the sources are looked up where there are holes.
-- temporary step
SELECT name, kind, id, node, ts_ns, begin_event, begin_node, begin_ns,
       CASE WHEN NOT EXISTS (SELECT 1 FROM source_hole) THEN 1
            WHEN least(coalesce((SELECT h.from_ns FROM event AS e CROSS JOIN source_hole AS h
                                 WHERE e.id = s.begin_event AND h.source = e.source AND h.until_ns > s.begin_ns
                                 ORDER BY h.until_ns LIMIT 1), ts_ns),
                       coalesce((SELECT h.from_ns FROM event AS e CROSS JOIN source_hole AS h
                                 WHERE e.id = s.id AND h.source = e.source AND h.until_ns > s.begin_ns
                                 ORDER BY h.until_ns LIMIT 1), ts_ns)) >= ts_ns THEN 1 ELSE 0 END AS is_whole
FROM (
	SELECT name, kind, id, node, ts_ns, lag(CASE kind WHEN 1 THEN id END) OVER steps AS begin_event,
	       lag(node) OVER steps AS begin_node, lag(ts_ns) OVER steps AS begin_ns
	FROM (
		SELECT id, node, ts_ns, name, 1 AS kind FROM begin_event
		UNION ALL SELECT id, node, ts_ns, name, 0 FROM end_event) AS steps_of_all
	WINDOW steps AS (PARTITION BY name ORDER BY ts_ns, id, kind)) AS s
WHERE kind = 0 OR begin_event IS NOT NULL;

-- with period
SELECT name, begin_node, begin_event, begin_ns, node, id, ts_ns, ts_ns - begin_ns AS duration_ns
FROM step
WHERE kind = 0 AND begin_event IS NOT NULL AND is_whole = 1 AND ts_ns - begin_ns BETWEEN :min_ns AND :max_ns;

-- table periods: Periods
-- form: stats
-- sort: -sum_ns,group
-- limit: 20
SELECT name AS "group", count(*) AS count, sum(duration_ns) AS sum_ns, distribution(duration_ns)
FROM period WHERE :grouped = 1 GROUP BY name
UNION ALL
SELECT CASE WHEN :grouped = 1 THEN 'all' ELSE '' END, count(*), sum(duration_ns), distribution(duration_ns)
FROM period GROUP BY 1;

-- table freq: Histogram of durations
-- form: freq
-- sort: below_ns
WITH counted AS (
	SELECT min(duration_ns) AS least, count(*) AS periods
	FROM period GROUP BY length(duration_ns || ''), substr(duration_ns || '', 1, 1))
SELECT nullif(b.least_ns, -4611686018427387904) AS least_ns, b.below_ns, sum(periods) AS count,
       1e2 * sum(periods) / (SELECT sum(periods) FROM counted) AS share_percent
FROM counted JOIN duration_bin AS b ON least >= b.least_ns AND least < b.below_ns
GROUP BY b.least_ns, b.below_ns;

-- p.begin_ns + p.duration_ns is p.ts_ns: SQLite would not limit the search by that column from both sides.
-- table longest: Longest periods
-- form: top
-- sort: -duration_ns,begin_event
-- limit: 10
-- table log: All periods
-- form: log
-- sort: begin_ns,begin_event
-- limit: 1000
-- column from_node: text, FROM
-- column to_node: text, TO
-- column begin_event: id, EVENT
-- column end_event: id, EVENT
SELECT p.name AS "group", p.begin_ns, p.ts_ns AS end_ns, p.duration_ns,
       CASE WHEN a.source = b.source OR (a.clock_uuid <> '' AND a.clock_uuid = b.clock_uuid) THEN 0
            WHEN a.reference = b.reference AND t.low_ns - f.high_ns IS NOT NULL AND t.high_ns - f.low_ns IS NOT NULL
            THEN greatest(f.high_ns - t.low_ns, t.high_ns - f.low_ns) END AS bound_ns,
       m.name AS from_node, n.name AS to_node, p.begin_event, p.id AS end_event
FROM period AS p LEFT JOIN node AS m ON m.id = p.begin_node LEFT JOIN node AS n ON n.id = p.node
LEFT JOIN node_source AS a ON a.node = p.begin_node LEFT JOIN node_source AS b ON b.node = p.node
LEFT JOIN clock_uncertainty AS f ON f.source = CASE WHEN a.source <> b.source THEN a.source END
 AND f.begin_ns > p.begin_ns - a.longest_ns AND f.begin_ns <= p.begin_ns AND p.begin_ns < f.end_ns
LEFT JOIN clock_uncertainty AS t ON t.source = CASE WHEN a.source <> b.source THEN b.source END
 AND t.begin_ns > p.ts_ns - b.longest_ns AND t.begin_ns <= p.begin_ns + p.duration_ns AND p.ts_ns < t.end_ns;

-- notes
SELECT 'begins: not recorded (enable ' || :from_class || ')' AS note WHERE :from_classes = 0
UNION ALL
SELECT 'ends: not recorded (enable ' || :to_class || ')' WHERE :to_classes = 0 AND :to_class <> :from_class
UNION ALL
SELECT n || ' begins without an end' || CASE WHEN restarted > 0
       THEN '; where one came after another, the later one counts' ELSE '' END
FROM (
	SELECT (SELECT count(*) FROM begin_event) - count(*) FILTER (WHERE kind = 0 AND begin_event IS NOT NULL) AS n,
	       count(*) FILTER (WHERE kind = 1) AS restarted
	FROM step) AS open WHERE n > 0
UNION ALL
SELECT n || ' ends without a begin'
FROM (SELECT count(*) AS n FROM step WHERE kind = 0 AND begin_event IS NULL) AS unbegun WHERE n > 0
UNION ALL
SELECT n || ' begins and ends with a time between them in which not all was recorded: no periods'
FROM (SELECT count(*) AS n FROM step WHERE kind = 0 AND begin_event IS NOT NULL AND is_whole = 0) AS parted WHERE n > 0
UNION ALL
SELECT 'the tracers lost ' || n || ' events: a period may be several'
FROM (SELECT coalesce(sum(discarded), 0) AS n FROM source WHERE node IN (SELECT id FROM chosen_node)) AS lost
WHERE n > 0;
