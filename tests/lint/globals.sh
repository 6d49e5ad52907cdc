#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Library code has no mutable globals: sh globals.sh TREE OBJDUMP ARCHIVE...
# Exceptions stand in globals.allow, a line each: ARCHIVE SYMBOL REASON...
. "$(dirname "$0")/common.sh"

objdump=$2
shift 2

# "ARCHIVE SYMBOL" of what stands in a writable section. The left column of
# objdump ends with the section, the right one with the name; constants with
# addresses in them are read-only once relocated.
mutable()
{
	for archive; do
		"$objdump" -t "$archive" | awk -F '\t' -v archive="$(basename "$archive")" '
		NF == 2 {
			n = split($1, left, " ")
			m = split($2, right, " ")
			section = left[n]
			if (section ~ /^\.data\.rel\.ro/ || section == right[m])
				next
			if (section ~ /^(\.(data|bss|tdata|tbss)|\*COM\*)/)
				print archive, right[m]
		}'
	done | sort -u
}

for archive; do
	[ -s "$archive" ] || verdict "$archive: no such library"
done
complaints=$(mutable "$@" | awk '
	FILENAME != "-" {
		if (NF >= 3 && $1 !~ /^#/)
			allowed[$1 " " $2] = 1
		else if (NF && $1 !~ /^#/)
			print FILENAME ":" FNR ": no reason, want ARCHIVE SYMBOL REASON..."
		next
	}
	!($0 in allowed) { print $1 ": " $2 " is a mutable global, want it in a struct" }
	{ delete allowed[$0] }
	END {
		for (row in allowed)
			print "tests/lint/globals.allow: " row " is not there any more"
	}' tests/lint/globals.allow -)
verdict "$complaints" "no mutable global in $*"
