-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: irq
-- summary: interrupts, hard and soft: how long, how late, whose CPU time
-- description: Tables: interrupts, by handler and softirq, from entry to exit; raises,
--   from raising a softirq to its entry; cpus, where nested interrupts count once;
--   top and log, each interrupt; freq. --min and --max apply to the time from entry
--   to exit. With --irq softirqs are left out unless --softirq selects some, and
--   the other way round. An interrupt that began before the selected time or ended
--   after it counts only for its processor.
-- example: ctanalyze irq --softirq 3 run.db
-- forms: stats
-- records: kernel

-- with happened
SELECT i.node, i.cpu, i.kind, i.number, i.name, i.tid, i.raised_ns, i.inner_ns,
       greatest(i.begin_ns, :begin_ns) AS begin_ns, least(i.end_ns, :end_ns) AS end_ns,
       CASE WHEN i.cut = 0 AND i.begin_ns >= :begin_ns AND i.end_ns <= :end_ns
             AND i.end_ns - i.begin_ns BETWEEN :min_ns AND :max_ns THEN i.end_ns - i.begin_ns END AS duration_ns
FROM irq AS i
WHERE i.begin_ns <= :end_ns AND i.end_ns >= :begin_ns
  AND (:all_nodes = 1 OR i.node IN (SELECT id FROM chosen_node))
  AND (:all_cpus = 1 OR i.cpu IN (SELECT cpu FROM chosen_cpu))
  AND (:all_irqs = 1 OR (i.kind = 'irq' AND i.number IN (SELECT number FROM chosen_irq))
       OR (i.kind = 'softirq' AND i.number IN (SELECT number FROM chosen_softirq)));

-- Summed up before names are looked up, and each by one hash table.
-- temporary handled
SELECT node, kind, number, name, count(duration_ns) AS count, distribution(duration_ns), sum(duration_ns) AS sum_ns
FROM happened WHERE duration_ns IS NOT NULL GROUP BY node, kind, number, name;

-- table interrupts: Interrupts
-- form: stats
-- sort: -sum_ns,node,kind,number,name
-- limit: 40
SELECT n.name AS node, CASE h.kind WHEN 'irq' THEN 'hard' ELSE 'soft' END AS kind, h.number AS number,
       coalesce(h.name, '') AS name, count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, sum_ns
FROM handled AS h JOIN node AS n ON n.id = h.node;

-- temporary raised
SELECT node, number, name, count(*) AS count, distribution(begin_ns - raised_ns), sum(begin_ns - raised_ns) AS sum_ns
FROM happened WHERE duration_ns IS NOT NULL AND raised_ns IS NOT NULL GROUP BY node, number, name;

-- table raises: From raising a softirq to its begin
-- form: stats
-- sort: -sum_ns,node,number,name
-- limit: 40
SELECT n.name AS node, r.number AS number, coalesce(r.name, '') AS name,
       count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, sum_ns
FROM raised AS r JOIN node AS n ON n.id = r.node;

-- The time of a nested interrupt counts once, for itself.
-- temporary used
SELECT node, cpu,
       sum(CASE WHEN kind = 'irq' THEN end_ns - begin_ns - inner_ns ELSE 0 END) AS hard_ns,
       sum(CASE WHEN kind = 'softirq' THEN end_ns - begin_ns - inner_ns ELSE 0 END) AS soft_ns,
       count(*) FILTER (WHERE kind = 'irq') AS hard, count(*) FILTER (WHERE kind = 'softirq') AS soft
FROM happened GROUP BY node, cpu;

-- table cpus: Processors
-- form: stats
-- sort: node,cpu
-- column percent: %, OF THE TIME
-- column hard: count, HARD COUNT
-- column soft: count, SOFT COUNT
SELECT n.name AS node, u.cpu AS cpu, u.hard_ns AS hard_ns, u.soft_ns AS soft_ns,
       1e2 * (u.hard_ns + u.soft_ns) / nullif(k.recorded_ns, 0) AS percent,
       u.hard AS hard, u.soft AS soft
FROM used AS u JOIN node AS n ON n.id = u.node LEFT JOIN cpu_recorded AS k ON k.node = u.node AND k.cpu = u.cpu;

-- table freq: Histogram of durations
-- form: freq
-- sort: to_ns
frequency(duration_ns, happened WHERE duration_ns IS NOT NULL);

-- table top: The longest interrupts
-- form: top
-- sort: -duration_ns,begin_ns,node,cpu
-- limit: 10
-- table log: Every interrupt
-- form: log
-- sort: begin_ns,node,cpu,-duration_ns
-- column raised_ns: ns, RAISED BEFORE
-- column inner_ns: ns, INTERRUPTED FOR
SELECT i.begin_ns AS begin_ns, i.duration_ns AS duration_ns, n.name AS node, i.cpu AS cpu,
       CASE i.kind WHEN 'irq' THEN 'hard' ELSE 'soft' END AS kind,
       i.number AS number, coalesce(i.name, '') AS name, i.begin_ns - i.raised_ns AS raised_ns,
       i.inner_ns AS inner_ns, i.tid AS tid
FROM happened AS i JOIN node AS n ON n.id = i.node WHERE i.duration_ns IS NOT NULL;

-- notes
SELECT 'hard interrupts: not recorded (enable irq_handler_entry, irq_handler_exit)' AS note
WHERE (SELECT count(DISTINCT name) FROM recorded_class WHERE name IN ('irq_handler_entry', 'irq_handler_exit')) < 2
UNION ALL
SELECT 'softirqs: not recorded (enable irq_softirq_entry or softirq_entry, irq_softirq_exit or softirq_exit)'
WHERE NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('irq_softirq_entry', 'softirq_entry'))
   OR NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('irq_softirq_exit', 'softirq_exit'))
UNION ALL
SELECT 'when softirqs were raised: not recorded (enable irq_softirq_raise or softirq_raise)'
WHERE NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('irq_softirq_raise', 'softirq_raise'));
