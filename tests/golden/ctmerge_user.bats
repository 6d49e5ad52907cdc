#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on what LTTng records of programs.
load common
load ctf

ask()
{
	sqlite3 -readonly run.db "$1"
}

@test "a user-space trace, which needs no network events" {
	ends_with 0 ctmerge -o run.db fixtures/ust
	[ ! -s "$scratch/stderr" ]
	[ "$(ask 'SELECT kind, events, quality FROM source')" = 'user|60|absent' ]
	[ "$(ask 'SELECT kind, name, events FROM event_class')" = 'user|app:work|60' ]
	[ "$(ask 'SELECT count(*) FROM problem')" = 0 ]
}

@test "its fields and contexts" {
	ends_with 0 ctmerge -o run.db fixtures/ust
	[ "$(ask 'SELECT count(*), sum(i), sum(d), sum(a_length), sum(s = "") FROM "app:work"')" \
		= '60|1770|885.0|120|20' ]
	[ "$(ask 'SELECT i, d, s, a, three, procname FROM "app:work" WHERE i = 13')" \
		= '13|6.5|odd "quote"|[1,2,3]|abc|tp' ]
	[ "$(ask 'SELECT count(*) FROM "app:work" WHERE vpid = vtid')" = 60 ]
}

@test "its contexts tell threads and processes" {
	ends_with 0 ctmerge -o run.db fixtures/ust
	[ "$(ask 'SELECT count(*) FROM event e JOIN "app:work" w USING (id)
		WHERE e.tid IS w.vtid')" = 60 ]
	[ "$(ask 'SELECT count(*), p.pid = t.tid, t.comm, p.comm
		FROM thread t JOIN process p ON p.id = t.process')" = '1|1|tp|tp' ]
}

# trace DOMAIN EVENT: metadata of a trace of that domain, with a clock that all have.
trace()
{
	mkdir -p "run/a/$1"
	{
		ctf_metadata a | sed "s/clock { /&uuid = \"8c7f6f0e-26ad-4d0f-b4c5-9b1e3d2a7c55\"; /
			s/env { /&domain = \"$1\"; tracer_name = \"lttng\"; /
			s/stream { id = 0; /&packet.context := struct { uint32_t cpu; }; /
			s/uint32_t cpu;/uint32_t cpu_id;/"
		ctf_event 0 "$2" "$3"
	} >"run/a/$1/metadata"
	le 4 0xc1fc1fc1 0 1 >"run/a/$1/stream"
}

@test "without contexts it runs where the kernel's switches say" {
	trace kernel sched_switch ' uint32_t _prev_tid; uint32_t _next_tid; '
	trace ust app:tick ' uint8_t _i; '
	{
		le 2 0; le 8 1000; le 4 10 20
		le 2 0; le 8 3000; le 4 20 0
	} >>run/a/kernel/stream
	{
		le 2 0; le 8 500; le 1 1
		le 2 0; le 8 2000; le 1 2
		le 2 0; le 8 3000; le 1 3
	} >>run/a/ust/stream
	ends_with 0 ctmerge -q --no-sync run -o run.db
	[ "$(ask 'SELECT t.ts_ns, class, t.cpu, t.tid FROM timeline t ORDER BY t.id' | xargs)" = \
		'500|app:tick|1| 1000|sched_switch|1|10 2000|app:tick|1|20 3000|sched_switch|1|20 3000|app:tick|1|0' ]
}

@test "beside the kernel's trace of the node it shares nothing but the axis" {
	mkdir run
	cp -r fixtures/net3/node1 run/node1
	cp -r fixtures/ust/node1/app run/node1/app
	ends_with 3 ctmerge -o run.db run
	grep -q 'run/node1/app: .* kept at its own epoch$' "$scratch/stderr"
	[ "$(ask "SELECT events FROM source WHERE kind = 'user'")" = 60 ]
	[ "$(ask "SELECT count(*) > 20000 FROM event WHERE source =
		(SELECT id FROM source WHERE kind = 'kernel')")" = 1 ]
}
