#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One header a module: a function that another file calls is declared in the header that
# has the name of its .c file, or in a private header, X_private.h, of one module. And no
# rulers, which divide a file that has two subjects.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2016 # these are awk's
complaints=$(tree_files '*.c' '*.h' | grep -v '^tests/' | xargs -r awk '
FNR == 1 {
	module = FILENAME
	is_header = sub(/[.]h$/, "", module)
	sub(/[.]c$/, "", module)
}
/\/\* -----* / { print FILENAME ":" FNR ": a ruler; give each subject a file of its own" }
/^[a-z]/ && !/^(static|typedef|extern|return)/ && match($0, /[a-z_0-9]+\(/) {
	name = substr($0, RSTART, RLENGTH - 1)
	if (is_header && module !~ /_private$/) {
		header[name] = module
		place[name] = FILENAME ":" FNR
	} else if (!is_header) {
		defined[name] = module
	}
}
END {
	for (name in header)
		if (name in defined && defined[name] != header[name])
			print place[name] ": declares " name ", which is in " defined[name] \
				".c; declare it in " defined[name] ".h"
}' | sort)
verdict "$complaints" "functions are declared in the header of their file"
