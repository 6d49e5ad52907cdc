#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Threads, interrupts, system calls and disks in simulated runs by ctanalyze,
# span by span against what the simulator did. Every clock is left as it was (--no-sync), so
# both are on one axis and everything is to be equal to the nanosecond.
load common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	made loaded --seed 11 --set seconds=3 --set workers=5 --set cpus=2 --nodes 3 clients
	made lossy --seed 12 --set seconds=2 --set loss=0.1 --nodes 5 clients
	made drifting --seed 12 --set seconds=4 --set 'node 2 drift_ppm 150' --set 'node 3 drift_ppm -40' \
		--nodes 3 clients
	made late --seed 13 --set seconds=3 --set 'trace 2 1 2.2' --nodes 3 clients
}

# made NAME OPTION...: a timeline of a run, with the table "truth" of its spans.
made()
{
	ctsim -q --spans "${@:2}" -o "$1" || return
	ctmerge -q --no-sync "$1" -o "$1.db" 2>"$1.log" || return
	[ "$(sqlite3 "$1.db" <<-END
		.mode csv
		.import $1/truth.csv clocks
		.import $1/spans.csv given
		CREATE TABLE truth AS
		WITH boot AS (SELECT node, max(CAST(real_ns AS INTEGER) - CAST(mono_ns AS INTEGER)) AS ns,
			min(CAST(real_ns AS INTEGER) - CAST(mono_ns AS INTEGER)) AS least FROM clocks GROUP BY node)
		SELECT kind, g.node, CAST(cpu AS INTEGER) AS cpu, CAST(tid AS INTEGER) AS tid, name,
			CAST(number AS INTEGER) AS number, begin_ns + ns AS begin_ns,
			CASE WHEN middle_ns <> '' THEN middle_ns + ns END AS middle_ns,
			end_ns + ns AS end_ns
		FROM given AS g JOIN boot AS b ON b.node = g.node WHERE ns = least;
		SELECT count(*) FROM truth;
		-- All processors are recorded from the first event of their node on, idle at first.
		INSERT INTO truth (kind, node, cpu, tid, begin_ns, end_ns)
		SELECT 'run', t.node, t.cpu, 0, s.begin_ns, min(t.begin_ns)
		FROM truth AS t JOIN source AS s ON s.name = t.node
		WHERE t.kind = 'run' GROUP BY t.node, t.cpu HAVING min(t.begin_ns) > s.begin_ns;
	END
	)" = "$(($(wc -l <"$1/spans.csv") - 1))" ]
}

# said TIMELINE WORD...: an analysis's table becomes the table "said" of a copy of it.
said()
{
	cp "$BATS_FILE_TMPDIR/$1.db" run.db
	ctanalyze "${@:2}" --limit 0 --format csv run.db | tr -d '\r' >said.csv
	sqlite3 run.db '.mode csv' '.import said.csv said'
}

# same LEAST SAID TRUTH: two queries give the same rows, and so many of them at least.
same()
{
	sqlite3 run.db "CREATE TEMP TABLE a AS $2; CREATE TEMP TABLE b AS $3;
		SELECT 'said', * FROM (SELECT * FROM a EXCEPT SELECT * FROM b) LIMIT 5;
		SELECT 'true', * FROM (SELECT * FROM b EXCEPT SELECT * FROM a) LIMIT 5;
		SELECT 'rows', (SELECT count(*) FROM a), (SELECT count(*) FROM b)
			WHERE (SELECT count(*) FROM a) <> (SELECT count(*) FROM b)
			OR (SELECT count(*) FROM b) < $1;" >differences
	cat differences
	[ ! -s differences ]
}

integers()
{
	local column list=
	for column; do
		list="$list${list:+, }CAST($column AS INTEGER) AS $column"
	done
	echo "$list"
}

runs="loaded lossy late"

@test "each thread's processor time, runs, longest run and migrations" {
	for run in $runs; do
		said "$run" cpu --table threads
		same 20 "SELECT node, $(integers tid cpu_ns runs max_ns migrations) FROM said" \
			"WITH run AS (SELECT *, lag(cpu) OVER (PARTITION BY node, tid ORDER BY begin_ns) AS last
				FROM truth WHERE kind = 'run' AND tid > 0 AND end_ns > begin_ns)
			SELECT node, tid, sum(end_ns - begin_ns), count(*), max(end_ns - begin_ns),
				CAST(total(cpu <> last) AS INTEGER) FROM run GROUP BY node, tid"
	done
}

