-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Traces that others recorded on the nodes, on the axis of an exported one: Perfetto's trace
-- manifest. It relates two clocks by a constant, so each node's real-time clock, by which its
-- capture (else its trace) has times, has the offset of the middle of that recording. ?1: the
-- exported file.
--- table manifest_part
-- The segments of these clocks, clipped to the recording.
WITH ranked AS (
	SELECT s.node, s.id AS source, coalesce(s.name, s.path) AS recording, s.begin_ns, s.end_ns,
		s.begin_ns + (s.end_ns - s.begin_ns) / 2 AS middle_ns,
		row_number() OVER (PARTITION BY s.node
			ORDER BY s.kind <> 'capture', s.kind <> 'kernel', s.id) AS place
	FROM source AS s WHERE s.begin_ns IS NOT NULL AND s.id IN (SELECT source FROM clock)
), segment AS (
	SELECT source, local_ns, ref_ns, rate_ppb / (1e9 + rate_ppb) AS gain,
		lag(ref_ns) OVER line AS last_ns, lead(ref_ns) OVER line AS next_ns
	FROM clock WINDOW line AS (PARTITION BY source ORDER BY local_ns)
)
SELECT r.*, s.ref_ns - s.local_ns AS ahead_ns, s.ref_ns, s.gain,
	iif(s.last_ns IS NULL, r.begin_ns, max(s.ref_ns, r.begin_ns)) AS from_ns,
	min(coalesce(s.next_ns, r.end_ns), r.end_ns) AS to_ns
FROM ranked AS r JOIN segment AS s USING (source) WHERE r.place = 1
--- table manifest_node
WITH instant AS (
	SELECT node, ahead_ns, ref_ns, gain, from_ns AS at_ns FROM manifest_part WHERE from_ns <= to_ns
	UNION ALL SELECT node, ahead_ns, ref_ns, gain, to_ns FROM manifest_part WHERE from_ns <= to_ns
), offset_at AS (
	SELECT node, ahead_ns + CAST(round((at_ns - ref_ns) * gain) AS INTEGER) AS offset_ns FROM instant
), middle AS (
	SELECT node, source, recording,
		ahead_ns + CAST(round((middle_ns - ref_ns) * gain) AS INTEGER) AS offset_ns,
		middle_ns - ahead_ns - CAST(round((middle_ns - ref_ns) * gain) AS INTEGER) AS middle_local_ns
	FROM manifest_part WHERE middle_ns BETWEEN from_ns AND to_ns GROUP BY node
), nearest AS (
	SELECT m.node, max(-b.low_ns, b.high_ns) AS bound_ns,
		row_number() OVER (PARTITION BY m.node ORDER BY abs(b.local_ns - m.middle_local_ns)) AS place
	FROM middle AS m JOIN clock_bound AS b USING (source)
)
SELECT c.id AS node, c.name, row_number() OVER (ORDER BY c.id) - 1 AS machine, m.recording, m.offset_ns,
	(SELECT max(abs(o.offset_ns - m.offset_ns)) FROM offset_at AS o WHERE o.node = m.node) AS drift_ns,
	(SELECT bound_ns FROM nearest AS n WHERE n.node = m.node AND n.place = 1) AS bound_ns
FROM chosen AS c LEFT JOIN middle AS m ON m.node = c.id WHERE c.chosen
--- manifest
SELECT json_object('perfetto_manifest', json_object(
	'version', 1,
	'trace_time', (SELECT json_object('clock', 'REALTIME', 'file', ?1, 'machine', name)
		FROM manifest_node WHERE machine = 0),
	'files', (SELECT json_group_array(json(file)) FROM (
		SELECT json_object('path', ?1, 'machines',
			json_group_array(json_object('id', machine, 'name', name))) AS file
		FROM (SELECT * FROM manifest_node ORDER BY machine)
		UNION ALL
		SELECT json_object('path', name || '.pftrace', 'machine', json_object('name', name || ' (own trace)'),
			'clocks', json_object('clock', 'REALTIME',
				'sync_to', json_object('file', ?1,
					'machine', (SELECT name FROM manifest_node WHERE machine = 0),
					'clock', 'REALTIME'),
				'offset_ns', offset_ns))
		FROM manifest_node WHERE offset_ns IS NOT NULL)),
	'attributes', (SELECT json_group_object('clustertrace.' || name || '.' || key, value) FROM (
		SELECT machine, name, 'recording' AS key, recording AS value FROM manifest_node WHERE offset_ns IS NOT NULL
		UNION ALL SELECT machine, name, 'drift_ns', drift_ns FROM manifest_node WHERE offset_ns IS NOT NULL
		UNION ALL SELECT machine, name, 'bound_ns', coalesce(bound_ns, 'unknown') FROM manifest_node
			WHERE offset_ns IS NOT NULL))))
--- notes
SELECT NULL, 1, name || '.pftrace: in the middle of ' || recording || ', the offset is right within '
	|| coalesce('+-' || bound_ns || ' ns', 'an unknown bound')
	|| '; the clock drifts from it by up to ' || drift_ns || ' ns, which a manifest cannot express'
FROM manifest_node WHERE drift_ns > 0 ORDER BY machine
