# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# The questions of docs/schema.md: `load schema`.

# The SQL block of the document that begins with a comment of that name.
question()
{
	awk -v name="-- $1" '
	/^```sql$/ { getline; asked = ($0 == name); next }
	/^```$/ { asked = 0 }
	asked' "$CT_SOURCE/docs/schema.md"
}

# ask_question TIMELINE NAME EXPECTED: what the timeline answers is as it was.
ask_question()
{
	question "$2" >question.sql
	[ -s question.sql ]
	golden "$3" sqlite3 -readonly -csv -header "$1" '.read question.sql'
}
