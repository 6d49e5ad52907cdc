-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Slices, instants and counters of a trace, of the time from ?1 to ?2; ?3 is 1 for Perfetto's own
-- form, which has the kernel's events as such, and 0 for JSON. A statement's name has the
-- parts of --tracks that it is for, and what its rows are: slices, values of counters,
-- notes for the user (whose, count, text), or what ftrace.c makes events of. Those that
-- begin with "chrome-" are for JSON only.
--
-- A slice, to be cut to that time: node, begin_ns, end_ns (NULL: an instant), which track of the node, name. All
-- further columns are values under their names; of "@NAME" a thread's number, that of the
-- thread is written. But "=cut" is 1 where it is cut at its begin, 2 at its end; "=arrow"
-- the number of an arrow, negative at its last end; "=label" the track's name where it does
-- not follow from the rest; "=track" and "=category" stand in the statement's name where
-- they are the same for all. The slices of one track come by their end: those of a thread
-- where they lie by thread, those of a processor or disk where they are sorted.
--
-- A counter: node, at_ns, value, track, which, item, number and name of the activity in
-- whose group it stands (NULL: it stands in that of its track), name, unit.

-- Names of threads: node, tid, begin, how many with its tid were before it, its
-- name, and with that of its process. NULL sorts first, as what began before the recording
-- should.
--- threads
SELECT node, tid, begin_ns, life, label, label || IIF(coalesce(comm, '') = '' OR coalesce(pid, -1) < 0 OR pid = tid, '',
	printf(' of %s %d', process, pid)), nullif(max(coalesce(pid, 0), 0), 0), id, end_ns, comm
FROM (SELECT t.id, t.node, t.tid, t.begin_ns, t.end_ns, t.comm, p.pid, p.comm AS process, row_number() OVER one - 1 AS life,
		coalesce(nullif(t.comm, ''), 'thread') || ' ' || t.tid AS label
	FROM thread AS t LEFT JOIN process AS p ON p.id = t.process
	WINDOW one AS (PARTITION BY t.node, t.tid ORDER BY t.begin_ns, t.id))
ORDER BY node, tid, life

-- Perfetto's own form: machines, their processes and threads, and the kernel's events.
--- machines
SELECT id, name, kernel, cpus, mem_kib FROM node ORDER BY id

-- node, tid, begin, tid's process or itself where that is not known, its parent, names
--- states,cpus,interrupts,syscalls,disks trees
SELECT t.node, max(coalesce(t.begin_ns, ?1), ?1) AS at_ns, t.tid, IIF(p.pid > 0, p.pid, t.tid), p.ppid, coalesce(t.comm, ''),
	coalesce(nullif(p.comm, ''), t.comm, '')
FROM thread AS t LEFT JOIN process AS p ON p.id = t.process
WHERE t.tid > 0 AND coalesce(t.begin_ns, ?1) <= ?2 AND coalesce(t.end_ns, ?2) >= ?1
ORDER BY t.node, at_ns, t.id


--- clocks slices run run
SELECT id, ?1, NULL, 0, 'run',
	(SELECT value FROM meta WHERE key = 'name') AS "name", (SELECT value FROM meta WHERE key = 'run') AS "run",
	(SELECT value FROM meta WHERE key = 'version') AS "version"
FROM node ORDER BY id

--- clocks slices run clock
SELECT s.node, ?1, NULL, 0, 'clock of ' || coalesce(s.name, 'source ' || s.id),
	s.quality AS "quality", coalesce(nullif(r.name, ''), 'none: left as it was') AS "reference",
	s.kind AS "kind", s.path AS "path", s.events AS "events", s.discarded AS "discarded"
FROM source AS s LEFT JOIN source AS r ON r.id = s.reference ORDER BY s.id

-- Between which the true reference time lies, around what is drawn. Between two stated
-- times it lies within the wider of their two bounds, so that is drawn from one to the
-- next. A side that nothing bounds somewhere is left out, as a gap cannot be drawn.
--- clocks counters
WITH segment AS (
	SELECT *, lead(local_ns) OVER own AS next_ns, row_number() OVER own AS place
	FROM clock WINDOW own AS (PARTITION BY source ORDER BY local_ns)),
stated AS (
	SELECT b.source, b.local_ns, b.low_ns, b.high_ns,
		coalesce(c.ref_ns + (b.local_ns - c.local_ns)
			+ CAST(round((b.local_ns - c.local_ns) * c.rate_ppb * 1e-9) AS INTEGER), b.local_ns) AS from_ns
	FROM clock_bound AS b LEFT JOIN segment AS c
	ON c.source = b.source AND (c.local_ns <= b.local_ns OR c.place = 1)
		AND (c.next_ns IS NULL OR c.next_ns > b.local_ns)),
