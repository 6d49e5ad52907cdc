#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Traces that are whole and still do not give what ctsync needs, or lie: made
# by hand, see ctf.bash.
load common
load ctf

setup_traces()
{
	ctf_trace web web
	ctf_trace db db
}

@test "traces made by hand are read as recorded ones are" {
	setup_traces
	ctf_talk web db 5000000000 4
	golden by_hand ctsync --stats -t web -t db
	[ ! -s "$scratch/stderr" ]
}

@test "two traces without a common packet" {
	setup_traces
	ctf_packet web queue 1700000000000000000 1 2 1
	ctf_packet db receive 1700000000001000000 1 2 2
	golden -s 3 islands ctsync -t web -t db
	[ ! -s "$scratch/stderr" ]
}

@test "packets in one direction only" {
	setup_traces
	for i in 1 2 3; do
		ctf_packet web queue $((1700000000000000000 + i)) 1 2 $i
		ctf_packet db receive $((1700000000001000000 + i)) 1 2 $i
	done
	golden -s 3 one_way ctsync -r web --stats -t web -t db
	[ ! -s "$scratch/stderr" ]
}

@test "a trace without a network event says which to enable" {
	setup_traces
	ctf_talk web db 0 2
	mkdir idle
	{
		ctf_metadata idle
		ctf_event 0 sched_switch 'uint8_t prio;'
	} >idle/metadata
	{
		le 4 0xc1fc1fc1 0
		le 2 0
		le 8 1700000000000000000
		le 1 20
	} >idle/stream
	fails_with 3 'ctsync: idle: no network event, enable net_dev_queue and net_if_receive_skb (lttng enable-event -k net_dev_queue,net_if_receive_skb,net_dev_xmit)' \
		ctsync -t web -t db -t idle
}

@test "received packets without headers say what to switch on" {
	setup_traces
	for i in 1 2 3; do
		ctf_packet web queue $((1700000000000000000 + i * 2000)) 1 2 $i
		ctf_bare db receive $((1700000000000000500 + i * 2000))
		ctf_packet db queue $((1700000000000001000 + i * 2000)) 2 1 $i
		ctf_bare web receive $((1700000000000001500 + i * 2000))
	done
	local words='received packets carry no headers, as generic receive offload was off, switch it on (ethtool -K DEV gro on)'
	fails_with 3 "ctsync: db, web: $words" ctsync -t web -t db
}

@test "a trace without a stream" {
	setup_traces
	ctf_talk web db 0 2
	cp -R web empty
	rm empty/stream
	fails_with 3 'ctsync: empty: no event in it, so the clock of web is unknown' \
		ctsync -t web -t db -t empty
}

@test "a stream that ends within an event" {
	setup_traces
	ctf_talk web db 0 3
	truncate -s -10 web/stream
	ends_with 1 ctsync --stats -t web -t db
	grep '^ctsync: web/stream: cannot read an event before byte .*, rest of its packet skipped: field extends past its packet$' "$scratch/stderr"
	grep '^db web  *2/3 ' "$scratch/stdout"
}

@test "a stamp that no clock shows" {
	setup_traces
	ctf_talk web db 0 2
	ctf_packet web queue 9223372036854775807 1 2 8
	local words='rest of its packet skipped: timestamp outside 1967 to 2111'
	fails_with 1 "ctsync: web/stream: cannot read an event before byte 246, $words" \
		ctsync -t web -t db
	ctf_packet db queue -1 2 1 9
	ends_with 1 ctsync -j 1 -t web -t db
	grep "^ctsync: db/stream, web/stream: cannot read an event before byte .*, $words\$" "$scratch/stderr"
}

# The packet of web ends at this time; its last event is at 1700000001003000000.
packet_ends_at() {
	rm -rf web db
	setup_traces
	sed -i 's/stream { id = 0;/& packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; };/' \
		web/metadata
	le 8 1700000000000000000 "$1" >>web/stream
	ctf_talk web db 0 2
}

@test "events after the end of their packet" {
	local told='ctsync: web: stream 0 has events after the end of their packet; the 4 up to there may have wrong timestamps'
	packet_ends_at 1700000000500000000
	fails_with 1 "$told" ctsync -t web -t db
	# Some versions of LTTng say a packet's end a little too early.
	packet_ends_at 1700000001000000000
	ends_with 0 ctsync -t web -t db
	[ ! -s "$scratch/stderr" ]
}

@test "a stream whose class has no clock" {
	setup_traces
	ctf_talk web db 0 2
	{
		echo 'stream { id = 1; event.header := struct { uint16_t id; }; };'
		ctf_event 0 net_dev_queue 'uint64_t _skbaddr;' 1
	} >>web/metadata
	{
		le 4 0xc1fc1fc1 1
		le 2 0
		le 8 7
	} >web/timeless
	ends_with 1 ctsync -t web -t db
	grep '^ctsync: web/timeless: its events have no timestamps, skipped$' "$scratch/stderr"
	grep '^messages  4,' "$scratch/stdout"
}

@test "an address of another size" {
	setup_traces
	ctf_talk web db 0 2
	sed -i 's/uint8_t _saddr\[4\]/uint8_t _saddr[3]; uint8_t _rest/' web/metadata
	ends_with 3 ctsync -t web -t db
}
