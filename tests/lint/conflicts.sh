#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# No mark of a merge that was not finished is left in a file.
. "$(dirname "$0")/common.sh"

complaints=$(tree_files '*' | xargs -r grep -n -I -E '^(<{7}|>{7}|[|]{7})( |$)' /dev/null |
	sed 's/:[^:]*$/: want the conflict resolved/')
verdict "$complaints" "no conflict is left"
