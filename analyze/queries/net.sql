-- SPDX-License-Identifier: GPL-3.0-or-later
-- name: net
-- summary: bytes, packets, retransmissions by interface, nodes and flow
-- description: interfaces: what was passed to an interface, with its link header, and
--   what came from it, without. pairs, flows: what nodes sent, counted from the
--   network header on, as it left the kernel, before segmentation offload split it.
--   SENT AGAIN counts TCP segments whose bytes had been sent before; a copy on
--   another interface is no resend. protocols:
--   packets sent, received and lost; LOST counts those that a node which recorded
--   such packets at that time did not get, NOT KNOWN the others. --interval:
--   interfaces over time. Needs net_dev_queue and net_if_receive_skb; if the kernel
--   trace of a node has none, its capture shows what it sent.
-- example: ctanalyze net --interval 1s run.db

-- The packets that the kernel handed to interfaces, with its network header where there is one, of IPv4 or IPv6, and
-- what a capture saw of it. A field of few bits that has more is damage: then the header has its usual length.
-- with packet_sent
SELECT q.id, e.node, e.ts_ns, coalesce(q.name, '') AS interface,
       coalesce(q.network_header_ipv4_protocol, q.network_header_ipv6_nexthdr, 'ip') AS protocol,
       CASE WHEN q.network_header_ipv4_tot_len IS NOT NULL THEN 'x' || hex(q.network_header_ipv4_saddr)
            ELSE q.network_header_ipv6_saddr END AS src,
       CASE WHEN q.network_header_ipv4_tot_len IS NOT NULL THEN 'x' || hex(q.network_header_ipv4_daddr)
            ELSE q.network_header_ipv6_daddr END AS dst,
       coalesce(q.network_header_ipv4_transport_header_tcp_source_port,
                q.network_header_ipv4_transport_header_udp_source_port,
                q.network_header_ipv6_transport_header_tcp_source_port,
                q.network_header_ipv6_transport_header_udp_source_port) AS sport,
       coalesce(q.network_header_ipv4_transport_header_tcp_dest_port,
                q.network_header_ipv4_transport_header_udp_dest_port,
                q.network_header_ipv6_transport_header_tcp_dest_port,
                q.network_header_ipv6_transport_header_udp_dest_port) AS dport,
       CASE WHEN q.network_header_ipv4_tot_len IS NOT NULL
            THEN CASE WHEN q.network_header_ipv4_tot_len BETWEEN 0 AND 4294967295
                      THEN q.network_header_ipv4_tot_len ELSE 0 END
            WHEN q.network_header_ipv6_payload_len IS NOT NULL
            THEN 40 + CASE WHEN q.network_header_ipv6_payload_len BETWEEN 0 AND 4294967295
                           THEN q.network_header_ipv6_payload_len ELSE 0 END END AS bytes,
       coalesce(q.network_header_ipv4_transport_header_tcp_seq, q.network_header_ipv6_transport_header_tcp_seq) AS seq,
       coalesce(q.network_header_ipv4_transport_header_tcp_flags, q.network_header_ipv6_transport_header_tcp_flags,
                0) AS flags,
       CASE WHEN q.network_header_ipv4_tot_len IS NOT NULL
            THEN 4 * CASE WHEN q.network_header_ipv4_ihl BETWEEN 0 AND 15 THEN q.network_header_ipv4_ihl ELSE 5 END
               + 4 * CASE WHEN q.network_header_ipv4_transport_header_tcp_data_offset BETWEEN 0 AND 15
                          THEN q.network_header_ipv4_transport_header_tcp_data_offset ELSE 5 END
            ELSE 40 + 4 * CASE WHEN q.network_header_ipv6_transport_header_tcp_data_offset BETWEEN 0 AND 15
                               THEN q.network_header_ipv6_transport_header_tcp_data_offset ELSE 5 END END AS headers,
       coalesce(q.skbaddr, 0) AS buffer, coalesce(q.network_header_ipv4_id, -1) AS ip_id,
       coalesce(q.network_header_ipv4_ttl, q.network_header_ipv6_hop_limit, 0) AS ttl
FROM net_dev_queue AS q CROSS JOIN event AS e
WHERE e.id = q.id AND q.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node));

-- A packet that several captures of a node saw counts once: while another of them recorded that saw
-- more of a flow, one's packets of it are left out. Their stamps may be 1 ms apart.
-- with capture
SELECT id, node, begin_ns - 1000000 AS begin_ns, end_ns + 1000000 AS end_ns FROM source
WHERE kind = 'capture' AND node IN (SELECT node FROM source WHERE kind = 'capture' GROUP BY node HAVING count(*) > 1);

