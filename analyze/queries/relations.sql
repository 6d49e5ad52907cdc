-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: relations
-- summary: what the other files share
-- unit text: a about activity analysis asymmetric b cause class client comm command container cut disk dst error exe
--   from from_node group holder hostname interface kernel kind metric name node operation path place process
--   protocol quality reference server source src syscall task to to_node unit waker woken
-- unit count: allocations count cpus discarded ended errors events failed flows frees hard lost major_faults
--   merged messages messages_ab messages_ba migrations negative packets preempted problems processes reads
--   received rejected runs samples segments sent soft sources switches syncs threads unbounded unfinished
--   violations_after violations_before writes
-- unit id: begin_event client_tid cpu depth end_event errno exit_status fd holder_tid message number pid
--   port ppid request result sector tid waker_tid
-- unit bytes/s: bytes_per_second received_bytes_per_second sent_bytes_per_second
-- unit Hz: cpu_hertz
-- unit ppm: drift_ppm
-- unit number: max mean min
-- column busy_percent: %, BUSY %
-- column dport: id, PORT
-- column item: text, OF
-- column least_ns: ns, FROM
-- column most_ns: ns, AT MOST
-- column p50_ns: ns, MEDIAN
-- column p95_ns: ns, 95 %
-- column p99_ns: ns, 99 %
-- column percent: %, SHARE
-- column priority: id, PRIO
-- column queue_max_ns: ns, QUEUED MAX
-- column queue_mean_ns: ns, QUEUED MEAN
-- column received_bytes: bytes, BYTES
-- column retransmitted: count, SENT AGAIN
-- column retransmitted_bytes: bytes, BYTES
-- column retransmitted_percent: %, SHARE
-- column send_ns: epoch_ns, SENT
-- column sent_bytes: bytes, BYTES
-- column sport: id, PORT
-- column text: text, PROBLEM
-- column to_ns: ns, BEFORE

-- The selections by options. :of_nodes and the like are lists or conditions, not values.
-- temporary chosen_node
-- index: id
SELECT * FROM node WHERE :all_nodes = 1 OR name IN (:of_nodes);

-- temporary chosen_cpu
-- index: cpu
WITH numbers (cpu) AS (VALUES :of_cpus) SELECT cpu FROM numbers;

-- temporary chosen_irq
-- index: number
WITH numbers (number) AS (VALUES :of_irqs) SELECT number FROM numbers;

-- temporary chosen_softirq
-- index: number
WITH numbers (number) AS (VALUES :of_softirqs) SELECT number FROM numbers;

-- temporary chosen_metric
-- index: id
SELECT * FROM metric WHERE :all_metrics = 1 OR name IN (:of_metrics);

-- temporary chosen_item
-- index: id
SELECT id, type, name, :of_aliases AS alias FROM metric_item WHERE :all_items = 1 OR name IN (:of_items);

-- The disks and interfaces that the recipe names, or all of a type of which it names none, and all
-- other items.
-- temporary analyzed_item
-- index: id
SELECT id FROM metric_item
WHERE (coalesce(type, '') <> 'interface' OR :all_interfaces = 1 OR name IN (:of_interfaces))
  AND (coalesce(type, '') <> 'disk' OR :all_filesystems = 1 OR name IN (:of_filesystems));

-- The period in which a tid is this thread. Before the first thread with a tid, the tid counts
-- as that thread.
-- temporary known_thread
-- index: id; node, tid, from_ns, until_ns, comm, id, process
WITH born AS (
	SELECT id, node, tid, process, comm, coalesce(begin_ns, -4611686018427387904) AS born_ns
	FROM thread)
SELECT b.id, b.node, b.tid, p.pid, b.comm, p.comm AS process, p.container,
       CASE WHEN row_number() OVER life = 1 THEN -4611686018427387904 ELSE b.born_ns END AS from_ns,
       coalesce(lead(b.born_ns) OVER life, 4611686018427387904) AS until_ns
