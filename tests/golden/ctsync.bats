#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync on the recorded run: what it prints, and that this is the same every way.
load common
load pcap
load ctf

net3=fixtures/net3

# Results of the solver may differ in their last digits: a rate by less than
# 0.001 ppb, a time by less than a microsecond.
rounded()
{
	"$@" | sed -E 's/("rate_ppb": -?[0-9]+)\.[0-9]+/\1/
		s/("(low|high|min_latency_ab|min_latency_ba)_ns": -?[0-9]+)[0-9]{3}([,}])/\1000\3/g'
}

@test "a run directory" {
	golden net3 ctsync $net3
	[ ! -s "$scratch/stderr" ]
	golden net3 ctsync $net3/
	cd $net3
	ctsync . | cmp - "$CT_EXPECT/net3"
}

@test "a line a pair with --stats and -v" {
	golden net3_stats ctsync --stats $net3
	golden net3_stats ctsync -v $net3
}

@test "the clock map as JSON" {
	golden net3.json rounded ctsync --json $net3
	ctsync --json -q $net3 >again
	ctsync --json $net3 | cmp - again
	golden net3_limits sed -n '/^  "limits"/,/^  \]/p' <(ctsync --json --stats $net3)
	ctsync --json --stats $net3 | sed '/^  "limits"/,/^  \]/d' | cmp - again
}

@test "a reference by name" {
	golden net3_node3 ctsync -r node3 $net3
	golden net3_capture ctsync --reference=node2:node2.pcap $net3
}

@test "every method" {
	for method in hull margin joint regression; do
		golden net3_$method ctsync --method $method $net3
		[ ! -s "$scratch/stderr" ]
	done
	cmp "$CT_EXPECT/net3_joint" "$CT_EXPECT/net3"
}

@test "the same bytes with any number of threads" {
	for method in hull margin joint regression; do
		ctsync -j 1 --method $method --json $net3 >one
		ctsync -j 16 --method $method --json $net3 | cmp - one
	done
	ctsync -j 3 --method regression --json $net3 | cmp - one
}

@test "traces one by one, under names of their own" {
	golden net3_two ctsync -t $net3/node1 -t $net3/node2
	golden net3_two ctsync -t $net3/node1/kernel -t $net3/node2/kernel/
	golden net3_named ctsync -t web=$net3/node1 -t db=$net3/node2/kernel
	golden net3_again ctsync -t same=$net3/node1 -t same=$net3/node2 \
		-t same=$net3/node3
	[ ! -s "$scratch/stderr" ]
}

@test "a path with an equals sign" {
	ln -s "$PWD/$net3/node1/kernel" a=b
	ends_with 0 ctsync -t a=b -t $net3/node2
	grep '^node1 ' "$scratch/stdout"
	ends_with 0 ctsync -t c=a=b -t $net3/node2
	grep '^c ' "$scratch/stdout"
}

@test "captures give the clocks that traces give" {
	golden net3_captures ctsync --stats -t $net3/node2/node2.pcap \
		-t $net3/node3/node3.pcap
	[ ! -s "$scratch/stderr" ]
}

@test "captures without node.json tell by themselves whose they are" {
	cp $net3/node2/node2.pcap $net3/node3/node3.pcap .
	golden net3_captures ctsync --stats -t node2.pcap -t node3.pcap
	golden net3_captures ctsync --stats -t node2=node2.pcap -t node3=node3.pcap \
		--local node2=10.7.0.2 --local node3=10.7.0.3
	# A node's name stands for its captures; a file may hold all addresses of a node.
	ip_addr='[{"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},{},
		{"ifname":"eth0","addr_info":[{"family":"inet","local":"10.7.0.2","prefixlen":24}]}]'
	printf '%s\n' "$ip_addr" >addr.json
	golden net3_captures ctsync --stats -t node2.pcap -t node3.pcap \
		--local node2=addr.json --local node3=10.7.0.3
	mkdir -p run/node2 run/node3
	cp node2.pcap addr.json run/node2
	mv run/node2/addr.json run/node2/node.json
	cp node3.pcap run/node3
	golden net3_captures ctsync --stats run
	# By a false address, what one sent looks as if it had been received.
	ends_with 3 ctsync --stats -t node2=node2.pcap -t node3=node3.pcap \
		--local node2=10.7.0.3 --local node3=10.7.0.3
}

