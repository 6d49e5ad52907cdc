-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: messages
-- summary: one-way latency of messages between nodes, with its bound
-- description: pairs, flows: one-way latency of messages. The true latency of each
--   lies within BOUND, which follows from both clocks; for UNBOUNDED messages a
--   side is open, and BOUND is that of the others. paths: whether one direction
--   takes longer than the other; ASYMMETRIC is yes if the clocks cannot be the
--   cause. slowest: the slowest messages, with what each took AT LEAST and AT
--   MOST. violations: messages received before they were sent, by the corrected
--   clocks. freq: a histogram of latencies. log: every message. --interval:
--   pairs over time. --group: pair, flow, node, protocol. --min and --max apply
--   to the latency. A message counts if it was sent in the selected time, from
--   or to a selected node. Needs net_dev_queue and net_if_receive_skb of both
--   nodes, or captures.
-- example: ctanalyze messages --node web --begin +10 --end +20 run.db
-- forms: stats top
-- column least_ns: ns, AT LEAST
-- groups: none pair flow node protocol

-- The true latency is from latency_ns + low_ns to latency_ns + high_ns.
-- with timed
SELECT id, src_node, dst_node, send_ns, latency_ns, protocol, src, sport, dst, dport, bytes, low_ns, high_ns
FROM message
WHERE id BETWEEN :first_message AND :last_message AND send_ns BETWEEN :begin_ns AND :end_ns
  AND latency_ns BETWEEN :min_ns AND :max_ns
  AND (:all_nodes = 1 OR src_node IN (SELECT id FROM chosen_node) OR dst_node IN (SELECT id FROM chosen_node));

-- Subqueries for names: they are looked up of what is shown only.
-- with listed
SELECT send_ns, (SELECT name FROM node WHERE id = m.src_node) AS "from",
       (SELECT name FROM node WHERE id = m.dst_node) AS "to", protocol, src, sport, dst, dport, bytes, latency_ns,
       CASE WHEN low_ns IS NULL OR latency_ns + low_ns < 0 THEN 0 ELSE latency_ns + low_ns END AS least_ns,
       latency_ns + high_ns AS most_ns, m.id AS message
FROM timed AS m;

-- temporary summed
SELECT src_node, dst_node, count(*) AS messages, sum(bytes) AS bytes, distribution(latency_ns),
       min(low_ns) FILTER (WHERE high_ns IS NOT NULL) AS low_ns,
       max(high_ns) FILTER (WHERE low_ns IS NOT NULL) AS high_ns, count(low_ns + high_ns) AS bounded,
       count(*) FILTER (WHERE latency_ns < 0) AS negative
FROM timed GROUP BY src_node, dst_node;

-- with pair
SELECT src_node, dst_node, messages, coalesce(bytes, 0) AS bytes, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns,
       CASE WHEN bounded > 0 THEN least(low_ns, 0) END AS low_ns,
       CASE WHEN bounded > 0 THEN greatest(high_ns, 0) END AS high_ns, messages - bounded AS unbounded, negative
FROM summed;

-- Messages are not looked at where there is none.
-- temporary violation
SELECT send_ns, "from", "to", protocol, src, sport, dst, dport, bytes, latency_ns, least_ns, most_ns, message
FROM (SELECT sum(negative) AS negative FROM pair) AS c CROSS JOIN listed WHERE c.negative > 0 AND latency_ns < 0;

-- table pairs: Latency by pair of nodes
-- form: stats
-- group: none pair
-- sort: from,to
SELECT a.name AS "from", b.name AS "to", messages, bytes, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns,
       greatest(-low_ns, high_ns) AS bound_ns, unbounded, negative
FROM pair AS p JOIN node AS a ON a.id = p.src_node JOIN node AS b ON b.id = p.dst_node;

-- The difference of the latencies of both directions. The clocks' error is in both, with the sign turned,
-- so it counts twice. A pair is shown from the node that was named first.
-- table paths: Both directions of a pair
-- form: stats
-- group: none pair
-- sort: a,b
-- column p50_ab_ns: ns, MEDIAN A>B
-- column p50_ba_ns: ns, MEDIAN B>A
-- column p99_ab_ns: ns, 99 % A>B
-- column p99_ba_ns: ns, 99 % B>A
SELECT a.name AS a, b.name AS b, p.p50_ns AS p50_ab_ns, q.p50_ns AS p50_ba_ns, p.p50_ns - q.p50_ns AS difference_ns,
       greatest(q.high_ns - p.low_ns, p.high_ns - q.low_ns) AS bound_ns,
       CASE WHEN p.unbounded + q.unbounded > 0 THEN 'not known'
            WHEN p.p50_ns - q.p50_ns + (p.low_ns - q.high_ns) > 0
              OR p.p50_ns - q.p50_ns + (p.high_ns - q.low_ns) < 0 THEN 'yes' ELSE 'not known' END AS asymmetric,
       p.p99_ns AS p99_ab_ns, q.p99_ns AS p99_ba_ns
FROM pair AS p JOIN pair AS q ON q.src_node = p.dst_node AND q.dst_node = p.src_node AND p.src_node < p.dst_node
JOIN node AS a ON a.id = p.src_node JOIN node AS b ON b.id = p.dst_node;

-- temporary flow
SELECT src_node, dst_node, protocol, src, sport, dst, dport, count(*) AS messages,
       sum(bytes) AS bytes, distribution(latency_ns), min(low_ns) FILTER (WHERE high_ns IS NOT NULL) AS low_ns,
       max(high_ns) FILTER (WHERE low_ns IS NOT NULL) AS high_ns, count(low_ns + high_ns) AS bounded,
       count(*) FILTER (WHERE latency_ns < 0) AS negative
