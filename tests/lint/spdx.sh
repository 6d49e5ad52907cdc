#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The licence stands first in every source file: in its first line, or in the
# second of a script that begins with #!.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2016 # these are awk's
first_line='
	BEGIN { wanted = before "SPDX-License-Identifier: GPL-3.0-or-later" after }
	FNR == 1 { line = /^#!/ ? 2 : 1 }
	FNR == line && $0 != wanted { print FILENAME ": want \"" wanted "\" first" }'
complaints=$({
	tree_files '*.c' '*.h' '*.h.in' | xargs -r awk -v before='/* ' -v after=' */' "$first_line"
	{
		tree_files 'CMakeLists.txt' '*.cmake' '*.awk' '*.py' '*.supp'
		shell_files
	} | xargs -r awk -v before='# ' -v after= "$first_line"
})
verdict "$complaints" "every source file names its licence first"
