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
	fails_with 2 "ctanalyze: --irq: 'x' is no number, want some such as 0,4-7" \
		ctanalyze irq --irq x "$CT_CLIENTS"
	fails_with 2 'ctanalyze: --softirq means nothing to cpu, see ctanalyze cpu --help' \
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
	fails_with 2 "ctanalyze: --minsize: '8x' is no size, want one such as 4096, 64k or 1MiB" \
		ctanalyze io --minsize 8x "$CT_CLIENTS"
	fails_with 2 'ctanalyze: --minsize is more than --maxsize' \
		ctanalyze io --minsize 2M --maxsize 1MB "$CT_CLIENTS"
}
