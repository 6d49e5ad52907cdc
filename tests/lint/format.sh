#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# .clang-format decides how C looks. Every version of clang-format decides a
# little differently, so this asks version 14, and is left out without it.
. "$(dirname "$0")/common.sh"

for tool in clang-format-14 clang-format none; do
	case $("$tool" --version 2>/dev/null) in
	*'version 14.'*) break ;;
	esac
done
if [ "$tool" = none ]; then
	echo 'no clang-format 14 here'
	exit 77
fi
complaints=$(tree_files '*.c' '*.h' | xargs -r "$tool" --dry-run -Werror 2>&1 |
	sed -n 's/:.* error: .*//p' | uniq |
	sed 's/$/: not as .clang-format has it, want clang-format -i/')
verdict "$complaints" "every C file is as clang-format has it"
