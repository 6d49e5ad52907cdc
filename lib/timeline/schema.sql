-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The tables of a timeline. docs/schema.md says what each column means. All
-- times are nanoseconds on the axis of the reference clock. The tables of the
-- event classes and their views are made as the classes come.

PRAGMA application_id = 1129600076; -- "CTTL"
PRAGMA user_version = 3;

CREATE TABLE meta (
	key TEXT PRIMARY KEY NOT NULL,
	value
) WITHOUT ROWID;

CREATE TABLE node (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	hostname TEXT,
	kernel TEXT,
	cpus INTEGER,
	cpu_mhz REAL,
	mem_kib INTEGER,
	boot_id TEXT
);

CREATE TABLE source (
	id INTEGER PRIMARY KEY,
	node INTEGER NOT NULL REFERENCES node (id),
	kind TEXT NOT NULL,
	path TEXT,
	clock_uuid TEXT,
	begin_ns INTEGER,
	end_ns INTEGER,
	events INTEGER,
	discarded INTEGER,
	problems INTEGER,
	name TEXT,
	reference INTEGER REFERENCES source (id),
	quality TEXT
);

CREATE TABLE clock (
	source INTEGER NOT NULL REFERENCES source (id),
	local_ns INTEGER NOT NULL,
	ref_ns INTEGER NOT NULL,
	rate_ppb REAL NOT NULL
);

CREATE TABLE clock_bound (
	source INTEGER NOT NULL REFERENCES source (id),
	local_ns INTEGER NOT NULL,
	low_ns INTEGER,
	high_ns INTEGER
);

CREATE TABLE clock_pair (
	a INTEGER NOT NULL REFERENCES source (id),
	b INTEGER NOT NULL REFERENCES source (id),
	messages_ab INTEGER,
	messages_ba INTEGER,
	rejected INTEGER,
	quality TEXT,
	violations_before INTEGER,
	violations_after INTEGER,
	hull_ab INTEGER,
	hull_ba INTEGER,
	min_latency_ab_ns INTEGER,
	min_latency_ba_ns INTEGER
);

CREATE TABLE event_class (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	table_name TEXT,
	events INTEGER NOT NULL
);

CREATE TABLE event_column (
	class INTEGER NOT NULL REFERENCES event_class (id),
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	column_name TEXT NOT NULL,
	type TEXT NOT NULL,
	context INTEGER NOT NULL,
	PRIMARY KEY (class, position)
) WITHOUT ROWID;

CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	ts_ns INTEGER NOT NULL,
	node INTEGER NOT NULL REFERENCES node (id),
	cpu INTEGER,
	tid INTEGER,
	class INTEGER NOT NULL REFERENCES event_class (id),
	source INTEGER REFERENCES source (id)
);

-- Here and not with the others: events come in its order, so it is written with them,
-- which is faster than to sort them, and takes no temporary file.
CREATE INDEX event_ts_ns ON event (ts_ns);

CREATE TABLE message (
	id INTEGER PRIMARY KEY,
	protocol TEXT,
	src_node INTEGER REFERENCES node (id),
	dst_node INTEGER REFERENCES node (id),
	send_event INTEGER REFERENCES event (id),
	recv_event INTEGER REFERENCES event (id),
	send_ns INTEGER,
	recv_ns INTEGER,
	latency_ns INTEGER,
	src TEXT,
	sport INTEGER,
	dst TEXT,
	dport INTEGER,
	seq INTEGER,
	bytes INTEGER,
	send_by TEXT,
	send_tid INTEGER,
	send_first_recv INTEGER REFERENCES event (id),
	send_last_recv INTEGER REFERENCES event (id),
	send_assumed INTEGER,
	recv_batch INTEGER REFERENCES event (id),
	send_source INTEGER REFERENCES source (id),
	recv_source INTEGER REFERENCES source (id),
	low_ns INTEGER,
	high_ns INTEGER
);

-- The writer sorts the entries of these and writes their pages.
CREATE INDEX message_send_event ON message (send_event);
CREATE INDEX message_recv_event ON message (recv_event);

