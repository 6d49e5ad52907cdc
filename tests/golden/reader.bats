#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --reader: which code reads CTF traces makes no difference but in speed.
load common
load ctf

@test "clocks are the same by either reader" {
	for reader in native babeltrace2 auto; do
		ends_with 0 ctsync -q --reader $reader --json fixtures/net3
		mv "$scratch/stdout" $reader.json
	done
	cmp native.json babeltrace2.json
	cmp native.json auto.json
}

@test "timelines are the same by either reader" {
	for reader in native babeltrace2; do
		ends_with 0 ctmerge -q --reader $reader fixtures/net3 -o $reader.db
		sqlite3 -readonly $reader.db .dump | grep -v "^INSERT INTO meta VALUES('command'" >$reader.sql
	done
	cmp native.sql babeltrace2.sql
}

@test "the reader is the user's choice, never another one silently" {
	ctf_trace web web
	ctf_trace db db
	ctf_talk web db 0 2
	# An alignment that cannot be, which libbabeltrace2 passes over.
	sed -i '2i struct odd { string s; } align(3);' web/metadata
	for reader in auto native; do
		fails_with 1 'ctsync: web/metadata: line 2: minimum-alignment: expected a power of two up to 65536 as alignment
ctsync: 1 trace to read, want 2 or more' ctsync --reader $reader -t web -t db
	done
	ends_with 0 ctsync --reader babeltrace2 -t web -t db
	[ ! -s "$scratch/stderr" ]
}

@test "a reader that there is not" {
	fails_with 2 "ctsync: --reader: invalid value 'yactfr' (expected auto, native or babeltrace2)" \
		ctsync --reader yactfr fixtures/net3
	fails_with 2 "ctmerge: --reader: invalid value 'yactfr' (expected auto, native or babeltrace2)" \
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
	ends_with 3 ctsync --reader native --stats -t web -t db
	mv "$scratch/stdout" many
	ends_with 3 bash -c 'ulimit -n 32 && exec ctsync --reader native --stats -t web -t db'
	[ ! -s "$scratch/stderr" ]
	cmp "$scratch/stdout" many
	grep '^sent  *204,' many
}