FROM born AS b LEFT JOIN process AS p ON p.id = b.process
WINDOW life AS (PARTITION BY b.node, b.tid ORDER BY b.born_ns, b.id);

-- The names that threads had before their last one, which known_thread has, and when: the name of a
-- span is that at its end. Idle is not one thread, and has the names of its processors.
-- temporary former_name
-- index: thread, from_ns, until_ns, comm
WITH named AS (
	SELECT thread, comm, begin_ns, end_ns,
	       CASE WHEN comm = lag(comm) OVER spans AND begin_ns = lag(end_ns) OVER spans THEN 0 ELSE 1 END AS is_first
	FROM thread_state WHERE comm IS NOT NULL AND tid <> 0 WINDOW spans AS (PARTITION BY thread ORDER BY begin_ns)),
counted AS (
	SELECT thread, comm, begin_ns, end_ns, sum(is_first) OVER (PARTITION BY thread ORDER BY begin_ns) AS n
	FROM named)
SELECT thread, comm, from_ns, until_ns
FROM (SELECT thread, comm, min(begin_ns) AS from_ns, max(end_ns) AS until_ns FROM counted
      GROUP BY thread, n, comm) AS f;

-- temporary chosen_thread
-- index: id
SELECT * FROM known_thread
WHERE :of_tids AND :of_pids AND (:all_names = 1 OR comm IN (:of_names) OR process IN (:of_names));

-- 1, 2, 5, 10, ... and what is below 1.
-- temporary duration_bin
WITH RECURSIVE power AS (
	SELECT CAST(1 AS BIGINT) AS one
	UNION ALL SELECT one * 10 FROM power WHERE one < 1000000000000000000)
SELECT -4611686018427387904 AS least_ns, 1 AS below_ns
UNION ALL SELECT one, 2 * one FROM power
UNION ALL SELECT 2 * one, 5 * one FROM power WHERE one < 1000000000000000000
UNION ALL SELECT 5 * one, 10 * one FROM power WHERE one < 1000000000000000000;

-- Classes of which there are events.
-- with recorded_class
SELECT name FROM event_class WHERE events > 0;

-- Missing events, which make parts of critical paths unknown. Older tracers omit the prefixes of
-- newer names.
-- with path_note
WITH recorded AS (
	SELECT count(*) FILTER (WHERE name = 'sched_switch') AS switches,
	       count(*) FILTER (WHERE name IN ('sched_waking', 'sched_wakeup')) AS wakeups,
	       count(DISTINCT CASE WHEN name IN ('irq_handler_entry', 'irq_handler_exit') THEN name
	                           WHEN name IN ('irq_softirq_entry', 'softirq_entry') THEN 'softirq_entry'
	                           WHEN name IN ('irq_softirq_exit', 'softirq_exit')
	                           THEN 'softirq_exit' END) AS interrupts,
	       count(*) FILTER (WHERE name IN ('net_if_receive_skb', 'netif_receive_skb')) AS receives
	FROM event_class WHERE events > 0)
SELECT 'what threads did: not recorded (enable sched_switch)' AS note FROM recorded WHERE switches = 0
UNION ALL
SELECT CASE WHEN wakeups = 0 THEN 'what ended waits: not recorded (enable sched_waking or sched_wakeup)'
       WHEN interrupts < 4 THEN 'interrupts are not recorded: what follows a packet''s receive on its processor, '
            || 'within 500 us and before a switch, is taken to be its doing, other waits stay '
            || 'unknown (enable irq_handler_entry and _exit, irq_softirq_entry and _exit)'
       WHEN receives = 0 THEN 'which message ended a wait: not recorded (enable net_if_receive_skb)' END
FROM recorded;

-- The segments of each clock's correction, in order.
-- temporary clock_segment
-- index: source
SELECT source, local_ns, ref_ns, rate_ppb * 1e-9 AS rate,
       row_number() OVER correction AS n, lead(local_ns) OVER correction AS until_ns
