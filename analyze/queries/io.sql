-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: io
-- summary: disk requests by disk and process, bytes by file
-- description: Tables: disks and requests, whose duration is from the issue to the
--   device to the completion; QUEUED is the time in the queue before that.
--   utilization: how long a disk had a request, and how many at a time. files: what
--   system calls read and wrote, by file and descriptor; pipes: the same for pipes,
--   sockets and others whose reads and writes wait for another thread, and how long
--   they were BLOCKED. top and log: each request. freq. A request belongs to the
--   thread that queued it: for buffered writes, that is a kernel thread. --min and
--   --max apply to the duration of a request, --minsize and --maxsize to the bytes
--   that a request or a call moved.
-- example: ctanalyze io --group thread --minsize 64k run.db
-- groups: process thread name node
-- forms: stats
-- records: kernel

-- Disks that a trace knows only by MAJOR:MINOR, by their name in sar: SCSI disks have the major number
-- 8, Xen's 202, virtual ones one of 240 to 254; each with 16 minor numbers, and the last letter of its
-- name counts the disks.
-- temporary disk_name
WITH number AS (
	SELECT DISTINCT node, disk, (dev - dev % 1048576) / 1048576e0 AS major, (dev % 1048576) / 16e0 AS n
	FROM block_request WHERE dev >= 0 AND dev % 16 = 0 AND disk LIKE '%:%'),
wanted AS (
	SELECT node, disk, CASE WHEN major = 8 THEN 'sd' WHEN major = 202 THEN 'xvd'
	       WHEN major BETWEEN 240 AND 254 THEN 'vd' END
	       || substr('abcdefghijklmnopqrstuvwxyz', 1 + CAST(n AS INTEGER), 1) AS name
	FROM number WHERE n < 26),
told AS (
	SELECT DISTINCT s.node, i.name FROM metric AS m JOIN sample AS s ON s.metric = m.id
	JOIN metric_item AS i ON i.id = s.item
	WHERE m.activity = 'disk' AND m.name = 'tps')
SELECT w.node, w.disk, w.name FROM wanted AS w JOIN told AS t ON t.node = w.node AND t.name = w.name;

-- Whole ones only. From the issue to the end; one that has no issue counts as a whole.
-- with requested
SELECT r.node, coalesce(d.name, r.disk) AS disk, r.operation, r.sector, r.bytes, r.tid, r.thread, r.comm, r.error,
       r.merged, r.begin_ns,
       r.end_ns, r.end_ns - coalesce(r.issue_ns, r.begin_ns) AS latency_ns, r.issue_ns - r.begin_ns AS queue_ns
FROM block_request AS r LEFT JOIN disk_name AS d ON d.node = r.node AND d.disk = r.disk
WHERE r.cut = 0 AND r.begin_ns >= :begin_ns AND r.end_ns <= :end_ns
  AND r.end_ns - coalesce(r.issue_ns, r.begin_ns) BETWEEN :min_ns AND :max_ns
  AND r.bytes BETWEEN :min_bytes AND :max_bytes
  AND (:all_nodes = 1 OR r.node IN (SELECT id FROM chosen_node))
  AND (:all_threads = 1 OR r.thread IN (SELECT id FROM chosen_thread));

-- table disks: Requests by disk
-- form: stats
-- sort: node,disk,operation
SELECT n.name AS node, r.disk AS disk, r.operation AS operation, count(latency_ns) AS count, distribution(latency_ns),
       sum(latency_ns) AS sum_ns,
       avg(queue_ns) AS queue_mean_ns, max(queue_ns) AS queue_max_ns, sum(bytes) AS bytes,
       sum(merged) AS merged, count(*) FILTER (WHERE error <> 0) AS errors
FROM requested AS r JOIN node AS n ON n.id = r.node
GROUP BY r.node, r.disk, r.operation, n.name;

