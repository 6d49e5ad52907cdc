#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fixtures and data sets say what they are: datasets/ and tests/fixtures/ have
# a README.md that names each entry, and so does every directory below that
# has one. What has none, such as a trace, is described a level up.
. "$(dirname "$0")/common.sh"

# The README may write `nodeN/kernel/` for what every node has.
named()
{
	grep -q -F -e "$2" "$1" && return
	grep -q -F -e "$(printf '%s\n' "$2" | sed 's/[0-9][0-9]*/N/')" "$1"
}

complaints=$({
	for root in datasets tests/fixtures; do
		[ ! -d "$root" ] || printf '%s\n' "$root"
	done
	find datasets tests/fixtures -name README.md 2>/dev/null | sed 's|/README.md$||'
} | sort -u | while IFS= read -r directory; do
	readme=$directory/README.md
	if [ ! -f "$readme" ]; then
		echo "$directory: no README.md, want one that names each entry"
		continue
	fi
	find "$directory" -mindepth 1 -maxdepth 1 ! -name README.md | sort |
		while IFS= read -r entry; do
			named "$readme" "${entry##*/}" || echo "$readme: does not name ${entry##*/}"
		done
done)
verdict "$complaints" "every fixture and data set is described"
