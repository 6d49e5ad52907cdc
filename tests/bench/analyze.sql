-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The plainest query for what an analysis computes: it counts, adds up and takes means, without
-- percentiles, bounds, names, and the longest. A comment names the analysis of the lines below it.

-- cpu
SELECT node, tid, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT e.node, s.next_tid AS tid,
		lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id) - e.ts_ns AS ns
	FROM sched_switch AS s JOIN event AS e ON e.id = s.id)
GROUP BY node, tid;

-- sched
WITH step AS (
	SELECT e.id, e.node, w.tid, e.ts_ns, 0 AS runs FROM sched_waking AS w JOIN event AS e ON e.id = w.id
	UNION ALL
	SELECT e.id, e.node, s.next_tid, e.ts_ns, 1 FROM sched_switch AS s JOIN event AS e ON e.id = s.id)
SELECT node, tid, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT node, tid, runs, lead(runs) OVER thread AS next, lead(ts_ns) OVER thread - ts_ns AS ns
	FROM step WINDOW thread AS (PARTITION BY node, tid ORDER BY id))
WHERE runs = 0 AND next = 1 GROUP BY node, tid;

-- syscalls
SELECT name, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT c.name, lead(c.name) OVER thread AS next, lead(e.ts_ns) OVER thread - e.ts_ns AS ns
	FROM event AS e JOIN event_class AS c ON c.id = e.class WHERE c.name GLOB 'syscall_*'
	WINDOW thread AS (PARTITION BY e.node, e.tid ORDER BY e.id))
WHERE name GLOB 'syscall_entry_*' AND next GLOB 'syscall_exit_*' GROUP BY name;

-- irq
WITH step AS (
	SELECT e.id, e.node, e.cpu, e.ts_ns, 0 AS kind, 0 AS ends, i.irq AS number
	FROM irq_handler_entry AS i JOIN event AS e ON e.id = i.id
	UNION ALL
	SELECT e.id, e.node, e.cpu, e.ts_ns, 0, 1, i.irq FROM irq_handler_exit AS i JOIN event AS e ON e.id = i.id
	UNION ALL
	SELECT e.id, e.node, e.cpu, e.ts_ns, 1, 0, i.vec FROM irq_softirq_entry AS i JOIN event AS e ON e.id = i.id
	UNION ALL
	SELECT e.id, e.node, e.cpu, e.ts_ns, 1, 1, i.vec FROM irq_softirq_exit AS i JOIN event AS e ON e.id = i.id)
SELECT node, kind, number, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT node, kind, number, ends, lead(ts_ns) OVER line - ts_ns AS ns
	FROM step WINDOW line AS (PARTITION BY node, cpu, kind, number ORDER BY id))
WHERE ends = 0 GROUP BY node, kind, number;

-- io
WITH step AS (
	SELECT e.id, e.node, e.ts_ns, r.dev, r.sector, r.nr_sector, 0 AS ends
	FROM block_rq_issue AS r JOIN event AS e ON e.id = r.id
	UNION ALL
	SELECT e.id, e.node, e.ts_ns, r.dev, r.sector, r.nr_sector, 1
	FROM block_rq_complete AS r JOIN event AS e ON e.id = r.id)
SELECT node, dev, sum(nr_sector) * 512, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT node, dev, nr_sector, ends, lead(ts_ns) OVER place - ts_ns AS ns
	FROM step WINDOW place AS (PARTITION BY node, dev, sector ORDER BY id))
WHERE ends = 0 GROUP BY node, dev;
SELECT node, tid, name, count(*), sum(ret) FROM (
	SELECT e.node, e.tid, 'read' AS name, x.ret FROM syscall_exit_read AS x JOIN event AS e ON e.id = x.id
	UNION ALL
	SELECT e.node, e.tid, 'write', x.ret FROM syscall_exit_write AS x JOIN event AS e ON e.id = x.id
	UNION ALL
	SELECT e.node, e.tid, 'pread64', x.ret FROM syscall_exit_pread64 AS x JOIN event AS e ON e.id = x.id
	UNION ALL
	SELECT e.node, e.tid, 'pwrite64', x.ret FROM syscall_exit_pwrite64 AS x JOIN event AS e ON e.id = x.id)
WHERE ret > 0 GROUP BY node, tid, name;

-- messages
SELECT src_node, dst_node, count(*), min(latency_ns), avg(latency_ns), max(latency_ns), sum(latency_ns)
FROM message GROUP BY src_node, dst_node;

-- net
SELECT e.node, q.name, count(*), sum(q.len) FROM net_dev_queue AS q JOIN event AS e ON e.id = q.id
GROUP BY e.node, q.name
UNION ALL
SELECT e.node, q.name, count(*), sum(q.len) FROM net_if_receive_skb AS q JOIN event AS e ON e.id = q.id
GROUP BY e.node, q.name;
SELECT e.node, q.network_header_ipv4_saddr, q.network_header_ipv4_daddr,
	q.network_header_ipv4_transport_header_tcp_source_port AS sport,
	q.network_header_ipv4_transport_header_tcp_dest_port AS dport, count(*), sum(q.network_header_ipv4_tot_len),
	min(e.ts_ns), max(e.ts_ns), count(*) - count(DISTINCT q.network_header_ipv4_transport_header_tcp_seq)
FROM net_dev_queue AS q JOIN event AS e ON e.id = q.id GROUP BY 1, 2, 3, 4, 5;
SELECT e.node, q.network_header_ipv4_daddr, q.network_header_ipv4_protocol, count(*), count(m.id)
FROM net_dev_queue AS q JOIN event AS e ON e.id = q.id LEFT JOIN message AS m ON m.send_event = q.id
GROUP BY 1, 2, 3;

-- mem
SELECT s.node, m.name, avg(s.value), max(s.value) FROM sample AS s JOIN metric AS m ON m.id = s.metric
WHERE m.activity = 'memory' GROUP BY s.node, m.id;

-- proc
SELECT node, comm, count(*), avg(end_ns - begin_ns) FROM process GROUP BY node, comm;

-- metrics
SELECT m.name, s.node, s.item, avg(s.value), min(s.value), max(s.value)
FROM sample AS s JOIN metric AS m ON m.id = s.metric GROUP BY s.metric, s.node, s.item;

-- periods
WITH step AS (
	SELECT e.id, e.node, e.cpu, e.ts_ns, 0 AS ends FROM irq_handler_entry AS i JOIN event AS e ON e.id = i.id
	UNION ALL
	SELECT e.id, e.node, e.cpu, e.ts_ns, 1 FROM irq_handler_exit AS i JOIN event AS e ON e.id = i.id)
SELECT node, cpu, count(*), min(ns), avg(ns), max(ns), sum(ns)
FROM (SELECT node, cpu, ends, lead(ts_ns) OVER cpu - ts_ns AS ns
	FROM step WINDOW cpu AS (PARTITION BY node, cpu ORDER BY id))
WHERE ends = 0 GROUP BY node, cpu;
