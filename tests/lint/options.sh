#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program's --help and its man page have the same options, and --help fits a terminal of 80 columns: sh options.sh TREE PROGRAM
#
# If --help ends with a list of what the first word may be ("Formats:", a line
# each), the same holds for each of them: its options are those of the page's
# section OPTIONS and of a subsection with its name.
. "$(dirname "$0")/common.sh"

program=$2
name=${program##*/}
page=man/$name.1.scd
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# "-t --trace" and so on at the begin of a line of popt's help, a word a line.
help_options()
{
	"$program" "$@" --help | sed -n 's/^ \{1,6\}\(-.*\)/\1/p' | sed 's/   *.*//; s/[[]*=.*//' |
		tr -s ', ' '\n' | grep '^-' | sort -u
}

# A paragraph of the page that begins with *-t*, *--trace*: those of standard input.
page_options()
{
	grep -h '^\*-' | grep -o '\*--*[A-Za-z0-9][A-Za-z0-9-]*' | tr -d '*' | sort -u
}

# The page but for its subsections; with a name, also the subsection of that name.
page_part()
{
	awk -v wanted="${1:-}" '/^# / { subsection = "" } /^## / { subsection = $2 }
		subsection == "" || subsection == wanted' "$page" 2>/dev/null
}

# compare [WORD]: a line a complaint
compare()
{
	called=$name${1:+ $1}
	"$program" "$@" --help | awk -v called="$called" 'length($0) > 80 {
		print called " --help: want 80 columns at most: " $0 }'
	help_options "$@" >"$scratch/help"
	[ -s "$scratch/help" ] || echo "--nothing" >"$scratch/help"
	# Options that each of the words has are described once, above them.
	page_part "$@" | page_options >"$scratch/page"
	comm -23 "$scratch/help" "$scratch/page" | sed "s|.*|$page: lacks & of $called --help|"
	if [ "$#" -gt 0 ] || [ ! -s "$scratch/words" ]; then
		comm -13 "$scratch/help" "$scratch/page" |
			sed "s|.*|$page: & is not in $called --help|"
	fi
}

# "  csv  what it is" below "Formats:", "Analyses:".
"$program" --help | awk '/^[A-Z][a-z]*:$/ { list = $0 !~ /^(Usage|Options):/; next }
	!/^  [a-z]/ { list = 0 } list { print $1 }' >"$scratch/words"
complaints=$({
	compare
	while read -r word; do
		compare "$word"
	done <"$scratch/words"
	awk '/^# / { inside = /^# (FORMATS|ANALYSES)$/ } inside && /^## / { print $2 }' "$page" |
		sort >"$scratch/sections"
	sort "$scratch/words" | comm -13 - "$scratch/sections" |
		sed "s|.*|$page: describes &, which $name --help does not list|"
} 2>&1)
verdict "$complaints" "$name: help and man page agree"
