#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Input of ctmerge that is missing, broken or of another kind: the exact message,
# and that everything else is in the timeline.
load common

net3=fixtures/net3
away='a: no trace to place samples and tasks by, their timestamps are left as they are'

# make_run NODE...: a run of copies of these nodes' kernel traces.
make_run()
{
	local node
	rm -rf run
	for node; do
		mkdir -p "run/$node"
		cp -R "$net3/$node/kernel" "run/$node"
	done
}

# sar_run: a run of one node `a` without a trace, whose sar.sadf is standard input.
sar_run()
{
	rm -rf run
	mkdir -p run/a
	cat >run/a/sar.sadf
}

# Lines of a recorded sadf text, by their numbers: "1,5", "200".
sar_lines()
{
	sed -n "$1p" $net3/node1/sar.sadf
}

ask()
{
	sqlite3 -readonly run.db "$1"
}

# gives STATUS MESSAGE [OPTION...]: merging run/ ends so, the timeline is sound,
# and every message is a row of `problem`.
gives()
{
	local wanted=$1 message=$2
	shift 2
	rm -f run.db
	fails_with "$wanted" "$message" timeout 60 ctmerge -q "$@" run -o run.db || return
	[ "$(ask 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || return
	ask "SELECT 'ctmerge: ' || coalesce(place || ': ', '') || text FROM problem
		ORDER BY id" | diff -u - "$scratch/stderr"
}

# Names and counts of the sources.
sources()
{
	ask 'SELECT name, events, problems FROM source ORDER BY id' | xargs
}

samples()
{
	ask 'SELECT m.name, s.value FROM sample s JOIN metric m ON m.id = s.metric
		ORDER BY s.rowid' | xargs
}

@test "a path that leads nowhere, an empty directory, a text" {
	mkdir empty
	fails_with 1 'ctmerge: nowhere: No such file or directory' ctmerge -q nowhere -o run.db
	fails_with 1 'ctmerge: empty: no trace and no capture below it (expected NODE/.../metadata or NODE/*.pcap)' \
		ctmerge -q empty -o run.db
	fails_with 1 "ctmerge: $net3/README.md: neither a trace nor a capture; expected a directory with a metadata file, a trace.dat, pcap or pcapng" \
		ctmerge -q $net3/README.md -o run.db
	[ ! -e run.db ]
}

@test "a stream cut in the middle" {
	make_run node1 node2
	truncate -s 700000 run/node1/kernel/ch_0
	gives 1 'ctmerge: run/node1/kernel/ch_0: truncated in the middle of a packet: only 700000 of its 1036288 bytes are present'
	[ "$(sources)" = 'node1|19182|1 node2|27285|0' ]
	[ "$(ask "SELECT DISTINCT quality FROM source WHERE name = 'node2'")" = accurate ]
	[ "$(ask 'SELECT count(*) FROM event')" = 46467 ]
}

@test "metadata cut in the middle" {
	make_run node1 node2 node3
	truncate -s 9000 run/node1/kernel/metadata
	gives 1 'ctmerge: run/node1/kernel/metadata: packet at byte 8192: cut short'
	[ "$(sources)" = 'node1|0|1 node2|27285|0 node3|21798|0' ]
	[ "$(ask "SELECT quality FROM source WHERE id > 1" | xargs)" = 'exact accurate' ]
	[ "$(ask 'SELECT count(*) > 1000 FROM message')" = 1 ]
}

@test "captures: cut in the middle of a packet, a text, a pipe" {
	make_run node1
	mkdir run/node2
	head -c 400004 $net3/node2/node2.pcap >run/node2/cut.pcap
	cp $net3/README.md run/node1/text.pcap
	mkfifo run/node1/pipe.pcap
	gives 1 'ctmerge: run/node1/pipe.pcap: not a regular file (expected a capture)
ctmerge: run/node1/text.pcap: no capture: it begins with neither pcap'\''s nor pcapng'\''s magic number
ctmerge: run/node2/cut.pcap: cut in the middle of a packet after 4517 packets: the head of a packet is truncated'
	[ "$(sources)" = 'node1|29582|0 node1:pipe.pcap|0|1 node1:text.pcap|0|1 node2|4517|1' ]
}

@test "two traces without a common packet" {
	make_run node1
	ctsim -q --set seconds=1 --seed 5 two -o sim
	mkdir run/other
	cp -R sim/node1/kernel run/other
	gives 3 'ctmerge: run/other/kernel: its clock is tied to nothing of the island of node1, kept at its own epoch'
	[ "$(ask 'SELECT count(*) FROM message')" = 0 ]
	[ "$(ask 'SELECT name, reference, quality FROM source' | xargs)" = 'node1|1|absent other||' ]
	[ "$(ask "SELECT local_ns = ref_ns AND rate_ppb = 0 FROM clock WHERE source = 2")" = 1 ]
	[ "$(ask 'SELECT min(t.ts_ns) >= 1767225600000000000 FROM timeline t
		WHERE t.node = '"'other'")" = 1 ]
}

@test "the same trace twice" {
	make_run node1 node2
	ln -s ../node1/kernel run/node2/again
	gives 0 'ctmerge: run/node2/again: the same events as run/node1/kernel, used once'
	[ "$(sources)" = 'node1|29582|0 node2|27285|0 node2:again|0|1' ]
}

@test "one trace alone" {
	make_run node1
	ends_with 0 ctmerge -q run -o run.db
	[ ! -s "$scratch/stderr" ]
	[ "$(sources)" = 'node1|29582|0' ]
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

@test "files that may not be read" {
	chmod 755 "$scratch" "$scratch/run"
	as_nobody ctmerge --version >/dev/null 2>&1 || skip 'root may read everything'
	make_run node1 node2
	sar_lines 1,5 >run/node2/sar.sadf
	mkdir -m 777 out
	chmod 0 run/node1/kernel/ch_0 run/node2/sar.sadf
	fails_with 1 'ctmerge: run/node1/kernel/ch_0: Permission denied, skipped
ctmerge: run/node1/kernel: no event in it, so the clock of node1 is unknown
ctmerge: run/node2/sar.sadf: Permission denied' \
		as_nobody ctmerge -q --no-sync run -o out/run.db
	mv out/run.db .
	[ "$(ask 'SELECT count(*) FROM event')" = 27285 ]
}

@test "a trace without a network event" {
	make_run node1 node2
	ctsim -q --set seconds=1 --seed 5 two -o sim
	mkdir -p run/idle
	cp -R sim/node1/kernel run/idle
	find run/idle/kernel -type f ! -name metadata -delete
	gives 3 'ctmerge: run/idle/kernel: no event in it, so the clock of idle is unknown
ctmerge: run/idle/kernel: its clock is tied to nothing of the island of node1, kept at its own epoch'
	[ "$(sources)" = 'idle|0|2 node1|29582|0 node2|27285|0' ]
}

@test "sar was started again in the middle" {
	{
		sar_lines 1,5
		printf 'node1\t-1\t1795228741\tLINUX-RESTART\t(2 CPU)\n'
		sar_lines 200,202
		printf 'node1\t-1\t1795228742\tLINUX-RESTART\n'
	} | sar_run
	gives 0 "ctmerge: $away
ctmerge: run/a/sar.sadf:6: 1795228741.000000000: sar was started again, (2 CPU)
ctmerge: run/a/sar.sadf:10: 1795228742.000000000: sar was started again"
	[ "$(ask 'SELECT count(*), round(sum(value), 2) FROM sample')" = "$(sar_lines '1,5p;200,202' |
		awk '{ sum += $6 } END { printf "%d|%.2f", NR, sum }')" ]
}

@test "sar's text in another locale" {
	{
		sar_lines 1,3
		sar_lines 4,5 | sed 's/\./,/'
		sar_lines 6
	} | sar_run
	gives 1 "ctmerge: $away
ctmerge: run/a/sar.sadf:4: number '0,00' with a decimal comma skipped; use LC_ALL=C sadf"
	[ "$(ask "SELECT count FROM problem WHERE kind = 'locale'")" = 2 ]
	[ "$(ask 'SELECT count(*) FROM sample')" = 4 ]
}

@test "sar's text cut within a line" {
	sar_lines 1,4 | head -c -3 | sar_run
	gives 1 "ctmerge: $away
ctmerge: run/a/sar.sadf:4: incomplete last line skipped"
	[ "$(samples)" = '%usr|4.29 %nice|0.0 %sys|20.0' ]
}

@test "garbage in sar's text, and instead of it" {
	{
		sar_lines 1,2
		printf 'node1\t\0\1\377\nnode1 \033[31m\377\n'
		sar_lines 4
	} | sar_run
	gives 1 "ctmerge: $away
ctmerge: run/a/sar.sadf:3: line with a zero byte skipped
ctmerge: run/a/sar.sadf:4: not a line of sadf -p (expected HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between); skipped"
	[ "$(samples)" = '%usr|4.29 %nice|0.0 %iowait|0.0' ]
	head -c 5000 /dev/zero | sar_run
	gives 1 'ctmerge: run/a/sar.sadf:1: line with a zero byte skipped
ctmerge: run/a/sar.sadf: no sample in it'
}

# A run that was shorter than sar's interval has such files.
@test "files with nothing in them are told, and are no failure" {
	: | sar_run
	gives 0 'ctmerge: run/a/sar.sadf: no sample in it'
	make_run node1
	echo realtime_ns,monotonic_ns >run/node1/clock.csv
	printf 'node1\t1\t1795228741\tall\t%%usr\t1\n' >run/node1/sar.sadf
	gives 0 'ctmerge: run/node1/clock.csv: no clock sample in it
ctmerge: node1: no clock.csv, samples and tasks are placed as if the real-time clock were the epoch time of the trace'
	rm -rf run
	ctsim -q --nodes 2 --set seconds=0.4 busy -o run
	ends_with 0 ctmerge -q run -o busy.db
	grep -qx 'ctmerge: run/node1/sar.sadf, run/node2/sar.sadf: no sample in it' "$scratch/stderr"
	make_run node1
	echo realtime_ns,monotonic_ns >run/node1/clock.csv
	# Beside what is broken they do not hide it.
	printf 'not sar\n' >run/node1/sar.sadf
	gives 1 'ctmerge: run/node1/clock.csv: no clock sample in it
ctmerge: run/node1/sar.sadf:1: not a line of sadf -p (expected HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between); skipped
ctmerge: run/node1/sar.sadf: no sample in it'
}

@test "tasks: a broken record, one that is no object, one that is cut" {
	make_run node1
	{
		echo '{"name": "one", "pid": 5, "started_ns": 1795228738500000000}'
		echo '{"name": "two", "pid": '
		echo '["three"]'
		echo '{"name": "four", "pid": "x", "ended_ns": 1795228739500000000}'
		printf '{"name": "five"'
	} >run/node1/invocations.jsonl
	gives 1 'ctmerge: node1: no clock.csv, samples and tasks are placed as if the real-time clock were the epoch time of the trace
ctmerge: run/node1/invocations.jsonl:2: invalid JSON: unexpected token near end of file at byte 23; skipped
ctmerge: run/node1/invocations.jsonl:3: not a JSON object; skipped
ctmerge: run/node1/invocations.jsonl:4: pid: ignored (expected an integer)
ctmerge: run/node1/invocations.jsonl:5: incomplete last line skipped'
	[ "$(ask 'SELECT name, pid, begin_ns, end_ns FROM invocation' | xargs)" = \
		'one|5|1795228738500000000| four|||1795228739500000000' ]
}

@test "other files of a node that are broken" {
	make_run node1
	echo 'a,b' >run/node1/clock.csv
	printf 'realtime_ns,pid\nx,1\n' >run/node1/proc.csv
	{
		echo realtime_ns,sensor,metric,value
		echo 1795228738000000000,s,celsius,5
		echo 1795228738000000000,s,celsius,hot
	} >run/node1/sensors.csv
	gives 1 "ctmerge: run/node1/clock.csv:1: invalid realtime_ns 'a' (expected a time in nanoseconds); skipped
ctmerge: run/node1/clock.csv: no clock sample in it
ctmerge: run/node1/proc.csv:2: invalid realtime_ns 'x' (expected a time in nanoseconds); skipped
ctmerge: node1: no clock.csv, samples and tasks are placed as if the real-time clock were the epoch time of the trace
ctmerge: run/node1/sensors.csv:3: invalid value 'hot' (expected a number); skipped"
	[ "$(ask 'SELECT ts_ns, value FROM sample' | xargs)" = '1795228738000000000|5.0' ]
}

@test "directories where files are wanted" {
	make_run node1
	mkdir run/run.json run/node1/node.json run/node1/proc.csv run/node1/old.sadf
	mkdir run/node1/x.pcap
	fails_with 1 'ctmerge: run/node1/old.sadf, run/node1/proc.csv: a directory (expected a file)
ctmerge: run/node1/node.json: not a regular file; skipped
ctmerge: run/run.json: not a regular file; skipped' ctmerge -q run -o run.db
	[ "$(sources)" = 'node1|29582|0' ]
}

@test "run.json and node.json that are no JSON, or say nonsense" {
	make_run node1
	printf '{"name": "x", ' >run/run.json
	echo nonsense >run/node1/node.json
	gives 1 "ctmerge: run/node1/node.json:1:8: invalid JSON: '[' or '{' expected near 'nonsense'; skipped
ctmerge: run/run.json:1:14: invalid JSON: string or '}' expected near end of file; skipped"
	[ "$(sources)" = 'node1|29582|0' ]
	echo '{"name": 1, "recipe": "r", "nodes": [{"name": "node1", "role": "web"}, 7]}' >run/run.json
	echo '{"cpus": "two", "hostname": "h"}' >run/node1/node.json
	gives 0 'ctmerge: run/node1/node.json: cpus: ignored (expected an integer)
ctmerge: run/run.json: name: ignored (expected a string)
ctmerge: run/run.json: nodes: expected names or objects with a name; skipped'
	[ "$(ask "SELECT value FROM meta WHERE key IN ('recipe', 'role.node1')" | xargs)" = 'r web' ]
	[ "$(ask 'SELECT hostname, cpus FROM node')" = 'h|' ]
}

@test "one node under two names" {
	make_run node1 node2
	ln -s node2 run/same
	gives 0 'ctmerge: run/same: the same directory under another name; skipped'
	[ "$(sources)" = 'node1|29582|0 node2|27285|0' ]
}

@test "a map of clocks: of another format or version, cut, or with nonsense" {
	make_run node1 node2
	ctsync -q run -o map.json
	echo '{' >none.json
	sed 's/"version": 1/"version": 2/' map.json >version.json
	sed 's/clustertrace-clocks/other/' map.json >format.json
	head -c 300 map.json >cut.json
	sed 's/"rate_ppb": [-0-9.]*/"rate_ppb": 1e40/' map.json >rate.json
	no_map() { fails_with 1 "ctmerge: $2" ctmerge -q run --clocks "$1" -o run.db; }
	no_map version.json 'version.json: unknown version 2 (expected 1)'
	no_map format.json 'format.json: format: expected "clustertrace-clocks"'
	no_map cut.json "cut.json:10:59: invalid JSON: premature end of input near '\"'"
	no_map rate.json 'rate.json: clocks[0].segments[0].rate_ppb: expected a number between -5e8 and 5e8'
	sed 's/"local_ns": [0-9]*/"local_ns": 9223372036854775807/' map.json >far.json
	no_map far.json 'far.json: clocks[0].segments[0].local_ns: expected a time between 1967 and 2111'
	sed 's/"traces": \["node1"/"traces": ["x"/' map.json >island.json
	no_map island.json "island.json: islands[0].traces: unknown clock 'x'"
	sed 's/"a": "node1"/"a": "x"/' map.json >pair.json
	no_map pair.json "pair.json: pairs[0].a: unknown clock 'x'"
	no_map nowhere 'nowhere: No such file or directory'
	[ ! -e run.db ]
}

@test "a map of clocks of other sources" {
	make_run node1 node2
	ctsync -q run -o map.json
	sed -i 's/"node2"/"web"/g; s/"path": "run.node2[^"]*"/"path": "x"/' map.json
	gives 3 'ctmerge: map.json: has a clock of web (x), which is not a source of the run; skipped
ctmerge: run/node2/kernel: map.json has no correction to the clock of node1 for it, kept at its own epoch' \
		--clocks map.json
	[ "$(sources)" = 'node1|29582|0 node2|27285|1' ]
}

@test "a reference or nodes that are none" {
	make_run node1 node2
	fails_with 2 "ctmerge: unknown trace 'nobody' (expected one of node1, node2)" ctmerge -q -r nobody run -o run.db
	fails_with 2 "ctmerge: --node: unknown node 'nobody' (expected one of node1, node2)" \
		ctmerge -q --node nobody,node3 run -o run.db
	fails_with 2 "ctmerge: --node: unknown node 'nod1'; did you mean 'node1'?" \
		ctmerge -q --node nod1 run -o run.db
	[ ! -e run.db ]
}

@test "options about clocks that are not to be found" {
	local words='cannot be used with --clocks or --no-sync'
	fails_with 2 "ctmerge: --reference $words" ctmerge $net3 --no-sync -r node1 -o run.db
	fails_with 2 "ctmerge: --method $words" ctmerge $net3 --clocks a --method hull -o run.db
	fails_with 2 "ctmerge: --segments $words" ctmerge $net3 --no-sync --segments 2 -o run.db
	fails_with 2 "ctmerge: --bounds $words" ctmerge $net3 --clocks a --bounds 5 -o run.db
	[ ! -e run.db ]
}

@test "a TMPDIR that is not there" {
	make_run node1 node2
	ends_with 1 env TMPDIR="$PWD/nowhere" ctmerge -q --no-sync run
	grep "^ctmerge: $PWD/nowhere: No such file or directory\$" \
		"$scratch/stderr"
	[ ! -s "$scratch/stdout" ]
	fails_with 1 \
		"ctmerge: cannot make a temporary file of messages' events: No such file or directory" \
		env TMPDIR="$PWD/nowhere" ctmerge -q run -o run.db
	[ "$(echo *)" = 'datasets fixtures run' ]
}

# Signals of every kind at every moment: the program ends by them, or was done.
@test "a signal while clocks are found leaves nothing" {
	local signal number delay status
	make_run node1 node2 node3
	mkdir tmp
	while read -r signal number delay; do
		status=0
		TMPDIR=$PWD/tmp timeout --preserve-status -s "$signal" "$delay" \
			ctmerge -q run -o run.db || status=$?
		[ $status -eq "$number" ] || [ $status -eq 0 ]
		[ $status -eq 0 ] || [ ! -e run.db ]
		rm -f run.db
		status=0
		TMPDIR=$PWD/tmp timeout --preserve-status -s "$signal" "$delay" \
			ctmerge -q run >got || status=$?
		[ $status -eq "$number" ] || [ $status -eq 0 ]
		[ -z "$(ls tmp)" ]
	done <<-'DELAYS'
		INT 130 0.01
		INT 130 0.2
		TERM 143 0.05
		TERM 143 0.3
		HUP 129 0.12
		HUP 129 0.45
	DELAYS
	rm got
	[ "$(echo *)" = 'datasets fixtures run tmp' ]
}

# The time to write `recorded` does not depend on the numbers of processors.
@test "a damaged processor number takes no time" {
	ctsim -q --set events=200 two -o run
	printf '\377\377\377\177' | dd of=run/node1/kernel/ch_0 bs=1 seek=84 conv=notrunc 2>noted
	timeout 60 ctmerge -q run -o run.db 2>said || [ "$?" -eq 1 ]
	[ "$(sqlite3 run.db "SELECT count(*) > 0 FROM event WHERE cpu = 2147483647")" -eq 1 ]
	[ "$(sqlite3 run.db "SELECT count(*) > 0 FROM recorded WHERE kind = 'kernel'")" -eq 1 ]
}
