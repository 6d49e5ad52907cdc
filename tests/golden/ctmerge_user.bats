#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on what LTTng records of programs.
load common

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
