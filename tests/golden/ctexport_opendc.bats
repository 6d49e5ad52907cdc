#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctexport opendc on simulated runs, from outside.
load common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	ctsim --seed 5 --set seconds=3 clients -o run >/dev/null 2>&1
	ctmerge -q run -o run.db 2>/dev/null
}

setup()
{
	set +T # as in tests/golden/common.bash
	scratch=$(mktemp -d)
	mkdir "$scratch/run"
	cd "$scratch/run" || return
	ln -s "$BATS_FILE_TMPDIR/run.db" run.db
	out=out
}

# Processor time of each node that is not idle, in ns, by the switches alone: from the
# first to the last event of a processor.
busy()
{
	sqlite3 -separator ' ' run.db "
		WITH run AS (
			SELECT e.node, s.next_tid AS tid,
			       lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id)
			       - e.ts_ns AS ran_ns
			FROM sched_switch AS s JOIN event AS e ON e.id = s.id)
		SELECT n.name, sum(ran_ns) FROM run JOIN node AS n ON n.id = run.node
		WHERE tid <> 0 AND ran_ns IS NOT NULL GROUP BY n.name ORDER BY n.name"
}

# The same in tasks, at MHZ: usage times duration of a node's fragments.
worked()
{
	tr -d '\r' <"$1/tasks.csv" | awk -F, -v mhz="$2" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	FNR == NR { node[$1] = $at["node"]; next }
	FNR > 1 { sum[node[$1]] += $2 * $3 * 1e6 / mhz }
	END { for (n in sum) printf "%s %.0f\n", n, sum[n] }' - "$1/fragments.csv" | sort
}

# The CSV trace in DIR is what OpenDC takes: ids are there once, each task has fragments that
# sum to its duration, each fragment a task, and parents and children name each other.
sound()
{
	tasks=$1/tasks.csv fragments=$1/fragments.csv
	tr -d '\r' <"$tasks" | awk -F, '
	function fail(what) { print "task " $1 ": " what; bad = 1 }
	FNR == 1 { delete at; for (i = 1; i <= NF; i++) at[$i] = i; next }
	NR == FNR {
		if ($1 in left) fail("comes twice")
		left[$1] = $at["duration"]
		if (left[$1] <= 0 || $at["cpu_count"] < 1 || $at["cpu_capacity"] <= 0) fail("no size")
		n = split("parents" in at ? $at["parents"] : "", other, ";")
		for (i = 1; i <= n; i++) told[other[i] " " $1]++
		n = split("children" in at ? $at["children"] : "", other, ";")
		for (i = 1; i <= n; i++) told[$1 " " other[i]] += 2
		next
	}
	{
		if (!($1 in left)) fail("a fragment of none")
		if ($at["duration"] <= 0 || $at["cpu_usage"] < 0) fail("fragment")
		left[$1] -= $at["duration"]
	}
	END {
		for (id in left) if (left[id]) { $1 = id; fail(left[id] " ms without a fragment") }
		for (pair in told) if (told[pair] != 3) { $1 = pair; fail("told by one side") }
		exit bad || !length(left)
	}' - <(tr -d '\r' <"$fragments")
}

# run.db's tasks work as long as its processors, with OPTION..., at MHZ: of NODES nodes.
conserved()
{
	nodes=$1 mhz=$2
	shift 2
	rm -rf "$out"
	ctexport opendc -q --format csv --interval 0.25 "$@" run.db -o "$out" 2>notes
	paste -d ' ' <(busy) <(worked "$out" "$mhz") <(sed -n \
		's/.*: \(node[0-9]*\): \([0-9.]*\) s busy.*: \([0-9.]*\) s in tasks.*/\1 \2 \3/p' \
		notes | sort) >sums
	cat sums
	# Equal to 1 ppm to what is said; to the switches' own but for what ran before a
	# processor's first one and after its last.
	awk -v nodes="$nodes" '{ if ($1 != $3 || $3 != $5 || NF != 7) bad = 1
		if ($6 != $7 || ($4 - $7 * 1e9) ^ 2 > ($4 * 1e-6) ^ 2) bad = 1
		if ($4 < $2 * (1 - 1e-6) || $4 > $2 * 1.02) bad = 1 }
		END { exit bad || NR != nodes }' sums
}

@test "what tasks work is what the processors did" {
	for tasks in node process comm; do
		conserved 4 2500 --tasks "$tasks" --cpu-mhz 2500
	done
}

@test "the same of a recorded run" {
	recorded datasets/sample recorded.db
	ln -sf recorded.db run.db
	mhz=$(sqlite3 run.db 'SELECT max(cpu_mhz) FROM node')
	[ "$(sqlite3 run.db 'SELECT min(cpu_mhz) FROM node')" = "$mhz" ]
	for tasks in node process comm; do
		conserved 3 "$mhz" --tasks "$tasks"
	done
	sound "$out"
}

