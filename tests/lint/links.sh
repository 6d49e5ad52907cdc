#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Links from one document to another file of the tree lead somewhere, and the source files
# that documents name are there: hull.c, pair/hull.c, fit_*.c; not NAME.c, which stands for many.
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
named=$({
	tree_files '*'
	for file in docs/*.md; do
		[ ! -f "$file" ] || awk -v file="$file" '{
			while (match($0, "[a-zA-Z0-9_./*-]+")) {
				name = substr($0, RSTART, RLENGTH)
				$0 = substr($0, RSTART + RLENGTH)
				sub("[.]+$", "", name)
				sub("^(-+|([.][.]/)+)", "", name)
				if (name ~ "[^/][.](c|h|sh|bats)$" && name !~ "[A-Z]")
					print file ":" FNR ": " name
			}
		}' "$file"
	done
} | awk '
	!/: / {
		part = $0
		do {
			there[part]
		} while (sub("^[^/]*/", "", part))
		next
	}
	$2 in there { next }
	{
		glob = $2
		found = 0
		if (index(glob, "*")) {
			gsub("[.]", "[.]", glob)
			gsub("[*]", "[^/]*", glob)
			for (part in there)
				if (part ~ "^" glob "$") {
					found = 1
					break
				}
		}
		if (!found)
			print $1 " " $2 ": no such file"
	}')
[ -z "$complaints" ] || [ -z "$named" ] || complaints="$complaints
"
verdict "$complaints$named" "every link leads somewhere, every file that is named is there"
