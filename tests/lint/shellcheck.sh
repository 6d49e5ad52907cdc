#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every script passes shellcheck, and those for sh are POSIX.
. "$(dirname "$0")/common.sh"

# checked CODE: the files on standard input, without this complaint.
checked()
{
	xargs -r -P "$((2 * $(nproc)))" -n 4 shellcheck --external-sources --source-path=SCRIPTDIR --source-path=. \
		--exclude="$1" --format=gcc 2>&1
}

# It does not follow bats' `load`, so it knows no variable from there.
complaints=$({
	shell_files | grep '[.]bats$' | checked SC2154
	shell_files | grep -v '[.]bats$' | checked SC0000
} | sort)
verdict "$complaints" "every script passes shellcheck"
