-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: findings
-- summary: what went wrong: where, when, by how much
-- description: What the report opens with, as a table. GRADE is bad, info or good.
--   Windows in which requests, messages or disk requests took several times as
--   long as usual; processors that were saturated, by the trace or by sar;
--   processors that ran nothing; memory, swap, interrupts; a disk at its limit;
--   segments that were sent again; a node that differs from its peers; clocks that
--   were set or cannot be trusted; tasks that failed; lost events. BEGIN and SPAN
--   are accurate to about a 60th of the time.
-- example: ctanalyze findings run.db
-- column grade: text, GRADE
-- column finding: text, FINDING
-- column text: text, WHAT

-- table findings: Findings
SELECT f.grade, f.title AS finding, n.name AS node, :begin_ns + f.begin_ns AS begin_ns, f.span_ns, f.text
FROM told_finding AS f LEFT JOIN node AS n ON n.id = f.node ORDER BY f.rowid;