FROM clock
WINDOW correction AS (PARTITION BY source ORDER BY local_ns);

-- The bounds of clocks at times of the timeline's axis. Between two times the wider of both
-- applies.
-- temporary clock_step
SELECT b.source, b.low_ns, b.high_ns, row_number() OVER stated AS n,
       coalesce(s.ref_ns + (b.local_ns - s.local_ns)
                + CAST(round((b.local_ns - s.local_ns) * s.rate) AS BIGINT), b.local_ns) AS at_ns
FROM clock_bound AS b LEFT JOIN clock_segment AS s ON s.source = b.source
 AND (s.n = 1 OR s.local_ns <= b.local_ns) AND (s.until_ns IS NULL OR s.until_ns > b.local_ns)
WINDOW stated AS (PARTITION BY b.source ORDER BY b.local_ns);

-- The bounds between two such steps; n is the same for those that overlap: a clock that was set back
-- shows some times twice. A stamp that was corrected twice may be off by some: 1 us beyond both ends.
-- temporary clock_span
-- index: source, n
WITH step AS (
	SELECT source, at_ns, low_ns, high_ns, n,
	       lead(at_ns) OVER stated AS next_ns, lead(low_ns) OVER stated AS next_low_ns,
	       lead(high_ns) OVER stated AS next_high_ns
	FROM clock_step
	WINDOW stated AS (PARTITION BY source ORDER BY n)),
span AS (
	SELECT source, CASE WHEN n = 1 THEN at_ns - 1000 ELSE at_ns END AS begin_ns,
	       CASE WHEN next_ns IS NULL THEN at_ns + 1001 ELSE at_ns + 1 END AS end_ns, low_ns, high_ns
	FROM step WHERE next_ns IS NULL OR next_ns > at_ns
	UNION ALL
	SELECT source, at_ns + 1, next_ns,
	       CASE WHEN low_ns < next_low_ns THEN low_ns WHEN low_ns IS NOT NULL THEN next_low_ns END,
	       CASE WHEN high_ns > next_high_ns THEN high_ns WHEN high_ns IS NOT NULL THEN next_high_ns END
	FROM step WHERE next_ns > at_ns + 1),
