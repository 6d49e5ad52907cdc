#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The helpers themselves: each of them can fail.
# shellcheck disable=SC2034 # the variables are for golden
load common

# say STATUS WORD...: the words to standard output, "sad" to standard error.
say()
{
	local status=$1
	shift
	echo "$@"
	echo sad >&2
	return "$status"
}

@test "golden compares standard output" {
	CT_EXPECT=$scratch
	echo one two >"$scratch/words"
	golden words say 0 one two
	run golden words say 0 one three
	[ "$status" -ne 0 ]
	[[ "$output" == *'-one two'* && "$output" == *'+one three'* ]]
	run golden absent say 0 one two
	[ "$status" -ne 0 ]
}

@test "golden checks the exit status" {
	CT_EXPECT=$scratch
	echo one >"$scratch/words"
	golden -s 3 words say 3 one
	run golden words say 3 one
	[ "$status" -ne 0 ]
	[[ "$output" == *'exit status 3, want 0'*sad ]]
}

@test "CT_UPDATE=1 writes the expectation anew" {
	CT_EXPECT=$scratch/new
	CT_UPDATE=1 golden words say 0 four
	[ "$(cat "$scratch/new/words")" = four ]
	golden words say 0 four
}

@test "fails_with compares status and standard error" {
	fails_with 2 sad say 2 any
	run fails_with 1 sad say 2 any
	[ "$status" -ne 0 ]
	run fails_with 2 'very sad' say 2 any
	[ "$status" -ne 0 ]
	[[ "$output" == *'-very sad'* && "$output" == *'+sad'* ]]
	run fails_with 2 $'sad\nsad' say 2 any
	[ "$status" -ne 0 ]
}

@test "a test finds the data, and starts in an empty directory" {
	[ -f fixtures/net3/run.json ]
	[ "$(echo *)" = 'datasets fixtures' ]
}
