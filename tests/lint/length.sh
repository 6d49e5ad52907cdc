#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Functions up to 80 lines and 6 parameters; reports the longest file and function, and
# the medians.
. "$(dirname "$0")/common.sh"

# A line a function of kernel style: LINES PARAMETERS FILE:LINE NAME. A function
# is a declarator from column 0, then { alone, up to } in column 0.
functions()
{
	# shellcheck disable=SC2016 # these are awk's
	tree_files '*.c' '*.h' | xargs -r awk '
	function parameters(head,    depth, count, i, c) {
		sub(/^[^(]*\(/, "", head)
		if (head ~ /^[ \t]*(void)?[ \t]*\)/)
			return 0
		depth = count = 1
		for (i = 1; i <= length(head) && depth; i++) {
			c = substr(head, i, 1)
			depth += (c == "(") - (c == ")")
			count += c == "," && depth == 1
		}
		return count
	}
	FNR == 1 { inside = 0; head = "" }
	inside && /^}/ {
		name = head
		sub(/\(.*/, "", name)
		sub(/.*[ \t*]/, "", name)
		print FNR - begin + 1, parameters(head), FILENAME ":" begin, name
		inside = 0
		head = ""
		next
	}
	inside { next }
	/^{[ \t]*$/ && head ~ /\(/ { inside = 1; next }
	/^[ \t]*($|#|\/\*|\*|})/ || /[;{}][ \t]*$/ { head = ""; next }
	{
		if (head == "")
			begin = FNR
		gsub(/__attribute__ *\(\(.*\)\)/, "")
		head = head " " $0
	}'
}

# How long are the things of which a line each comes in, longest first?
report()
{
	awk -v what="$1" 'NF { n[++count] = $1 }
	count == 1 && !longest { longest = $1 " (" $NF ")" }
	END {
		if (count)
			printf "%d %ss: median %d lines, 90 %% up to %d, longest %s\n", count,
				what, n[int((count + 1) / 2)], n[int((count + 9) / 10)], longest
	}'
}

files=$({ tree_files '*.c' '*.h' && shell_files; } | xargs -r awk '
	{ lines[FILENAME]++ }
	END { for (file in lines) print lines[file], file }' | sort -rn)
functions=$(functions | sort -rn)
printf '%s\n' "$files" | report file
printf '%s\n' "$functions" | report function
complaints=$(
	printf '%s\n' "$functions" | awk 'NF && $1 > 80 {
		print $3 ": " $4 " has " $1 " lines, want up to 80" }
	NF && $2 > 6 {
		print $3 ": " $4 " has " $2 " parameters, want up to 6" }'
)
verdict "$complaints" "no function or parameter list is too long"