-- with sighted
SELECT e.source, p.protocol, p.src, p.dst, coalesce(p.sport, -1) AS sport, coalesce(p.dport, -1) AS dport,
       count(*) AS packets
FROM (SELECT count(*) AS captures FROM capture) AS c CROSS JOIN packet AS p CROSS JOIN event AS e
WHERE c.captures > 0 AND e.id = p.id AND p.id BETWEEN :first_event AND :last_event
  AND e.ts_ns BETWEEN :begin_ns AND :end_ns AND e.source IN (SELECT id FROM capture)
GROUP BY e.source, p.protocol, p.src, p.dst, coalesce(p.sport, -1), coalesce(p.dport, -1);

-- temporary sighting
-- index: source, sport, dport, src, dst
SELECT s.source, s.protocol, s.src, s.dst, s.sport, s.dport, s.packets, c.node, c.begin_ns, c.end_ns
FROM sighted AS s JOIN capture AS c ON c.id = s.source;

-- temporary shadow
-- index: source, sport, dport, src, dst
SELECT s.source, s.protocol, s.src, s.dst, s.sport, s.dport, o.begin_ns, o.end_ns
FROM sighting AS s JOIN sighting AS o ON o.node = s.node AND o.protocol = s.protocol AND o.src = s.src AND o.dst = s.dst
 AND o.sport = s.sport AND o.dport = s.dport
WHERE o.packets > s.packets OR (o.packets = s.packets AND o.source < s.source);

-- with packet_captured
SELECT p.id, e.node, e.ts_ns, coalesce(p.interface || '', '') AS interface, coalesce(p.protocol, 'ip') AS protocol,
       p.src, p.dst, p.sport, p.dport,
       coalesce(p.length, 0) AS bytes, CASE WHEN p.protocol = 'tcp' THEN p.seq END AS seq,
       coalesce(p.flags, 0) AS flags,
       coalesce(p.length, 0) - coalesce(p.payload, 0) AS headers, -1 AS buffer, coalesce(p.id_2, -1) AS ip_id,
       coalesce(p.ttl, 0) AS ttl
FROM packet AS p CROSS JOIN event AS e
WHERE e.id = p.id AND p.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))
  AND NOT EXISTS (SELECT 1 FROM shadow AS s WHERE s.source = e.source AND s.sport = coalesce(p.sport, -1)
                  AND s.dport = coalesce(p.dport, -1) AND s.src = p.src AND s.dst = p.dst AND s.protocol = p.protocol
                  AND e.ts_ns BETWEEN s.begin_ns AND s.end_ns);

-- The length of a segment in sequence numbers: SYN and FIN are one each, and no bytes. Kept, as several
-- statements read it.
-- temporary segment
SELECT id, node, ts_ns, 1 AS by_kernel, interface, protocol, src, dst, sport, dport, bytes, seq, flags,
       greatest(coalesce(bytes - headers, 0), 0) + CASE WHEN flags % 4 >= 2 THEN 1 ELSE 0 END + flags % 2 AS numbers,
       buffer, ip_id, ttl, 1 AS tells,
       coalesce(seq, -1) % 4294967296 * 1073741824 + buffer % 1073741824 + ip_id % 65536 * 16384 AS mark
FROM packet_sent
UNION ALL
SELECT id, node, ts_ns, 0, interface, protocol, src, dst, sport, dport, bytes, seq, flags,
       greatest(bytes - headers, 0) + CASE WHEN flags % 4 >= 2 THEN 1 ELSE 0 END + flags % 2,
       buffer, ip_id, ttl, CASE WHEN ip_id > 0 THEN 1 ELSE 0 END,
       coalesce(seq, -1) % 4294967296 * 1073741824 + buffer % 1073741824 + ip_id % 65536 * 16384
FROM packet_captured;

-- A flow's share of what an interface was handed. Of segments that have numbers: how many, the
-- numbers, where the first begins and the last ends, and the sum of end^2 - begin^2 in remainders.
-- temporary part
SELECT node, by_kernel, interface, protocol, src, dst, sport, dport,
       count(bytes) AS packets, sum(bytes) AS bytes, min(ts_ns) FILTER (WHERE bytes IS NOT NULL) AS first_ns,
       max(ts_ns) FILTER (WHERE bytes IS NOT NULL) AS last_ns, count(seq) FILTER (WHERE numbers > 0) AS segments,
       sum(numbers) FILTER (WHERE seq IS NOT NULL) AS numbers, min(seq) FILTER (WHERE numbers > 0) AS first_seq,
       max(seq + numbers) FILTER (WHERE numbers > 0) AS end_seq,
       sum(numbers % 2147483647 * ((2 * seq + numbers) % 2147483647) % 2147483647) AS squares
