-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What follows from rows that are written, set when the timeline is finished.

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

-- The parts of each request's time at its server, from the spans of the serving thread, who sent
-- the response. Spans of a thread do not overlap, so what it did at a time is the last span that
-- began by then.

WITH answered AS (
	-- The descriptor by which the thread gave the response to the kernel. When a kernel
	-- responded by itself, the thread that it interrupted did nothing of it.
	SELECT id, server AS node, tid, arrived_ns, responded_ns, server_by_kernel,
		(SELECT iif(call.end_ns >= given_ns AND call.name IN
				('write', 'writev', 'send', 'sendto', 'sendmsg', 'sendmmsg'), call.fd, NULL)
			FROM syscall AS call
			WHERE call.node = server AND call.tid = r.tid AND call.begin_ns <= given_ns
			ORDER BY call.begin_ns DESC LIMIT 1) AS fd
	FROM (SELECT *, iif(server_tid > 0 AND server_by_kernel IS NOT 1, server_tid, NULL) AS tid
		FROM request WHERE end_ns IS NOT NULL AND server IN (SELECT id FROM node)
			AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'spans' AND value = 'none')) AS r
),
-- The thread accepted the request with the first successful receiving system call that ended after
-- the arrival, of that descriptor; where there is no such call, when it first ran after the
-- arrival. It has to run to send: else that was not recorded.
accepted AS MATERIALIZED (
	SELECT *, coalesce(
		(SELECT call.end_ns FROM syscall AS call
			WHERE call.node = a.node AND call.tid = a.tid AND call.begin_ns BETWEEN ifnull(
					(SELECT max(begin_ns) FROM syscall AS s
					WHERE s.node = a.node AND s.tid = a.tid AND s.begin_ns <= arrived_ns),
					arrived_ns) AND responded_ns
				AND call.end_ns BETWEEN arrived_ns AND responded_ns
				AND call.fd = a.fd AND call.ret > 0 AND call.name IN
				('read', 'readv', 'recv', 'recvfrom', 'recvmsg', 'recvmmsg')
			ORDER BY call.begin_ns LIMIT 1),
		(SELECT max(run.begin_ns, arrived_ns) FROM thread_state AS run
			WHERE run.node = a.node AND run.tid = a.tid AND run.begin_ns BETWEEN ifnull(
					(SELECT max(begin_ns) FROM thread_state AS s
					WHERE s.node = a.node AND s.tid = a.tid AND s.begin_ns <= arrived_ns),
					arrived_ns) AND responded_ns
				AND run.end_ns > arrived_ns AND run.state = 'running'
			ORDER BY run.begin_ns LIMIT 1),
		arrived_ns) AS accepted_ns
	FROM answered AS a
),
-- What the thread did from then on: it ran or waited for a processor; it slept, and a disk, a
-- message of another node ('network'), or a thread, a timer or another interrupt ended that.
done AS (
	SELECT accepted.id, max(min(s.end_ns, responded_ns) - max(s.begin_ns, accepted_ns), 0) AS ns,
		CASE WHEN s.state IN ('running', 'runnable') THEN s.state
			WHEN s.wait IN ('disk', 'network') THEN s.wait
			WHEN s.wait IS NOT NULL THEN 'other' END AS part
	FROM accepted JOIN thread_state AS s ON s.node = accepted.node AND s.tid = accepted.tid
		AND s.begin_ns >= ifnull((SELECT max(begin_ns) FROM thread_state AS b
			WHERE b.node = accepted.node AND b.tid = accepted.tid AND b.begin_ns <= accepted_ns), accepted_ns)
		AND s.begin_ns < responded_ns
)
UPDATE request SET queue_ns = p.queue, running_ns = p.running, runnable_ns = p.runnable,
	disk_ns = p.disk, node_ns = p.network, other_ns = p.other, unknown_ns = CAST(responded_ns -
	arrived_ns - p.queue - p.running - p.runnable - p.disk - p.network - p.other AS INTEGER)
FROM (
	-- Damaged stamps may differ by more than an integer holds: then CAST gives the largest.
	SELECT id, CAST(accepted_ns - arrived_ns AS INTEGER) AS queue,
		CAST(total(ns) FILTER (WHERE part = 'running') AS INTEGER) AS running,
		CAST(total(ns) FILTER (WHERE part = 'runnable') AS INTEGER) AS runnable,
		CAST(total(ns) FILTER (WHERE part = 'disk') AS INTEGER) AS disk,
		CAST(total(ns) FILTER (WHERE part = 'network') AS INTEGER) AS network,
		CAST(iif(server_by_kernel IS 1, responded_ns - arrived_ns,
			total(ns) FILTER (WHERE part = 'other')) AS INTEGER) AS other
	FROM accepted LEFT JOIN done USING (id) GROUP BY id
) AS p WHERE p.id = request.id;
