#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Nothing in the tree names a path or a number that exists only where it was
# written. Temporary files come from mktemp. Recorded data is exempt.
. "$(dirname "$0")/common.sh"

# The brackets keep this file from finding itself.
complaints=$(tree_files '*' | grep -v -x LICENSE |
	awk '/\.md$/ || !/^(datasets|tests\/fixtures)\//' | xargs -r grep -n -I -E \
	'/wor[k]($|[^a-z])|/tm[p]/|[Ii]ssue #[0-9]|[.][.]/share[d]' /dev/null |
	grep -v mktemp | sed 's/$/ <- names a place that is not here/')
verdict "$complaints" "no path or number of a place that is not here"