@test "each processor's time, busy and idle; together all the time there is" {
	for run in $runs; do
		said "$run" cpu --table cpus
		same 6 "SELECT node, $(integers cpu busy_ns idle_ns) FROM said" \
			"SELECT node, cpu, CAST(total((end_ns - begin_ns) * (tid > 0)) AS INTEGER),
				CAST(total((end_ns - begin_ns) * (tid = 0)) AS INTEGER)
			FROM truth WHERE kind = 'run' GROUP BY node, cpu"
		same 6 "SELECT node, CAST(cpu AS INTEGER) AS cpu, busy_ns + idle_ns AS ns FROM said" \
			"SELECT DISTINCT n.name, e.cpu, s.end_ns - s.begin_ns AS ns FROM event AS e
			JOIN node AS n ON n.id = e.node JOIN source AS s ON s.node = n.id"
	done
}

@test "each processor over time" {
	said loaded cpu --interval 100ms --table intervals
	same 180 "SELECT node, $(integers cpu begin_ns busy_ns idle_ns) FROM said
			WHERE busy_ns <> ''" \
		"WITH run AS (SELECT *, (SELECT min(ts_ns) FROM event) AS origin
				FROM truth WHERE kind = 'run' AND end_ns > begin_ns),
			part AS (SELECT node, cpu, tid, begin_ns, end_ns, origin
					+ (begin_ns - origin) / 100000000 * 100000000 AS step FROM run
				UNION ALL SELECT node, cpu, tid, step + 100000000, end_ns,
					step + 100000000 FROM part WHERE step + 100000000 < end_ns)
		SELECT node, cpu, step,
			CAST(total((min(end_ns, step + 100000000) - begin_ns) * (tid > 0)) AS INTEGER),
			CAST(total((min(end_ns, step + 100000000) - begin_ns) * (tid = 0)) AS INTEGER)
		FROM part GROUP BY node, cpu, step"
}

@test "each wait from a wakeup to running, and who woke" {
	for run in $runs; do
		said "$run" sched --log --table log
		same 1000 "SELECT node, $(integers cpu tid waker_tid begin_ns latency_ns) FROM said" \
			"SELECT node, cpu, tid, number, begin_ns, end_ns - begin_ns FROM truth
			WHERE kind = 'wait'"
	done
}

@test "waits after losing the processor" {
	for run in $runs; do
		said "$run" sched --table preempted --stats
		same 4 "SELECT node, $(integers tid count min_ns max_ns sum_ns) FROM said" \
			"SELECT node, tid, count(*), min(end_ns - begin_ns), max(end_ns - begin_ns),
				sum(end_ns - begin_ns) FROM truth WHERE kind = 'preempted' GROUP BY node, tid"
	done
}

@test "each interrupt, and how long before it was raised" {
	for run in $runs; do
		said "$run" irq --log --table log
		same 1000 "SELECT node, $(integers cpu tid number begin_ns duration_ns), kind,
				CASE WHEN kind = 'hard' THEN name END AS name, CAST(raised_ns AS INTEGER) AS raised_ns
				FROM said" \
			"SELECT node, cpu, tid, number, begin_ns, end_ns - begin_ns,
				CASE kind WHEN 'irq' THEN 'hard' ELSE 'soft' END,
				CASE WHEN kind = 'irq' THEN name END,
				coalesce(begin_ns - middle_ns, 0) FROM truth WHERE kind IN ('irq', 'softirq')"
	done
}

@test "each processor's time in interrupts" {
	said loaded irq --table cpus
	same 6 "SELECT node, $(integers cpu hard soft hard_ns soft_ns) FROM said" \
		"SELECT node, cpu, CAST(total(kind = 'irq') AS INTEGER),
			CAST(total(kind = 'softirq') AS INTEGER),
			CAST(total((end_ns - begin_ns) * (kind = 'irq')) AS INTEGER),
			CAST(total((end_ns - begin_ns) * (kind = 'softirq')) AS INTEGER)
		FROM truth WHERE kind IN ('irq', 'softirq') GROUP BY node, cpu"
}