drawn AS (
	SELECT source, from_ns, coalesce(lead(from_ns) OVER later, 9223372036854775807) AS to_ns,
		min(low_ns, coalesce(lead(low_ns) OVER later, low_ns)) AS low_ns,
		max(high_ns, coalesce(lead(high_ns) OVER later, high_ns)) AS high_ns
	FROM stated WINDOW later AS (PARTITION BY source ORDER BY local_ns)),
known AS (
	SELECT source, count(low_ns) = count(*) AS low, count(high_ns) = count(*) AS high
	FROM clock_bound GROUP BY source)
SELECT s.node, max(d.from_ns, ?1), IIF(e.side, d.high_ns, d.low_ns), 'bound', s.id, e.side, NULL, NULL,
	coalesce(s.name, '') || IIF(e.side, ' true time, latest', ' true time, earliest'), 'ns'
FROM drawn AS d CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1) AS e
JOIN known AS k ON k.source = d.source JOIN source AS s ON s.id = d.source
WHERE IIF(e.side, k.high, k.low) AND d.to_ns > ?1 AND d.from_ns <= ?2 ORDER BY s.id, e.side, d.from_ns

--- states,cpus notes
SELECT '', 1, 'no sched_switch was recorded: no states of threads and processors'
WHERE NOT EXISTS (SELECT 1 FROM event_class WHERE name = 'sched_switch' AND events > 0)

--- states notes
SELECT '', 1, 'no sched_wakeup was recorded: what threads waited for is not known'
WHERE EXISTS (SELECT 1 FROM event_class WHERE name = 'sched_switch' AND events > 0)
	AND NOT EXISTS (SELECT 1 FROM event_class
		WHERE name IN ('sched_wakeup', 'sched_waking', 'sched_wakeup_new') AND events > 0)

--- states slices states state
SELECT s.node, s.begin_ns, s.end_ns, s.tid,
	CASE s.state_code WHEN 1 THEN 'Running' WHEN 5 THEN 'Dead'
		WHEN 0 THEN CASE s.preempted WHEN 1 THEN 'Runnable (preempted)' ELSE 'Runnable' END
		ELSE CASE CASE s.wait_assumed WHEN 0 THEN s.wait END WHEN 'thread' THEN 'Blocked on a thread'
			WHEN 'disk' THEN 'Blocked on a disk' WHEN 'network' THEN 'Blocked on the network'
			WHEN 'timer' THEN 'Blocked on a timer' WHEN 'interrupt' THEN 'Blocked on an interrupt'
			ELSE 'Blocked' END END,
	CASE WHEN s.state_code < 2 THEN s.cpu END AS "cpu", CASE s.state_code WHEN 1 THEN s.priority END AS "priority",
	s.syscall AS "system call", CASE WHEN s.state_code BETWEEN 2 AND 4 THEN s.switch_state END AS "switch_state",
	CASE WHEN s.state_code NOT IN (1, 5)
		AND (s.wait_assumed <> 0 OR s.wait IS NULL OR s.wait = 'thread') THEN s.waker_tid END AS "@waker",
	CASE WHEN s.state_code NOT IN (1, 5) AND s.wait_assumed = 0 AND s.wait <> 'thread'
		THEN s.waker_tid END AS "@interrupted",
	CASE WHEN s.state_code NOT IN (1, 5) THEN s.wake_event END AS "wakeup event",
	CASE WHEN s.state_code NOT IN (1, 5) AND s.wake_first_recv = s.wake_last_recv
		AND s.wait_assumed = 0 THEN s.wake_last_recv END AS "receive event",
	s.cut AS "=cut"
FROM thread_state AS s WHERE (s.state_code BETWEEN 2 AND 4 OR ?3 = 0) AND s.tid <> 0 AND s.begin_ns <= ?2 AND s.end_ns >= ?1
ORDER BY s.node, s.tid, s.begin_ns, s.id

-- Running spans of processors. Nothing is drawn while one is idle, so it has to be said where that
-- is not known. More processors than 4096 are taken to be damage.
--- cpus chrome-slices cpu
WITH RECURSIVE processor AS (
	SELECT id AS node, 0 AS cpu, max(CASE WHEN cpus BETWEEN 1 AND 4095 THEN cpus ELSE 1 END,
		coalesce((SELECT max(r.cpu) + 1 FROM recorded AS r WHERE r.node = n.id AND r.cpu < 4095), 1)) AS cpus
	FROM node AS n
	UNION ALL SELECT node, cpu + 1, cpus FROM processor WHERE cpu + 1 < cpus),
