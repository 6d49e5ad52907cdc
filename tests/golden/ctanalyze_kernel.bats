#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the analyses of the kernel's events say of a simulated run, and of a recorded one
# that lacks these events.
load analyses

# The sum of a column of a table, by its title.
sum()
{
	ctanalyze "${@:3}" --format csv --table "$1" --limit 0 "$CT_CLIENTS" | awk -F, -v name="$2" '
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

@test "cpu: too many steps" {
	fails_with 1 'ctanalyze: --interval: 2999491 steps in the time asked for, want at most 100000' \
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
