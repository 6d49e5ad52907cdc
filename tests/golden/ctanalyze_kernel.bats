#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The analyses of the kernel's events for a simulated run, and for a recorded one
# that lacks these events.
load analyses

# The sum of a column of a table, by its title.
sum()
{
	ctanalyze "${@:3}" --format csv --table "$1" --limit 0 "$CT_CLIENTS" | tr -d '\r' | awk -F, -v name="$2" '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
	NR > 1 { sum += $column }
	END { printf "%.0f\n", sum }'
}

@test "cpu" {
	clients cpu cpu
	clients cpu_process cpu --group process --limit 5
	clients cpu_name cpu --group name --table names
	clients cpu_priority cpu --group priority --table priorities
	clients cpu_interval cpu --interval 1s --table intervals --node node1
	net3 cpu cpu
}

@test "cpu: every table has the same time" {
	busy=$(sum cpus busy_ns cpu)
	[ "$busy" -gt 0 ]
	[ "$busy" = "$(sum threads cpu_ns cpu)" ]
	[ "$busy" = "$(sum processes cpu_ns cpu --group process)" ]
	[ "$busy" = "$(sum intervals busy_ns cpu --interval 7ms)" ]
}

@test "cpu: a part is what the whole has there" {
	whole=$(ctanalyze cpu --interval 500ms --table intervals --format csv "$CT_CLIENTS" | sed -n 's/.*,node2,1,\([0-9]*\),\([0-9]*\),.*/\1 \2/p' | sed -n 3p)
	part=$(ctanalyze cpu --timerange +1,+1.499999999 --node node2 --cpu 1 --table cpus --format csv "$CT_CLIENTS" | sed -n 's/^node2,1,\([0-9]*\),\([0-9]*\),.*/\1 \2/p')
	[ -n "$whole" ]
	# The last ns of the part is not in it.
	echo "$whole $part" | awk '{ d = $1 + $2 - $3 - $4; exit !(d == 1) }'
}

# node1 was recorded for longer, but is not asked for.
@test "cpu: shares of names are of the nodes asked for" {
	recorded=$(ctanalyze cpu --node node3 --table nodes --format csv "$CT_CLIENTS" | tr -d '\r' | awk -F, 'NR == 2 { print $8 }')
	ctanalyze cpu --node node3 --group name --table names --format csv "$CT_CLIENTS" | tr -d '\r' |
		awk -F, -v recorded="$recorded" 'NR > 1 && $2 > 1e8 {
			d = $3 * recorded / $2 / 100
			if (d < 0.9999 || d > 1.0001)
				wrong = 1
			seen++
		}
		END { exit wrong || !seen }'
}

@test "cpu: too many steps" {
	fails_with 1 'ctanalyze: --interval: 2999491 steps in the selected time range (limit 100000)' \
		ctanalyze cpu --interval 1us "$CT_CLIENTS"
}

@test "sched" {
	clients sched sched --limit 5
	clients sched_forms sched --freq --log --node node1 --min 500us
	clients sched_cpu sched --stats --group cpu
	net3 sched sched
}

@test "syscalls" {
	clients syscalls syscalls
	clients syscalls_forms syscalls --top --freq --group thread --procname server
	clients syscalls_log syscalls --log --node node1 --procname server --timerange +1,+1.02
	net3 syscalls syscalls
}

@test "irq" {
	clients irq irq
	clients irq_forms irq --top --freq --cpu 1 --limit 3
	net3 irq irq
}

@test "io" {
	clients io io
	clients io_forms io --top --freq --procname worker --limit 4
	net3 io io
}

# A filter leaves of the log what awk leaves of it.
@test "irq: by number" {
	ctanalyze irq --limit 0 --log --format csv "$CT_CLIENTS" | tr -d '\r' >all
	ctanalyze irq --limit 0 --log --irq 20-25,29 --softirq 9 --format csv "$CT_CLIENTS" | tr -d '\r' >some
	awk -F, 'FNR == 1 || ($5 == "hard" && ($6 == 25 || $6 == 29)) || ($5 == "soft" && $6 == 9)' \
		all | cmp - some
	[ "$(wc -l <some)" -gt 100 ]
	ctanalyze irq --limit 0 --log --softirq 1,2-8 --format csv "$CT_CLIENTS" | tr -d '\r' >soft
	awk -F, 'FNR == 1 || ($5 == "soft" && $6 == 3)' all | cmp - soft
	[ "$(ctanalyze irq --irq 25 --format csv --table cpus "$CT_CLIENTS" | tr -d '\r' |
		sed 1d | cut -d , -f 4,7 | sort -u)" = 0,0 ]
	fails_with 2 "ctanalyze: --irq: invalid number 'x' (expected a list such as 0,4-7)" \
		ctanalyze irq --irq x "$CT_CLIENTS"
	fails_with 2 'ctanalyze: --softirq does not apply to cpu; see ctanalyze cpu --help' \
		ctanalyze cpu --softirq 1 "$CT_CLIENTS"
}