period AS (
	SELECT p.node, p.cpu, r.begin_ns, r.end_ns FROM processor AS p JOIN recorded AS r ON r.node = p.node
	WHERE (r.kind = 'cpu' AND r.cpu = p.cpu)
	   OR (r.kind = 'kernel' AND r.cpu IS NULL AND NOT EXISTS (SELECT 1 FROM recorded AS c
		WHERE c.node = p.node AND c.kind = 'cpu' AND c.cpu = p.cpu))
	UNION ALL SELECT node, cpu, ?2, ?2 FROM processor),
gap AS (
	SELECT node, cpu, max(?1, coalesce(max(end_ns) OVER (PARTITION BY node, cpu ORDER BY begin_ns, end_ns
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), ?1)) AS from_ns, min(begin_ns, ?2) AS to_ns
	FROM period)
SELECT s.node, s.begin_ns, s.end_ns AS until_ns, s.cpu,
	coalesce(nullif(coalesce(s.comm, t.comm), ''), '(no name)'), s.tid AS "tid", p.pid AS "pid",
	s.priority AS "priority", s.cut AS "=cut", 'cpu' AS "=category"
FROM thread_state AS s LEFT JOIN thread AS t ON t.id = s.thread LEFT JOIN process AS p ON p.id = t.process
WHERE s.state_code = 1 AND s.tid <> 0 AND s.cpu IS NOT NULL AND s.begin_ns <= ?2 AND s.end_ns >= ?1
UNION ALL
SELECT node, from_ns, to_ns, cpu, 'not recorded', NULL, NULL, NULL, 0, 'recorded'
FROM gap WHERE from_ns < to_ns
ORDER BY until_ns, 1, 4

--- interrupts chrome-slices
SELECT s.node, s.begin_ns, s.end_ns, s.cpu, coalesce(s.name, s.kind || ' ' || s.number),
	s.number AS "number", s.tid AS "@interrupted", s.begin_ns - s.raised_ns AS "raise latency ns",
	s.cut AS "=cut", s.kind AS "=track", s.kind AS "=category"
FROM irq AS s WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 ORDER BY s.end_ns, s.id

--- syscalls slices syscalls syscall
SELECT s.node, s.begin_ns, s.end_ns, s.tid, s.name,
	s.ret AS "return", s.fd AS "fd", s.count AS "count", s.path AS "path", s.cpu AS "cpu",
	s.entry_event AS "entry event", s.exit_event AS "exit event",
	s.cut AS "=cut"
FROM syscall AS s WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 ORDER BY s.node, s.tid, s.begin_ns, s.id

-- A disk without a name has its numbers for one.
--- disks slices disk disk
SELECT s.node, s.begin_ns, s.end_ns, s.dev, s.operation, CASE WHEN s.disk NOT LIKE '%,%' THEN 'disk ' || s.disk || ' (' || (s.dev >> 20) || ':'
		|| (s.dev & 1048575) || ')' ELSE 'disk ' || (s.dev >> 20) || ':' || (s.dev & 1048575) END AS "=label",
	s.cut AS "=cut", s.sector AS "sector", s.bytes / 512 AS "sectors",
	s.issue_ns - s.begin_ns AS "queued ns", s.tid AS "tid", coalesce(s.comm, t.comm) AS "comm",
	nullif(s.error, 0) AS "error"
FROM block_request AS s LEFT JOIN thread AS t ON t.id = s.thread
WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 ORDER BY s.end_ns, s.id

--- cpus chrome-counters
SELECT e.node, e.ts_ns, f.state, 'frequency', coalesce(f.cpu_id, e.cpu, -1), 0, NULL, NULL,
	'CPU ' || coalesce(f.cpu_id, e.cpu, -1) || ' frequency', 'kHz'
FROM (SELECT id, cpu_id, state FROM power_cpu_frequency UNION ALL SELECT id, cpu_id, state FROM cpu_frequency) AS f
CROSS JOIN event AS e ON e.id = f.id
WHERE e.ts_ns BETWEEN ?1 AND ?2 AND f.state > 0 ORDER BY e.ts_ns, e.id

