#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every script passes shellcheck, and those for sh are POSIX.
. "$(dirname "$0")/common.sh"

# It does not follow bats' `load`, so it knows no variable from there.
complaints=$(shell_files | while IFS= read -r file; do
	case $file in
	*.bats) skip=SC2154 ;;
	*) skip=SC0000 ;;
	esac
	shellcheck --external-sources --source-path=SCRIPTDIR --source-path=. \
		--exclude="$skip" --format=gcc "$file" 2>&1
done)
verdict "$complaints" "every script passes shellcheck"