-- Packet events of a message in other sources of the two nodes.
CREATE TABLE message_observation (
	message INTEGER NOT NULL REFERENCES message (id),
	send_event INTEGER REFERENCES event (id),
	recv_event INTEGER REFERENCES event (id),
	send_ns INTEGER,
	recv_ns INTEGER,
	latency_ns INTEGER,
	send_source INTEGER REFERENCES source (id),
	recv_source INTEGER REFERENCES source (id),
	low_ns INTEGER,
	high_ns INTEGER
);

CREATE INDEX message_observation_message ON message_observation (message);

-- Spans lie by thread (or source of interrupts, or disk) and begin: docs/schema.md says
-- why. They are written with the events, as pages.
CREATE TABLE thread_state (
	id INTEGER NOT NULL,
	node INTEGER NOT NULL REFERENCES node (id),
	tid INTEGER NOT NULL,
	thread INTEGER REFERENCES thread (id),
	comm TEXT,
	state_code INTEGER NOT NULL,
	state TEXT NOT NULL AS (
		CASE state_code WHEN 0 THEN 'runnable' WHEN 1 THEN 'running'
		WHEN 2 THEN 'interruptible' WHEN 3 THEN 'uninterruptible'
		WHEN 4 THEN 'blocked' WHEN 5 THEN 'dead' END) VIRTUAL,
	begin_ns INTEGER NOT NULL,
	duration_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL AS (begin_ns + duration_ns) VIRTUAL,
	cpu INTEGER,
	last_cpu INTEGER,
	priority INTEGER,
	preempted INTEGER,
	wait TEXT,
	wait_assumed INTEGER NOT NULL DEFAULT 0,
	waker_tid INTEGER,
	wake_event INTEGER REFERENCES event (id),
	wake_first_recv INTEGER REFERENCES event (id),
	wake_last_recv INTEGER REFERENCES event (id),
	next_tid INTEGER,
	prev_tid INTEGER,
	syscall TEXT,
	switch_state INTEGER,
	cut INTEGER NOT NULL,
	PRIMARY KEY (node, tid, begin_ns, id)
) WITHOUT ROWID;

CREATE TABLE syscall (
	id INTEGER NOT NULL,
	node INTEGER NOT NULL REFERENCES node (id),
	tid INTEGER NOT NULL,
	thread INTEGER REFERENCES thread (id),
	comm TEXT,
	cpu INTEGER,
	name TEXT NOT NULL,
	begin_ns INTEGER NOT NULL,
	duration_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL AS (begin_ns + duration_ns) VIRTUAL,
	ret INTEGER,
	entry_event INTEGER REFERENCES event (id),
	exit_event INTEGER REFERENCES event (id),
	fd INTEGER,
	count INTEGER,
	path TEXT,
	cut INTEGER NOT NULL,
	PRIMARY KEY (node, tid, begin_ns, id)
) WITHOUT ROWID;

CREATE TABLE irq (
	id INTEGER NOT NULL,
	node INTEGER NOT NULL REFERENCES node (id),
	cpu INTEGER NOT NULL,
	kind TEXT NOT NULL,
	number INTEGER NOT NULL,
	handler TEXT NOT NULL,
	name TEXT AS (nullif(handler, '')) VIRTUAL,
	begin_ns INTEGER NOT NULL,
	duration_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL AS (begin_ns + duration_ns) VIRTUAL,
	raised_ns INTEGER,
	inner_ns INTEGER NOT NULL,
	tid INTEGER,
	cut INTEGER NOT NULL,
	PRIMARY KEY (node, kind, number, handler, cpu, begin_ns, id)
) WITHOUT ROWID;

CREATE TABLE block_request (
	id INTEGER NOT NULL,
	node INTEGER NOT NULL REFERENCES node (id),
	dev INTEGER NOT NULL,
	disk TEXT,
	operation TEXT NOT NULL,
	sector INTEGER,
	bytes INTEGER,
	tid INTEGER,
	thread INTEGER REFERENCES thread (id),
	comm TEXT,
	begin_ns INTEGER NOT NULL,
	issue_ns INTEGER,
	duration_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL AS (begin_ns + duration_ns) VIRTUAL,
	error INTEGER,
	merged INTEGER,
	cut INTEGER NOT NULL,
	PRIMARY KEY (node, dev, begin_ns, id)
) WITHOUT ROWID;

