-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: problems
-- summary: what was lost, left out or odd
-- description: problems: what was odd in the input, and what was done about it.
--   lost: events that a tracer discarded because its buffers were full. clocks:
--   sources whose clock is not tied to the reference from both sides. Always of the
--   whole timeline: --begin and --end have no effect.
-- example: ctanalyze problems run.db

-- with lossy
SELECT s.id, n.name AS node, s.name AS source, s.events, s.discarded,
       1e2 * s.discarded / (s.events + s.discarded) AS discarded_percent
FROM source AS s JOIN chosen_node AS n ON n.id = s.node
WHERE s.discarded > 0;

-- Clocks that are not what one would want for reading across nodes. The reference itself needs no messages.
-- with loose
SELECT s.id, n.name AS node, s.name AS source, s.quality,
       CASE WHEN s.reference IS NULL THEN 'left at its own epoch'
            WHEN s.reference <> (SELECT min(q.id)
                                 FROM source AS q JOIN meta AS m ON m.key = 'reference' AND q.name = m.value)
            THEN 'on the clock of another island'
            WHEN s.quality = 'incomplete' THEN 'bounded from one side only'
            WHEN s.quality = 'contradictory' THEN 'no possible clock satisfies its messages'
            WHEN s.quality = 'absent' THEN 'nothing ties it to the reference'
            ELSE 'its messages contradict each other' END AS text
FROM source AS s JOIN chosen_node AS n ON n.id = s.node
WHERE s.reference IS NULL OR (s.quality NOT IN ('exact', 'accurate')
                              AND NOT (s.quality = 'absent' AND s.reference = s.id))
   OR s.reference <> (SELECT min(q.id) FROM source AS q JOIN meta AS m ON m.key = 'reference' AND q.name = m.value);

-- table problems: Problems in the input
SELECT node, place, kind, count, text FROM node_problem ORDER BY id;

-- table lost: Sources whose tracer lost events
-- column discarded_percent: %, SHARE
SELECT node, source, events, discarded, discarded_percent FROM lossy ORDER BY discarded DESC, id;

-- table clocks: Clocks to be careful with
-- column quality: text, CLOCK
SELECT node, source, quality, text FROM loose ORDER BY id;

-- notes
SELECT 'no problem is known' AS note
WHERE NOT EXISTS (SELECT 1 FROM node_problem) AND NOT EXISTS (SELECT 1 FROM lossy) AND NOT EXISTS (SELECT 1 FROM loose);
