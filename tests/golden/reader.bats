#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Traces of many streams.
load common
load ctf

@test "more streams than files may be open" {
	ctf_trace web web
	ctf_trace db db
	ctf_talk web db 0 2
	# Each packet a hundred times, so that none can be matched.
	for i in $(seq 100); do
		cp web/stream "web/stream_$i"
	done
	ends_with 3 ctsync --stats -t web -t db
	mv "$scratch/stdout" many
	ends_with 3 bash -c 'ulimit -n 32 && exec ctsync --stats -t web -t db'
	[ ! -s "$scratch/stderr" ]
	cmp "$scratch/stdout" many
	grep '^sent  *204,' many
}
