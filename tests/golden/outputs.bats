#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Common to the outputs of all programs: no output is an input, none takes
# another's place, and each is there whole or not at all.
load common

sample=datasets/sample

# A copy of the sample whose files may be named as outputs, and its timeline.
setup_run()
{
	cp -rL $sample run
	ctmerge -q --no-sync --events 'sched_process_*' run -o t.db
	find run t.db -type f -exec cksum {} + | sort >before
}

# Nothing of the run or the timeline is another.
untouched()
{
	find run t.db -type f -exec cksum {} + | sort | diff before -
}

is_an_input()
{
	local status=0
	"$@" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
	[ $status -eq 1 ] || return 1
	grep -Eq '(refusing to overwrite an input|refusing to write into the input .*); use another name$' \
		"$scratch/stderr"
}

@test "no output replaces an input" {
	setup_run
	ln -s t.db link.db
	ln t.db same.db
	for output in t.db ./t.db link.db same.db "$PWD/t.db"; do
		is_an_input ctanalyze -q nodes t.db -o "$output"
		is_an_input ctanalyze -q report t.db -o "$output"
		is_an_input ctexport perfetto -q t.db -o "$output"
		is_an_input ctexport graphite -q t.db -o "$output"
	done
	is_an_input ctexport graphite -q t.db -o points --dashboard t.db
	ctsync -q run -o map.json
	echo 'SELECT count(*) AS n FROM node' >mine.sql
	ctsim -q --messages blink -o messages
	cp messages/messages.csv m.csv
	find map.json mine.sql m.csv -exec cksum {} + >'more'
	is_an_input ctanalyze -q --sql mine.sql mine t.db -o mine.sql
	is_an_input ctsync -q --messages m.csv -o m.csv
	fails_with 1 'ctmerge: map.json: not a timeline; --force replaces only timelines' \
		ctmerge -q run --clocks map.json -o map.json --force
	find map.json mine.sql m.csv -exec cksum {} + | diff more -
	untouched
}

@test "no output replaces what a recorder wrote, nor goes into a trace" {
	setup_run
	local file
	for file in run.json node1/node.json node1/clock.csv node1/proc.csv node1/sensors.csv \
		node1/invocations.jsonl node1/sar.sadf node2/node2.pcap node1/kernel/metadata \
		node1/kernel/ch_0 node1/kernel/new node1/kernel/index/new; do
		is_an_input ctsync -q run -o "run/$file"
	done
	for file in node1/sar.sadf node1/kernel/ch_0 node1/kernel/index/new; do
		is_an_input ctsync -q -t run/node1/kernel -t run/node2/kernel -o "run/$file"
	done
	is_an_input ctsync -q run --plot run/node1/kernel
	is_an_input ctsync -q run --plot run/node1/kernel/pictures
	is_an_input ctsync -q run --apply run/node1/kernel/index
	is_an_input ctmerge -q run -o run/node1/kernel/x.db
	untouched
	# Other names in the run are as free as elsewhere, and may be written again.
	ctsync -q run -o run/clocks.json
	ctsync -q run -o run/clocks.json
	ctmerge -q --no-sync --events none run -o run/run.db || :
	ctmerge -q --no-sync --events none run -o run/run.db --force || :
	[ -s run/clocks.json ] && [ -s run/run.db ]
}

