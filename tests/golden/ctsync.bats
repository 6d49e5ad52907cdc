#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync on the recorded run: what it prints, and that this is the same every way.
load common

net3=fixtures/net3

# What the solver makes may differ in its last digits: a rate by less than
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
	ctsync --json --stats -q $net3 >again
	ctsync --json $net3 | cmp - again
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
	# By a false address, what one sent looks as if it had been received.
	ends_with 3 ctsync --stats -t node2=node2.pcap -t node3=node3.pcap \
		--local node2=10.7.0.3 --local node3=10.7.0.3
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
