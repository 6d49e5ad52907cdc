# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Functions of all lints. A lint is run as `sh NAME.sh TREE [ARGUMENT...]`: it
# goes to the top of that tree, prints a line a complaint (where: what is
# wrong, what is wanted) and fails if there was one.

cd "$1" || exit 2

# List the tree: everything except git's own and build directories.
tree_tops()
{
	for top in * .[!.]*; do
		case $top in
		.git | build*) continue ;;
		esac
		[ ! -e "$top" ] || [ -e "$top/CMakeCache.txt" ] || printf '%s\n' "$top"
	done
}

# The tree's files whose names match one of the patterns: tree_files '*.c' '*.h'
tree_files()
{
	tree_tops | while IFS= read -r top; do
		for pattern; do
			find "$top" -type f -name "$pattern"
		done
	done | sort
}

# Shell of every kind, whatever it is called.
shell_files()
{
	{
		tree_files '*.sh' '*.bash' '*.bats'
		tree_files '*' | tr '\n' '\0' |
			xargs -0 -r sed -s -n '1{/^#!.*\(\/sh\|bash\|bats\)/F}'
	} | sort -u
}

# verdict COMPLAINTS [SUMMARY]: the end of a lint.
verdict()
{
	if [ -n "$1" ]; then
		printf '%s\n' "$1"
		exit 1
	fi
	printf '%s\n' "${2:-nothing to complain about}"
	exit 0
}
