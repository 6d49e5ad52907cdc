#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge of captures and traces that are given one by one: each is of a node of its own.
load common
load pcap

@test "captures, from the first command to the exports" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 | captured b.pcap
	# Unclear input is an error that asks for an option.
	ends_with 1 ctmerge -q a.pcap b.pcap -o run.db
	grep -q -- '--local a=ADDR, from 10.0.0.1, 10.0.0.2$' "$scratch/stderr"
	ends_with 0 ctmerge -q --force a.pcap b.pcap --local a=10.0.0.1 --local b=10.0.0.2 -o run.db
	[ ! -s "$scratch/stderr" ]
	[ "$(sqlite3 -readonly run.db 'SELECT group_concat(name) FROM node')" = a,b ]
	[ "$(sqlite3 -readonly run.db 'SELECT count(*), sum(recv_ns > send_ns) FROM message')" = '100|100' ]
	ends_with 0 ctanalyze messages run.db
	grep -q '^a  *b ' "$scratch/stdout"
	ends_with 0 ctanalyze report run.db -o report.html
	ends_with 0 ctexport perfetto run.db -o run.pftrace
	ends_with 0 ctexport csv run.db -o tables
}

@test "captures that tell which host is their own, and names" {
	net3=fixtures/net3
	cp $net3/node2/node2.pcap web.pcap
	cp $net3/node3/node3.pcap db.pcap
	ends_with 0 ctmerge -q web.pcap db.pcap -o run.db
	[ "$(sqlite3 -readonly run.db 'SELECT group_concat(name) FROM node')" = web,db ]
	[ "$(sqlite3 -readonly run.db 'SELECT count(*) = sum(recv_ns > send_ns) AND count(*) > 3000 FROM message')" = 1 ]
	ends_with 0 ctanalyze messages run.db
	grep -q '^web  *db ' "$scratch/stdout"
	ends_with 0 ctanalyze report run.db -o report.html
	ends_with 0 ctexport parquet run.db -o tables
	# `-i any`, of hosts that route
	for node in A B; do cp fixtures/containers/any/node$node/any.pcap $node.pcap; done
	ends_with 0 ctmerge -q A.pcap B.pcap -o any.db
	[ "$(sqlite3 -readonly any.db 'SELECT count(*) = sum(recv_ns > send_ns) AND count(*) > 200 FROM message')" = 1 ]
	ends_with 0 ctanalyze messages any.db
	ends_with 0 ctexport perfetto any.db -o any.pftrace
	ends_with 0 ctsync one=web.pcap two=db.pcap
	grep -q '^two  ' "$scratch/stdout"
	fails_with 1 'ctsync: none.pcap: No such file or directory
ctsync: 1 trace to read (expected 2 or more)' ctsync -q web.pcap x=none.pcap
	ends_with 0 ctmerge -q one=web.pcap two=$net3/node3/kernel -o named.db
	[ "$(sqlite3 -readonly named.db 'SELECT group_concat(name) FROM node')" = one,two ]
}

@test "two clocks in one capture: events and messages are on one axis" {
	local ab=(--local a=10.0.0.1 --local b=10.0.0.2)
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 | captured b.pcap
	ends_with 0 ctmerge -q a.pcap b.pcap "${ab[@]}" -o one.db
	for ahead in 37000000000 12345678901 -1700000000000000000; do
		talk 50 2 3000123456 $ahead | captured b.pcap
		ends_with 0 ctmerge -q --force a.pcap b.pcap "${ab[@]}" -o two.db
		grep -q '^ctmerge: b.pcap: two clocks in one capture: ' "$scratch/stderr"
		! grep -q 'before' "$scratch/stderr" || false
		# No event is more than the 50 ms between two packets from its time with one clock.
		# Before a clock that begins at 0 is known, some of its packets wait for a few more.
		[ "$(sqlite3 -readonly two.db "ATTACH 'one.db' AS one; SELECT count(*), max(abs(t.ts_ns - o.ts_ns)) < $(((ahead < 0 ? 250 : 50) * 1000000))
			FROM main.event t JOIN one.event o ON t.id = o.id")" = '200|1' ]
		[ "$(sqlite3 -readonly two.db 'SELECT count(*), sum(recv_ns > send_ns) FROM message')" = '100|100' ]
	done
}
