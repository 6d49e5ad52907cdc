#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Inputs as people have them: captures of any name, rotated and packed, and files that are
# not where or what they should be. Nothing vanishes without a word.
load common
load ctf
load capture

ask()
{
	sqlite3 -readonly run.db "$1"
}

# Two nodes that talk for a second: a in one capture, b in four files.
rotated_run()
{
	mkdir -p run/a run/b
	pcap_talk 1 2 1 100 0 >run/a/a.pcap
	pcap_talk 2 1 1 30 5000 >run/b/b.pcap
	pcap_talk 2 1 31 60 5000 >run/b/b.pcap1
	pcap_talk 2 1 61 90 5000 >run/b/b.pcap2
	pcap_talk 2 1 91 100 5000 >run/b/b.pcap10
	printf '{"interfaces": [{"addresses": ["10.0.0.1"]}]}' >run/a/node.json
	printf '{"interfaces": [{"addresses": ["10.0.0.2"]}]}' >run/b/node.json
}

# All packets are events of one source a node, and a message each.
is_whole()
{
	ends_with 0 ctmerge -q run -o run.db --force
	[ ! -s "$scratch/stderr" ]
	[ "$(ask 'SELECT name, events FROM source ORDER BY id' | xargs)" = 'a|100 b|100' ]
	[ "$(ask 'SELECT count(*) FROM message')" = 100 ]
}

@test "a capture that was rotated is one source, whatever its files are called" {
	rotated_run
	is_whole
	[ "$(ask 'SELECT path FROM source WHERE id = 2')" = run/b/b.pcap ]
	gzip run/b/b.pcap run/b/b.pcap1
	is_whole
	mv run/b/b.pcap.gz run/b/dump0
	mv run/b/b.pcap1.gz run/b/dump1.gz
	mv run/b/b.pcap2 run/b/dump2
	mv run/b/b.pcap10 run/b/dump3
	mv run/a/a.pcap run/a/any.cap
	is_whole
	# A ring of files: the first one was written last.
	mv run/b/dump0 last
	mv run/b/dump3 run/b/dump0
	mv last run/b/dump3
	is_whole
	# Names with times, as by tcpdump -G and dumpcap.
	mv run/b/dump3 run/b/b_00001_20231114221320.pcapng
	mv run/b/dump1.gz run/b/b_00002_20231114221321.pcapng
	mv run/b/dump2 run/b/b_00003_20231114221322.pcapng
	mv run/b/dump0 run/b/b_00004_20231114221323.pcapng
	is_whole
}

@test "parts on the command line are one source, captures of one time are not" {
	rotated_run
	ends_with 0 ctsync -r a -t run/a/a.pcap -t run/b/b.pcap2 -t run/b/b.pcap -t run/b/b.pcap10 -t run/b/b.pcap1 --json
	[ "$(grep -c '"trace": "b"' "$scratch/stdout")" -ge 1 ]
	! grep -q '"trace": "b-2"' "$scratch/stdout" || false
	# Interfaces that were captured at the same time may have such names, too.
	cp run/b/b.pcap1 run/b/b.pcap3
	ends_with 0 ctmerge -q run -o run.db
	[ "$(ask 'SELECT name, events FROM source ORDER BY id' | xargs)" = 'a|100 b|100 b:b.pcap3|30' ]
}

@test "captures without a packet are not the same one" {
	rotated_run
	mkdir run/c run/d
	pcap_head >run/c/c.pcap
	pcap_head >run/d/d.pcap
	cp run/a/node.json run/c
	cp run/b/node.json run/d
	ctmerge -q run -o run.db 2>"$scratch/stderr" || [ $? = 3 ]
	! grep -q 'the same events' "$scratch/stderr" || false
	[ "$(ask 'SELECT count(*) FROM source')" = 4 ]
}

@test "what is lost is told by name, with its cause" {
	rotated_run
	mkdir run/b/kernel run/a/more
	ctf_trace trace c
	cp trace/stream run/b/kernel
	ln -s nowhere run/c
	ln -s nowhere run/b/more.pcap7
	pcap_talk 1 2 1 9 0 >run/stray.cap
	touch run/proc.csv run/README run/a/more/proc.csv
	echo text >run/a/notes.txt
	echo text >run/notes.txt
	touch run/before.db run/map.json
	ends_with 1 ctmerge -q run -o run.db
	sort "$scratch/stderr" >said
	sort >wanted <<-END
	ctmerge: run/a/more/proc.csv: not directly in the node's directory, skipped
	ctmerge: run/a/notes.txt, run/notes.txt: unknown kind of file, skipped
	ctmerge: run/b/kernel/stream: a stream without its metadata, skipped
	ctmerge: run/b/more.pcap7: No such file or directory
	ctmerge: run/c: No such file or directory, skipped
	ctmerge: run/proc.csv, run/stray.cap: not in a node's directory, skipped
	END
	diff -u wanted said
	[ "$(ask 'SELECT count(*) FROM problem')" = 8 ]
	[ "$(ask 'SELECT count(*) FROM message')" = 100 ]
}

