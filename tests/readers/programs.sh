# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# To be sourced by a reader's test.

# need_programs NAME...: skip the test if one is missing.
need_programs()
{
	for program; do
		command -v "$program" >/dev/null || {
			echo "no $program, which packages.txt lists"
			exit 77
		}
	done
}
