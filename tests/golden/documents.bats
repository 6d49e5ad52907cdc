#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The commands of the README and the tutorial, typed, and the output that they promise.
load common

# The n-th block of commands of DOC becomes NN.sh, the text block behind it NN.out.
take_blocks()
{
	awk '/^```/ {
			if (inside) { inside = 0; close(file); next }
			inside = 1
			kind = substr($0, 4)
			if (kind == "sh") { n++; file = sprintf("%02d.sh", n) }
			else if (kind == "" && file ~ /sh$/) file = sprintf("%02d.out", n)
			else file = kind == "" ? "/dev/null" : "other." kind
			next
		}
		inside { print >file }' "$1"
}

# prints FILE: each line of FILE but `...` is one of $scratch/stdout.
prints()
{
	local line
	while IFS= read -r line; do
		[ "$line" = ... ] && continue
		grep -qxF -e "$line" "$scratch/stdout" || { printf 'not printed: %s\n' "$line"; return 1; }
	done <"$1"
}

@test "the tutorial" {
	local block
	take_blocks "$CT_SOURCE/docs/tutorial.md"
	[ -s 08.sh ]
	for block in [0-9]*.sh; do
		ends_with 0 sh -eu "$block"
		[ ! -e "${block%.sh}.out" ] || prints "${block%.sh}.out"
	done
	[ -s report.html ]
	[ -s plots/node1--node2.svg ]
	[ -s tables/message.parquet ]
}

@test "the README" {
	local command
	sed -n '/^\$ ctsync/,/^```/p' "$CT_SOURCE/README.md" | sed '1d;$d' >shown
	ends_with 0 ctsync datasets/sample
	diff shown "$scratch/stdout"
	printf -- '-- mine: a question\n--\n-- table mine: Mine\n--   name: NAME\nSELECT name FROM node ORDER BY name;\n' >mine.sql
	sed -n 's/^    \(ct[a-z]* .*\)/\1/p; s/^    \(sqlite3 .*\)/\1/p' "$CT_SOURCE/README.md" | grep -v '^ctcollect run' >commands
	[ "$(wc -l <commands)" -ge 9 ]
	while IFS= read -r command; do
		ends_with 0 sh -c "$command"
	done <commands
}

@test "the README's picture is what ctsync draws" {
	ends_with 0 ctsync -q --plot plots datasets/sample
	diff "$CT_SOURCE/docs/pair.svg" plots/node1--node2.svg
}