FROM segment GROUP BY node, sport, dport, src, dst, protocol, by_kernel, interface;

-- Each frame that was sent or received, with its length in one of two columns.
-- with frame
SELECT e.node, e.ts_ns, coalesce(q.name, '') AS interface,
       CASE WHEN q.len BETWEEN 0 AND 4294967295 THEN q.len ELSE 0 END AS sent_bytes,
       NULL AS received_bytes
FROM net_dev_queue AS q CROSS JOIN event AS e
WHERE e.id = q.id AND q.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))
UNION ALL
SELECT e.node, e.ts_ns, coalesce(r.name, ''), NULL, CASE WHEN r.len BETWEEN 0 AND 4294967295 THEN r.len ELSE 0 END
FROM net_if_receive_skb AS r CROSS JOIN event AS e
WHERE e.id = r.id AND r.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node))
UNION ALL
SELECT e.node, e.ts_ns, coalesce(r.name, ''), NULL, CASE WHEN r.len BETWEEN 0 AND 4294967295 THEN r.len ELSE 0 END
FROM netif_receive_skb AS r CROSS JOIN event AS e
WHERE e.id = r.id AND r.id BETWEEN :first_event AND :last_event AND e.ts_ns BETWEEN :begin_ns AND :end_ns
  AND (:all_nodes = 1 OR e.node IN (SELECT id FROM chosen_node));

-- By steps of --interval; without it the selected time is one step.
-- temporary frame_step
SELECT CASE WHEN :interval_ns > 0 THEN ts_ns - (ts_ns - :begin_ns) % :interval_ns ELSE :begin_ns END AS begin_ns,
       node, interface,
       count(sent_bytes) AS sent, sum(sent_bytes) AS sent_bytes, count(received_bytes) AS received,
       sum(received_bytes) AS received_bytes
FROM frame GROUP BY 1, node, interface;

-- with traffic_step
SELECT begin_ns, node, interface, sent, coalesce(sent_bytes, 0) AS sent_bytes, received,
       coalesce(received_bytes, 0) AS received_bytes
FROM frame_step;

-- temporary traffic
SELECT node, interface, sum(sent) AS sent, sum(sent_bytes) AS sent_bytes, sum(received) AS received,
       sum(received_bytes) AS received_bytes
FROM traffic_step GROUP BY node, interface;

-- A flow sent nothing again if its segments stand end to end: where one ends another one begins, but
-- for the first begin and the last end. Then the sum of end^2 - begin^2 is that of those two, in
-- remainders of a prime too, as it is otherwise by chance once in some 10^9. A capture tells of nodes
-- whose kernel does not.
-- temporary raw_flow
SELECT node, by_kernel, protocol, src, dst, sport, dport, sum(packets) AS packets, sum(bytes) AS bytes,
       min(first_ns) AS first_ns, max(last_ns) AS last_ns, sum(segments) AS segments, sum(numbers) AS numbers,
       min(first_seq) AS first_seq, max(end_seq) AS end_seq, sum(squares) AS squares
FROM part
WHERE packets > 0 AND interface <> 'lo' AND (by_kernel = 1 OR node NOT IN (SELECT node FROM traffic))
GROUP BY node, sport, dport, src, dst, protocol, by_kernel;

-- temporary open_flow
-- index: node, sport, dport, src, dst
SELECT node, by_kernel, protocol, src, dst, sport, dport FROM raw_flow
WHERE segments > 0
  AND (numbers <> end_seq - first_seq
       OR squares % 2147483647 <> (end_seq - first_seq) % 2147483647 * ((end_seq
               + first_seq) % 2147483647) % 2147483647);

-- Addresses as texts: of IPv4 they come as x and 8 hexadecimal digits, of IPv6 as a list of 8 words,
-- [65152,0,0,0,1,2,3,4], and those of a capture as they are.
-- with raw_address
SELECT src AS raw FROM raw_flow WHERE src IS NOT NULL UNION SELECT dst FROM raw_flow WHERE dst IS NOT NULL;

-- temporary address
-- index: raw
WITH RECURSIVE piece AS (
	SELECT raw, 0 AS n, CAST(0 AS BIGINT) AS value, replace(replace(raw, '[', ''), ']', '') || ',' AS rest
	FROM raw_address WHERE substr(raw, 1, 1) = '['
	UNION ALL
	SELECT raw, n + 1, CAST(substr(rest, 1, instr(rest, ',') - 1) AS BIGINT), substr(rest, instr(rest, ',') + 1)
	FROM piece WHERE rest <> ''),
