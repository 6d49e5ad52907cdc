-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: requests
-- summary: requests between nodes, and where their time went
-- description: totals, parts: in each flow, the data in one direction up to the first
--   answer is a request, and the data in the other direction up to the next request
--   is its response. TOTAL is from the first sending of the request's first byte to
--   the receipt of the response's last, and is the sum of: RESENT, the time until
--   lost data was sent again, which THERE and BACK do not count; THERE, until the
--   whole request had arrived; QUEUE, until the serving thread took it; then, up to
--   the response's first byte, RUNNING, RUNNABLE (waiting for a processor), blocked
--   until a DISK, another NODE or an OTHER event ended that, UNKNOWN (not
--   recorded), or, if the server's threads were not recorded, all of it AT SERVER;
--   BACK, until the whole response had arrived. THERE and BACK are within BOUND,
--   which follows from both clocks. slowest, log: each request with
--   its number, for critical-path --request. freq: a histogram of totals. --min and
--   --max apply to the total; --tid, --pid and --procname to the serving thread;
--   --node to the client or the server. A request counts if it was sent, and its
--   response begun, in the selected time. Needs net_dev_queue and
--   net_if_receive_skb of both nodes; for what servers did also sched_switch,
--   sched_waking or sched_wakeup, irq_handler_entry and _exit, irq_softirq_entry
--   and _exit, block_rq_complete; for the queue also the system calls.
-- example: ctanalyze requests --group thread --node db run.db
-- groups: pair port process thread container flow
-- column at_server_ns: ns, AT SERVER
-- column resent_ns: ns, RESENT
-- forms: stats top

-- Nodes of which it is not known what their threads did.
-- temporary unscheduled
-- index: id
SELECT n.id FROM node AS n WHERE NOT EXISTS (SELECT 1 FROM thread_state AS s WHERE s.node = n.id);

-- temporary asked
SELECT r.id AS request, r.begin_ns, c.name AS client, r.client_tid, s.name AS server, r.server_tid AS tid,
       t.pid, t.comm, coalesce(t.process, t.comm) AS process, t.container, r.protocol,
       r.client_address AS src, r.client_port AS sport, r.server_address AS dst, r.server_port AS dport,
       r.end_ns - r.begin_ns AS total_ns, r.resent_ns, r.there_ns, CASE WHEN u.id IS NULL THEN r.queue_ns END AS queue_ns,
       CASE WHEN u.id IS NULL THEN r.running_ns END AS running_ns, CASE WHEN u.id IS NULL THEN r.runnable_ns END AS runnable_ns,
       CASE WHEN u.id IS NULL THEN r.disk_ns END AS disk_ns, CASE WHEN u.id IS NULL THEN r.node_ns END AS node_ns,
       CASE WHEN u.id IS NULL THEN r.other_ns END AS other_ns, CASE WHEN u.id IS NULL THEN r.unknown_ns END AS unknown_ns,
       CASE WHEN u.id IS NULL THEN 0 ELSE r.responded_ns - r.arrived_ns END AS at_server_ns,
       r.back_ns, r.bound_ns, r.request_bytes, r.response_bytes
FROM request AS r JOIN node AS c ON c.id = r.client JOIN node AS s ON s.id = r.server
LEFT JOIN unscheduled AS u ON u.id = r.server
LEFT JOIN known_thread AS t ON t.node = r.server AND t.tid = r.server_tid AND r.server_tid > 0
 AND t.from_ns <= r.responded_ns AND t.until_ns > r.responded_ns
WHERE r.id >= :first_message AND r.begin_ns >= :begin_ns AND r.responded_ns <= :end_ns
  AND r.end_ns - r.begin_ns BETWEEN :min_ns AND :max_ns
  AND (:all_nodes = 1 OR r.client IN (SELECT id FROM chosen_node) OR r.server IN (SELECT id FROM chosen_node))
  AND (:all_threads = 1 OR t.id IN (SELECT id FROM chosen_thread));

-- with grouped
SELECT CASE WHEN :group IN ('pair', 'flow') THEN client END AS client, server,
       CASE WHEN :group = 'container' THEN container END AS container,
       CASE WHEN :group = 'thread' THEN tid END AS tid,
       CASE WHEN :group IN ('process', 'thread') THEN pid END AS pid,
       CASE WHEN :group IN ('pair', 'port', 'process', 'container') THEN process END AS process,
       CASE WHEN :group = 'thread' THEN comm END AS comm,
       CASE WHEN :group IN ('port', 'flow') THEN protocol END AS protocol,
       CASE WHEN :group = 'flow' THEN src END AS src,
       CASE WHEN :group = 'flow' THEN sport END AS sport, CASE WHEN :group = 'flow' THEN dst END AS dst,
       CASE WHEN :group IN ('port', 'flow') THEN dport END AS dport, total_ns, resent_ns, there_ns,
       queue_ns, running_ns, runnable_ns, disk_ns, node_ns, other_ns, unknown_ns, at_server_ns, back_ns,
       bound_ns
