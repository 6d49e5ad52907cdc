#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What each analysis says of a recorded run, and of a simulated one.
load analyses

@test "clocks" {
	net3 clocks clocks --limit 5
	clients clocks clocks --table clocks
}

@test "problems" {
	net3 problems problems
}

@test "messages" {
	net3 messages messages
	clients messages messages
}

@test "messages: other forms" {
	clients messages_freq messages --freq
	clients messages_log messages --log --limit 5 --min 1ms
	clients messages_nodes messages --stats --group node
	net3 messages_time messages --stats --group protocol --interval 10s --timerange +5,+25
}

@test "net" {
	net3 net net
	clients net net --interval 1s
}

@test "mem" {
	net3 mem mem
	clients mem mem
}

@test "proc" {
	net3 proc proc
	clients proc proc --limit 20
}

@test "metrics" {
	net3 metrics metrics --node node1
	clients metrics metrics --metric '*kB/s' --item eth0 --alias eth0=wire --interval 2s
}

@test "periods" {
	clients periods periods --from 'irq_handler_entry[irq > 0]' --to irq_handler_exit \
		--group node,cpu,irq --limit 5 --stats --freq
	clients periods_wakeup periods --from 'sched_wakeup[comm ~ "work*" && .tid > 0]' \
		--to 'sched_switch[next_tid > 0]' --group node,.tid=next_tid --limit 5
}

@test "wakeups" {
	net3 wakeups wakeups
	clients wakeups wakeups --limit 8
}

@test "each analysis has golden output, or a test of its own" {
	ctanalyze --help | sed -n '/^Analyses:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | while read -r name; do
		cat "$BATS_TEST_DIRNAME"/ctanalyze*.bats | grep -q "ctanalyze $name\|net3 [a-z_]* $name\|clients [a-z_]* $name" || {
			echo "$name: no test"
			exit 1
		}
	done
}