followed AS (
	SELECT source, begin_ns, end_ns, low_ns, high_ns,
	       max(end_ns) OVER (PARTITION BY source ORDER BY begin_ns, end_ns
	                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
	FROM span)
SELECT source, begin_ns, end_ns, low_ns, high_ns,
       sum(CASE WHEN before_ns > begin_ns THEN 0 ELSE 1 END) OVER (
           PARTITION BY source ORDER BY begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n
FROM followed;

-- The uncertainty of a source's clock: an event with a timestamp from begin_ns on and before end_ns
-- happened between low_ns before it and high_ns after it; NULL: open. Each time has one row: where
-- spans overlap, the widest of their bounds.
-- temporary clock_uncertainty
-- index: source, begin_ns
WITH edge AS (
	SELECT source, n, begin_ns AS at_ns FROM clock_span
	UNION SELECT source, n, end_ns FROM clock_span),
piece AS (
	SELECT source, n, at_ns AS begin_ns, lead(at_ns) OVER (PARTITION BY source, n ORDER BY at_ns) AS end_ns
	FROM edge)
SELECT p.source, p.begin_ns, p.end_ns, CASE WHEN count(s.low_ns) = count(*) THEN min(s.low_ns) END AS low_ns,
       CASE WHEN count(s.high_ns) = count(*) THEN max(s.high_ns) END AS high_ns
FROM piece AS p JOIN clock_span AS s ON s.source = p.source AND s.n = p.n AND s.begin_ns <= p.begin_ns
 AND s.end_ns > p.begin_ns
WHERE p.end_ns IS NOT NULL
GROUP BY p.source, p.begin_ns, p.end_ns;

-- The row of clock_uncertainty for a time begins at most longest_ns before it: with this as a second limit,
-- an index finds the row.
-- temporary uncertainty_span
-- index: source
SELECT source, max(end_ns - begin_ns) AS longest_ns FROM clock_uncertainty GROUP BY source;

-- The source that stands for a node where no event is named: its kernel's trace, else its first.
-- temporary node_source
-- index: node
SELECT r.node, r.source, r.clock_uuid, r.kind, r.reference, u.longest_ns
FROM (
	SELECT node, id AS source, clock_uuid, kind, reference,
	       row_number() OVER (PARTITION BY node ORDER BY CASE kind WHEN 'kernel' THEN 0 ELSE 1 END, id) AS n
	FROM source) AS r
LEFT JOIN uncertainty_span AS u ON u.source = r.source
WHERE r.n = 1;

-- The errors that system calls return as -1 to -4095: the numbers of Linux, asm-generic's, which all but
-- alpha, mips, parisc and sparc have. From 512 on they are the kernel's own, that a tracer sees
-- and a program does not: the call is begun again.
-- with errno
WITH named (number, name) AS (VALUES
	(1, 'EPERM'), (2, 'ENOENT'), (3, 'ESRCH'), (4, 'EINTR'), (5, 'EIO'), (6, 'ENXIO'), (7, 'E2BIG'),
	(8, 'ENOEXEC'), (9, 'EBADF'), (10, 'ECHILD'), (11, 'EAGAIN'), (12, 'ENOMEM'), (13, 'EACCES'), (14, 'EFAULT'),
	(15, 'ENOTBLK'), (16, 'EBUSY'), (17, 'EEXIST'), (18, 'EXDEV'), (19, 'ENODEV'), (20, 'ENOTDIR'),
	(21, 'EISDIR'), (22, 'EINVAL'), (23, 'ENFILE'), (24, 'EMFILE'), (25, 'ENOTTY'), (26, 'ETXTBSY'),
	(27, 'EFBIG'), (28, 'ENOSPC'), (29, 'ESPIPE'), (30, 'EROFS'), (31, 'EMLINK'), (32, 'EPIPE'), (33, 'EDOM'),
	(34, 'ERANGE'), (35, 'EDEADLK'), (36, 'ENAMETOOLONG'), (37, 'ENOLCK'), (38, 'ENOSYS'), (39, 'ENOTEMPTY'),
	(40, 'ELOOP'), (42, 'ENOMSG'), (43, 'EIDRM'), (44, 'ECHRNG'), (45, 'EL2NSYNC'), (46, 'EL3HLT'),
	(47, 'EL3RST'), (48, 'ELNRNG'), (49, 'EUNATCH'), (50, 'ENOCSI'), (51, 'EL2HLT'), (52, 'EBADE'), (53, 'EBADR'),
	(54, 'EXFULL'), (55, 'ENOANO'), (56, 'EBADRQC'), (57, 'EBADSLT'), (59, 'EBFONT'), (60, 'ENOSTR'),
	(61, 'ENODATA'), (62, 'ETIME'), (63, 'ENOSR'), (64, 'ENONET'), (65, 'ENOPKG'), (66, 'EREMOTE'),
	(67, 'ENOLINK'), (68, 'EADV'), (69, 'ESRMNT'), (70, 'ECOMM'), (71, 'EPROTO'), (72, 'EMULTIHOP'),
	(73, 'EDOTDOT'), (74, 'EBADMSG'), (75, 'EOVERFLOW'), (76, 'ENOTUNIQ'), (77, 'EBADFD'), (78, 'EREMCHG'),
	(79, 'ELIBACC'), (80, 'ELIBBAD'), (81, 'ELIBSCN'), (82, 'ELIBMAX'), (83, 'ELIBEXEC'), (84, 'EILSEQ'),
	(85, 'ERESTART'), (86, 'ESTRPIPE'), (87, 'EUSERS'), (88, 'ENOTSOCK'), (89, 'EDESTADDRREQ'), (90, 'EMSGSIZE'),
	(91, 'EPROTOTYPE'), (92, 'ENOPROTOOPT'), (93, 'EPROTONOSUPPORT'), (94, 'ESOCKTNOSUPPORT'), (95, 'EOPNOTSUPP'),
	(96, 'EPFNOSUPPORT'), (97, 'EAFNOSUPPORT'), (98, 'EADDRINUSE'), (99, 'EADDRNOTAVAIL'), (100, 'ENETDOWN'),
	(101, 'ENETUNREACH'), (102, 'ENETRESET'), (103, 'ECONNABORTED'), (104, 'ECONNRESET'), (105, 'ENOBUFS'),
	(106, 'EISCONN'), (107, 'ENOTCONN'), (108, 'ESHUTDOWN'), (109, 'ETOOMANYREFS'), (110, 'ETIMEDOUT'),
	(111, 'ECONNREFUSED'), (112, 'EHOSTDOWN'), (113, 'EHOSTUNREACH'), (114, 'EALREADY'), (115, 'EINPROGRESS'),
	(116, 'ESTALE'), (117, 'EUCLEAN'), (118, 'ENOTNAM'), (119, 'ENAVAIL'), (120, 'EISNAM'), (121, 'EREMOTEIO'),
	(122, 'EDQUOT'), (123, 'ENOMEDIUM'), (124, 'EMEDIUMTYPE'), (125, 'ECANCELED'), (126, 'ENOKEY'),
	(127, 'EKEYEXPIRED'), (128, 'EKEYREVOKED'), (129, 'EKEYREJECTED'), (130, 'EOWNERDEAD'),
	(131, 'ENOTRECOVERABLE'), (132, 'ERFKILL'), (512, 'ERESTARTSYS'), (513, 'ERESTARTNOINTR'),
	(514, 'ERESTARTNOHAND'), (515, 'ENOIOCTLCMD'), (516, 'ERESTART_RESTARTBLOCK'), (517, 'EPROBE_DEFER'),
	(524, 'ENOTSUPP'), (529, 'EIOCBQUEUED'))
SELECT number, name FROM named;

-- A place that became no source may still begin with the name of a node.
-- with problem_place
SELECT p.id, coalesce(min(s.node), min(m.id)) AS node
FROM problem AS p LEFT JOIN source AS s ON s.id = p.source
LEFT JOIN node AS m ON s.id IS NULL AND (p.place = m.name OR p.place LIKE m.name || '/%'
 OR p.place LIKE m.name || ':%' OR p.place LIKE '%/' || m.name || '/%' OR p.place LIKE '%/' || m.name)
GROUP BY p.id;

-- The problems of the chosen nodes.
-- with node_problem
SELECT p.id, n.name AS node, coalesce(p.place, s.name) AS place, p.kind, p.count, p.text
FROM problem_place AS w JOIN problem AS p ON p.id = w.id LEFT JOIN source AS s ON s.id = p.source
LEFT JOIN node AS n ON n.id = w.node
WHERE :all_nodes = 1 OR w.node IN (SELECT id FROM chosen_node);

-- Pairs of classes of user space that suggest a period: app:work_begin and app:work_end.
-- temporary user_pair
WITH word (a, b) AS (VALUES
	('begin', 'end'), ('start', 'end'), ('start', 'stop'), ('start', 'finish'), ('start', 'done'),
	('entry', 'exit'),
	('enter', 'exit'), ('enter', 'leave'), ('request', 'response'), ('issue', 'complete'), ('submit', 'complete'),
	('lock', 'unlock'), ('acquire', 'release'), ('open', 'close'), ('push', 'pop')),
 begun AS (
	SELECT f.id, f.kind, f.name, replace(f.name, w.a, w.b) AS to_name
	FROM event_class AS f CROSS JOIN word AS w
	WHERE f.name LIKE '%' || w.a || '%' AND f.kind IN ('user', 'trace') AND f.events > 0)
SELECT DISTINCT f.id AS from_class, t.id AS to_class, f.name AS from_name, t.name AS to_name
FROM begun AS f JOIN event_class AS t ON t.name = f.to_name AND t.kind = f.kind
WHERE t.events > 0 AND f.id <> t.id;

-- The holes in the recording: `until_ns` of a hole in the kernel's traces of a
-- node or one of its processors, or (`is_user`) in its other traces, and the begin of the first hole
-- that ends then or later. What lasted from a to b goes on over a hole if that of the first one that
-- ends after a is before b.
-- temporary hole
-- index: node, is_user, until_ns, from_ns
WITH life AS (
	SELECT node, CASE kind WHEN 'user' THEN 1 ELSE 0 END AS is_user, end_ns AS from_ns,
	       lead(begin_ns) OVER (PARTITION BY node, kind, cpu ORDER BY begin_ns) AS until_ns
	FROM recorded)
SELECT node, is_user, until_ns, min(from_ns) OVER (PARTITION BY node, is_user ORDER BY until_ns DESC) AS from_ns
FROM life WHERE until_ns IS NOT NULL;

-- From each first event of such a pair to the next second one of the same thread, which must be known; of
-- several first ones in a row the last counts.
-- temporary user_period
WITH step AS (
	SELECT p.from_class, p.to_class, p.from_name, p.to_name, e.node, e.tid, e.ts_ns, e.id, 1 AS is_begin
	FROM user_pair AS p CROSS JOIN event AS e
	WHERE e.class = p.from_class AND e.tid IS NOT NULL AND e.ts_ns BETWEEN :begin_ns AND :end_ns
	  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))
	UNION ALL
	SELECT p.from_class, p.to_class, p.from_name, p.to_name, e.node, e.tid, e.ts_ns, e.id, 0
	FROM user_pair AS p CROSS JOIN event AS e
	WHERE e.class = p.to_class AND e.tid IS NOT NULL AND e.ts_ns BETWEEN :begin_ns AND :end_ns
	  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))),
