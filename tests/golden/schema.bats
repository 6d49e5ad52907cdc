#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The questions of docs/schema.md, asked of a simulated run.
load common
load schema

# The run that the document names, once for all tests of this file.
setup_file()
{
	export CT_ASKED=$BATS_FILE_TMPDIR/run.db
	ctsim -q --seed 1 --set seconds=5 clients -o "$BATS_FILE_TMPDIR/run"
	ctmerge -q "$BATS_FILE_TMPDIR/run" -o "$CT_ASKED" 2>/dev/null
}

ask()
{
	ask_question "$CT_ASKED" "$1" "schema_$1"
}

@test "which programs used the processors" {
	ask processors
}

@test "how long messages take from node to node" {
	ask latencies
}

@test "what each node did before the slowest message" {
	ask before-slow
}

@test "how long requests wait for the disk while memory is short" {
	ask disk
}

@test "which way a request takes through the cluster" {
	ask path
}

@test "what kept a thread from running" {
	ask kept-from-running
}

@test "which disk requests were slow, and whose" {
	ask slow-disk
}

@test "what ran while a message was under way" {
	ask meanwhile
}

@test "processor time by process and container" {
	ask cpu-by-process
}

@test "who waited longest for a processor, and who ran instead" {
	ask scheduling-latency
}

@test "interrupts' share by processor" {
	ask interrupt-share
}

@test "system calls that failed" {
	ask failed-calls
}

@test "what threads waited for" {
	ask waits
}

@test "what one thread did" {
	ask history
}

@test "who woke whom" {
	ask wakers
}

@test "every question of the document is asked here" {
	grep -A1 '^```sql$' "$CT_SOURCE/docs/schema.md" | sed -n 's/^-- //p' | sort >there
	sed -n 's/^	ask //p' "$BATS_TEST_DIRNAME/schema.bats" | sort | diff there -
}