FROM asked;

-- temporary summed
SELECT client, server, container, tid, pid, process, comm, protocol, src, sport, dst, dport,
       count(*) AS count, distribution(total_ns), sum(total_ns) AS sum_ns, avg(resent_ns) AS resent_ns,
       avg(there_ns) AS there_ns,
       avg(queue_ns) AS queue_ns, avg(running_ns) AS running_ns, avg(runnable_ns) AS runnable_ns,
       avg(disk_ns) AS disk_ns, avg(node_ns) AS node_ns, avg(other_ns) AS other_ns, avg(unknown_ns) AS unknown_ns,
       avg(at_server_ns) AS at_server_ns,
       avg(back_ns) AS back_ns, count(bound_ns) AS bounds, max(bound_ns) AS bound_ns
FROM grouped GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;

-- table totals: From request to response
-- form: stats
-- sort: -count,client,server,process,container,pid,tid,src,sport,dst,dport
-- limit: 20
-- shown: client [pair flow], container [container], tid [thread], pid [process thread],
--   process [pair port process container], comm [thread], protocol [port flow], src [flow], sport [flow],
--   dst [flow], dport [port flow]
SELECT client, server, container, tid, pid, process, comm, protocol, src, sport, dst, dport,
       count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, sum_ns
FROM summed;

-- BOUND is the widest of the group.
-- table parts: What their time went into, on average
-- form: stats
-- sort: -count,client,server,process,container,pid,tid,src,sport,dst,dport
-- limit: 20
-- column mean_ns: ns, TOTAL
-- shown: client [pair flow], container [container], tid [thread], pid [process thread],
--   process [pair port process container], comm [thread], protocol [port flow], src [flow], sport [flow],
--   dst [flow], dport [port flow]
SELECT client, server, container, tid, pid, process, comm, protocol, src, sport, dst, dport,
       count, mean_ns, resent_ns, there_ns, queue_ns, running_ns, runnable_ns, disk_ns, node_ns, other_ns, unknown_ns,
       at_server_ns, back_ns,
       CASE WHEN bounds = count THEN bound_ns END AS bound_ns
FROM summed;

-- table freq: Histogram of times, from request to response
-- form: freq
-- sort: from_ns
frequency(total_ns, asked);

-- "node_ns" would be the node's column for people who sort by "node".
-- table slowest: Slowest requests
-- form: top
-- sort: -total_ns,request
-- limit: 10
-- table log: Requests, by their begin
-- form: log
-- sort: begin_ns,request
-- limit: 1000
-- column begin_ns: epoch_ns, SENT
-- column client_tid: id, TID
SELECT begin_ns, request, client, client_tid, server, tid, comm, dport AS port, total_ns, resent_ns, there_ns, queue_ns,
       running_ns, runnable_ns, disk_ns, node_ns, other_ns, unknown_ns, at_server_ns, back_ns, bound_ns,
       request_bytes AS asked_bytes, response_bytes AS replied_bytes
FROM asked;

-- notes
SELECT 'messages between nodes: not recorded (enable net_dev_queue, net_if_receive_skb on both nodes)' AS note
WHERE NOT EXISTS (SELECT 1 FROM message)
UNION ALL
SELECT 'no request of those asked for had a response'
WHERE NOT EXISTS (SELECT 1 FROM asked) AND EXISTS (SELECT 1 FROM message)
UNION ALL
SELECT silent || ' requests of all had no response' FROM (
	SELECT count(*) AS silent FROM request
	WHERE id >= :first_message AND responded_ns IS NULL AND begin_ns BETWEEN :begin_ns AND :end_ns) AS counted
WHERE silent > 0
UNION ALL
SELECT value || ' messages are of tunnels and carry others: no requests' FROM meta
WHERE key = 'tunnel_messages'
UNION ALL
SELECT 'what servers did: not recorded (enable sched_switch, sched_waking or sched_wakeup)'
WHERE EXISTS (SELECT 1 FROM asked)
  AND 'sched_switch' NOT IN (SELECT name FROM recorded_class)
UNION ALL
SELECT 'what servers did: omitted by ctmerge --no-spans'
WHERE EXISTS (SELECT 1 FROM asked)
  AND 'sched_switch' IN (SELECT name FROM recorded_class)
  AND NOT EXISTS (SELECT 1 FROM thread_state)
UNION ALL
SELECT 'interrupts are not recorded: what follows a packet''s receive on its processor, within 500 us and before a switch, is taken to be its doing, other waits stay unknown (enable irq_handler_entry and _exit, irq_softirq_entry and _exit)'
WHERE EXISTS (SELECT 1 FROM asked)
  AND 'sched_switch' IN (SELECT name FROM recorded_class)
  AND ('irq_handler_entry' NOT IN (SELECT name FROM recorded_class)
       OR NOT EXISTS (SELECT 1 FROM recorded_class WHERE name IN ('irq_softirq_entry', 'softirq_entry')));