-- An instant where a message was sent, one where it was received, and an arrow between
-- them, from the earlier one, or else viewers draw none. An end that is not within the
-- scope is not there, and an arrow has two; then the instant says where the other one is.
-- A value of "<NAME" is of the end that sent, one of ">NAME" of that which received.
--- messages ends sent message
SELECT m.src_node, m.send_ns, m.dst_node, m.recv_ns, coalesce(nullif(m.protocol, ''), 'message'),
	CASE WHEN s.chosen AND d.chosen AND m.send_ns BETWEEN ?1 AND ?2 AND m.recv_ns BETWEEN ?1 AND ?2
		THEN CASE WHEN m.recv_ns < m.send_ns THEN -m.id ELSE m.id END END AS "=arrow",
	m.id AS "message",
	CASE WHEN m.sport IS NULL THEN m.src WHEN instr(m.src, ':') THEN '[' || m.src || ']:' || m.sport
		ELSE m.src || ':' || m.sport END AS "source",
	CASE WHEN m.dport IS NULL THEN m.dst WHEN instr(m.dst, ':') THEN '[' || m.dst || ']:' || m.dport
		ELSE m.dst || ':' || m.dport END AS "destination",
	m.bytes AS "bytes", m.seq AS "seq", CASE WHEN s.id + d.id IS NOT NULL THEN m.recv_ns - m.send_ns END AS "latency ns",
	coalesce(m.send_tid, (SELECT e.tid FROM event AS e WHERE e.id = m.send_event)) AS "<tid", r.tid AS ">tid", m.send_event AS "<event", m.recv_event AS ">event",
	CASE WHEN m.recv_ns IS NOT NULL THEN d.name END AS "<to", CASE WHEN m.send_ns IS NOT NULL THEN s.name END AS ">from",
	CASE WHEN d.id IS NULL OR m.recv_ns IS NULL THEN 'at a time not known'
		WHEN NOT d.chosen THEN 'at a node left out'
		WHEN m.recv_ns NOT BETWEEN ?1 AND ?2 THEN 'outside of this export''s time' END AS "<received",
	CASE WHEN s.id IS NULL OR m.send_ns IS NULL THEN 'at a time not known'
		WHEN NOT s.chosen THEN 'at a node left out'
		WHEN m.send_ns NOT BETWEEN ?1 AND ?2 THEN 'outside of this export''s time' END AS ">sent"
FROM message AS m LEFT JOIN event AS r ON r.id = m.recv_event
LEFT JOIN chosen AS s ON s.id = m.src_node LEFT JOIN chosen AS d ON d.id = m.dst_node
WHERE m.send_ns BETWEEN ?1 AND ?2 OR m.recv_ns BETWEEN ?1 AND ?2 ORDER BY m.id

--- tasks notes
SELECT '', count(*), count(*) || ' tasks are of no node of the run, and left out' FROM invocation
WHERE begin_ns <= ?2 AND (end_ns >= ?1 OR end_ns IS NULL) AND node IS NULL HAVING count(*) > 0

-- Tasks that a scheduler recorded, beside one another.
--- tasks slices tasks task
SELECT node, begin_ns, max(coalesce(end_ns, ?2), begin_ns) AS until_ns,
	0, coalesce(nullif(name, ''), 'task'), (end_ns IS NULL) * 2 AS "=cut", id AS "invocation", pid AS "pid", status AS "status",
	begin_ns - enqueue_ns AS "queued ns"
FROM invocation WHERE begin_ns <= ?2 AND (end_ns >= ?1 OR end_ns IS NULL) AND node IS NOT NULL
ORDER BY until_ns, begin_ns, id

-- Requests as their clients saw them, and as their servers did; the parts of each are values.
-- A request without a response is an instant.
--- requests slices
SELECT r.node, r.begin_ns, r.end_ns, 0, coalesce(nullif(q.protocol, ''), 'request') || coalesce(' ' || q.server_port, '')
		|| IIF(r.is_client, ' to ', ' from ') || o.name AS what,
	q.id AS "request", q.request_bytes AS "request bytes", q.response_bytes AS "response bytes",
	IIF(r.is_client, q.client_tid, q.server_tid) AS "@thread", q.resent_ns AS "resent ns", q.there_ns AS "there ns",
	q.queue_ns AS "queue ns", q.running_ns AS "running ns", q.runnable_ns AS "runnable ns", q.disk_ns AS "disk ns",
	q.node_ns AS "node ns", q.other_ns AS "other ns", q.unknown_ns AS "unknown ns", q.back_ns AS "back ns",
	IIF(r.is_client, 'requests', 'served') AS "=track", 'request' AS "=category"
FROM (SELECT id, client AS node, 1 AS is_client, begin_ns, end_ns FROM request
	UNION ALL SELECT id, server, 0, arrived_ns, responded_ns FROM request) AS r
