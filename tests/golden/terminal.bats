#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What differs on a terminal: script(1) makes one.
load common

# on_terminal COLUMNS LOCALE COMMAND: what it leaves there; lines of progress are overwritten.
on_terminal()
{
	LC_ALL=$2 script -qec "stty cols $1; $3" /dev/null </dev/null | sed 's/\r*$//; s/.*\r//; s/\x1b\[[0-9;]*[A-Za-z]//g'
}

@test "a table that is too wide goes on below" {
	ctmerge -q datasets/sample -o sample.db
	golden terminal_wide on_terminal 80 C.UTF-8 'ctanalyze requests --table parts sample.db'
	on_terminal 80 C.UTF-8 'ctanalyze sched sample.db' >said
	LC_ALL=C.UTF-8 ends_with 1 grep -E '^.{81,}$' said
	# Nothing is lost: every value of the file is there.
	ctanalyze requests --table parts sample.db | tr -s ' ' '\n' | sed 's/^+-//; s/^us$//' | sort -u >values
	on_terminal 80 C.UTF-8 'ctanalyze requests --table parts sample.db' | tr -s ' ' '\n' | sed 's/^±//; s/^µs$//' | sort -u >shown
	diff values shown
}

@test "clocks for people" {
	golden terminal_clocks on_terminal 100 C.UTF-8 'ctsync datasets/sample'
}

@test "letters as the locale has them; files have ASCII" {
	on_terminal 200 C.UTF-8 'ctsync datasets/sample' >utf8
	grep -q '^node2 .* ±595 µs .* accurate$' utf8
	on_terminal 200 C 'ctsync datasets/sample' >ascii
	grep -q '^node2 .* +-595 us .* accurate$' ascii
	LC_ALL=C.UTF-8 ctsync datasets/sample >file
	ctsync datasets/sample | diff - file
}

@test "ctmerge says what it has made" {
	on_terminal 200 C 'ctmerge datasets/sample -o made.db' >said
	grep -qE '^made.db: 150159 events of 3 nodes, clocks within \+-8\.[0-9]* ms, [0-9.]+ MB, [0-9.]+ s$' said
	ctmerge datasets/sample -o quiet.db 2>said
	[ ! -s said ]
}