word AS (SELECT raw, n, value FROM piece WHERE n > 0),
digit AS (
	SELECT raw, n, value,
	       substr('0123456789abcdef', 1 + CAST((value - value % 4096) / 4096e0 AS BIGINT), 1) AS a,
	       substr('0123456789abcdef', 1 + CAST((value % 4096 - value % 256) / 256e0 AS BIGINT), 1) AS b,
	       substr('0123456789abcdef', 1 + CAST((value % 256 - value % 16) / 16e0 AS BIGINT), 1) AS c,
	       substr('0123456789abcdef', 1 + CAST(value % 16 AS BIGINT), 1) AS d
	FROM word),
hex AS (
	SELECT raw, n, CASE WHEN value >= 4096 THEN a || b || c || d WHEN value >= 256 THEN b || c || d
	                    WHEN value >= 16 THEN c || d ELSE d END || ':' AS text
	FROM digit),
whole AS (
	SELECT raw, ':' || max(text) FILTER (WHERE n = 1) || max(text) FILTER (WHERE n = 2)
	       || max(text) FILTER (WHERE n = 3) || max(text) FILTER (WHERE n = 4) || max(text) FILTER (WHERE n = 5)
	       || max(text) FILTER (WHERE n = 6) || max(text) FILTER (WHERE n = 7)
	       || max(text) FILTER (WHERE n = 8) AS text
	FROM hex GROUP BY raw),
zeros AS (
	SELECT raw, text, CASE
	       WHEN instr(text, ':0:0:0:0:0:0:0:0:') > 0 THEN ':0:0:0:0:0:0:0:0:'
	       WHEN instr(text, ':0:0:0:0:0:0:0:') > 0 THEN ':0:0:0:0:0:0:0:'
	       WHEN instr(text, ':0:0:0:0:0:0:') > 0 THEN ':0:0:0:0:0:0:'
	       WHEN instr(text, ':0:0:0:0:0:') > 0 THEN ':0:0:0:0:0:'
	       WHEN instr(text, ':0:0:0:0:') > 0 THEN ':0:0:0:0:'
	       WHEN instr(text, ':0:0:0:') > 0 THEN ':0:0:0:'
	       WHEN instr(text, ':0:0:') > 0 THEN ':0:0:' ELSE ':' END AS run
	FROM whole),
short AS (
	SELECT raw, substr(text, 1, instr(text, run) - 1) || CASE run WHEN ':' THEN ':' ELSE '::' END
	            || substr(text, instr(text, run) + length(run)) AS text
	FROM zeros)
SELECT raw, CASE WHEN length(raw) < 64 THEN raw ELSE '' END AS text
FROM raw_address WHERE substr(raw, 1, 1) NOT IN ('[', 'x')
UNION ALL
SELECT raw, coalesce(substr(text, CASE WHEN substr(text, 1, 2) = '::' THEN 1 ELSE 2 END,
                            length(text) - CASE WHEN substr(text, 1, 2) = '::' THEN 0 ELSE 1 END
                            - CASE WHEN substr(text, length(text) - 1, 2) = '::' THEN 0 ELSE 1 END), '')
FROM short
UNION ALL
SELECT raw, (16 * (instr('0123456789ABCDEF', substr(raw, 2, 1)) - 1) + instr('0123456789ABCDEF', substr(raw, 3, 1)) - 1)
       || '.' || (16 * (instr('0123456789ABCDEF', substr(raw, 4, 1)) - 1)
                  + instr('0123456789ABCDEF', substr(raw, 5, 1)) - 1)
       || '.' || (16 * (instr('0123456789ABCDEF', substr(raw, 6, 1)) - 1)
                  + instr('0123456789ABCDEF', substr(raw, 7, 1)) - 1)
       || '.' || (16 * (instr('0123456789ABCDEF', substr(raw, 8, 1)) - 1)
                  + instr('0123456789ABCDEF', substr(raw, 9, 1)) - 1)
FROM raw_address WHERE substr(raw, 1, 1) = 'x' AND length(raw) = 9;

-- The node of an address, by the messages that went there.
-- temporary conversation
SELECT src_node, dst_node, src, dst, protocol, recv_source, max(latency_ns) AS latency_ns
FROM message GROUP BY src_node, dst_node, src, dst, protocol, recv_source;

