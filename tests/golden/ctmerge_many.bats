#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge on a hundred nodes: within few open files and little memory, and with
# everything in its place.
load common
load ctf

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

# A walk over all classes for each of them takes minutes.
@test "8,000 event classes" {
	local command
	mkdir -p run/node1
	{
		ctf_metadata node1
		awk 'BEGIN { for (i = 0; i < 8000; i++)
			printf "event { name = \"class_%d\"; id = %d; stream_id = 0; fields := struct { uint8_t _a; }; };\n", i, i }'
	} >run/node1/metadata
	{
		le 4 0xc1fc1fc1 0
		# shellcheck disable=SC2059 # the format is the bytes
		printf "$(awk 'BEGIN { for (i = 0; i < 8000; i++)
			printf "\\x%02x\\x%02x\\x%02x\\x%02x\\0\\0\\0\\0\\0\\0\\1", i % 256, i / 256, i % 256, i / 256 }')"
	} >run/node1/stream
	for command in 'ctmerge -q run -o run.db' 'ctexport csv -q run.db -o csv' 'ctexport parquet -q run.db -o parquet' \
		'ctanalyze -q report run.db -o run.html' 'ctanalyze -q events run.db -o events'; do
		# shellcheck disable=SC2086 # words
		(ulimit -t 60 && exec $command)
	done
	[ "$(wc -l <events)" -eq 8000 ]
	[ "$(find csv -name "class_*" | wc -l)" -eq 8000 ]
	[ "$(sqlite3 run.db 'SELECT count(DISTINCT class) FROM event')" -eq 8000 ]
}