@test "directories keep what else is in them" {
	setup_run
	mkdir out
	cp t.db out/mine.db
	echo mine >out/graph.txt
	ctsync -q run --plot out
	[ -e out/graph.svg ] && [ -e out/node1--node2.svg ]
	cmp t.db out/mine.db
	# A picture of a pair that is no more goes, since the list says that it is ours.
	ctsync -q -t run/node1 -t run/node3 --plot out
	[ "$(ls out)" = 'graph.svg
graph.txt
mine.db
node1--node3.svg' ]
	ctexport csv -q t.db -o out --force
	[ "$(cat out/graph.txt)" = mine ] && [ -e out/graph.svg ]
}

@test "a link is followed, and what it leads to is replaced whole" {
	setup_run
	mkdir far
	echo precious >far/real
	ln -s far/real link
	exec 9<far/real
	ctanalyze -q nodes t.db -o link
	[ "$(cat <&9)" = precious ]
	[ -L link ] && grep -q node1 far/real
	[ "$(ls -A far)" = real ]
}

@test "a killed program's temporaries go with the next call" {
	setup_run
	mkdir .out.txt.unfinished-AbCdEf .other.unfinished-AbCdEf .plots.unfinished-AbCdEf
	echo half >.out.txt.unfinished-AbCdEf/out.txt
	ctanalyze -q nodes t.db -o out.txt
	ctsync -q run --plot plots
	[ "$(ls -Ad .*.unfinished-*)" = .other.unfinished-AbCdEf ]
}

@test "memory that runs out leaves nothing" {
	! ldd "$(command -v ctexport)" | grep -q libasan || skip 'needs more itself'
	setup_run
	local kib
	for kib in 30000 34000 38000 45000; do
		# shellcheck disable=SC2016
		bash -c 'ulimit -v "$1"; exec ctexport perfetto -q t.db -o out.json' - $kib \
			2>said || :
		[ -z "$(find . -name '*.unfinished-*')" ]
	done
}

@test "names that are one file name" {
	mkdir run
	cp -rL $sample/node1 'run/a b'
	cp -rL $sample/node2 run/a_b
	cp -rL $sample/node3 run/é
	rm -f run/*/*.pcap
	ctsync -q run --plot plots
	[ "$(ls plots)" = 'a_b--é.svg
a_b-2--a_b.svg
a_b-2--é.svg
graph.svg' ]
	ends_with 0 ctsync -q run --apply applied
	[ "$(ls applied)" = 'a_b
a_b-2
é' ]
	grep -q 'a_b-2: on the clock' "$scratch/stdout"
	# Directories of nodes whose traces are all called kernel.
	ctsync -q run/a_b 'run/a b' run/é --plot three
	[ "$(find three -name "*.svg" | wc -l)" = 4 ]
}

# Two machines that were resumed from one snapshot have one clock uuid.
@test "one clock uuid on two nodes is two clocks" {
	local uuid2 uuid3
	cp -rL $sample run
	rm -f run/*/*.pcap
	uuid2=$(strings run/node2/kernel/metadata | grep -A3 '^clock {' | grep -o '[0-9a-f]\{8\}-[0-9a-f-]*')
	uuid3=$(strings run/node3/kernel/metadata | grep -A3 '^clock {' | grep -o '[0-9a-f]\{8\}-[0-9a-f-]*')
	ctsync -q run -o true.json
	sed -i "s/$uuid3/$uuid2/" run/node3/kernel/metadata
	fails_with 0 "ctsync: run/node3/kernel: its clock has the uuid of that of run/node2/kernel, another node (two machines of one snapshot?); treated as two clocks" \
		ctsync -q run -o cloned.json
	diff true.json cloned.json
	# Their stamps are in doubt as much as any others'.
	ctmerge -q run -o doubt.db
	[ "$(sqlite3 doubt.db 'SELECT count(*) FROM message
		WHERE src_node <> dst_node AND low_ns = 0 AND high_ns = 0')" = 0 ]
	ends_with 0 ctmerge -q --events none run -o run.db
	[ "$(sqlite3 run.db "SELECT count(*) FROM problem WHERE kind = 'clock'")" = 1 ]
	[ "$(sqlite3 run.db 'SELECT count(DISTINCT ref_ns - local_ns) FROM clock')" = 3 ]
	# Captures that the recorded host names distinguish.
	mkdir -p x y
	cp -r run/node2/kernel x/kernel
	cp -r run/node3/kernel y/kernel
	ends_with 0 ctsync -q -t x/kernel -t y/kernel
	grep -q 'treated as two clocks' "$scratch/stderr"
}

@test "one trace under two names is used once" {
	mkdir run
	cp -rL $sample/node1 $sample/node2 run
	cp -rL $sample/node2 run/copy
	rm run/node1/*.pcap 2>"$scratch/none" || :
	fails_with 0 'ctsync: run/node2/kernel: the same events as run/copy/kernel, used once
ctsync: run/node2/node2.pcap: the same events as run/copy/node2.pcap, used once' \
		ctsync -q run
	ctmerge -q --events net_dev_queue run -o run.db 2>"$scratch/none" || :
	rm -r run/node2
	ctmerge -q --events net_dev_queue run -o once.db 2>"$scratch/none" || :
	for table in event message; do
		[ "$(sqlite3 run.db "SELECT count(*) FROM $table")" = \
			"$(sqlite3 once.db "SELECT count(*) FROM $table")" ]
	done
}

@test "standard output gets a timeline whole, and a signal cuts it off" {
	setup_run
	echo kept >log
	ctexport perfetto -q datasets/none >>log 2>"$scratch/none" || :
	[ "$(cat log)" = kept ]
	for delay in 0.05 0.15 0.3; do
		status=0
		timeout -s TERM $delay ctmerge -q run >x.db || status=$?
		[ $status -eq 0 ] || [ ! -s x.db ]
	done
	ctmerge -q --no-sync --events 'sched_process_*' run >x.db
	[ "$(sqlite3 x.db 'PRAGMA integrity_check')" = ok ]
}

@test "a signal while duckdb is asked leaves nothing behind" {
	local name
	mkdir tables temporary bin
	: >tables/node.parquet
	# A script in place of duckdb, called after the question and the empty timeline exist.
	for name in TERM INT HUP; do
		# shellcheck disable=SC2016
		printf '#!/bin/sh\nfind "%s" >"%s/asked"\nkill -%s $PPID\n' "$PWD/temporary" "$PWD" "$name" >bin/duckdb
		chmod +x bin/duckdb
		ends_with $((128 + $(kill -l "$name"))) env TMPDIR="$PWD/temporary" \
			PATH="$PWD/bin:$PATH" ctanalyze -q --tables tables nodes
		grep -q '/script.sql$' asked
		[ -z "$(ls -A temporary)" ]
	done
}
