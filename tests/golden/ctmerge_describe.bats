#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The description of a run by ctmerge --describe.
load common

net3=fixtures/net3

@test "nodes, sources, clocks and files" {
	ctsync -q $net3 -o map.json
	golden merge_describe ctmerge -q --describe --clocks map.json $net3
	golden merge_describe_own ctmerge -q --describe --no-sync $net3
	[ "$(echo *)" = 'datasets fixtures map.json' ]
}

@test "as JSON" {
	golden merge_describe.json ctmerge -q --describe --json --no-sync $net3
}

@test "of a trace alone" {
	golden merge_describe_trace ctmerge -q --describe $net3/node1/kernel
}
