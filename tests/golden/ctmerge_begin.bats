#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge --begin leaves undecoded what nobody needs; its timeline is that of the whole
# run, cut there, in every table.
load common

# dump FILE BEGIN: all rows from a time on, by names where numbers may differ.
dump()
{
	local table columns
	sqlite3 "$1" "SELECT e.ts_ns, e.node, e.source, e.cpu, e.tid, c.name FROM event AS e
		JOIN event_class AS c ON c.id = e.class WHERE e.ts_ns >= $2 ORDER BY e.id"
	for table in $(sqlite3 "$1" 'SELECT DISTINCT c.table_name FROM event_class AS c
		JOIN event AS e ON e.class = c.id WHERE c.table_name NOT NULL
		AND e.ts_ns >= '"$2"' ORDER BY 1'); do
		columns=$(sqlite3 "$1" "SELECT group_concat('t.\"' || name || '\"')
			FROM pragma_table_info('$table') WHERE name != 'id'")
		echo "$table"
		sqlite3 "$1" "SELECT e.ts_ns${columns:+, $columns} FROM \"$table\" AS t
			JOIN event AS e ON e.id = t.id WHERE e.ts_ns >= $2 ORDER BY e.id"
	done
	for table in node source clock clock_bound clock_pair process thread invocation problem; do
		echo "$table"
		sqlite3 "$1" "SELECT * FROM $table"
	done
	sqlite3 "$1" "SELECT m.src_node, m.dst_node, m.send_ns, m.recv_ns, m.src, m.dst, m.seq,
		m.sport, m.dport, m.bytes, s.ts_ns, r.ts_ns FROM message AS m
		LEFT JOIN event AS s ON s.id = m.send_event AND s.ts_ns >= $2
		LEFT JOIN event AS r ON r.id = m.recv_event AND r.ts_ns >= $2
		WHERE s.id NOT NULL OR r.id NOT NULL ORDER BY m.id"
	sqlite3 "$1" "SELECT s.node, s.ts_ns, m.name, i.name, s.value FROM sample AS s
		JOIN metric AS m ON m.id = s.metric LEFT JOIN metric_item AS i ON i.id = s.item
		WHERE s.ts_ns >= $2 ORDER BY 1, 2, 3, 4"
	sqlite3 "$1" "SELECT key, value FROM meta WHERE key != 'command' ORDER BY 1"
}

# is_cut WHOLE BEGIN OPTION...: a merge from then on is the whole one's rest.
is_cut()
{
	local whole=$1 begin=$2
	shift 2
	ctmerge -q "$@" -o cut.db --begin "$begin"
	dump "$whole" "$begin" >wanted
	dump cut.db "$begin" >got
	rm cut.db
	[ "$(wc -l <got)" -gt 50 ]
	diff wanted got | head -20 | { ! grep .; }
}

# begin_at FILE SHARE: the time of the event that so many hundredths lie before.
begin_at()
{
	sqlite3 "$1" "SELECT ts_ns FROM event WHERE id = (SELECT max(id) * $2 / 100 FROM event)"
}

@test "from the middle on: the recorded run" {
	ctmerge -q fixtures/net3 -o all.db
	is_cut all.db "$(begin_at all.db 50)" fixtures/net3
	is_cut all.db "$(begin_at all.db 97)" -j1 fixtures/net3
}

@test "from the middle on: some events, and without their fields" {
	ctmerge -q fixtures/net3 --events 'net_*,irq_*' --no-payload -o all.db
	is_cut all.db "$(begin_at all.db 30)" fixtures/net3 --events 'net_*,irq_*' --no-payload
}

@test "from the middle on: user space" {
	ctmerge -q --no-sync fixtures/ust -o all.db
	is_cut all.db "$(begin_at all.db 50)" --no-sync fixtures/ust
}