@test "captures of which nobody knows whose they are" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 | captured b.pcap
	fails_with 1 "ctsync: a.pcap: cannot tell which addresses are the node's own; name each with --local a=ADDR, from 10.0.0.1, 10.0.0.2
ctsync: b.pcap: cannot tell which addresses are the node's own; name each with --local b=ADDR, from 10.0.0.1, 10.0.0.2
ctsync: 0 traces to read (expected 2 or more)" ctsync a.pcap b.pcap
	golden pcap_by_hand ctsync --stats a.pcap b.pcap --local a=10.0.0.1 --local b=10.0.0.2
	[ ! -s "$scratch/stderr" ]
	# The first one is an end of all packets of its capture, which leaves the other one.
	{
		talk 50 1 0
		talk 10 1 500000000 | awk '{ print $1, $2 % 2 ? 1 : 4, $3 % 2 ? 1 : 4, $4 + 2000 }'
	} | sort -n | captured a.pcap
	ends_with 0 ctsync --stats a.pcap b.pcap
	[ ! -s "$scratch/stderr" ]
	head -n 7 "$scratch/stdout" | diff <(head -n 7 "$CT_EXPECT/pcap_by_hand") -
	# On a hub, hosts 2 and 3 hear how the first one serves the other.
	{
		talk 50 1 0
		talk 30 1 0 | awk '{ print $1, $2 % 2 ? 1 : 3, $3 % 2 ? 1 : 3, $4 + 1000 }'
	} | sort -n >heard
	captured c.pcap <heard
	captured d.pcap < <(sed 's/^17/18/' heard)
	fails_with 1 "ctsync: c.pcap: by its packets a capture of the same host as d.pcap; name the node's own addresses, as in --local c=ADDR
ctsync: d.pcap: by its packets a capture of the same host as c.pcap; name the node's own addresses, as in --local d=ADDR
ctsync: 0 traces to read (expected 2 or more)" ctsync c.pcap d.pcap
}

# A user-space trace in run/a, whose clock is CLOCK_MONOTONIC, from second 10 to 12.
user_trace()
{
	mkdir -p run/a/ust
	{
		ctf_metadata a | sed 's/clock { name = c;/clock { name = monotonic; offset_s = 1699999990; uuid = "8c7f6f0e-26ad-4d0f-b4c5-9b1e3d2a7c55";/
			s/clock\.c\./clock.monotonic./'
		ctf_event 0 app:tick ' uint8_t _i; '
	} >run/a/ust/metadata
	{
		le 4 0xc1fc1fc1 0
		for i in 1 2 3; do
			le 2 0; le 8 $((9000000000 + i * 1000000000)); le 1 $i
		done
	} >run/a/ust/stream
}

@test "clock.csv ties a capture to a trace of user space" {
	user_trace
	mkdir -p run/b
	talk 50 1 0 | captured run/a/a.pcap
	talk 50 2 3000123456 | captured run/b/b.pcap
	echo '[{"addr_info":[{"local":"10.0.0.1"}]}]' >run/a/node.json
	echo '[{"addr_info":[{"local":"10.0.0.2"}]}]' >run/b/node.json
	golden -s 3 user_capture_apart ctsync --stats run
	# The real-time clock is 250 us ahead of the trace's time of the epoch.
	printf '%s\n' 1699999999000001234,8999751234 1700000004500003333,14499753333 >run/a/clock.csv
	golden user_capture_tied ctsync --stats run
	[ ! -s "$scratch/stderr" ]
	# In packet files, too.
	for node in a b; do
		ends_with 0 ctsync -q --extract $node.packets run/$node
	done
	golden user_capture_tied ctsync --stats a.packets b.packets
	ends_with 0 ctmerge -o run.db run
	[ "$(sqlite3 -readonly run.db 'SELECT count(*), count(DISTINCT reference), min(quality) FROM source')" = '3|1|accurate' ]
	# If readings are off by more than they may be, the bounds contain all of them.
	printf '%s\n' 1699999999000001234,8999751234 1700000004500103333,14499753333 >run/a/clock.csv
	ends_with 0 ctsync run
	grep -qF 'a:a.pcap: tied to a within +-60.0 us by 2 samples of clock.csv' "$scratch/stdout"
	# Stamps of another time are not the real-time clock's.
	printf '%s\n' 1600000000000001234,8999751234 >run/a/clock.csv
	ends_with 3 ctsync run
	grep -qF "run/a/a.pcap: its time is not that of clock.csv, so it is stamped by another clock" "$scratch/stderr"
}

