#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# import.sh EVENTS FILE TRACE...: traces as one table of an SQLite file, with what
# everybody has: babeltrace2's text of all traces in order, awk that makes CSV of
# it, and .import of sqlite3. A row is stamp, node, class, processor, and all fields
# as one text, with an index of the stamps; the clocks are left as they are. No journal
# and no syncs, as ctmerge has it. Ends after that many events; fewer are an error.
set -eu
events=$1
file=$2
shift 2

# SIGPIPE ends babeltrace2 where awk ends first, and it says so at length.
babeltrace2 --clock-seconds --no-delta --fields trace:hostname "$@" 2>/dev/null |
	awk -v most="$events" '
	{
		stamp = substr($1, 2, length($1) - 2)
		sub(/\./, "", stamp)
		class = $3
		sub(/:$/, "", class)
		match($0, /cpu_id = [0-9]+/)
		cpu = substr($0, RSTART + 9, RLENGTH - 9)
		fields = substr($0, index($0, ": ") + 2)
		gsub(/"/, "\"\"", fields)
		printf "%s,%s,%s,%s,\"%s\"\n", stamp, $2, class, cpu, fields
	}
	NR == most { exit }' |
	sqlite3 "$file" 'PRAGMA journal_mode = OFF' 'PRAGMA synchronous = OFF' \
		'CREATE TABLE event (ts_ns INTEGER, node, class, cpu INTEGER, fields)' \
		'.mode csv' '.import /dev/stdin event' \
		'CREATE INDEX event_ts_ns ON event (ts_ns)' >/dev/null

rows=$(sqlite3 "$file" 'SELECT max(rowid) FROM event')
[ "$rows" = "$events" ] || {
	printf 'import.sh: %s events, want %s\n' "$rows" "$events" >&2
	exit 1
}
