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

-- The parts of each request's time at its server, from the spans of the serving thread, who sent
-- the response. When a kernel responded by itself, the thread that it interrupted did nothing of
-- it. Spans of a thread do not overlap, so what it did at a time is the last span that began by
-- then. Damaged stamps may differ by more than an integer holds: then CAST gives the largest.
--
-- First when the thread accepted the request: at the end of the first successful receiving system
-- call that ended after the arrival, of the response's descriptor; where there is none, when it
-- first ran after the arrival. It has to run to send: else that was not recorded. Then what it did
-- from there on: it ran or waited for a processor; it slept, and a disk, a message of another node
-- ('network'), or a thread, a timer or another interrupt ended that. LIMIT 1 has SQLite compute a
-- row's values once.
UPDATE request SET (queue_ns, running_ns, runnable_ns, disk_ns, node_ns, other_ns, unknown_ns) = (
	SELECT queue, running, runnable, disk, network, other, CAST(responded_ns - arrived_ns - queue
		- running - runnable - disk - network - other AS INTEGER)
	FROM (
		SELECT queue, CAST(total(ns) FILTER (WHERE state_code = 1) AS INTEGER) AS running,
			CAST(total(ns) FILTER (WHERE state_code = 0) AS INTEGER) AS runnable,
			CAST(total(ns) FILTER (WHERE wait = 'disk') AS INTEGER) AS disk,
			CAST(total(ns) FILTER (WHERE wait = 'network') AS INTEGER) AS network,
			CAST(iif(server_by_kernel IS 1, responded_ns - arrived_ns,
				total(ns) FILTER (WHERE wait NOT IN ('disk', 'network'))) AS INTEGER) AS other
		FROM (
			SELECT queue, state_code, iif(state_code IN (0, 1), NULL, wait) AS wait, max(0,
				min(s.end_ns, responded_ns) - max(s.begin_ns, arrived_ns + queue)) AS ns
			FROM (
				SELECT CAST(coalesce(
					(SELECT end_ns FROM syscall AS call
					WHERE node = server AND tid = sent.tid AND call.begin_ns BETWEEN ifnull(
							(SELECT begin_ns FROM syscall
							WHERE node = server AND tid = sent.tid AND begin_ns <= arrived_ns
							ORDER BY begin_ns DESC LIMIT 1), arrived_ns) AND responded_ns
						AND fd = sent.fd AND ret > 0 AND call.end_ns BETWEEN arrived_ns AND responded_ns
						AND name IN ('read', 'readv', 'recv', 'recvfrom', 'recvmsg', 'recvmmsg')
					ORDER BY call.begin_ns LIMIT 1),
					(SELECT max(run.begin_ns, arrived_ns) FROM thread_state AS run
					WHERE node = server AND tid = sent.tid AND run.begin_ns BETWEEN ifnull(
							(SELECT begin_ns FROM thread_state
							WHERE node = server AND tid = sent.tid AND begin_ns <= arrived_ns
							ORDER BY begin_ns DESC LIMIT 1), arrived_ns) AND responded_ns
						AND run.end_ns > arrived_ns AND state_code = 1
					ORDER BY run.begin_ns LIMIT 1),
					arrived_ns) - arrived_ns AS INTEGER) AS queue
				FROM (
					-- The descriptor by which the thread gave the response to the kernel.
					SELECT tid, (SELECT iif(call.end_ns >= given_ns AND name IN
							('write', 'writev', 'send', 'sendto', 'sendmsg', 'sendmmsg'), fd, NULL)
						FROM syscall AS call
						WHERE node = server AND call.tid = serving.tid AND call.begin_ns <= given_ns
						ORDER BY call.begin_ns DESC LIMIT 1) AS fd
					FROM (SELECT iif(server_tid > 0 AND server_by_kernel IS NOT 1, server_tid, NULL) AS tid)
						AS serving
					LIMIT 1) AS sent LIMIT 1) AS accepted
			LEFT JOIN thread_state AS s ON s.node = server AND s.tid = server_tid
				AND server_tid > 0 AND server_by_kernel IS NOT 1
				AND s.begin_ns >= ifnull((SELECT begin_ns FROM thread_state
					WHERE node = server AND tid = server_tid AND begin_ns <= arrived_ns + queue
					ORDER BY begin_ns DESC LIMIT 1), arrived_ns + queue)
				AND s.begin_ns < responded_ns)))
WHERE end_ns IS NOT NULL AND server IN (SELECT id FROM node)
	AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'spans' AND value = 'none');