-- temporary address_node
-- index: address
SELECT address, coalesce(min(node) FILTER (WHERE is_dst = 1), min(node)) AS node
FROM (SELECT dst AS address, dst_node AS node, 1 AS is_dst FROM conversation
      UNION ALL SELECT src, src_node, 0 FROM conversation) AS seen
WHERE address IS NOT NULL GROUP BY address;

-- The packets that arrived, according to messages; some several times.
-- temporary arrival
-- index: id, node
SELECT send_event AS id, dst_node AS node FROM message WHERE send_event IS NOT NULL
UNION ALL SELECT o.send_event, m.dst_node FROM message_observation AS o JOIN message AS m ON m.id = o.message
WHERE o.send_event IS NOT NULL;

-- A node whose address was translated on the way is known by its packets that arrived, if all did at one node.
-- with unknown_address
SELECT a.raw, a.text, x.node FROM address AS a LEFT JOIN address_node AS x ON x.address = a.text;

-- with translated
SELECT s.dst AS raw, min(r.node) AS node
FROM (SELECT count(*) AS addresses FROM unknown_address WHERE node IS NULL) AS c CROSS JOIN segment AS s
JOIN arrival AS r ON r.id = s.id
WHERE c.addresses > 0 AND s.dst IN (SELECT raw FROM unknown_address WHERE node IS NULL)
GROUP BY s.dst HAVING min(r.node) = max(r.node);

-- temporary target
-- index: raw
SELECT a.raw, a.text, coalesce(a.node, t.node) AS node
FROM unknown_address AS a LEFT JOIN translated AS t ON t.raw = a.raw;

-- Nodes of which no address is known, as only they were recorded: what their captures have is from any host.
-- temporary lone_node
SELECT id FROM node WHERE id NOT IN (SELECT node FROM target WHERE node IS NOT NULL);

-- A packet on its way through a node is handed on, with a kernel in one buffer: to a container's interface,
-- a bridge, the card. A capture of all of them has it so often; without an identification it shows no loss.
-- with handed
SELECT s.id, s.node, s.ts_ns, s.interface, s.protocol, s.src, s.dst, s.sport, s.dport, s.bytes, s.flags, s.numbers,
       s.by_kernel,
       CASE WHEN s.by_kernel = 1 OR f.node = s.node THEN 1 ELSE 0 END AS own, s.buffer, coalesce(s.seq, -1) AS seq,
       s.ip_id, s.ttl, s.tells,
       CASE WHEN EXISTS (SELECT 1 FROM arrival AS r WHERE r.id = s.id AND r.node = coalesce(t.node, r.node))
            THEN 1 ELSE 0 END AS arrived, s.mark
FROM segment AS s LEFT JOIN target AS f ON f.raw = s.src LEFT JOIN target AS t ON t.raw = s.dst
WHERE s.bytes IS NOT NULL AND s.interface <> 'lo'
  AND (s.by_kernel = 1 OR ((f.node = s.node OR s.node IN (SELECT id FROM lone_node))
                           AND s.node NOT IN (SELECT node FROM traffic)));

-- Most packets are seen once. Only those that may have been seen again are put in order: where number, buffer and
-- identification make the same mark.
-- temporary seen_again
-- index: mark
SELECT mark FROM segment GROUP BY mark HAVING count(*) > 1;

-- with begun
SELECT h.id, h.node, h.ts_ns, h.interface, h.protocol, h.src, h.dst, h.sport, h.dport, h.bytes, h.by_kernel, h.own,
       h.buffer,
       h.seq, h.ip_id, h.tells, h.arrived,
       CASE WHEN lag(h.src) OVER buffered = h.src AND lag(h.dst) OVER buffered = h.dst THEN 1
       ELSE 0 END AS is_same_flow,
       CASE WHEN h.ts_ns - (lag(h.ts_ns) OVER buffered) < 1000000000 AND h.tells = 1
             AND (h.ttl < lag(h.ttl) OVER buffered
                  OR (h.ttl = lag(h.ttl) OVER buffered
                      AND (h.ip_id > 0 OR h.interface <> lag(h.interface) OVER buffered)))
            THEN 0 ELSE 1 END AS begins
FROM (SELECT count(*) AS packets FROM seen_again) AS c CROSS JOIN handed AS h
JOIN seen_again AS r ON r.mark = h.mark
WHERE c.packets > 0
WINDOW buffered AS (PARTITION BY h.node, h.buffer, h.protocol, h.bytes, h.seq, h.ip_id ORDER BY h.ts_ns, h.id);