# The simulator records when threads run; their other states are in between.
@test "the timeline's own tables" {
	for run in $runs; do
		cp "$BATS_FILE_TMPDIR/$run.db" run.db
		[ "$(sqlite3 run.db 'PRAGMA integrity_check')" = ok ]
		same 1000 "SELECT n.name, s.cpu, s.tid, s.begin_ns, s.end_ns FROM thread_state AS s
				JOIN node AS n ON n.id = s.node WHERE state = 'running'" \
			"SELECT node, cpu, tid, begin_ns, end_ns FROM truth
			WHERE kind = 'run' AND end_ns > begin_ns"
		same 1000 "SELECT n.name, i.cpu, i.kind, i.number, i.begin_ns, i.end_ns FROM irq AS i
				JOIN node AS n ON n.id = i.node" \
			"SELECT node, cpu, kind, number, begin_ns, end_ns FROM truth
			WHERE kind IN ('irq', 'softirq')"
		same 1000 "SELECT n.name, s.tid, s.name, s.ret, s.begin_ns, s.end_ns FROM syscall AS s
				JOIN node AS n ON n.id = s.node WHERE cut = 0" \
			"SELECT node, tid, name, number, begin_ns, end_ns FROM truth WHERE kind = 'call'"
		same 100 "SELECT n.name, b.operation, b.tid, b.sector, b.begin_ns, b.issue_ns, b.end_ns
				FROM block_request AS b JOIN node AS n ON n.id = b.node WHERE cut = 0" \
			"SELECT node, name, tid, number, begin_ns, middle_ns, end_ns FROM truth
			WHERE kind = 'disk'"
		same 0 "SELECT a.id FROM thread_state AS a JOIN thread_state AS b ON b.node = a.node
				AND b.tid = a.tid AND b.begin_ns < a.end_ns AND b.begin_ns >= a.begin_ns
				AND b.id <> a.id WHERE a.tid > 0" "SELECT 1 WHERE 0"
		same 0 "SELECT s.id FROM thread_state AS s LEFT JOIN thread AS t ON t.id = s.thread
				WHERE t.tid IS NULL OR t.tid <> s.tid OR t.node <> s.node" "SELECT 1 WHERE 0"
	done
}

# Nothing is told twice or in other words: a part's spans are those of its own events.
@test "without spans, without classes, without fields" {
	local all="SELECT count(*) FROM (SELECT node FROM thread_state UNION ALL SELECT node FROM syscall
		UNION ALL SELECT node FROM irq UNION ALL SELECT node FROM block_request)"
	ctmerge -q --no-sync --no-spans "$BATS_FILE_TMPDIR/loaded" -o none.db 2>/dev/null
	[ "$(sqlite3 none.db "$all")" = 0 ]
	for analysis in cpu sched syscalls irq io wakeups critical-path; do
		ctanalyze "$analysis" none.db | grep -q 'omitted by ctmerge --no-spans'
	done
	ctexport perfetto none.db -o none.pftrace 2>&1 | grep -q 'without --no-spans'
	ctmerge -q --no-sync --events 'irq_*' "$BATS_FILE_TMPDIR/loaded" -o irq.db 2>/dev/null
	[ "$(sqlite3 irq.db 'SELECT (SELECT count(*) FROM thread_state), (SELECT count(*) FROM irq) > 1000')" = '0|1' ]
	ctmerge -q --no-sync --no-payload "$BATS_FILE_TMPDIR/loaded" -o bare.db 2>/dev/null
	[ "$(sqlite3 bare.db "$all")" = "$(sqlite3 "$BATS_FILE_TMPDIR/loaded.db" "$all")" ]
	cp "$BATS_FILE_TMPDIR/loaded.db" run.db
	begin=$(sqlite3 run.db 'SELECT min(ts_ns) + 1000000000 FROM event')
	ctmerge -q --no-sync --begin "$begin" --end "$((begin + 700000000))" \
		"$BATS_FILE_TMPDIR/loaded" -o part.db 2>/dev/null
	sqlite3 run.db "ATTACH 'part.db' AS p" \
		"CREATE TABLE part AS SELECT node, tid, state, cpu, begin_ns, end_ns, cut FROM p.thread_state"
	same 0 "SELECT begin_ns FROM part WHERE begin_ns < $begin OR end_ns > $begin + 700000000" "SELECT 1 WHERE 0"
	same 500 "SELECT node, tid, state, cpu, begin_ns, end_ns FROM part WHERE cut = 0" \
		"SELECT node, tid, state, cpu, begin_ns, end_ns FROM thread_state WHERE cut = 0
		AND (node, tid, begin_ns, end_ns) IN (SELECT node, tid, begin_ns, end_ns FROM part)"
	[ "$(sqlite3 run.db 'SELECT count(*) > 10 FROM part WHERE cut > 0')" = 1 ]
}

