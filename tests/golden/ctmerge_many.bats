#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on a hundred nodes: within few open files and little memory, and with
# everything in its place.
load common

@test "a hundred nodes with 256 open files and 600 MB of addresses" {
	local memory='ulimit -v 600000'
	# Under AddressSanitizer all of memory is reserved.
	bash -c "$memory && ctmerge --version" >/dev/null 2>&1 || memory=true
	ctsim -q --seed 11 --nodes 100 --set topology=ring --set seconds=2 \
		--set activity=full two -o run
	ends_with 0 bash -c \
		"ulimit -n 256 && $memory && exec ctmerge -q -v -j 2 run -o run.db"
	[ "$(grep -v -c ': no clock.csv, ' "$scratch/stderr")" = 1 ]
	[ "$(sqlite3 run.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ]
	[ "$(sqlite3 run.db "SELECT count(*), sum(events) = (SELECT count(*) FROM event),
		sum(quality IN ('exact', 'accurate')), sum(reference IS NOT NULL) FROM source")" = \
		'100|1|100|100' ]
	[ "$(sqlite3 run.db 'SELECT count(DISTINCT node), count(*) > 500000 FROM event')" = '100|1' ]
	[ "$(sqlite3 run.db 'SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1
		WHERE b.ts_ns < a.ts_ns')" = 0 ]
	ctsync -q --json -j 2 run >map.json
	[ "$(sqlite3 run.db 'SELECT count(*) FROM message')" = \
		"$(grep -o '"matched": [0-9]*' map.json | cut -d ' ' -f 2)" ]
}
