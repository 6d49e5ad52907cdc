# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# What ./build and ./record share; to be sourced. $here is this directory.

# shellcheck disable=SC2154
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
# shellcheck disable=SC2034 # the callers' default
default_directory=$tree/build-vcluster

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

misuse()
{
	say "$*"
	say "try --help"
	exit 2
}

# The packages of packages.txt for this, for messages.
packages()
{
	awk '{ sub(/#.*/, "") } NF == 2 && $1 == "vcluster" { printf " %s", $2 }' \
		"$tree/packages.txt"
}

# need PROGRAM...: all must be there.
need()
{
	for program; do
		command -v "$program" >/dev/null ||
			die "$program is missing, want the packages:$(packages)"
	done
}
