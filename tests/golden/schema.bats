#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The questions of docs/schema.md, asked of a simulated run.
load common

# The SQL block of the document that begins with a comment of that name.
question()
{
	awk -v name="-- $1" '
	/^```sql$/ { getline; asked = ($0 == name); next }
	/^```$/ { asked = 0 }
	asked' "$CT_SOURCE/docs/schema.md"
}

# The run that the document names, once for all tests of this file.
setup_file()
{
	export CT_ASKED=$BATS_FILE_TMPDIR/run.db
	ctsim -q --seed 1 --set seconds=5 clients -o "$BATS_FILE_TMPDIR/run"
	ctmerge -q "$BATS_FILE_TMPDIR/run" -o "$CT_ASKED" 2>/dev/null
}

ask()
{
	question "$1" >question.sql
	[ -s question.sql ]
	golden "schema_$1" sqlite3 -readonly -csv -header "$CT_ASKED" '.read question.sql'
}

@test "which programs used the processors" {
	ask processors
}

@test "how long messages take from node to node" {
	ask latencies
}

@test "what each node did before the slowest message" {
	ask before-slow
}

@test "how long requests wait for the disk while memory is short" {
	ask disk
}

@test "which way a request takes through the cluster" {
	ask path
}

@test "every question of the document is asked here" {
	grep -A1 '^```sql$' "$CT_SOURCE/docs/schema.md" | sed -n 's/^-- //p' | sort >there
	sed -n 's/^	ask //p' "$BATS_TEST_DIRNAME/schema.bats" | sort | diff there -
}