-- A request between nodes and its response, from the messages. What has no response
-- has NULL for all that only that tells.
CREATE TABLE request (
	id INTEGER PRIMARY KEY REFERENCES message (id),
	last_message INTEGER REFERENCES message (id),
	protocol TEXT,
	client INTEGER REFERENCES node (id),
	server INTEGER REFERENCES node (id),
	client_source INTEGER REFERENCES source (id),
	server_source INTEGER REFERENCES source (id),
	client_address TEXT,
	client_port INTEGER,
	server_address TEXT,
	server_port INTEGER,
	client_tid INTEGER,
	server_tid INTEGER,
	client_by_kernel INTEGER,
	server_by_kernel INTEGER,
	request_event INTEGER REFERENCES event (id),
	response_event INTEGER REFERENCES event (id),
	given_ns INTEGER,
	begin_ns INTEGER NOT NULL,
	arrived_ns INTEGER NOT NULL,
	responded_ns INTEGER,
	end_ns INTEGER,
	request_bytes INTEGER,
	response_bytes INTEGER,
	there_ns INTEGER,
	queue_ns INTEGER,
	running_ns INTEGER,
	runnable_ns INTEGER,
	disk_ns INTEGER,
	node_ns INTEGER,
	other_ns INTEGER,
	unknown_ns INTEGER,
	back_ns INTEGER,
	bound_ns INTEGER,
	resent_ns INTEGER
);

CREATE TABLE recorded (
	node INTEGER NOT NULL REFERENCES node (id),
	cpu INTEGER,
	kind TEXT NOT NULL,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL
);

CREATE TABLE metric (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	unit TEXT,
	kind TEXT,
	activity TEXT
);

CREATE TABLE metric_item (
	id INTEGER PRIMARY KEY,
	type TEXT,
	name TEXT NOT NULL
);

CREATE TABLE sample (
	node INTEGER NOT NULL REFERENCES node (id),
	ts_ns INTEGER NOT NULL,
	metric INTEGER NOT NULL REFERENCES metric (id),
	item INTEGER REFERENCES metric_item (id),
	value REAL,
	interval_ns INTEGER
);

CREATE INDEX sample_metric ON sample (metric, node, ts_ns);

CREATE TABLE process (
	id INTEGER PRIMARY KEY,
	node INTEGER NOT NULL REFERENCES node (id),
	pid INTEGER NOT NULL,
	ppid INTEGER,
	comm TEXT,
	exe TEXT,
	begin_ns INTEGER,
	end_ns INTEGER,
	exit_status INTEGER,
	container TEXT
);

CREATE TABLE thread (
	id INTEGER PRIMARY KEY,
	process INTEGER REFERENCES process (id),
	node INTEGER NOT NULL REFERENCES node (id),
	tid INTEGER NOT NULL,
	comm TEXT,
	begin_ns INTEGER,
	end_ns INTEGER
);

CREATE TABLE invocation (
	id INTEGER PRIMARY KEY,
	node INTEGER REFERENCES node (id),
	pid INTEGER,
	name TEXT,
	enqueue_ns INTEGER,
	begin_ns INTEGER,
	end_ns INTEGER,
	status INTEGER,
	process INTEGER REFERENCES process (id),
	data TEXT
);

CREATE TABLE problem (
	id INTEGER PRIMARY KEY,
	source INTEGER REFERENCES source (id),
	kind TEXT NOT NULL,
	count INTEGER NOT NULL,
	text TEXT NOT NULL,
	place TEXT
);

-- Subqueries for the names, no joins: a join on a name may be turned round, and then
-- the events are read once for each node or class that matches. What a query
-- does not ask for is not looked up.
CREATE VIEW timeline AS
SELECT
	id,
	ts_ns,
	(SELECT name FROM node WHERE node.id = event.node) AS node,
	cpu,
	tid,
	(SELECT name FROM event_class WHERE event_class.id = event.class) AS class
FROM event;
