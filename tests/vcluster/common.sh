# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Functions of ./build and ./record; to be sourced. $here is this directory.

# shellcheck disable=SC2154
tree=$(CDPATH='' cd -P -- "$here/../.." && pwd -P)
# shellcheck disable=SC2034 # the callers' default
default_directory=$tree/build-vcluster
. "$tree/collect-scripts/common.sh"
. "$tree/collect-scripts/options.sh"

say()
{
	printf '%s: %s\n' "$program" "$*" >&2
}

# number_of NAME FROM TO DEFAULT: the value of an option, for $(...), which a misuse ends.
number_of()
{
	want_number "$@"
	echo "$number"
}

# value_of NAME DEFAULT FORM WANTED: the same, of an option whose whole value has this form.
value_of()
{
	value=$(option "$1" "$2")
	[ "$value" = "$2" ] ||
		printf '%s\n' "$value" | paste -s - | grep -q -x -E -e "$3" || misuse "--$1 $value: expected $4"
	printf '%s\n' "$value"
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
	for needed; do
		command -v "$needed" >/dev/null ||
			fail "$needed is missing; install the packages:$(packages)"
	done
}