@test "an absurd time in a capture" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	for at in 0000000000000000001 4123456789000000000 1234567890000000000; do
		for line in 1 50 101; do
			sed "${line}i $at 1 2 999" b >far
			[ $line -lt 101 ] || echo "$at 1 2 999" >>far
			captured b.pcap <far
			golden pcap_by_hand ctsync --stats a.pcap b.pcap --local a=10.0.0.1 --local b=10.0.0.2
			grep -q '^ctsync: b.pcap: 1 packets have \(a time far from\|no usable\)' "$scratch/stderr"
		done
	done
}

@test "two clocks in one capture" {
	local ab=(--local a=10.0.0.1 --local b=10.0.0.2)
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 | captured b.pcap
	golden pcap_by_hand ctsync --stats a.pcap b.pcap "${ab[@]}"
	# TAI, GPS time, and UTC where the other clock is TAI: as if it were one clock.
	for seconds in 37 18 -37; do
		talk 50 2 3000123456 ${seconds}000000000 | captured b.pcap
		golden pcap_by_hand ctsync --stats a.pcap b.pcap "${ab[@]}"
		grep -q "^ctsync: b.pcap: two clocks in one capture: received packets are stamped $seconds s ahead of sent ones" "$scratch/stderr"
	done
	# Any other clock: the next packet that was sent says when one was there.
	for ahead in 12345678901 -200000000; do
		talk 50 2 3000123456 $ahead | captured b.pcap
		golden pcap_two_clocks ctsync --stats a.pcap b.pcap "${ab[@]}"
		grep -q "^ctsync: b.pcap: two clocks in one capture: .* ahead of sent ones; each is put on the clock of sent ones, at the latest time that the order of packets allows$" "$scratch/stderr"
	done
	# A card's clock that begins at 0.
	talk 50 2 3000123456 -1700000000000000000 | captured b.pcap
	ends_with 0 ctsync a.pcap b.pcap "${ab[@]}"
	grep -q '^b .* -3.0251.. s +-25.. ms 22:13:23.0 accurate' "$scratch/stdout"
	grep -q '^messages  100, 0 rejected' "$scratch/stdout"
	grep -q '^ctsync: b.pcap: two clocks in one capture: ' "$scratch/stderr"
	# A clock that was set is one clock.
	talk 50 2 3000123456 | awk 'NR > 40 { $1 = substr($1, 1, 10) - 37 substr($1, 11) } 1' | captured b.pcap
	ends_with 0 ctsync --stats a.pcap b.pcap "${ab[@]}"
	! grep -q 'two clocks' "$scratch/stderr" || false
}

# set_clock HOST SECONDS LINE [SECONDS LINE]: lines of `talk` by the host, with its clock set
# by so many seconds before each of these lines, and latencies that vary more.
set_clock()
{
	awk -v me="$1" -v s1="${2:-0}" -v n1="${3:-1}" -v s2="${4:-0}" -v n2="${5:-1}" '{
		set = (NR >= n1 ? s1 : 0) + (NR >= n2 ? s2 : 0)
		ns = substr($1, 11) + (set - int(set)) * 1e9
		ns += $3 == me ? NR * NR % 97 * 500 : 0
		set = int(set) + (ns < 0 ? -1 : ns >= 1e9)
		printf "%d%09d %d %d %d\n", substr($1, 1, 10) + set, (ns + 1e9) % 1e9, $2, $3, $4
	}'
}