FROM timed GROUP BY src_node, dst_node, protocol, src, sport, dst, dport;

-- table flows: Latency by flow
-- form: stats
-- group: none flow
-- sort: -messages,from,to,src,sport,dst,dport
-- limit: 10
SELECT a.name AS "from", b.name AS "to", protocol, src, sport, dst, dport, messages, coalesce(bytes, 0) AS bytes,
       min_ns, mean_ns,
       p50_ns, p95_ns, p99_ns, max_ns,
       CASE WHEN bounded > 0 THEN greatest(0, greatest(-low_ns, high_ns)) END AS bound_ns,
       messages - bounded AS unbounded, negative
FROM flow AS w JOIN node AS a ON a.id = w.src_node JOIN node AS b ON b.id = w.dst_node;

-- table nodes: Latency by node, sent and received
-- form: stats
-- group: node
-- sort: node
-- table protocols: Latency by protocol
-- form: stats
-- group: protocol
-- sort: protocol
-- shown: node [node], protocol [protocol]
WITH end_of AS (
	SELECT src_node AS node, CAST(NULL AS VARCHAR(20)) AS protocol, latency_ns, bytes, low_ns, high_ns FROM timed
	WHERE :group = 'node'
	UNION ALL SELECT dst_node, NULL, latency_ns, bytes, low_ns, high_ns FROM timed WHERE :group = 'node'
	UNION ALL SELECT NULL, protocol, latency_ns, bytes, low_ns, high_ns FROM timed WHERE :group = 'protocol')
SELECT n.name AS node, protocol, count(*) AS messages, coalesce(sum(bytes), 0) AS bytes, distribution(latency_ns),
       CASE WHEN count(low_ns + high_ns) > 0
            THEN greatest(0, greatest(-min(low_ns) FILTER (WHERE high_ns IS NOT NULL),
                                      max(high_ns) FILTER (WHERE low_ns IS NOT NULL))) END AS bound_ns,
       count(*) - count(low_ns + high_ns) AS unbounded,
       count(*) FILTER (WHERE latency_ns < 0) AS negative
FROM end_of AS e LEFT JOIN node AS n ON n.id = e.node
GROUP BY e.node, protocol, n.name;

-- table over_time: Latency over time
-- when: interval
-- sort: begin_ns,from,to
SELECT send_ns - (send_ns - :begin_ns) % :interval_ns AS begin_ns, a.name AS "from", b.name AS "to",
       count(*) AS messages, coalesce(sum(bytes), 0) AS bytes, distribution(latency_ns),
       CASE WHEN count(low_ns + high_ns) > 0
            THEN greatest(0, greatest(-min(low_ns) FILTER (WHERE high_ns IS NOT NULL),
                                      max(high_ns) FILTER (WHERE low_ns IS NOT NULL))) END AS bound_ns,
       count(*) - count(low_ns + high_ns) AS unbounded,
       count(*) FILTER (WHERE latency_ns < 0) AS negative
FROM timed AS m JOIN node AS a ON a.id = m.src_node JOIN node AS b ON b.id = m.dst_node
GROUP BY 1, m.src_node, m.dst_node, a.name, b.name;

-- table freq: Histogram of latencies
-- form: freq
-- sort: from,to,below_ns
-- column least_ns: ns, FROM
WITH counted AS (
	SELECT src_node, dst_node, min(latency_ns) AS least, count(*) AS messages
	FROM timed GROUP BY src_node, dst_node, length(latency_ns || ''), substr(latency_ns || '', 1, 1)),
total AS (SELECT src_node, dst_node, sum(messages) AS messages FROM counted GROUP BY src_node, dst_node)
SELECT a.name AS "from", b.name AS "to", nullif(d.least_ns, -4611686018427387904) AS least_ns, d.below_ns,
       sum(c.messages) AS messages, 1e2 * sum(c.messages) / min(t.messages) AS share_percent
FROM counted AS c JOIN duration_bin AS d ON c.least >= d.least_ns AND c.least < d.below_ns
JOIN total AS t ON t.src_node = c.src_node AND t.dst_node = c.dst_node
JOIN node AS a ON a.id = c.src_node JOIN node AS b ON b.id = c.dst_node
GROUP BY c.src_node, c.dst_node, a.name, b.name, d.least_ns, d.below_ns;

-- table slowest: Slowest messages
-- form: top
-- sort: -latency_ns,message
-- limit: 10
-- table log: Messages
-- form: log
-- sort: send_ns,message
-- limit: 1000
SELECT send_ns, "from", "to", protocol, src, sport, dst, dport, bytes, latency_ns, least_ns, most_ns, message
FROM listed;

-- table violations: Received before they were sent
-- form: top
-- sort: latency_ns,message
-- limit: 10
SELECT send_ns, "from", "to", protocol, src, sport, dst, dport, bytes, latency_ns, least_ns, most_ns, message
FROM violation;

-- notes
SELECT 'messages between nodes: not recorded (enable net_dev_queue, net_if_receive_skb on both nodes)' AS note
WHERE NOT EXISTS (SELECT 1 FROM timed)
UNION ALL
SELECT n || ' messages were received before they were sent'
FROM (SELECT count(*) AS n FROM violation) AS c WHERE n > 0;

-- notes
-- form: top
SELECT 'no message was received before it was sent' AS note
WHERE EXISTS (SELECT 1 FROM timed) AND NOT EXISTS (SELECT 1 FROM violation);
