#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --reader, and traces of many streams.
load common
load ctf

@test "a reader that there is not" {
	ends_with 0 ctsync -q --reader native --json fixtures/net3
	mv "$scratch/stdout" native.json
	ctsync -q --reader auto --json fixtures/net3 | cmp - native.json
	fails_with 2 "ctsync: --reader: invalid value 'babeltrace2' (expected auto or native)" \
		ctsync --reader babeltrace2 fixtures/net3
	fails_with 2 "ctmerge: --reader: invalid value 'yactfr' (expected auto or native)" \
		ctmerge --reader yactfr fixtures/net3 -o net3.db
	[ ! -e net3.db ]
}

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