@test "a clock that was set by a large part of the capture, back or forward" {
	local ab=(--local a=10.0.0.1 --local b=10.0.0.2)
	mkdir -p run/a run/b
	ln -s ../../a.pcap run/a/a.pcap
	ln -s ../../b.pcap run/b/b.pcap
	echo '[{"addr_info":[{"local":"10.0.0.1"}]}]' >run/a/node.json
	echo '[{"addr_info":[{"local":"10.0.0.2"}]}]' >run/b/node.json
	talk 100 1 0 | set_clock 1 | captured a.pcap
	while read -r seconds; do
		# shellcheck disable=SC2086 # words
		talk 100 2 3000123456 | set_clock 2 $seconds | captured b.pcap
		ends_with 0 ctsync --stats a.pcap b.pcap "${ab[@]}"
		echo "$seconds"
		sed 's/^ctsync: //' "$scratch/stderr"
		grep -e '^b ' -e '^b:' -e corrected "$scratch/stdout"
		# Packet events stay in their order, at their time.
		ends_with 0 ctmerge -q --force -o run.db run
		sqlite3 -readonly run.db "SELECT count(*), sum(number = row), max(ts_ns) - min(ts_ns) < 1e10
			FROM (SELECT ts_ns, packet.id_2 AS number, row_number() OVER (ORDER BY ts_ns) AS row
			FROM event JOIN packet USING (id) WHERE source = (SELECT id FROM source WHERE name = 'b'))"
	done >told <<-'END'
		-8 101
		-9 101
		-1.5 101
		8 101
		-3 65 -5 131
		-5 65 5 131
		3600 65 -3600 131
		-259200 101
	END
	golden capture_set cat told
	# Timestamps that go back show which clock was set; messages show it only of the pair.
	talk 100 2 3000123456 | set_clock 2 | captured b.pcap
	talk 100 1 0 | set_clock 1 -8 101 | captured a.pcap
	ends_with 0 ctsync a.pcap b.pcap "${ab[@]}"
	grep -q '^ctsync: a: its clock was stepped by -[78].[09]*[0-9]* s at 2023-11-14 22:13:2' "$scratch/stderr"
	grep -q '^b .* exact$' "$scratch/stdout"
	# The table has the offset to what the clock showed, too.
	awk '$1 == "a" { offset = $4 } $1 == "a:" && $2 == "offset" && offset - $3 < 0.001 && $3 - offset < 0.001 { found = 1 }
		END { exit !found }' "$scratch/stdout"
	# The same by packet files.
	talk 100 2 3000123456 | set_clock 2 -8 101 | captured b.pcap
	talk 100 1 0 | set_clock 1 | captured a.pcap
	for node in a b; do
		ends_with 0 ctsync -q --extract $node.packets run/$node
	done
	ends_with 0 ctsync --json run
	grep '"steps"' "$scratch/stdout" >steps
	ends_with 0 ctsync --json a.packets b.packets
	grep '"steps"' "$scratch/stdout" | diff - steps
	# Three messages are enough to say how far, and none are not.
	talk 100 2 3000123456 | set_clock 2 -4 197 | captured b.pcap
	ends_with 0 ctsync a.pcap b.pcap "${ab[@]}"
	grep -q '^ctsync: b: its clock was stepped by -3.9999[0-9]* s at 2023-11-14 22:13:32' "$scratch/stderr"
	talk 100 2 3000123456 | set_clock 2 -4 190 | captured b.pcap
	talk 94 1 0 | set_clock 1 | captured a.pcap
	ends_with 0 ctsync a.pcap b.pcap "${ab[@]}"
	cat "$scratch/stderr"
	grep -q '^ctsync: b: its clock was set back at 2023-11-14 22:13:32.[0-9]* by [23].[0-9]* s or more, and no messages show by how much$' "$scratch/stderr"
	grep -q '^b .* approximate$' "$scratch/stdout"
}

