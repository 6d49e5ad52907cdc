#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The output of each analysis for a recorded run, and for a simulated one.
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

@test "messages: some have no bound" {
	ctsim -q --seed 1 --set seconds=2 two -o two
	ctmerge -q two -o two.db
	ctanalyze messages --table pairs --format csv two.db | sed 1d >whole
	sqlite3 two.db 'UPDATE message SET low_ns = NULL WHERE id IN (SELECT id FROM message
		WHERE src_node = 1 ORDER BY high_ns - low_ns LIMIT 3)'
	ctanalyze messages --table pairs --format csv two.db | sed 1d >some
	sed 's/^\("*node1"*,.*\),0,0\(\r*\)$/\1,3,0\2/' whole | diff - some
	[ "$(cut -d , -f 11-12 some | tr -d '\r' | grep -c '^[1-9][0-9]*,[03]$')" = 2 ]
}

# The axis of each island is its own, and the times of its reference are exact on that alone.
@test "periods: between clocks that nothing ties there is no bound" {
	ctsim -q --seed 1 --set seconds=2 islands -o islands
	ctmerge -q islands -o islands.db || [ "$?" = 3 ]
	for to in node3 node6; do
		ctanalyze periods --from 'net_dev_queue[node = "node2"]' --to "net_dev_queue[node = \"$to\"]" \
			--log --limit 0 --table log --format csv islands.db | sed 1d | cut -d , -f 5 >bounds
		[ "$(wc -l <bounds)" -gt 20 ]
		[ "$(grep -c '^[0-9]' bounds)" = "$([ "$to" = node6 ] && echo 0 || wc -l <bounds)" ]
	done
}

@test "wakeups" {
	net3 wakeups wakeups
	clients wakeups wakeups --limit 8
}

# The numbers that ctanalyze compare ranks: of the whole run, and of each eighth.
@test "facts" {
	clients facts facts --limit 40
}

@test "each analysis has golden output, or a test of its own" {
	ctanalyze --help | sed -n '/^Analyses:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | while read -r name; do
		cat "$BATS_TEST_DIRNAME"/ctanalyze*.bats | grep -q "ctanalyze $name\|net3 [a-z_]* $name\|clients [a-z_]* $name" || {
			echo "$name: no test"
			exit 1
		}
	done
}

# Two tables of three fail when they are computed: a sum of integers overflows.
@test "a table that is not asked for is not computed" {
	local table
	recorded datasets/sample run.db
	cat >own.sql <<-'END'
		-- name: own

		-- temporary huge
		SELECT sum(9223372036854775807) AS total FROM node;

		-- table few: Few
		-- sort: node
		SELECT name AS node, id AS number FROM node;

		-- table stored: Stored
		SELECT total FROM huge;

		-- table direct: Direct
		SELECT sum(9223372036854775807) AS total FROM node;
	END
	ctanalyze run.db --sql own.sql --table few --sort=-number --format csv -q | tr -d '\r' >said
	printf '%s\n' node,number node3,3 node2,2 node1,1 | diff - said
	for table in '' '--table stored' '--table direct'; do
		# shellcheck disable=SC2086 # two words
		ends_with 1 ctanalyze run.db --sql own.sql $table -q
		grep -q 'integer overflow' "$scratch/stderr"
	done
	# Messages name the tables and columns of all.
	sed -i 's/9223372036854775807/1/' own.sql
	fails_with 2 "ctanalyze: --table: unknown table 'x' (expected one of few, stored, direct)" \
		ctanalyze run.db --sql own.sql --table x -q
	fails_with 2 "ctanalyze: --sort: unknown column 'x' (expected one of node, number, total)" \
		ctanalyze run.db --sql own.sql --table few --sort x -q
	ends_with 0 ctanalyze run.db --sql own.sql --table few --sort total -q
}
