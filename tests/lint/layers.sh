#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Folders depend on each other in one direction, and a file that has a header
# of its own includes it first, which proves that the header stands alone. In
# sync/, a file without one is the main or part of a module, and includes the
# private header of that module first.
. "$(dirname "$0")/common.sh"

# The library of a folder; in sync/, each folder is a layer of its own.
library()
{
	case $1 in
	sync*) echo "$1" ;;
	lib/*/* | datasets/*/*) echo "$1" | cut -d / -f 1,2 ;;
	lib/* | datasets/* | tests/vcluster) echo "$1" ;;
	*) echo "${1%%/*}" ;;
	esac
}

# The folders that a file of this library may include from.
allowed()
{
	case $1 in
	lib/base) echo 'base' ;;
	lib/problem) echo 'base problem' ;;
	lib/parquet) echo 'base parquet' ;;
	lib/tables) echo 'base parquet timeline tables' ;;
	lib/clock | lib/timeline) echo "base ${1#lib/}" ;;
	lib/trace) echo 'base problem trace' ;;
	lib/input) echo 'base problem trace input' ;;
	merge) echo "base problem clock trace input parquet tables timeline sync sync/pair sync/observe merge" ;;
	sync/pair) echo 'base input sync/pair' ;;
	sync/match) echo 'base clock input sync/match' ;;
	sync/observe) echo 'base problem clock trace input sync/match sync/pair sync/observe' ;;
	sync/network) echo 'base problem sync/pair sync/observe sync/network' ;;
	sync/fit) echo 'base problem sync/pair sync/network sync/fit' ;;
	sync/piecewise) echo 'base clock sync/pair sync/observe sync/network sync/fit sync/piecewise' ;;
	sync/bounds) echo 'base clock sync/pair sync/network sync/piecewise sync/bounds' ;;
	sync/judge) echo 'base clock sync/observe sync/network sync/piecewise sync/bounds sync/judge' ;;
	sync/apply) echo 'base problem clock trace input sync/observe sync/apply' ;;
	sync/plot) echo 'base clock sync/pair sync/network sync/judge sync/plot' ;;
	sync) echo 'base clock trace input sync sync/observe sync/network sync/fit sync/piecewise sync/bounds sync/judge sync/apply sync/plot' ;;
	analyze) echo "base problem timeline analyze" ;;
	export) echo "base problem parquet tables timeline export" ;;
	collect-scripts) echo 'base problem input collect-scripts' ;;
	datasets/simulate) echo 'base problem trace input simulate' ;;
	tests/vcluster) echo 'base vcluster' ;;
	esac
}

complaints=$(tree_files '*.c' '*.h' | while IFS= read -r file; do
	folder=${file%/*}
	may=$(allowed "$(library "$folder")")
	[ -n "$may" ] || continue
	own=
	is_inside=0
	inside=${folder#lib/}
	case $file in
	*.c) [ ! -f "${file%.c}.h" ] || own=${inside#datasets/}/$(basename "$file" .c).h ;;
	esac
	case $own:$file in
	:sync/ctsync.c) ;;
	:sync/*.c) is_inside=1 ;;
	esac
	awk -v file="$file" -v may=" $may " -v own="$own" -v is_inside="$is_inside" '
	/^[ \t]*#[ \t]*include/ {
		split($0, part, /["<>]/)
		header = part[2]
		if (!seen && is_inside && header !~ /_private[.]h$/)
			print file ":" FNR ": includes " header " first, want a header of its own or of its module"
		if (!seen++ && own != "" && ($0 !~ /"/ || header != own))
			print file ":" FNR ": includes " header " first, want its own " own
		if ($0 !~ /"/)
			next
		folder = header
		if (!sub(header ~ /^sync\// ? "/[^/]*$" : "/.*$", "", folder))
			print file ":" FNR ": includes \"" header "\", want its folder in front"
		else if (!index(may, " " folder " "))
			print file ":" FNR ": includes " header ", may use only:" may
	}
	END {
		if (own != "" && !seen)
			print file ": includes nothing, want its own " own " first"
	}' "$file"
done)
verdict "$complaints" "folders depend in one direction, own headers come first"