-- temporary handing
-- index: id
SELECT id, node, ts_ns, interface, protocol, src, dst, sport, dport, bytes, by_kernel, own, buffer, seq, ip_id, tells,
       arrived,
       begins, CASE WHEN begins = 0 AND is_same_flow = 1 THEN 1 ELSE 0 END AS is_copy
FROM begun;

-- temporary copied
SELECT node, by_kernel, protocol, src, dst, sport, dport, count(*) AS packets, sum(bytes) AS bytes
FROM handing WHERE is_copy = 1 GROUP BY node, by_kernel, protocol, src, dst, sport, dport;

-- with numbered
SELECT s.id, s.ts_ns, s.node, s.protocol, s.src, s.dst, s.sport, s.dport, s.seq, s.numbers,
       CASE WHEN s.flags % 4 >= 2 THEN 1 ELSE 0 END AS syn,
       s.numbers - CASE WHEN s.flags % 4 >= 2 THEN 1 ELSE 0 END - s.flags % 2 AS payload,
       lag(s.seq) OVER sending AS last_seq
FROM (SELECT count(*) AS flows FROM open_flow) AS c CROSS JOIN handed AS s
WHERE c.flows > 0 AND s.seq >= 0 AND s.numbers > 0 AND s.id NOT IN (SELECT id FROM handing WHERE is_copy = 1)
  AND EXISTS (SELECT 1 FROM open_flow AS f WHERE f.node = s.node AND f.sport = s.sport AND f.dport = s.dport
              AND f.src = s.src AND f.dst = s.dst AND f.protocol = s.protocol AND f.by_kernel = s.by_kernel)
WINDOW sending AS (PARTITION BY s.node, s.sport, s.dport, s.src, s.dst, s.protocol ORDER BY s.ts_ns, s.id);

-- The start of a segment, unlimited: numbers come round after 2^32. A port that comes again
-- begins anew, with another number, beyond all there was.
-- with placed
SELECT id, ts_ns, node, protocol, src, dst, sport, dport, payload, numbers,
       sum(CASE WHEN last_seq IS NULL THEN 0
                WHEN syn = 1 AND seq <> last_seq THEN 8589934592
                ELSE (seq - last_seq + 6442450944) % 4294967296 - 2147483648 END) OVER sending AS begin_at