# Root may read everything, so it is somebody else for a while.
as_nobody()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

@test "files and directories that may not be read" {
	chmod 755 "$scratch" "$BATS_TEST_TMPDIR" 2>/dev/null || true
	as_nobody ctmerge --version >/dev/null 2>&1 || skip 'root may read everything'
	rotated_run
	mkdir -m 700 run/c
	mkdir -m 777 out
	chmod 755 run run/a run/b
	cp run/a/a.pcap run/a/any-name
	chmod 600 run/a/any-name
	chmod 600 run/b/b.pcap1
	ends_with 1 as_nobody ctmerge -q run -o out/run.db
	sort "$scratch/stderr" >said
	diff -u said - <<-END
	ctmerge: run/a/any-name, run/b/b.pcap1: Permission denied, skipped
	ctmerge: run/c: Permission denied
	END
	fails_with 1 'ctsync: run/a/any-name: Permission denied
ctsync: 0 traces to read (expected 2 or more)' as_nobody ctsync -t run/a/any-name
}

@test "sar's lines of two hosts in one text" {
	rotated_run
	printf 'a\t1\t1700000000\tall\t%%usr\t1.5\nb\t1\t1700000000\tall\t%%usr\t2.5\n' >run/a/sar.sadf
	fails_with 1 "ctmerge: a: no trace to place samples and tasks by, they are placed by a capture's clock
ctmerge: run/a/sar.sadf:2: a line of host 'b' in a text of 'a', skipped" ctmerge -q run -o run.db
	[ "$(ask 'SELECT value FROM sample')" = 1.5 ]
}

# Datagrams without an identification, as Linux sends them, and of one length.
unnumbered_run()
{
	local i node at
	mkdir -p run/a run/b
	for node in 1 2; do
		pcap_head >run/$node.pcap
		for ((i = 1; i <= 40; i++)); do
			at=$((i * 10000000 + (node != 1 + i % 2) * 1000000 + node * 5000))
			le 4 $((1700000000 + at / 1000000000)) $((at % 1000000000)) 50 50
			be 2 0x0200 0 $((2 - i % 2)) 0x0200 0 $((1 + i % 2)) 0x0800
			be 2 0x4500 36 0 0x4000 0x4011 0 0x0a00 $((1 + i % 2)) 0x0a00 $((2 - i % 2))
			be 2 1000 2000 16 0
			be 4 7 "$i"
		done >>run/$node.pcap
	done
	mv run/1.pcap run/a/a.pcap
	mv run/2.pcap run/b/b.pcap
	printf '{"interfaces": [{"addresses": ["10.0.0.1"]}]}' >run/a/node.json
	printf '{"interfaces": [{"addresses": ["10.0.0.2"]}]}' >run/b/node.json
}

@test "datagrams without an identification are told apart by their data" {
	unnumbered_run
	ends_with 0 ctmerge -q run -o run.db
	[ "$(ask 'SELECT count(*), max(latency_ns - 1000000) < 100000 FROM message')" = '40|1' ]
	ends_with 0 ctsync run --json
	cp "$scratch/stdout" direct
	for node in a b; do
		ends_with 0 ctsync -q --extract $node.packets run/$node
	done
	mkdir packets && mv a.packets b.packets packets
	ends_with 0 ctsync packets --json
	diff <(grep -v '"path"\|"command"' direct) <(grep -v '"path"\|"command"' "$scratch/stdout")
}

# talk_with_drops PACKETS STATISTICS: a sends b 30 packets, one every 10 ms. The capture of b lacks numbers 10 to
# 14, and counts PACKETS of them before number 15 and STATISTICS at the end; number 20 is lost on its way.
talk_with_drops()
(
	rm -rf run
	mkdir -p run/a run/b
	pcap_head >run/a/a.pcap
	pcapng_head >run/b/b.pcapng
	for ((i = 0; i < 30; i++)); do
		pcap_packet $((i * 10000000)) 1 2 $((i + 1)) >>run/a/a.pcap
		if ((i == 15)); then
			pcapng_packet "$1" $((i * 10000000 + 1000000)) 1 2 $((i + 1)) >>run/b/b.pcapng
		elif (((i < 10 || i > 14) && i != 20)); then
			pcapng_packet 0 $((i * 10000000 + 1000000)) 1 2 $((i + 1)) >>run/b/b.pcapng
		fi
	done
	pcapng_packet 0 300000000 2 1 77 >>run/b/b.pcapng
	pcap_packet 301000000 2 1 77 >>run/a/a.pcap
	[ "$2" = none ] || pcapng_statistics 310000000 2 "$(($2 - 2))" >>run/b/b.pcapng
	printf '{"interfaces": [{"addresses": ["10.0.0.1"]}]}' >run/a/node.json
	printf '{"interfaces": [{"addresses": ["10.0.0.2"]}]}' >run/b/node.json
)