# A child's return from the clone that made it is no call of its own: it has no entry.
@test "each system call and its result" {
	for run in $runs; do
		said "$run" syscalls --log --table log
		same 1000 "SELECT node, $(integers tid result begin_ns duration_ns), syscall FROM said
				WHERE result <> '' AND NOT (syscall = 'clone' AND result = 0)
				AND begin_ns NOT IN (SELECT begin_ns FROM source)" \
			"SELECT node, tid, number, begin_ns, end_ns - begin_ns, name FROM truth
			WHERE kind = 'call'"
	done
}

@test "each disk request, in the queue and in the disk" {
	for run in $runs; do
		said "$run" io --log --table log
		same 100 "SELECT node, operation, $(integers tid sector begin_ns queue_ns latency_ns) FROM said" \
			"SELECT node, name, tid, number, begin_ns, middle_ns - begin_ns, end_ns - middle_ns
			FROM truth WHERE kind = 'disk'"
	done
}

@test "a part of the run is told as the whole" {
	cp "$BATS_FILE_TMPDIR/loaded.db" run.db
	begin=$(sqlite3 run.db 'SELECT min(ts_ns) + 1000000000 FROM event')
	end=$((begin + 700000000))
	said loaded cpu --table threads --begin "$begin" --end "$end"
	same 8 "SELECT node, $(integers tid cpu_ns runs) FROM said" \
		"SELECT node, tid, sum(min(end_ns, $end) - max(begin_ns, $begin)), count(*)
		FROM truth WHERE kind = 'run' AND tid > 0 AND begin_ns < $end AND end_ns > $begin
			AND end_ns > begin_ns GROUP BY node, tid"
	said loaded sched --log --table log --begin "$begin" --end "$end"
	same 200 "SELECT node, $(integers tid begin_ns latency_ns) FROM said" \
		"SELECT node, tid, begin_ns, end_ns - begin_ns FROM truth
		WHERE kind = 'wait' AND begin_ns >= $begin AND end_ns <= $end"
}

# A clock that is put right makes its spans longer or shorter by its rate, and rounds both ends.
@test "waits by clocks that were put right" {
	ctmerge -q "$BATS_FILE_TMPDIR/drifting" -o right.db 2>/dev/null
	said drifting sched --log --table log
	ctanalyze sched --log --table log --limit 0 --format csv right.db | tr -d '\r' >right.csv
	sqlite3 run.db '.mode csv' '.import right.csv right' "ATTACH 'right.db' AS r" \
		"CREATE TABLE rate AS SELECT n.name AS node, max(rate_ppb) AS most, min(rate_ppb) AS least
		FROM r.clock AS c JOIN r.source AS s ON s.id = c.source JOIN r.node AS n ON n.id = s.node
		GROUP BY n.name"
	[ "$(sqlite3 run.db 'SELECT count(*) FROM rate WHERE abs(most) > 10000')" = 2 ]
	same 1000 "SELECT node, tid, latency_ns + 0 AS ns, row_number() OVER (PARTITION BY node, tid
			ORDER BY begin_ns) AS i FROM said" \
		"SELECT l.node, l.tid, l.ns, l.i FROM
			(SELECT node, tid, latency_ns + 0 AS ns, row_number() OVER (PARTITION BY node, tid
				ORDER BY begin_ns) AS i FROM said) AS l
			JOIN (SELECT node, tid, latency_ns + 0 AS ns, row_number() OVER (PARTITION BY node, tid
				ORDER BY begin_ns) AS i FROM right) AS r
			ON r.node = l.node AND r.tid = l.tid AND r.i = l.i
			JOIN rate ON rate.node = l.node
			AND r.ns BETWEEN l.ns * (1 + least * 1e-9) - 1 AND l.ns * (1 + most * 1e-9) + 1"
}
