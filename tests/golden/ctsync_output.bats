#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The outputs of ctsync, and its errors when it cannot write them.
load common

net3=fixtures/net3

@test "-o writes the clock map beside the text" {
	ctsync --json $net3 >map
	golden net3 ctsync $net3 -o out.json
	cmp map out.json
	ends_with 0 ctsync --json $net3 -o out.json
	[ ! -s "$scratch/stdout" ]
	cmp map out.json
	ends_with 0 ctsync -q $net3 --output=out.json
	[ ! -s "$scratch/stdout" ]
	[ "$(echo *)" = 'datasets fixtures map out.json' ]
}

@test "-o into a missing directory, or onto one" {
	fails_with 1 'ctsync: nowhere/out.json: No such file or directory' \
		ctsync -q $net3 -o nowhere/out.json
	mkdir out
	fails_with 1 'ctsync: out: Is a directory' ctsync -q $net3 -o out
	fails_with 1 'ctsync: : No such file or directory' ctsync -q $net3 -o ''
	[ "$(echo *)" = 'datasets fixtures out' ]
}

@test "-o to a full disk keeps what was there" {
	echo old >out.json
	# shellcheck disable=SC2016 # the inner shell expands
	fails_with 1 'ctsync: out.json: File too large' \
		bash -c 'ulimit -f 1; trap "" XFSZ; exec ctsync -q "$1" -o out.json' - $net3
	[ "$(cat out.json)" = old ]
	[ "$(echo *)" = 'datasets fixtures out.json' ]
}

@test "-o writes to devices and pipes, and does not replace them" {
	ln -s /dev/full full
	fails_with 1 'ctsync: full: No space left on device' ctsync -q $net3 -o full
	[ -L full ]
	mkfifo pipe
	cat pipe >received &
	ends_with 0 ctsync -q $net3 -o pipe
	wait
	ctsync --json $net3 | cmp - received
	[ -p pipe ]
	ctsync --json $net3 >map
	ctsync -q $net3 -o /dev/stdout | cmp - map
}

@test "standard output that is full" {
	for words in '' --json --stats --help --version; do
		# shellcheck disable=SC2016,SC2086
		fails_with 1 'ctsync: standard output: No space left on device' \
			bash -c 'exec ctsync "$@" >/dev/full' - $words $net3
	done
}

@test "a reader that goes away ends it quietly" {
	# shellcheck disable=SC2016
	ends_with 141 bash -c 'ctsync --json "$1" | false; exit ${PIPESTATUS[0]}' - $net3
}