# sent_to_b: merge, and print what became of the packets of a: sent, received, lost, not known.
sent_to_b()
{
	ctmerge -q --no-sync run -o run.db --force 2>said
	received_by_b
}

received_by_b()
{
	ctanalyze net --table protocols --format csv run.db | tr -d '\r' | sed -n 's/^a,b,udp,\([0-9,]*\),.*/\1/p'
}

@test "what a capture dropped is not known, and not lost" {
	talk_with_drops 0 none
	[ "$(sent_to_b)" = 30,24,6,0 ]
	[ "$(ask "SELECT count(*) FROM recorded WHERE kind = 'capture'")" = 0 ]
	# Before a packet, and so between it and the one before; the statistics at the end say no more.
	for statistics in none 5; do
		talk_with_drops 5 $statistics
		[ "$(sent_to_b)" = 30,24,1,5 ]
		grep -qx 'ctmerge: run/b/b.pcapng: the capture dropped 5 packets' said
		[ "$(ask "SELECT (end_ns - begin_ns) / 1000000 FROM recorded WHERE kind = 'capture' ORDER BY begin_ns" | xargs)" = '90 149' ]
		[ "$(ask "SELECT kind, count FROM problem")" = 'discarded|5' ]
		[ "$(ask "SELECT discarded FROM source WHERE name = 'b'")" = 5 ]
		# A packet that two overlapping captures of a node lost is one.
		sqlite3 run.db "CREATE TEMP TABLE more AS SELECT * FROM recorded WHERE kind = 'capture';
			UPDATE more SET begin_ns = begin_ns + 1; INSERT INTO recorded SELECT * FROM more"
		[ "$(received_by_b)" = 30,24,1,5 ]
	done
	# Nobody knows when, or of some.
	talk_with_drops 0 7
	[ "$(sent_to_b)" = 30,24,0,6 ]
	talk_with_drops 5 7
	[ "$(sent_to_b)" = 30,24,0,6 ]
	[ "$(ask "SELECT discarded FROM source WHERE name = 'b'")" = 7 ]
}

@test "net shows what the only capture of a run has" {
	mkdir -p run/a
	pcap_talk 1 2 1 20 0 >run/a/a.pcap
	ctmerge -q run -o run.db --local 10.0.0.1
	ctanalyze net --table pairs --format csv run.db | tr -d '\r' | cut -d , -f 1-4 >told
	printf '%s\n' from,to,flows,packets 10.0.0.1,10.0.0.2,1,10 10.0.0.2,10.0.0.1,1,10 | diff - told
}

# Each packet of a passes two of its interfaces; number 4 is sent again, with another identification.
@test "a copy of a packet within its node is not sent again" {
	mkdir -p run/a run/b
	pcap_head | tee run/a/a.pcap >run/b/b.pcap
	for i in 0 1 2 3 4 5 6 7 8 9 10; do
		local number=$((i == 5 ? 4 : i))
		local packet=(0.1:5000 0.2:80 6 $((i + 1)) $((number * 100)) 7 100)
		pcap_data $((i * 10000000)) "${packet[@]}" >>run/a/a.pcap
		pcap_data $((i * 10000000 + 1000)) "${packet[@]}" >>run/a/a.pcap
		pcap_data $((i * 10000000 + 1000000)) "${packet[@]}" >>run/b/b.pcap
	done
	pcap_data 200000000 0.2:80 0.1:5000 6 99 7 1100 100 >>run/b/b.pcap
	pcap_data 201000000 0.2:80 0.1:5000 6 99 7 1100 100 >>run/a/a.pcap
	printf '{"interfaces": [{"addresses": ["10.0.0.1"]}]}' >run/a/node.json
	printf '{"interfaces": [{"addresses": ["10.0.0.2"]}]}' >run/b/node.json
	ctmerge -q --no-sync run -o run.db
	ctanalyze net --format csv --table pairs run.db | tr -d '\r' | grep '^a,b' >told
	ctanalyze net --format csv --table flows run.db | tr -d '\r' | grep '^a,b' | cut -d , -f 1-3,8-12 >>told
	ctanalyze net --format csv --table protocols run.db | tr -d '\r' | grep '^a,b' >>told
	diff - told <<-END
		a,b,1,11,1540,1,100,9.090909090909092
		a,b,tcp,11,1540,1,100,9.090909090909092
		a,b,tcp,11,11,0,0,1
	END
}

@test "a capture without a packet of IP says so" {
	for node in a b; do
		{
			pcap_head
			for at in 0 1 2; do
				le 4 $((1700000000 + at)) $((16#$node)) 60 60
				be 2 0x0180 0xc200 0x000e 0x0200 0 1 0x88cc
				head -c 46 /dev/zero
			done
		} >"$node.pcap"
	done
	ends_with 3 ctsync a.pcap b.pcap
	[ "$(cat "$scratch/stderr")" = 'ctsync: a.pcap, b.pcap: none of its 3 packets is an IP packet; capture the interface that the nodes talk through' ]
}