CROSS JOIN request AS q ON q.id = r.id CROSS JOIN node AS o ON o.id = IIF(r.is_client, q.server, q.client)
WHERE r.begin_ns <= ?2 AND coalesce(r.end_ns, r.begin_ns) >= ?1 ORDER BY coalesce(r.end_ns, r.begin_ns), r.id, r.is_client

-- The slowest requests, and ?4, of which a piece is, whose critical paths are drawn.
--- paths paths
SELECT q.id FROM request AS q JOIN chosen AS c ON c.id = q.client AND c.chosen
WHERE q.begin_ns <= ?2 AND q.end_ns >= ?1 AND EXISTS (SELECT 1 FROM thread_state)
ORDER BY q.id = ?4 DESC, q.end_ns - q.begin_ns DESC, q.begin_ns, q.id LIMIT 10

-- Viewers draw a value up to the next one, and a sample is of the time before it: so its
-- value goes where that begins, and is drawn over what it is of.
--- samples counters
SELECT s.node, max(s.ts_ns - coalesce(s.interval_ns, 0), ?1), s.value, 'samples', s.metric, coalesce(s.item, -1),
	m.number, m.activity, IIF(i.name <> '', i.name || ' ' || m.name, m.name), m.unit
FROM sample AS s JOIN (SELECT id, name, unit, coalesce(nullif(activity, ''), 'other') AS activity,
	dense_rank() OVER (ORDER BY coalesce(activity, '')) AS number FROM metric) AS m ON m.id = s.metric
LEFT JOIN metric_item AS i ON i.id = s.item
WHERE s.ts_ns - coalesce(s.interval_ns, 0) <= ?2 AND s.ts_ns >= ?1 ORDER BY s.rowid

-- The processor and thread of a wakeup are those of its event.
--- states,cpus switches
SELECT s.node, s.begin_ns, s.end_ns, s.tid, s.state_code, s.cpu, s.comm, s.priority, s.preempted,
	s.switch_state, s.thread, e.cpu, coalesce(e.tid, s.waker_tid)
FROM thread_state AS s LEFT JOIN event AS e ON e.id = IIF(s.state_code = 0 AND s.preempted = 0, s.wake_event, NULL)
WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 ORDER BY s.node, s.tid, s.begin_ns, s.id

--- interrupts interrupts
SELECT s.node, s.begin_ns, s.end_ns, s.cpu, s.kind = 'softirq', s.number, coalesce(s.name, ''), s.tid
FROM irq AS s WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 ORDER BY s.end_ns, s.id

--- cpus frequencies
SELECT e.node, e.ts_ns, e.cpu, f.state, coalesce(f.cpu_id, e.cpu)
FROM (SELECT id, cpu_id, state FROM power_cpu_frequency UNION ALL SELECT id, cpu_id, state FROM cpu_frequency) AS f
CROSS JOIN event AS e ON e.id = f.id
WHERE e.ts_ns BETWEEN ?1 AND ?2 AND f.state > 0 ORDER BY e.ts_ns, e.id

-- Requests of disks: when they were issued (NULL: not known), who did so, what.
--- disks requests
SELECT s.node, s.begin_ns, s.end_ns, max(s.begin_ns, coalesce(s.issue_ns, s.begin_ns)), s.dev, s.sector, s.bytes, s.error, s.tid,
	coalesce(s.comm, t.comm, ''), s.cut,
	CASE s.operation WHEN 'read' THEN 'R' WHEN 'write' THEN 'W' WHEN 'flush' THEN 'F' WHEN 'discard' THEN 'D' ELSE '' END
FROM block_request AS s LEFT JOIN thread AS t ON t.id = s.thread
WHERE s.begin_ns <= ?2 AND s.end_ns >= ?1 AND s.dev >= 0 ORDER BY s.end_ns, s.id

-- Packets as devices were given them, and as they came from devices.
--- messages packets
SELECT e.node, e.ts_ns, e.cpu, e.tid, p.sent, p.len, p.name, p.skbaddr
FROM (SELECT id, 1 AS sent, len, name, skbaddr FROM net_dev_queue
	UNION ALL SELECT id, 0, len, name, skbaddr FROM net_if_receive_skb
	UNION ALL SELECT id, 0, len, name, skbaddr FROM netif_receive_skb) AS p
CROSS JOIN event AS e ON e.id = p.id
WHERE e.ts_ns BETWEEN ?1 AND ?2 AND e.cpu IS NOT NULL AND p.len IS NOT NULL AND p.name IS NOT NULL