-- A disk is busy while the device has at least one of the requests.
-- table utilization: Utilization of disks
-- form: stats
-- sort: node,disk
-- column percent: %, OF THE TIME
-- column depth: ratio, AT A TIME
WITH issued AS (
	SELECT node, disk, bytes, end_ns, latency_ns, end_ns - latency_ns AS issue_ns,
	       max(end_ns) OVER (PARTITION BY node, disk ORDER BY end_ns - latency_ns, end_ns
	                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_ns
	FROM requested),
summed AS (
	SELECT node, disk, count(*) AS requests, sum(bytes) AS bytes, sum(latency_ns) AS sum_ns,
	       sum(CASE WHEN last_ns IS NULL OR last_ns <= issue_ns THEN latency_ns
	           WHEN last_ns < end_ns THEN end_ns - last_ns ELSE 0 END) AS busy_ns
	FROM issued GROUP BY node, disk)
SELECT n.name AS node, s.disk AS disk, s.requests AS requests, s.bytes AS bytes, s.busy_ns AS busy_ns,
       1e2 * s.busy_ns / nullif(k.recorded_ns, 0) AS percent, 1e0 * s.sum_ns / nullif(s.busy_ns, 0) AS depth
FROM summed AS s JOIN node AS n ON n.id = s.node LEFT JOIN kernel_recorded AS k ON k.node = s.node;

-- table requests: Requests by origin
-- form: stats
-- sort: -bytes,node,pid,tid,process,operation
-- limit: 20
-- shown: node [thread process node], tid [thread], pid [thread process], comm [thread],
--   process [process name]
WITH grouped AS (
	SELECT thread_group(r, t),
	       r.operation, r.latency_ns, r.queue_ns,
	       r.bytes, r.merged, r.error
	FROM requested AS r LEFT JOIN known_thread AS t ON t.id = r.thread)
SELECT n.name AS node, tid, pid, comm, process, operation,
       count(latency_ns) AS count, distribution(latency_ns), sum(latency_ns) AS sum_ns,
       avg(queue_ns) AS queue_mean_ns, max(queue_ns) AS queue_max_ns, sum(bytes) AS bytes,
       sum(merged) AS merged, count(*) FILTER (WHERE error <> 0) AS errors
FROM grouped AS g LEFT JOIN node AS n ON n.id = g.node
GROUP BY g.node, n.name, tid, thread, pid, comm, process, operation;

-- The effect of a call on a descriptor: move bytes, or change which file it is; and what it is, if the call says so.
-- temporary call_kind
-- index: name
WITH named (name, kind, path) AS (VALUES
	('read', 'read', NULL), ('readv', 'read', NULL), ('pread64', 'read', NULL), ('preadv', 'read', NULL),
	('preadv2', 'read', NULL), ('recvfrom', 'read', '(socket)'), ('recvmsg', 'read', '(socket)'),
	('getdents64', 'read', NULL),
	('write', 'write', NULL), ('writev', 'write', NULL), ('pwrite64', 'write', NULL), ('pwritev', 'write', NULL),
	('pwritev2', 'write', NULL), ('sendto', 'write', '(socket)'), ('sendmsg', 'write', '(socket)'),
	('fsync', 'sync', NULL),
	('fdatasync', 'sync', NULL), ('sync_file_range', 'sync', NULL), ('syncfs', 'sync', NULL),
	('open', 'open', NULL),
	('openat', 'open', NULL), ('openat2', 'open', NULL), ('creat', 'open', NULL), ('socket', 'open', '(socket)'),
	('accept', 'open', '(socket)'), ('accept4', 'open', '(socket)'), ('eventfd2', 'open', '(event)'),
	('timerfd_create', 'open', '(timer)'), ('epoll_create1', 'open', '(epoll)'), ('close', 'close', NULL))
SELECT name, kind, path FROM named;

-- The uses of each process's descriptors, the thread's where its process is not known; what
-- changed them also before the selected time. A read or write SLEPT until something other
-- than a disk woke it: files do not wait so. Kept, as three statements read it.
-- temporary descriptor_call
SELECT s.node, s.tid, coalesce(t.pid, s.tid) AS process, s.thread, s.comm, k.kind, s.begin_ns, s.end_ns, s.ret,
       CASE WHEN k.kind = 'open' THEN s.ret ELSE s.fd END AS fd, coalesce(k.path, s.path) AS path,
       CASE WHEN s.cut = 0 AND s.begin_ns >= :begin_ns AND s.end_ns <= :end_ns
       THEN s.end_ns - s.begin_ns END AS duration_ns,
       CASE WHEN s.end_ns >= :begin_ns THEN 1 ELSE 0 END AS is_asked,
       CASE WHEN k.kind IN ('read', 'write') AND s.end_ns >= :begin_ns
            THEN (SELECT sum(w.duration_ns) FROM thread_state AS w
                  WHERE w.node = s.node AND w.tid = s.tid AND w.begin_ns >= s.begin_ns
                    AND w.begin_ns < least(s.end_ns, :end_ns)
                    AND w.end_ns > :begin_ns AND w.state = 'interruptible' AND w.syscall = s.name) END AS slept_ns
FROM syscall AS s CROSS JOIN call_kind AS k LEFT JOIN known_thread AS t ON t.id = s.thread
WHERE k.name = s.name AND CASE WHEN k.kind = 'open' THEN s.ret ELSE s.fd END >= 0 AND s.begin_ns <= :end_ns
  AND (:all_nodes = 1 OR s.node IN (SELECT id FROM chosen_node));

-- The times at which descriptors changed their file, and the new file.
-- temporary descriptor_change
SELECT node, process, fd, end_ns, max(CASE WHEN kind = 'open' THEN path END) AS path
FROM descriptor_call WHERE kind IN ('open', 'close') GROUP BY node, process, fd, end_ns;

-- Most calls come before any change of their descriptor: they need not be put in order.
-- temporary first_change
-- index: node, process, fd
SELECT node, process, fd, min(end_ns) AS first_ns FROM descriptor_change GROUP BY node, process, fd;

-- with move
SELECT d.node, d.process, d.thread, d.comm, d.kind, d.fd, d.duration_ns, d.end_ns, f.first_ns, d.path, d.slept_ns,
       CASE WHEN d.end_ns <= :end_ns THEN d.ret END AS ret
FROM descriptor_call AS d LEFT JOIN first_change AS f ON f.node = d.node AND f.process = d.process AND f.fd = d.fd
WHERE d.kind IN ('read', 'write', 'sync') AND d.is_asked = 1
  AND CASE WHEN d.kind <> 'sync' AND d.end_ns <= :end_ns AND d.ret > 0 THEN d.ret ELSE 0 END
      BETWEEN :min_bytes AND :max_bytes
  AND (:all_threads = 1 OR d.thread IN (SELECT id FROM chosen_thread));

-- The others, with when their descriptor became what it was then.
-- temporary later_move
WITH followed AS (
	SELECT node, process, thread, comm, kind, fd, duration_ns, end_ns, path, slept_ns, ret, NULL AS change_ns
	FROM move WHERE end_ns >= first_ns
	UNION ALL
	SELECT node, process, NULL, NULL, 'change', fd, NULL, end_ns, NULL, NULL, NULL, end_ns FROM descriptor_change),
dated AS (
	SELECT node, process, thread, comm, kind, fd, duration_ns, path, slept_ns, ret,
	       max(change_ns) OVER (PARTITION BY node, process, fd ORDER BY end_ns) AS since_ns
	FROM followed)
SELECT node, process, thread, comm, kind, fd, duration_ns, path, slept_ns, ret, since_ns FROM dated
WHERE kind <> 'change';

-- By descriptor, thread and when the descriptor became what it was then.
-- temporary moved
WITH dated AS (
	SELECT node, process, thread, comm, kind, fd, duration_ns, path, slept_ns, ret, -4611686018427387904 AS since_ns
	FROM move WHERE first_ns IS NULL OR end_ns < first_ns
	UNION ALL
	SELECT node, process, thread, comm, kind, fd, duration_ns, path, slept_ns, ret,
	       coalesce(since_ns, -4611686018427387904) FROM later_move)
SELECT node, process, thread, comm, fd, since_ns,
       sum(CASE WHEN kind = 'read' AND ret > 0 THEN ret ELSE 0 END) AS read_bytes,
       sum(CASE WHEN kind = 'write' AND ret > 0 THEN ret ELSE 0 END) AS written_bytes,
       count(*) FILTER (WHERE kind = 'read') AS reads, count(*) FILTER (WHERE kind = 'write') AS writes,
       count(*) FILTER (WHERE kind = 'sync') AS syncs, count(*) FILTER (WHERE ret BETWEEN -4095 AND -1) AS errors,
       sum(duration_ns) AS sum_ns, max(duration_ns) AS max_ns, max(path) AS path, max(slept_ns) AS slept_ns,
       sum(slept_ns) FILTER (WHERE duration_ns IS NOT NULL) AS blocked_ns
FROM dated
GROUP BY node, process, fd, since_ns, thread, comm;

-- With what the descriptor is: what a call opened, or what calls with it say.
-- temporary described
SELECT m.node, t.pid, coalesce(t.process, t.comm, m.comm) AS process, m.fd, m.read_bytes, m.written_bytes, m.reads,
       m.writes,
       m.syncs, m.errors, m.sum_ns, m.max_ns, coalesce(m.blocked_ns, 0) AS blocked_ns,
       max(coalesce(c.path, m.path)) OVER (PARTITION BY m.node, m.process, m.fd, m.since_ns) AS path,
       max(CASE WHEN m.slept_ns > 0 OR coalesce(c.path, m.path, '') LIKE '(%' THEN 1 ELSE 0 END)
       OVER (PARTITION BY m.node, m.process, m.fd, m.since_ns) AS is_pipe
FROM moved AS m LEFT JOIN known_thread AS t ON t.id = m.thread
LEFT JOIN descriptor_change AS c ON c.node = m.node AND c.process = m.process AND c.fd = m.fd AND c.end_ns = m.since_ns;

-- table files: Files, from system calls
-- form: stats
-- sort: -sum_ns,node,pid,fd,path
-- limit: 20
-- column path: text, FILE
-- column sum_ns: ns, TIME
-- column max_ns: ns, LONGEST
SELECT n.name AS node, d.pid AS pid, d.process AS process, d.fd AS fd, d.path AS path,
       sum(read_bytes) AS read_bytes, sum(written_bytes) AS written_bytes, sum(reads) AS reads,
       sum(writes) AS writes, sum(syncs) AS syncs, sum(errors) AS errors, sum(sum_ns) AS sum_ns, max(max_ns) AS max_ns
FROM described AS d JOIN node AS n ON n.id = d.node WHERE d.is_pipe = 0
GROUP BY d.node, n.name, d.pid, d.process, d.fd, d.path;

-- table pipes: Pipes, sockets and what else waits for another thread, from system calls
-- form: stats
-- sort: -sum_ns,node,pid,fd,path
-- limit: 20
-- column path: text, FILE
-- column sum_ns: ns, TIME
-- column max_ns: ns, LONGEST
-- column blocked_ns: ns, BLOCKED
SELECT n.name AS node, d.pid AS pid, d.process AS process, d.fd AS fd, d.path AS path,
       sum(read_bytes) AS read_bytes, sum(written_bytes) AS written_bytes, sum(reads) AS reads,
       sum(writes) AS writes, sum(errors) AS errors, sum(sum_ns) AS sum_ns, max(max_ns) AS max_ns,
       sum(blocked_ns) AS blocked_ns
FROM described AS d JOIN node AS n ON n.id = d.node WHERE d.is_pipe = 1
GROUP BY d.node, n.name, d.pid, d.process, d.fd, d.path;

-- table freq: Histogram of latencies, from issue to completion
-- form: freq
-- sort: to_ns
frequency(latency_ns, requested);

-- table top: The slowest requests
-- form: top
-- sort: -latency_ns,begin_ns,node,sector
-- limit: 10
-- table log: Every request
-- form: log
-- sort: begin_ns,node,sector
-- column queue_ns: ns, QUEUED
-- column error: id, ERROR
SELECT r.begin_ns AS begin_ns, r.latency_ns AS latency_ns, r.queue_ns AS queue_ns, n.name AS node, r.tid AS tid,
       t.pid AS pid, coalesce(r.comm, t.comm) AS comm, r.disk AS disk,
       r.operation AS operation, r.sector AS sector, r.bytes AS bytes, r.merged AS merged, r.error AS error
FROM requested AS r JOIN node AS n ON n.id = r.node LEFT JOIN known_thread AS t ON t.id = r.thread;

-- notes
SELECT 'disk requests: not recorded (enable block_rq_insert, block_rq_issue, block_rq_complete)'
       || CASE WHEN EXISTS (SELECT 1 FROM metric WHERE activity = 'disk')
       THEN '; sar sampled disks, see ctanalyze metrics' ELSE '' END AS note
WHERE (SELECT count(DISTINCT name) FROM recorded_class WHERE name IN ('block_rq_issue', 'block_rq_complete')) < 2
UNION ALL
SELECT 'files: not recorded (enable syscall_entry_*, syscall_exit_*)'
WHERE NOT EXISTS (SELECT 1 FROM recorded_class WHERE name LIKE 'syscall_entry_%')
   OR NOT EXISTS (SELECT 1 FROM recorded_class WHERE name LIKE 'syscall_exit_%');
