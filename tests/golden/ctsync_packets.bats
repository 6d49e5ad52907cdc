#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync --extract: files of packets stand for the traces and captures that they are of.
load common

# extract RUN: packets/NODE.packets of each node.
extract()
{
	mkdir -p packets
	local node
	for node in "$1"/*/; do
		ends_with 0 ctsync -q --extract "packets/$(basename "$node").packets" "$node" || return
	done
}

# clocks ARGUMENT...: the clock map without paths.
clocks()
{
	ctsync -q --json "$@" 2>"$scratch/stderr" | sed 's/"path": "[^"]*"/"path": ""/'
}

# The clocks by packets are those by what they are of, to the byte.
same_clocks()
{
	extract "$1" && clocks "$1" >wanted && clocks packets >got && cmp wanted got &&
		[ -s got ] && rm -r packets
}

@test "the clocks are the same: the sample run" {
	same_clocks datasets/sample
}

@test "the clocks are the same: traces, and captures that are tied to them" {
	same_clocks fixtures/net3
	grep -q '"ties"' got
}

@test "the clocks are the same: containers" {
	local kind
	for kind in routed vxlan overlays; do
		same_clocks fixtures/containers/$kind
	done
}

@test "whatever the threads do" {
	extract fixtures/net3
	clocks -j 1 packets >wanted
	for seed in 1 2 3; do
		CT_READ_DELAY=$seed clocks -j 3 packets >got
		cmp wanted got
	done
	CT_READ_DELAY=4 ctsync -q -j 3 --extract again.packets fixtures/net3/node2
	cmp again.packets packets/node2.packets
}

@test "given one by one, with names, and beside traces in a run" {
	extract fixtures/net3
	clocks fixtures/net3 >wanted
	clocks -t packets/node1.packets -t packets/node2.packets -t packets/node3.packets >got
	cmp wanted got
	clocks -t a=packets/node1.packets -t b=packets/node2.packets >got
	grep -q '"traces": \["a", "b", "b:node2.pcap"\]' got
	mkdir mixed && mv packets/node[23].packets mixed/ && cp -rL fixtures/net3/node1 mixed/
	clocks mixed >got
	cmp wanted got
}

@test "by the traces where they are there" {
	extract fixtures/net3
	mkdir run && cp -rL fixtures/net3/node? run/ && cp packets/node1.packets run/
	fails_with 0 "ctsync: run/node1.packets: skipped, because the recording of node1 is there" \
		ctsync -q --json run
	ctmerge -q run -o run.db
	[ "$(sqlite3 run.db 'SELECT count(*) FROM source')" -eq 5 ]
}

@test "what a trace told of itself is told again" {
	cp -rL fixtures/net3/node1 .
	chmod -R u+w node1
	local stream
	stream=$(find node1/kernel -type f ! -name metadata ! -path '*index*' | head -n 1)
	truncate -s -3 "$stream"
	ends_with 1 ctsync -q --extract node1.packets node1
	grep . "$scratch/stderr" >told
	ends_with 1 ctsync -q --json -t node1.packets -t fixtures/net3/node2/kernel
	diff told "$scratch/stderr"
}

@test "a cut file is used up to the cut, and told" {
	extract fixtures/net3
	clocks packets >whole
	truncate -s 100000 packets/node1.packets
	fails_with 1 "ctsync: packets/node1.packets: truncated at offset 100000, so nothing is known of node1 after 2026-11-21 02:39:18.865991119" \
		ctsync -q --json packets
	grep -q '"reference": "node' "$scratch/stdout"
	truncate -s 20 packets/node1.packets
	fails_with 1 "ctsync: packets/node1.packets: truncated at offset 20; skipped" ctsync -q --json packets
}

@test "a damaged chunk is skipped, and reported" {
	extract fixtures/net3
	printf X | dd of=packets/node1.packets bs=1 seek=20000 conv=notrunc 2>"$scratch/dd"
	ends_with 1 ctsync -q --json packets
	grep -Eq '^ctsync: packets/node1.packets: chunk at offset [0-9]+ is damaged; 4096 packets of node1 skipped$' \
		"$scratch/stderr"
	[ "$(wc -l <"$scratch/stderr")" -eq 1 ]
}

@test "what is no file of packets" {
	echo something >x.packets
	fails_with 1 "ctsync: x.packets: neither a trace nor a capture; expected a directory with a metadata file, a .packets file, a trace.dat, pcap or pcapng
ctsync: 1 trace to read (expected 2 or more)" ctsync -t x.packets -t fixtures/net3/node1/kernel
	mkdir run && mv x.packets run/
	fails_with 1 "ctsync: run/x.packets: not a .packets file: bad magic number (offset 0); skipped
ctsync: run: no trace and no capture below it (expected NODE/.../metadata, NODE.packets or NODE/*.pcap)
ctsync: 0 traces to read (expected 2 or more)" ctsync run
	printf '\211ctpk\r\n\032\001\0\0\0\035\223\255\237' >run/x.packets
	ends_with 1 ctsync run
	grep -qx 'ctsync: run/x.packets: unknown version 1 (offset 8; expected 2); skipped' "$scratch/stderr"
}

@test "an extract is written whole, over no input, and of no extract" {
	extract fixtures/net3
	fails_with 1 "ctsync: packets/node1.packets: neither a trace nor a capture; expected a directory with a metadata file, a trace.dat, pcap or pcapng
ctsync: no trace to read" ctsync --extract y.packets -t packets/node1.packets
	[ ! -e y.packets ]
	cp -rL fixtures/net3/node1 . && chmod -R u+w node1
	ends_with 1 ctsync --extract node1/kernel/metadata node1
	cmp node1/kernel/metadata fixtures/net3/node1/kernel/metadata
	ends_with 1 ctsync --extract none/y.packets node1
	[ ! -e none ]
	ends_with 1 ctsync --extract y.packets /nonexistent
	[ ! -e y.packets ]
}

@test "options that do not go together" {
	extract fixtures/net3
	ends_with 2 ctsync --extract x.packets --json fixtures/net3/node1
	ends_with 2 ctsync --messages-out out --messages -
	fails_with 2 "ctsync: --apply requires traces, but packets/node1.packets has only their packets" \
		ctsync --apply out packets
	fails_with 2 "ctsync: --local: packets/node2.packets already says which packets were sent; use --local when it is made" \
		ctsync --local 10.7.0.2 packets
	[ ! -e out ]
}

@test "messages to the nodes" {
	extract fixtures/net3
	ends_with 0 ctsync -q --messages-out a fixtures/net3
	ends_with 0 ctsync -q --messages-out b packets
	[ "$(cd a && ls)" = "$(printf '%s\n' node1.messages node2.messages node3.messages)" ]
	diff -r a b
	# Written anew, and what else is there stays.
	touch a/mine && rm a/node1.messages
	ends_with 0 ctsync -q -j 1 --messages-out a packets
	rm a/mine
	diff -r a b
}

@test "a node is called by its directory, also where that is a link" {
	mkdir disk
	cp -R fixtures/net3/node1 "disk/it's data"
	ln -s "disk/it's data" n1
	ends_with 0 ctsync -q --extract a.packets n1
	ends_with 0 ctsync -q -o clocks.json --messages-out messages -t a.packets
	[ "$(ls messages)" = n1.messages ]
	grep -q '"reference": "n1"' clocks.json
}

@test "a single trace will do where messages are wanted" {
	ends_with 0 ctsync -q --extract a.packets fixtures/net3/node1
	ends_with 0 ctsync -q -o clocks.json --messages-out messages -t a.packets
	ls messages/node1.messages
	ends_with 1 ctsync -q -o clocks.json -t a.packets
}
