#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program's --help, its man page and its bash completion have the same
# options: sh options.sh TREE PROGRAM
. "$(dirname "$0")/common.sh"

program=$2
name=${program##*/}
page=man/$name.1.scd
completion=completions/$name.bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# "-t --trace" and so on at the begin of a line of popt's help, a word a line.
"$program" --help | sed -n 's/^ \{1,6\}\(-.*\)/\1/p' | sed 's/   *.*//; s/=.*//' |
	tr -s ', ' '\n' | grep '^-' | sort -u >"$scratch/help"
[ -s "$scratch/help" ] || echo "--nothing" >"$scratch/help"

# A paragraph of the page that begins with *-t*, *--trace*.
grep -h '^\*-' "$page" 2>/dev/null | grep -o '\*--*[A-Za-z0-9][A-Za-z0-9-]*' | tr -d '*' |
	sort -u >"$scratch/page"

# What the completion offers to an open "-".
bash -c '. "$1" && COMP_WORDS=("$2" -) COMP_CWORD=1 COMP_LINE="$2 -" COMP_POINT=${#COMP_LINE} &&
	$(complete -p "$2" | sed "s/.* -F \([^ ]*\) .*/\1/") "$2" - "$2" &&
	printf "%s\n" "${COMPREPLY[@]}"' bash "$completion" "$name" 2>/dev/null |
	sed 's/[= ]*$//' | sort -u >"$scratch/completion"

complaints=$(
	comm -23 "$scratch/help" "$scratch/page" | sed "s|.*|$page: lacks & of $name --help|"
	comm -13 "$scratch/help" "$scratch/page" | sed "s|.*|$page: & is not in $name --help|"
	grep -e '^--' "$scratch/help" | comm -23 - "$scratch/completion" |
		sed "s|.*|$completion: lacks & of $name --help|"
	comm -13 "$scratch/help" "$scratch/completion" |
		sed "s|.*|$completion: & is not in $name --help|"
)
verdict "$complaints" "$name: help, man page and completion agree"