dated AS (
	SELECT from_name, to_name, node, tid, ts_ns, is_begin, lag(is_begin) OVER steps AS last_is_begin,
	       lag(ts_ns) OVER steps AS begin_ns
	FROM step WINDOW steps AS (PARTITION BY from_class, to_class, node, tid ORDER BY ts_ns, id))
SELECT from_name, to_name, node, tid, begin_ns, ts_ns AS end_ns, ts_ns - begin_ns AS duration_ns
FROM dated AS d WHERE is_begin = 0 AND last_is_begin = 1
  AND coalesce((SELECT from_ns FROM hole AS h WHERE h.node = d.node AND h.is_user = 1 AND h.until_ns > d.begin_ns
	ORDER BY h.until_ns LIMIT 1), d.ts_ns) >= d.ts_ns;

-- The part of the selected time in which the kernel of a node was recorded.
-- temporary kernel_recorded
SELECT node, sum(least(end_ns, :end_ns) - greatest(begin_ns, :begin_ns)) AS recorded_ns
FROM recorded
WHERE kind = 'kernel' AND cpu IS NULL AND begin_ns <= :end_ns AND end_ns >= :begin_ns
GROUP BY node;

-- The same of each processor.
-- temporary cpu_recorded
-- index: node, cpu
SELECT node, cpu, sum(least(end_ns, :end_ns) - greatest(begin_ns, :begin_ns)) AS recorded_ns
FROM recorded
WHERE kind = 'cpu' AND begin_ns <= :end_ns AND end_ns >= :begin_ns
GROUP BY node, cpu;

-- The steps of --interval in the selected time.
-- temporary interval_step
-- index: begin_ns
WITH RECURSIVE step AS (
	SELECT :begin_ns AS begin_ns
	UNION ALL SELECT begin_ns + :interval_ns FROM step
	WHERE :interval_ns > 0 AND begin_ns + :interval_ns <= :end_ns)
SELECT begin_ns FROM step;