# To 1 ppm what thread_state and recorded have of each node, in as many tasks as nodes.
@test "a task for each node is all that the node did" {
	ctexport opendc -q --format csv --cpu-mhz 2500 run.db -o "$out" 2>/dev/null
	sound "$out"
	sqlite3 -separator ' ' run.db "
		SELECT n.name, (SELECT sum(s.duration_ns) FROM thread_state AS s
				WHERE s.node = n.id AND s.state = 'running' AND s.tid <> 0),
			(SELECT (max(r.end_ns) - min(r.begin_ns)) / 1000000 FROM recorded AS r
				WHERE r.node = n.id AND r.kind = 'kernel' AND r.cpu IS NULL)
		FROM node AS n ORDER BY n.name" >told
	paste -d ' ' told <(worked "$out" 2500) <(tr -d '\r' <"$out/tasks.csv" |
		awk -F, 'NR > 1 { print $2, $4 }' | sort) >sums
	cat sums
	awk '{ if ($1 != $4 || $1 != $6 || ($2 - $5) ^ 2 > ($2 * 1e-6) ^ 2) bad = 1
		if ($7 < $3 || $7 > $3 + 1) bad = 1 }
		END { exit bad || NR != 4 }' sums
}

@test "fragments sum to their task, and stay below its capacity" {
	ctexport opendc -q --tasks process --format csv --interval 0.1 run.db -o "$out" 2>/dev/null
	tr -d '\r' <"$out/tasks.csv" | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	FNR == NR { left[$1] = $at["duration"]; most[$1] = $at["cpu_capacity"]; next }
	FNR > 1 { left[$1] -= $2; if ($2 < 1 || $2 > 100 || $3 > most[$1]) bad = 1
		if ($1 < last) bad = 1; last = $1 }
	END { for (id in left) if (left[id]) bad = 1; exit bad }' - "$out/fragments.csv"
}

@test "the same input makes the same files" {
	ctexport opendc -q --tasks process run.db -o "$out-1" 2>/dev/null
	ctexport opendc -q --tasks process run.db -o "$out-2" 2>/dev/null
	for file in tasks.parquet fragments.parquet topology.json; do
		cmp "$out-1/$file" "$out-2/$file"
	done
}

@test "a part of the time and of the nodes" {
	ctexport opendc -q --tasks process --parents --format csv --node 'node[12]' --begin +1 --end +2 run.db \
		-o "$out" 2>/dev/null
	tr -d '\r' <"$out/tasks.csv" | awk -F, 'NR > 1 { print $NF }' | sort -u >nodes
	[ "$(cat nodes)" = "$(printf 'node1\nnode2')" ]
	grep -c '"name": "node' "$out/topology.json" | grep -qx 2
	tr -d '\r' <"$out/tasks.csv" | awk -F, 'NR > 1 && $4 > 1010 { exit 1 }'
	sound "$out"
}

@test "a directory that is not empty is refused" {
	mkdir "$out"
	echo mine >"$out/mine"
	fails_with 1 'ctexport: out: not empty; use an empty directory or --force' ctexport opendc -q run.db -o "$out"
	[ "$(ls "$out")" = mine ]
	ctexport opendc -q --force run.db -o "$out" 2>/dev/null
	[ "$(cat "$out/mine")" = mine ]
	[ -s "$out/tasks.parquet" ]
}

@test "what cannot be is said, and nothing is left" {
	fails_with 1 'ctexport: run.db: no invocations; use --tasks process, or a run with invocations.jsonl' \
		ctexport opendc --tasks invocation run.db -o "$out"
	fails_with 1 'ctexport: run.db: no cgroup of any process was recorded (expected the context cgroup_ns, '"\
LTTng's statedump, or \`cgroup\` of invocations)" ctexport opendc --tasks cgroup run.db -o "$out"
	fails_with 1 'ctexport: missing.db: No such file or directory' \
		ctexport opendc missing.db -o "$out"
	fails_with 2 "ctexport: --tasks: invalid value 'job' (expected node, invocation, process, cgroup, session or comm)" \
		ctexport opendc --tasks job run.db -o "$out"
	fails_with 2 'ctexport: --interval: invalid value 0.0015 s (expected whole milliseconds)' \
		ctexport opendc --interval 0.0015 run.db -o "$out"
	fails_with 2 'ctexport: missing --output DIR' ctexport opendc run.db
	fails_with 2 'ctexport: --verify: unknown option' ctexport opendc --verify . run.db -o "$out"
	[ ! -e "$out" ]
}

