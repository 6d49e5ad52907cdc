# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What is sent to a node: one script for `sh -s` that makes the private directory
# and writes everything into it.

# The node's script, from its parts.
node_script()
{
	cat "$lib/node/base.sh"
	for part in words kernel text node/procs node/clock node/watch node/describe node/lttng \
		node/sources node/start node/commands node/fetch node/main; do
		sed '1,/^$/d' "$lib/$part.sh"
	done
}

# What every node gets alike, made once a run.
write_bundle()
{
	{
		put_file node.sh <"$work/node.sh"
		for part in ctwrap ctsample; do
			put_file "bin/$part" <"$bin/$part"
		done
		for part in words options kernel text version; do
			put_file "libexec/clustertrace/$part.sh" <"$lib/$part.sh"
		done
	} >"$work/bundle"
}

# A here-document ends at a line that is in none of the files.
put_file()
{
	printf "put %s <<'END OF %s'\n" "$1" "$id"
	cat
	printf '\nEND OF %s\n' "$id"
}

# bundle_for NODE: all of it. The plan has the lines that concern this node.
bundle_for()
{
	printf 'NODE=%s\nRUN=%s\nBASE=%s\n' "$(quote "$1")" "$id" "$(quote "$tmpdir")"
	sed '1,/^$/d' "$lib/node/setup.sh"
	cat "$work/bundle"
	node_plan "$1" | put_file plan
	printf 'finish\n'
}

node_plan()
{
	while IFS= read -r plan_line; do
		case $plan_line in
		'event '* | 'context '* | 'channel '* | 'sar '* | 'capture '* | 'process '* | \
			"sensor $1 "*) printf '%s\n' "$plan_line" ;;
		esac
	done <"$state/plan"
}
