#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on runs that are damaged, incomplete or odd: the rest is merged, and
# what was not is told, by message and by row.
load common

net3=fixtures/net3

# A run of links to the recorded traces, without samples.
setup_run()
{
	local node
	for node in node1 node2; do
		mkdir -p run/$node
		cp -r $net3/$node/kernel run/$node/
	done
}

ask()
{
	sqlite3 -readonly run.db "$1"
}

# Each message on standard error has its row.
rows_are_told()
{
	ask 'SELECT coalesce(place || ": ", "") || text FROM problem ORDER BY id' |
		sed 's/^/ctmerge: /' | diff -u - "$scratch/stderr"
}

@test "a trace that is cut is used up to there" {
	setup_run
	truncate -s 500000 run/node2/kernel/ch_0
	ends_with 1 ctmerge -q --no-sync run -o run.db
	rows_are_told
	grep -q '^ctmerge: run/node2/kernel.*truncated in the middle of a packet' "$scratch/stderr"
	[ "$(ask 'PRAGMA integrity_check')" = ok ]
	[ "$(ask 'SELECT events FROM source WHERE id = 1')" = 29582 ]
	[ "$(ask 'SELECT events > 1000 AND events < 27285 AND problems > 0
		FROM source WHERE id = 2')" = 1 ]
	[ "$(ask 'SELECT DISTINCT source FROM problem')" = 2 ]
	# Both the packets and the events of it were read, and it is told once.
	[ "$(sort "$scratch/stderr" | uniq -d | wc -l)" = 0 ]
}

@test "a trace that cannot be read is left out" {
	setup_run
	mkdir -p run/node3/kernel
	echo 'no metadata' >run/node3/kernel/metadata
	ends_with 1 ctmerge -q run -o run.db
	rows_are_told
	grep -q '^ctmerge: run/node3/kernel' "$scratch/stderr"
	[ "$(ask 'SELECT count(*) FROM event')" = 56867 ]
	[ "$(ask 'SELECT events, problems > 0 FROM source WHERE id = 3')" = '0|1' ]
	[ -z "$(ask 'PRAGMA foreign_key_check')" ]
}

@test "clocks that nothing ties keep their epoch" {
	setup_run
	rm -r run/node2
	mkdir -p run/other
	ctsim -q --set seconds=1 --nodes 2 datasets/simulate/scenarios/chain4.scenario -o sim
	set -- sim/*/kernel
	cp -r "$1" run/other/kernel
	ends_with 3 ctmerge -q run -o run.db
	rows_are_told
	[ "$(ask "SELECT count(*) FROM problem WHERE kind = 'clock'")" -gt 0 ]
	[ "$(ask "SELECT count(*) FROM source WHERE reference IS NULL")" -gt 0 ]
	ends_with 0 ctmerge -q --no-sync run -o run.db --force
}

@test "a run.json and a node.json that are no JSON" {
	setup_run
	echo '{' >run/run.json
	echo '[]' >run/node1/node.json
	ends_with 1 ctmerge -q run -o run.db
	rows_are_told
	[ "$(wc -l <"$scratch/stderr")" = 2 ]
	grep -q '^ctmerge: run/run.json' "$scratch/stderr"
	grep -q '^ctmerge: run/node1/node.json' "$scratch/stderr"
	[ "$(ask 'SELECT count(*) FROM event')" = 56867 ]
}

@test "one node under two names is merged once" {
	setup_run
	ln -s node1 run/again
	ends_with 0 ctmerge -q run -o run.db
	rows_are_told
	[ "$(ask 'SELECT count(*) FROM event')" = 56867 ]
	[ "$(ask 'SELECT count(*) FROM node')" = 2 ]
	[ "$(ask "SELECT count(*) FROM problem WHERE kind = 'twice'")" -gt 0 ]
}

@test "a map of clocks that is broken, or of another run" {
	setup_run
	echo '{}' >map.json
	ends_with 1 ctmerge -q run --clocks map.json -o run.db
	grep -q '^ctmerge: map.json: ' "$scratch/stderr"
	fails_with 1 'ctmerge: nowhere.json: No such file or directory' \
		ctmerge -q run --clocks nowhere.json -o run.db
	[ ! -e run.db ]
	ctsync -q -t a=$net3/node1 -t b=$net3/node2 -o map.json
	mkdir -p other/c && cp -r $net3/node3/kernel other/c/
	ends_with 0 ctmerge -q other --clocks map.json -o run.db ||
		ends_with 3 ctmerge -q other --clocks map.json -o run.db --force
	rows_are_told
	[ "$(ask 'SELECT count(*) > 0 FROM problem')" = 1 ]
}

@test "many sources with few open files" {
	ctsim -q --nodes 40 --captures --set topology=ring --set seconds=1 two -o run
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 0 bash -c 'ulimit -Sn 30; exec ctmerge -q --no-sync run -o run.db'
	[ "$(ask 'SELECT count(*), sum(events) = (SELECT count(*) FROM event), min(events) > 100
		FROM source')" = '40|1|1' ]
}

# A clock that was not set, a mistaken unit: no time of the run, and its span stays what it was.
@test "stamps of 1970 and 2068" {
	local sample=$CT_SOURCE/datasets/sample node
	mkdir run
	for node in node1 node2; do
		cp -r "$sample/$node" run/
	done
	chmod -R u+w run
	ctmerge -q run -o good.db 2>/dev/null
	sed -i '1s/"ended_ns": [0-9]*/"ended_ns": 3100000000000000000/; 2s/"started_ns": [0-9]*/"started_ns": 1000000000/' \
		run/node1/invocations.jsonl
	echo '1000000000,1,0,init,S,1,1,1,1,1' >>run/node1/proc.csv
	printf '%s\n' '3100000000000000000,ctsample,cpu_percent,1' '3100000000000000001,ctsample,cpu_percent,2' >>run/node2/sensors.csv
	tail -n 1 run/node2/sar.sadf | awk -F '\t' -v OFS='\t' '{ $3 = 5; print }' >old.sadf
	cat old.sadf >>run/node2/sar.sadf
	ends_with 1 ctmerge -q run -o run.db
	ask "SELECT substr(place, 5), count FROM problem WHERE kind = 'stamp' ORDER BY 1" >said
	diff - said <<-END
		node1/invocations.jsonl:1|1
		node1/invocations.jsonl:2|1
		node1/proc.csv|1
		node2/sar.sadf|1
		node2/sensors.csv|2
	END
	grep -q 'invocations.jsonl:1: ended_ns 2068-03-26 15:06:40.* is more than two days' "$scratch/stderr"
	# Valid rows of the same files are used as before, and so is the task's other timestamp.
	ask "ATTACH 'good.db' AS good; SELECT (SELECT count(*) FROM sample) = (SELECT count(*) FROM good.sample),
		(SELECT max(ts_ns) FROM sample) = (SELECT max(ts_ns) FROM good.sample),
		(SELECT count(*) FROM invocation) = (SELECT count(*) FROM good.invocation),
		(SELECT count(*) FROM invocation WHERE end_ns IS NULL AND begin_ns IS NOT NULL),
		(SELECT count(*) FROM invocation WHERE begin_ns IS NULL AND end_ns IS NOT NULL)" >said
	echo '1|1|1|1|1' | diff - said
	# Yesterday's log of sar is near.
	rm -r run && mkdir run && cp -r "$sample/node1" run/ && chmod -R u+w run
	tail -n 1 run/node1/sar.sadf | awk -F '\t' -v OFS='\t' '{ $3 -= 86400 * 1.5; print }' >yesterday.sadf
	cat yesterday.sadf >>run/node1/sar.sadf
	ctmerge -q run -o near.db 2>/dev/null
	[ "$(sqlite3 near.db "SELECT count(*) FROM problem WHERE kind = 'stamp'")" = 0 ]
}
