#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The sample run that ./demo and the README show: what the programs say of it.
load common
load schema

setup_file()
{
	CT_SAMPLE=$BATS_FILE_TMPDIR/sample.db
	export CT_SAMPLE
	cd "$CT_SOURCE" && ctmerge -q datasets/sample -o "$CT_SAMPLE" 2>/dev/null
}

@test "clocks" {
	golden sample_clocks ctsync datasets/sample
	golden sample_straight ctsync --bounds straight datasets/sample
}

@test "messages" {
	golden sample_messages ctanalyze messages --table pairs "$CT_SAMPLE"
}

@test "processors and threads" {
	golden sample_cpu ctanalyze cpu --limit 10 "$CT_SAMPLE"
	golden sample_sched ctanalyze sched --limit 10 "$CT_SAMPLE"
}

@test "tasks and processes" {
	golden sample_proc ctanalyze proc --limit 10 "$CT_SAMPLE"
}

@test "traffic and memory" {
	golden sample_net ctanalyze net --limit 10 "$CT_SAMPLE"
	golden sample_mem ctanalyze mem --limit 10 "$CT_SAMPLE"
}

@test "interrupts and disks" {
	golden sample_irq ctanalyze irq --limit 10 "$CT_SAMPLE"
	golden sample_io ctanalyze io --limit 10 "$CT_SAMPLE"
}

@test "requests, and what the slowest one waited for" {
	golden sample_requests ctanalyze requests --limit 10 "$CT_SAMPLE"
	golden sample_critical ctanalyze critical-path "$CT_SAMPLE"
}

@test "the questions of the schema's document" {
	local name
	for name in processors latencies before-slow disk path; do
		ask_question "$CT_SAMPLE" $name sample_question_$name
	done
}

@test "what was not recorded is told, and is no failure" {
	golden sample_syscalls ctanalyze syscalls "$CT_SAMPLE"
}

@test "a workload for a simulator" {
	ends_with 0 ctexport opendc -q "$CT_SAMPLE" -o opendc
	golden sample_verify ctexport opendc --verify opendc
}
