#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Input that is missing, broken or of another kind: what ctsync says, and that
# what can be used still is.
load common

net3=fixtures/net3

# A copy of a node's kernel trace that may be changed: copy_trace NODE DIRECTORY.
copy_trace()
{
	cp -R "$net3/$1/kernel" "$2"
}

# The text says that the traces so named, and no others, are on one clock.
results_are_of()
{
	[ "$(sed '1d;/^$/,$d;s/ .*//' "$scratch/stdout" | tr '\n' ' ')" = "$* " ]
	grep -q ' accurate$' "$scratch/stdout"
}

@test "a missing path" {
	fails_with 1 'ctsync: nowhere: No such file or directory
ctsync: 0 traces to read (expected 2 or more)' ctsync nowhere
	fails_with 1 'ctsync: nowhere: No such file or directory' \
		ctsync -t $net3/node1 -t nowhere -t $net3/node2
	results_are_of node1 node2
}

@test "an empty directory" {
	mkdir empty
	fails_with 1 'ctsync: empty: no trace and no capture below it (expected NODE/.../metadata, NODE.packets or NODE/*.pcap)
ctsync: 0 traces to read (expected 2 or more)' ctsync empty
	fails_with 1 'ctsync: empty: no trace below it (expected a metadata file)
ctsync: 1 trace to read (expected 2 or more)' ctsync -t empty -t $net3/node1
}

@test "no trace, one trace" {
	fails_with 1 'ctsync: 1 trace to read (expected 2 or more)' ctsync -t $net3/node1
	fails_with 1 'ctsync: 1 trace to read (expected 2 or more)' ctsync $net3/node1/kernel
}

@test "a text file" {
	local words='neither a trace nor a capture; expected a directory with a metadata file, a .packets file, a trace.dat, pcap or pcapng'
	fails_with 1 "ctsync: $net3/README.md: $words
ctsync: 0 traces to read (expected 2 or more)" ctsync $net3/README.md
	fails_with 1 "ctsync: $net3/README.md: $words" \
		ctsync -t $net3/README.md -t $net3/node1 -t $net3/node2
	results_are_of node1 node2
}

@test "the same trace twice" {
	ln -s $net3/node1 again
	fails_with 1 "ctsync: $net3/node1/kernel: the same events as again/kernel, used once
ctsync: 1 trace to read (expected 2 or more)" ctsync -t $net3/node1 -t again
	fails_with 0 "ctsync: $net3/node1/kernel: given twice, used once" \
		ctsync -t $net3/node1 -t $net3/node2 -t $net3/node1
	results_are_of node1 node2
}

@test "what cannot be opened" {
	ln -s nowhere link
	fails_with 1 'ctsync: link: No such file or directory' \
		ctsync -t link -t $net3/node1 -t $net3/node2
	mkdir -p run/a run/b/x.pcap
	cp -R $net3/node1/kernel run/a
	cp -R $net3/node2/kernel run/b
	ln -s nowhere run/a/a.pcap
	echo text >run/b/b.pcap
	mkfifo run/b/pipe.pcap
	fails_with 1 'ctsync: run/a/a.pcap: No such file or directory
ctsync: run/b/b.pcap: no capture: it begins with neither pcap'\''s nor pcapng'\''s magic number
ctsync: run/b/pipe.pcap: not a regular file (expected a capture)' ctsync run
	results_are_of a b
}

@test "a file that may not be read" {
	[ "$(id -u)" -ne 0 ] || skip 'root may read everything'
	cp $net3/node2/node2.pcap secret.pcap
	chmod 0 secret.pcap
	fails_with 1 'ctsync: secret.pcap: Permission denied' \
		ctsync -t secret.pcap -t $net3/node1 -t $net3/node2
}

@test "directories in circles" {
	mkdir -p run/a run/b
	cp -R $net3/node1/kernel run/a
	cp -R $net3/node2/kernel run/b
	ln -s .. run/a/up
	for i in 1 2 3 4 5 6; do
		ln -s . run/b/$i
	done
	ends_with 0 ctsync run
	[ ! -s "$scratch/stderr" ]
	results_are_of a b
	ln -s self run/b/self
	fails_with 0 'ctsync: run/b/self: Too many levels of symbolic links' ctsync run
}

@test "a stream cut in the middle" {
	copy_trace node1 cut
	truncate -s 700000 cut/ch_0
	fails_with 1 'ctsync: cut/ch_0: truncated in the middle of a packet: only 700000 of its 1036288 bytes are present' \
		ctsync -t node1=cut -t $net3/node2
	results_are_of node1 node2
}