@test "a capture whose clock was set back is tied to a trace" {
	local second
	# By the samples of clock.csv.
	user_trace
	mkdir -p run/b
	talk 100 1 0 | set_clock 1 -8 101 | captured run/a/a.pcap
	talk 100 2 3000123456 | set_clock 2 | captured run/b/b.pcap
	echo '[{"addr_info":[{"local":"10.0.0.1"}]}]' >run/a/node.json
	echo '[{"addr_info":[{"local":"10.0.0.2"}]}]' >run/b/node.json
	for second in 0 1 2 3 4 5 6 7 8 9; do
		printf '%d500001234,%d499751234\n' $((1700000000 + second - (second < 5 ? 0 : 8))) $((second + 10))
	done >run/a/clock.csv
	ends_with 0 ctsync run
	grep -q '^ctsync: a:a.pcap: its clock was stepped by -8.000000 s at 2023-11-14 22:13:24.95' "$scratch/stderr"
	grep -q '^a:a.pcap .* -250.000 us +-10.1 us .* accurate$' "$scratch/stdout"
	grep -q '^a:a.pcap: tied to a within +-10.0 us by 10 samples of clock.csv$' "$scratch/stdout"
	# By packets.
	printf '%s\n' 'nodes 2' 'seconds 20' 'step 2 10 -7000' >set.scenario
	ctsim -q set.scenario -o made
	ctsim -q set.scenario --captures -o captures
	mv captures/node1/*.pcap made/node1
	mv captures/node2/*.pcap made/node2
	ends_with 0 ctsync made
	grep -q '^ctsync: node2:node2.pcap: its clock was stepped by -7.000000 s at ' "$scratch/stderr"
	grep -q '^node2:node2.pcap .* accurate$' "$scratch/stdout"
	grep -Eq '^node2:node2.pcap: tied to node2 within \+-[0-9]+ ns by [0-9]+ packets' "$scratch/stdout"
}

@test "two captures of one node have one clock" {
	mkdir -p run/a run/b
	talk 50 1 0 | captured run/a/a.pcap
	echo '[{"addr_info":[{"local":"10.0.0.1"}]}]' >run/a/node.json
	echo '[{"addr_info":[{"local":"10.0.0.2"}]}]' >run/b/node.json
	talk 50 2 3000123456 >b
	# Some packets both have, some one alone.
	awk 'NR <= 70' b | captured run/b/any.pcap
	awk 'NR > 30 { $1 = substr($1, 1, 10) sprintf("%09d", substr($1, 11) + 3000); print }' b | captured run/b/eth0.pcap
	ends_with 0 ctsync run
	grep -q '^b:eth0.pcap: tied to b within +-0 ns by 20 packets that both sent' "$scratch/stdout"
	grep -q '^b:eth0.pcap  *-[0-9.]* .* accurate$' "$scratch/stdout"
	[ "$(grep -c 'island' "$scratch/stdout")" = 0 ]
	# Nothing in common: captures of two cards, or one after the other.
	awk 'NR > 70' b | captured run/b/eth0.pcap
	ends_with 0 ctsync run
	grep -q '^b:eth0.pcap: tied to b as captures of one node' "$scratch/stdout"
	grep -q '^messages  100, 0 rejected' "$scratch/stdout"
	# Stamped by another clock.
	awk '{ $1 = substr($1, 1, 10) + 37 substr($1, 11); print }' b | captured run/b/eth0.pcap
	ends_with 0 ctsync run
	grep -q "^ctsync: b:eth0.pcap: its clock is not that of b, by the packets that both sent" "$scratch/stderr"
}

@test "packets that a capture holds several times" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	captured b.pcap <b
	ends_with 0 ctsync a.pcap b.pcap --local a=10.0.0.1 --local b=10.0.0.2
	grep '^b \|^messages' "$scratch/stdout" >once
	# Packets of a mirror port, with the tag on one of the two; three times; some of them.
	# shellcheck disable=SC2016 # these are awk's
	for copies in '{ print; $1 = substr($1, 1, 10) sprintf("%09d", substr($1, 11) + 18000); print $0, 5 }' \
		'{ print; $1 = substr($1, 1, 10) sprintf("%09d", substr($1, 11) + 7000); print; print }' \
		'{ print } NR % 3 == 0 { print }'; do
		awk "$copies" b | captured b.pcap
		ends_with 0 ctsync a.pcap b.pcap --local a=10.0.0.1 --local b=10.0.0.2
		grep '^b \|^messages' "$scratch/stdout" | diff -u once -
	done
}

@test "captures as pcapng" {
	command -v editcap >found || skip 'no editcap'
	editcap -F pcapng $net3/node2/node2.pcap node2.pcapng
	golden net3_captures ctsync --stats -t node2.pcapng -t $net3/node3/node3.pcap
}

@test "two runs at once are one" {
	mkdir one two
	ln -s "$PWD/$net3/node1" one
	ln -s "$PWD/$net3/node2" two
	golden net3_runs ctsync one two
}

@test "the order of arguments changes nothing" {
	ctsim -q --set nodes=3 --set seconds=4 two -o run
	for node in node1 node2 node3; do
		ctsync -q --extract "$node.packets" "run/$node"
	done
	ctsync -q -t node1.packets -t node2.packets -t node3.packets -o one.json
	ctsync -q -t node3.packets -t node1.packets -t node2.packets -o other.json
	cmp one.json other.json
	ctsync -q -t c=run/node1 -t a10=run/node2 -t a9=run/node3 -o one.json
	ctsync -q -t a9=run/node3 -t c=run/node1 -t a10=run/node2 -o other.json
	cmp one.json other.json
}
