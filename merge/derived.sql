-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Columns derived from other rows, set when the timeline is finished.

-- A problem is of the source whose path its place begins with, up to a file below it; where it has
-- no place, its text does.
UPDATE problem SET source = (
	SELECT s.id FROM source AS s
	WHERE substr(ifnull(place, text), 1, length(s.path)) = s.path
		AND substr(ifnull(place, text), length(s.path) + 1, 1) IN ('', '/', ':', ' ')
	ORDER BY length(s.path) DESC, s.id LIMIT 1);
UPDATE source SET problems = (SELECT count(*) FROM problem WHERE problem.source = source.id);

-- The process of an invocation had its pid then. The launcher's stamps lie just outside of the
-- process's life, and the middle well within; so it is asked first.
UPDATE invocation AS i SET process = (
	SELECT p.id
	FROM (SELECT 1 AS place, begin_ns + (end_ns - begin_ns) / 2 AS ns WHERE begin_ns <= end_ns
		UNION ALL SELECT 2, begin_ns UNION ALL SELECT 3, end_ns) AS t
	JOIN process AS p ON p.node = i.node AND p.pid = i.pid
		AND ifnull(p.begin_ns, t.ns) <= t.ns AND ifnull(p.end_ns, t.ns) >= t.ns
	ORDER BY t.place, p.id DESC LIMIT 1);
