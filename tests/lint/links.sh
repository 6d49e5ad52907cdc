#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Links from one document to another file of the tree lead somewhere.
. "$(dirname "$0")/common.sh"

complaints=$(tree_files '*.md' | while IFS= read -r file; do
	awk '/^ *```/ { code = !code } !code {
		rest = $0
		while (match(rest, /\]\([^) ]+/)) {
			print FNR, substr(rest, RSTART + 2, RLENGTH - 2)
			rest = substr(rest, RSTART + RLENGTH)
		}
	}' "$file" | while read -r line target; do
		case $target in
		*://* | mailto:* | '#'*) continue ;;
		esac
		[ -e "$(dirname "$file")/${target%%#*}" ] ||
			echo "$file:$line: $target leads nowhere"
	done
done)
verdict "$complaints" "every link leads somewhere"