FROM numbered
WINDOW sending AS (PARTITION BY node, sport, dport, src, dst, protocol ORDER BY ts_ns, id
                   ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- with overlap
SELECT ts_ns, node, protocol, src, dst, sport, dport, payload, numbers,
       (max(begin_at + numbers) OVER sending) - begin_at AS before
FROM placed
WINDOW sending AS (PARTITION BY node, sport, dport, src, dst, protocol ORDER BY ts_ns, id
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);

-- temporary again
SELECT node, protocol, src, dst, sport, dport, count(*) AS packets,
       sum(least(least(before, numbers), payload)) AS bytes
FROM overlap WHERE before > 0
GROUP BY node, protocol, src, dst, sport, dport;

-- temporary flow
SELECT CASE WHEN z.id IS NULL THEN n.name ELSE coalesce(o.name, a.text) END AS "from",
       coalesce(m.name, b.text, '') AS "to",
       CASE WHEN substr(f.protocol, 1, 1) = '_' THEN substr(f.protocol, 2) ELSE f.protocol END AS protocol,
       coalesce(a.text, '') AS src, f.sport, coalesce(b.text, '') AS dst, f.dport,
       f.packets - coalesce(c.packets, 0) AS packets,
       f.bytes - coalesce(c.bytes, 0) AS bytes, coalesce(g.packets, 0) AS retransmitted,
       coalesce(g.bytes, 0) AS retransmitted_bytes,
       f.first_ns, f.last_ns
FROM raw_flow AS f LEFT JOIN node AS n ON n.id = f.node
LEFT JOIN lone_node AS z ON z.id = f.node AND f.by_kernel = 0
LEFT JOIN target AS a ON a.raw = f.src LEFT JOIN target AS b ON b.raw = f.dst
LEFT JOIN node AS o ON o.id = a.node LEFT JOIN node AS m ON m.id = b.node
LEFT JOIN again AS g ON g.node = f.node AND g.sport = f.sport AND g.dport = f.dport AND g.src = f.src
 AND g.dst = f.dst AND g.protocol = f.protocol
LEFT JOIN copied AS c ON c.node = f.node AND c.by_kernel = f.by_kernel AND coalesce(c.sport, -1) = coalesce(f.sport, -1)
 AND coalesce(c.dport, -1) = coalesce(f.dport, -1) AND c.src = f.src AND c.dst = f.dst AND c.protocol = f.protocol
WHERE f.by_kernel = 1 OR (a.text <> '' AND (a.node = f.node OR z.id IS NOT NULL));

-- with numbered_packet
SELECT node, ts_ns, interface, protocol, src, dst, bytes, buffer, seq, ip_id, tells, arrived, begins,
       sum(begins) OVER (PARTITION BY node, buffer, protocol, bytes, seq, ip_id ORDER BY ts_ns, id
                         ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n
FROM handing WHERE own = 1;

-- temporary sent_packet
SELECT node, protocol, interface, src, dst, ts_ns, arrived, tells
FROM handed WHERE own = 1 AND id NOT IN (SELECT id FROM handing)
UNION ALL
SELECT node, protocol, max(CASE WHEN begins = 1 THEN interface END), max(CASE WHEN begins = 1 THEN src END),
       max(CASE WHEN begins = 1 THEN dst END), min(ts_ns), max(arrived), min(tells)
FROM numbered_packet GROUP BY node, buffer, protocol, bytes, seq, ip_id, n;

-- Several interfaces can have copies of one packet: use those whose packets are known to have arrived.
-- temporary path
SELECT node, interface, protocol, src, dst, count(*) AS packets, sum(arrived) AS arrived
FROM sent_packet GROUP BY node, interface, protocol, src, dst;

-- temporary told_path
-- index: node, interface, protocol, src, dst
SELECT p.node, p.interface, p.protocol, p.src, p.dst, p.packets, p.arrived,
       CASE WHEN substr(p.protocol, 1, 1) = '_' THEN substr(p.protocol, 2) ELSE p.protocol END AS shown_protocol
FROM path AS p JOIN (SELECT node, protocol, src, dst, max(arrived) AS most FROM path
                     GROUP BY node, protocol, src, dst) AS b
  ON b.node = p.node AND b.protocol = p.protocol AND b.src = p.src AND b.dst = p.dst
WHERE p.arrived > 0 OR b.most = 0;

-- When a node recorded what another one sends it, but for the time that packets were on their way. A capture
-- that lost packets tells only of the times in which it lost none.
-- temporary listening
SELECT h.src_node, h.dst_node, h.protocol, min(s.begin_ns) AS begin_ns, max(s.end_ns) - max(h.latency_ns) AS end_ns,
       max(h.latency_ns) AS latency_ns, max(CASE
                                            WHEN s.kind = 'capture' AND s.discarded > 0 THEN 1 ELSE 0 END) AS is_lossy
FROM conversation AS h JOIN source AS s ON s.id = h.recv_source GROUP BY h.src_node, h.dst_node, h.protocol;

-- temporary whole
WITH heard_span AS (
	SELECT node, begin_ns, end_ns, max(end_ns) OVER (PARTITION BY node ORDER BY begin_ns, end_ns
	       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
	FROM recorded WHERE kind = 'capture'),
heard_stretch AS (
	SELECT node, begin_ns, end_ns, sum(CASE WHEN before_ns >= begin_ns THEN 0 ELSE 1 END) OVER (
	       PARTITION BY node ORDER BY begin_ns, end_ns) AS number
	FROM heard_span)
SELECT node, min(begin_ns) AS begin_ns, max(end_ns) AS end_ns FROM heard_stretch GROUP BY node, number;

-- temporary lost_packet
SELECT s.node, s.interface, s.protocol, s.src, s.dst, count(*) AS lost
FROM sent_packet AS s JOIN told_path AS p ON p.node = s.node AND p.interface = s.interface AND p.protocol = s.protocol
 AND p.src = s.src AND p.dst = s.dst
JOIN target AS t ON t.raw = s.dst
JOIN listening AS l ON l.src_node = s.node AND l.dst_node = t.node AND l.protocol = p.shown_protocol
LEFT JOIN whole AS w ON w.node = t.node AND s.ts_ns BETWEEN w.begin_ns AND w.end_ns - l.latency_ns
WHERE s.arrived = 0 AND s.tells = 1 AND p.arrived > 0 AND s.ts_ns BETWEEN l.begin_ns AND l.end_ns
  AND (l.is_lossy = 0 OR w.node IS NOT NULL)
GROUP BY s.node, s.interface, s.protocol, s.src, s.dst;

-- temporary delivery
SELECT n.name AS "from", coalesce(m.name, t.text, '') AS "to", p.shown_protocol AS protocol, sum(p.packets) AS sent,
       sum(p.arrived) AS received, coalesce(sum(l.lost), 0) AS lost
FROM told_path AS p LEFT JOIN lost_packet AS l ON l.node = p.node AND l.interface = p.interface
 AND l.protocol = p.protocol
 AND l.src = p.src AND l.dst = p.dst
LEFT JOIN target AS t ON t.raw = p.dst LEFT JOIN node AS n ON n.id = p.node LEFT JOIN node AS m ON m.id = t.node
GROUP BY n.name, coalesce(m.name, t.text, ''), p.shown_protocol;

-- table interfaces: Traffic by interface
-- sort: node,interface
-- column sent_bytes_per_second: bytes/s, RATE
-- column received_bytes_per_second: bytes/s, RATE
SELECT n.name AS node, interface, sent, sent_bytes,
       CASE WHEN :end_ns > :begin_ns THEN sent_bytes * 1e9 / (:end_ns - :begin_ns)
       ELSE 0e0 END AS sent_bytes_per_second,
       received, received_bytes,
       CASE WHEN :end_ns > :begin_ns THEN received_bytes * 1e9 / (:end_ns - :begin_ns) ELSE 0e0 END
       AS received_bytes_per_second
FROM traffic AS t LEFT JOIN node AS n ON n.id = t.node;

-- table pairs: Sent by pair of nodes
-- sort: from,to
SELECT "from", "to", count(*) AS flows, sum(packets) AS packets, sum(bytes) AS bytes,
       sum(retransmitted) AS retransmitted, sum(retransmitted_bytes) AS retransmitted_bytes,
       1e2 * sum(retransmitted) / sum(packets) AS retransmitted_percent
FROM flow GROUP BY "from", "to";

-- table protocols: Packets by pair of nodes and protocol
-- sort: from,to,protocol
-- column lost: count, LOST
-- column unknown: count, NOT KNOWN
SELECT d."from", d."to", d.protocol, d.sent, CASE WHEN d.received + d.lost > 0 THEN d.received END AS received,
       CASE WHEN d.received + d.lost > 0 THEN d.lost END AS lost, d.sent - d.received - d.lost AS unknown,
       CASE WHEN d.protocol = 'tcp' AND f.packets = d.sent THEN f.retransmitted END AS retransmitted
FROM delivery AS d LEFT JOIN (SELECT "from", "to", protocol, sum(packets) AS packets,
                              sum(retransmitted) AS retransmitted FROM flow
                              GROUP BY "from", "to", protocol) AS f
  ON f."from" = d."from" AND f."to" = d."to" AND f.protocol = d.protocol;

-- table resent: Segments that were sent again
-- when: plot
-- sort: ts_ns,src_node,dst_node
-- column ts_ns: epoch_ns, SENT
SELECT o.node AS src_node, t.node AS dst_node, o.ts_ns FROM overlap AS o LEFT JOIN target AS t ON t.raw = o.dst
WHERE o.before > 0;

-- table flows: Sent by flow
-- sort: -bytes,from,to,src,sport,dst,dport
-- limit: 10
-- column first_ns: epoch_ns, FIRST
-- column bytes_per_second: bytes/s, RATE
SELECT "from", "to", protocol, src, sport, dst, dport, packets, bytes, retransmitted, retransmitted_bytes,
       1e2 * retransmitted / packets AS retransmitted_percent, first_ns, last_ns - first_ns AS span_ns,
       CASE WHEN last_ns > first_ns THEN bytes * 1e9 / (last_ns - first_ns) END AS bytes_per_second
FROM flow;

-- table over_time: Traffic over time
-- when: interval
-- sort: begin_ns,node,interface
SELECT t.begin_ns, n.name AS node, interface, sent, sent_bytes, received, received_bytes
FROM traffic_step AS t LEFT JOIN node AS n ON n.id = t.node;

-- notes
SELECT 'packets sent: not recorded (enable net_dev_queue)' AS note
WHERE NOT EXISTS (SELECT 1 FROM event_class WHERE name = 'net_dev_queue' AND events > 0)
UNION ALL
SELECT 'packets received: not recorded (enable net_if_receive_skb)'
WHERE NOT EXISTS (SELECT 1 FROM event_class WHERE name IN ('net_if_receive_skb', 'netif_receive_skb') AND events > 0)
UNION ALL
SELECT 'flows and retransmissions: not recorded (enable net_dev_queue with headers, lttng-modules 2.9 or later, or a capture)'
WHERE NOT EXISTS (SELECT 1 FROM event_class AS c JOIN event_column AS k ON k.class = c.id
                  WHERE c.name = 'net_dev_queue' AND k.column_name = 'network_header_ipv4_tot_len' AND c.events > 0)
  AND NOT EXISTS (SELECT 1 FROM event_class WHERE name = 'packet' AND events > 0);