@test "a stream garbled in the middle" {
	copy_trace node1 bad
	# The selector of the header that follows, within an event.
	dd if=/dev/zero of=bad/ch_0 bs=1 seek=300000 count=40 conv=notrunc status=none
	fails_with 1 'ctsync: bad/ch_0: cannot read an event before byte 300112, rest of its packet skipped: variant has no option for its tag' \
		ctsync -t node1=bad -t $net3/node2
	results_are_of node1 node2
}

@test "a stream whose first packet is broken" {
	local words='ctsync: one/ch_0: no packet at byte 0 of 1036288, file skipped'
	copy_trace node1 one
	# packet_size is 0.
	dd if=/dev/zero of=one/ch_0 bs=1 seek=56 count=8 conv=notrunc status=none
	ends_with 1 ctsync -t one -t $net3/node2 -t $net3/node3
	grep -F -x "$words" "$scratch/stderr"
	# content_size is -1.
	copy_trace node1 two
	printf '\377\377\377\377\377\377\377\377' |
		dd of=two/ch_0 bs=1 seek=48 conv=notrunc status=none
	ends_with 1 ctsync -t two -t $net3/node2 -t $net3/node3
	grep -F -x "${words/one/two}" "$scratch/stderr"
}

@test "metadata cut in the middle" {
	copy_trace node1 cut
	truncate -s 9000 cut/metadata
	fails_with 1 'ctsync: cut/metadata: packet at byte 8192: cut short' \
		ctsync -t cut -t $net3/node2 -t $net3/node3
	results_are_of node2 node3
	truncate -s 0 cut/metadata
	fails_with 1 'ctsync: cut/metadata: line 1: expected a trace with a byte order' \
		ctsync -t cut -t $net3/node2 -t $net3/node3
	echo '{"type": "preamble", "version": 2}' >cut/metadata
	fails_with 1 'ctsync: cut/metadata: line 1: expected trace, env, clock, stream, event or a type' \
		ctsync -t cut -t $net3/node2 -t $net3/node3
}

@test "metadata that makes no sense" {
	copy_trace node1 bad
	sed -i 's/trace {/trice {/' bad/metadata
	fails_with 1 'ctsync: bad/metadata: line 9: expected trace, env, clock, stream, event or a type' \
		ctsync -t bad -t $net3/node2 -t $net3/node3
	results_are_of node2 node3
	copy_trace node1 worse
	printf '\200' | dd of=worse/metadata bs=1 seek=27641 conv=notrunc status=none
	fails_with 1 "ctsync: worse/metadata: line 596: expected '='" \
		ctsync -t worse -t $net3/node2 -t $net3/node3
}

@test "a capture cut in the middle of a packet" {
	head -c 400004 $net3/node2/node2.pcap >cut.pcap
	fails_with 1 'ctsync: cut.pcap: cut in the middle of a packet after 4517 packets: the head of a packet is truncated' \
		ctsync -t $net3/node1 -t cut.pcap
	results_are_of cut node1
	head -c 20 $net3/node2/node2.pcap >head.pcap
	ends_with 1 ctsync -t $net3/node1 -t $net3/node2 -t head.pcap
	grep '^ctsync: head.pcap: no capture: the head of a file is truncated$' "$scratch/stderr"
}

@test "an empty capture" {
	head -c 24 $net3/node2/node2.pcap >none.pcap
	fails_with 3 'ctsync: none.pcap: no packet in it, so the clock of none is unknown' \
		ctsync -q -t $net3/node1 -t none.pcap
	mkdir -p run/mute/kernel
	cp $net3/node1/kernel/metadata run/mute/kernel
	cp -R $net3/node2 $net3/node3 run
	fails_with 3 'ctsync: run/mute/kernel: no event in it, so the clock of mute is unknown' \
		ctsync -q run
}

@test "node.json that cannot be read" {
	mkdir node
	cp -R $net3/node1/kernel node
	echo '{"hostname": 1, "interfaces": [{"addresses": ["10.7.0.300"]}]}' >node/node.json
	fails_with 1 "ctsync: $PWD/node/node.json: hostname: ignored (expected a string)
ctsync: $PWD/node/node.json: invalid address '10.7.0.300'; skipped" \
		ctsync -t node -t $net3/node2
	results_are_of node node2
	rm node/node.json
	mkfifo node/node.json
	fails_with 1 "ctsync: $PWD/node/node.json: not a regular file; skipped" \
		timeout 20 ctsync -t node -t $net3/node2
	results_are_of node node2
}

@test "names that no table expects" {
	local name='a b=<&>"\
	é'
	mkdir "$name"
	cp -R $net3/node1/kernel "$name"
	ends_with 0 ctsync --json --plot plots -t "$name" -t $net3/node2
	[ ! -s "$scratch/stderr" ]
	grep -F '"trace": "' "$scratch/stdout"
}