@test "io: by size" {
	ctanalyze io --limit 0 --log --format csv "$CT_CLIENTS" | tr -d '\r' >all
	ctanalyze io --limit 0 --log --minsize 8k --maxsize 20000 --format csv "$CT_CLIENTS" | tr -d '\r' >some
	awk -F, 'FNR == 1 || ($11 >= 8192 && $11 <= 20000)' all | cmp - some
	[ "$(wc -l <some)" -gt 1 ]
	[ "$(wc -l <some)" -lt "$(wc -l <all)" ]
	# Calls that moved less are left out, those that moved enough are not.
	ctanalyze io --table files --format csv --limit 0 "$CT_CLIENTS" | tr -d '\r' >calls
	ctanalyze io --table files --format csv --limit 0 --minsize 1 "$CT_CLIENTS" |
		tr -d '\r' >moved
	for column in 6 7; do
		awk -F, -v c=$column '{ s += $c } END { print s }' calls >sum
		awk -F, -v c=$column '{ s += $c } END { print s }' moved | cmp - sum
	done
	[ "$(awk -F, '{ s += $10 + $11 } END { print s }' moved)" = 0 ]
	fails_with 2 "ctanalyze: --minsize: invalid size '8x' (expected one such as 4096, 64k or 1MiB)" \
		ctanalyze io --minsize 8x "$CT_CLIENTS"
	fails_with 2 'ctanalyze: --minsize is more than --maxsize' \
		ctanalyze io --minsize 2M --maxsize 1MB "$CT_CLIENTS"
}

# is SUM QUERY: the timeline's own spans say the same.
is()
{
	local wanted
	wanted=$(sqlite3 -readonly "$CT_CLIENTS" "$2")
	[ "$1" = "$wanted" ] || {
		echo "$1, but $2 is $wanted"
		return 1
	}
}

@test "cpu: selected threads in every table" {
	local who=(cpu --procname worker)
	busy="SELECT sum(s.duration_ns) FROM thread_state AS s JOIN thread AS t ON t.id = s.thread
		JOIN process AS p ON p.id = t.process WHERE s.state = 'running' AND 'worker' IN (t.comm, p.comm)"
	is "$(sum nodes busy_ns "${who[@]}")" "$busy"
	is "$(sum cpus busy_ns "${who[@]}")" "$busy"
	is "$(sum threads cpu_ns "${who[@]}")" "$busy"
	is "$(sum intervals busy_ns "${who[@]}" --interval 7ms)" "$busy"
	[ "$(sum nodes idle_ns "${who[@]}")" = "$(sum nodes idle_ns cpu)" ]
}

# A thread has its last name, and a name the time of all threads that had it.
@test "names at the time" {
	had="FROM thread_state AS s JOIN thread AS t ON t.id = s.thread
		WHERE coalesce(s.comm, t.comm) = 'cron' AND s.state"
	ctanalyze cpu --group name --table names --format csv --limit 0 "$CT_CLIENTS" | tr -d '\r' >names.csv
	is "$(sed -n 's/^cron,\([0-9]*\),.*/\1/p' names.csv)" "SELECT sum(s.duration_ns) $had = 'running'"
	ctanalyze sched --log --format csv --limit 0 "$CT_CLIENTS" | tr -d '\r' >log
	is "$(cut -d, -f6 log | grep -c '^cron$')" "SELECT count(*) $had = 'runnable' AND s.preempted = 0 AND s.cut = 0"
	cut -d, -f6 log | sort | uniq -c >by_log
	ctanalyze sched --group name --table latencies --format csv --limit 0 "$CT_CLIENTS" | tr -d '\r' |
		awk -F, 'NR > 1 { printf "%7d %s\n", $2, $1 }' | grep -E 'cron|gzip|find' | sort >by_group
	grep -E 'cron|gzip|find' by_log | sort | diff - by_group
}

