#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Folders depend on each other in one direction, and a file that has a header
# of its own includes it first, which proves that the header stands alone.
. "$(dirname "$0")/common.sh"

# The folder that is a library, of one in it: sync/fit is part of sync.
library()
{
	case $1 in
	lib/*/* | datasets/*/*) echo "$1" | cut -d / -f 1,2 ;;
	lib/* | datasets/*) echo "$1" ;;
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
	merge) echo "base problem clock trace input parquet tables timeline sync merge" ;;
	sync) echo "base problem clock trace input timeline sync" ;;
	analyze) echo "base problem timeline analyze" ;;
	export) echo "base problem parquet tables timeline export" ;;
	collect-scripts) echo 'base problem input collect-scripts' ;;
	datasets/simulate) echo 'base problem trace input simulate' ;;
	datasets/vcluster) echo 'base vcluster' ;;
	esac
}

complaints=$(tree_files '*.c' '*.h' | while IFS= read -r file; do
	folder=${file%/*}
	may=$(allowed "$(library "$folder")")
	[ -n "$may" ] || continue
	own=
	inside=${folder#lib/}
	case $file in
	*.c) [ ! -f "${file%.c}.h" ] || own=${inside#datasets/}/$(basename "$file" .c).h ;;
	esac
	awk -v file="$file" -v may=" $may " -v own="$own" '
	/^[ \t]*#[ \t]*include/ {
		split($0, part, /["<>]/)
		header = part[2]
		if (!seen++ && own != "" && ($0 !~ /"/ || header != own))
			print file ":" FNR ": includes " header " first, want its own " own
		if ($0 !~ /"/)
			next
		folder = header
		if (!sub(/\/.*$/, "", folder))
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
