#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The licence stands first in every source file: in its first line, or in the
# second of a script that begins with #!.
. "$(dirname "$0")/common.sh"

licence='SPDX-License-Identifier: GPL-3.0-or-later'
complaints=$({
	tree_files '*.c' '*.h' '*.h.in' | sed "s|\$| /* $licence */|"
	{
		tree_files 'CMakeLists.txt' '*.cmake' '*.awk' '*.py' '*.supp'
		shell_files
	} | sed "s|\$| # $licence|"
} | while read -r file wanted; do
	first=$(head -n 1 "$file")
	case $first in
	'#!'*) first=$(sed -n 2p "$file") ;;
	esac
	[ "$first" = "$wanted" ] || echo "$file: want \"$wanted\" first"
done)
verdict "$complaints" "every source file names its licence first"