@test "sched: blocked time is that of all sleeps" {
	slept="FROM thread_state WHERE state IN ('interruptible', 'uninterruptible', 'blocked')"
	for group in thread process name node; do
		is "$(sum blocked sum_ns sched --group $group)" "SELECT sum(duration_ns) $slept AND cut = 0"
		is "$(sum blocked cut_ns sched --group $group)" "SELECT sum(duration_ns) $slept AND cut > 0"
	done
	is "$(ctanalyze sched --table blocked --group node --limit 0 --format csv "$CT_CLIENTS" |
		awk -F, '$2 == "disk" { s += $5 } END { printf "%.0f", s }')" "SELECT sum(duration_ns) $slept AND cut = 0 AND wait = 'disk'"
	begin=$(sqlite3 -readonly "$CT_CLIENTS" "SELECT min(ts_ns) + 1000000000 FROM event")
	end=$((begin + 500000000))
	is "$(($(sum blocked sum_ns sched --begin "$begin" --end "$end") + $(sum blocked cut_ns sched --begin "$begin" --end "$end")))" \
		"SELECT sum(min(end_ns, $end) - max(begin_ns, $begin)) $slept AND begin_ns < $end AND end_ns > $begin"
}

@test "syscalls: what is not whole has no duration and does not count" {
	ctanalyze syscalls --log --limit 0 --format csv "$CT_CLIENTS" | tr -d '\r' >log
	is "$(awk -F, 'NR > 1 && $2 == ""' log | wc -l)" 'SELECT count(*) FROM syscall WHERE cut > 0'
	is "$(awk -F, 'NR > 1 && $NF == "end"' log | wc -l)" 'SELECT count(*) FROM syscall WHERE cut = 2'
	[ "$(awk -F, 'NR > 1 && ($2 == "") != ($NF != "")' log | wc -l)" = 0 ]
	for group in syscall thread process name node; do
		is "$(sum syscalls errors syscalls --group $group)" \
			'SELECT count(*) FROM syscall WHERE cut = 0 AND ret BETWEEN -4095 AND -1'
	done
	is "$(sum errors count syscalls)" 'SELECT count(*) FROM syscall WHERE cut = 0 AND ret BETWEEN -4095 AND -1'
	# A window does not move what began before it.
	ctanalyze syscalls --log --limit 0 --timerange +1,+1.1 --format csv "$CT_CLIENTS" | tr -d '\r' |
		sed 1d | cut -d, -f1,3,4,8 | sort >part
	cut -d, -f1,3,4,8 log | sort | comm -23 part - | diff - /dev/null
	[ -s part ]
}

@test "io: pipes apart from files, and how busy a disk was" {
	is "$(($(sum files sum_ns io) + $(sum pipes sum_ns io)))" "SELECT sum(duration_ns) FROM syscall
		WHERE cut = 0 AND fd >= 0 AND (name GLOB '*read*' OR name GLOB '*write*' OR name GLOB 'send*'
		OR name GLOB 'recv*' OR name GLOB 'f*sync' OR name = 'getdents64')"
	is "$(sum pipes blocked_ns io)" "SELECT sum(duration_ns) FROM thread_state WHERE cut = 0 AND state = 'interruptible' AND syscall IN ('read', 'write')
		AND EXISTS (SELECT 1 FROM syscall AS c WHERE c.node = thread_state.node AND c.tid = thread_state.tid AND c.cut = 0
			AND c.begin_ns <= thread_state.begin_ns AND c.end_ns >= thread_state.end_ns)"
	is "$(sum utilization busy_ns io)" "WITH edge AS (
		SELECT node, disk, issue_ns AS at, 1 AS more FROM block_request WHERE cut = 0
		UNION ALL SELECT node, disk, end_ns, -1 FROM block_request WHERE cut = 0),
		depth AS (SELECT lead(at) OVER w - at AS ns, sum(more) OVER w AS n FROM edge
			WINDOW w AS (PARTITION BY node, disk ORDER BY at, more DESC ROWS UNBOUNDED PRECEDING))
		SELECT sum(ns) FROM depth WHERE n > 0"
}