@test "a timeline without scheduling events falls back" {
	ctsim --seed 1 --set seconds=2 two -o plain >/dev/null 2>&1
	ctmerge -q plain -o plain.db 2>/dev/null
	fails_with 1 "ctexport: plain.db: no processor time of the selected nodes and time, so there are no tasks" \
		ctexport opendc -q plain.db -o "$out"
	fails_with 1 "ctexport: plain.db: no process of the selected nodes and time, so there are no tasks" \
		ctexport opendc -q --tasks process plain.db -o "$out"
	mkdir -p sampled/a
	echo '{"cpus": 2, "cpu_mhz": 2000, "mem_kib": 1048576}' >sampled/a/node.json
	{
		echo 'realtime_ns,pid,ppid,comm,utime_ns,stime_ns,rss_kib'
		for i in 0 1 2 3; do
			echo "179522874${i}000000000,10,1,job,$((i * 500000000)),0,2048"
		done
	} >sampled/a/proc.csv
	ctmerge -q sampled -o sampled.db 2>/dev/null
	ctexport opendc -q --format csv sampled.db -o "$out" 2>/dev/null
	[ "$(tr -d '\r' <"$out/fragments.csv" | sed 1d)" = "$(printf '1,1000,1000.0,\n%.0s' 1 2 3)" ]
	tr -d '\r' <"$out/tasks.csv" | grep -q '^1,a,1795228740000,3000,1,1000.0,2098,'
	ctexport opendc -q --force --tasks process --format csv sampled.db -o "$out" 2>notes
	cat notes
	grep -q 'a: no scheduling events, so processor time is by samples' notes
	[ "$(tr -d '\r' <"$out/fragments.csv" | sed 1d)" = "$(printf '1,1000,1000.0,\n%.0s' 1 2 3)" ]
	tr -d '\r' <"$out/tasks.csv" | grep -q '^1,job,1795228740000,3000,1,1000.0,2098,'
}

# Equal pids on two nodes, a parent on the other node, one that does not end, and one
# shorter than a millisecond; half a core at 2000 MHz.
@test "invocations are tasks" {
	for node in a b; do
		mkdir -p "requests/$node"
		echo '{"cpus": 2, "cpu_mhz": 2000, "mem_kib": 1048576}' >"requests/$node/node.json"
		{
			echo 'realtime_ns,pid,ppid,comm,utime_ns,stime_ns,rss_kib'
			for i in $(seq 0 20); do
				echo "$((1795228740000000000 + i * 500000000)),10,1,server,$((i * 250000000)),0,$((1000 + i * 10))"
			done
		} >"requests/$node/proc.csv"
	done
	cat >requests/a/invocations.jsonl <<-'END'
		{"name":"front","pid":10,"enqueued_ns":1795228740100000000,"started_ns":1795228741000000000,"ended_ns":1795228745000000000,"trace_id":"t1","span_id":"s1"}
		{"name":"open","pid":10,"started_ns":1795228746000000000}
	END
	cat >requests/b/invocations.jsonl <<-'END'
		{"name":"back","pid":10,"started_ns":1795228742000000000,"ended_ns":1795228742000400000,"trace_id":"t1","span_id":"s2","parent_id":"s1"}
	END
	ctmerge -q requests -o requests.db 2>/dev/null
	ctexport opendc -q --tasks invocation --parents --format csv requests.db -o "$out" 2>notes
	cat notes
	grep -q '1 invocations without an end' notes
	grep -q 'a: 5.000000 s busy .* 4.000000 s in tasks; omitted: 1.000000 s outside' notes
	tr -d '\r' <"$out/tasks.csv" | cut -d, -f 1-6,10,11,14 >tasks
	diff -u tasks - <<-'END'
		id,name,submission_time,duration,cpu_count,cpu_capacity,parents,children,node
		1,front,1795228740100,4000,1,1000.0,,2,a
		2,back,1795228742000,1,1,400.0,1,,b
		3,open,1795228746000,4000,1,1000.0,,,a
	END
	sound "$out"
}

@test "a full disk and a signal leave nothing" {
	# shellcheck disable=SC2016 # the inner shell's
	ends_with 1 bash -c 'ulimit -f 4; exec ctexport opendc --tasks process --interval 0.001 "$1" -o out' - run.db
	grep -q 'File too large' "$scratch/stderr"
	[ ! -e out ]
	[ -z "$(find . -name 'out.*')" ]
	ctexport opendc -q --tasks process --format csv --interval 0.001 run.db -o out 2>/dev/null &
	pid=$!
	while [ -z "$(find . -name 'out*')" ] && kill -0 "$pid"; do :; done
	kill -TERM "$pid" || true
	wait "$pid" || true
	[ -z "$(find . -name 'out.*')" ]
	[ ! -e out ] || sound out
}
