# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Helpers of the tests of ctcollect: `load common`. One set of nodes serves all
# tests of a file; each test works in an empty directory of its own.

export LC_ALL=C TZ=UTC
: "${CT_SOURCE:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
export CT_SOURCE
# shellcheck source=tests/collect/cluster.bash
. "$CT_SOURCE/tests/collect/cluster.bash"

# nodes_for_file NAME[:SHELL]...: in setup_file.
nodes_for_file()
{
	local node
	cluster_begin
	export cluster namespaces bridge network
	for node; do
		case $node in
		*:*) node_up "${node%%:*}" "${node#*:}" ;;
		*) node_up "$node" ;;
		esac || return
	done
}

setup()
{
	set +T # as in tests/golden/common.bash
	scratch=$(mktemp -d)
	cd "$scratch" || return
}

teardown()
{
	cd / && rm -rf "$scratch"
}

teardown_file()
{
	[ -z "${cluster:-}" ] || cluster_end
}

# collect WANTED_STATUS ARGUMENT...: what it said is in $scratch/out and err.
collect()
{
	local wanted=$1 status=0
	shift
	ctcollect -F "$cluster/ssh_config" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null 3>&- ||
		status=$?
	[ "$status" -eq "$wanted" ] && return
	printf 'ctcollect %s: exit status %d, want %d; it said:\n' "$*" "$status" "$wanted"
	cat "$scratch/out" "$scratch/err"
	return 1
}

# recipe NAME NODE...: the begin of a recipe for these nodes, each a role of its own
# as well; the rest comes in.
recipe()
{
	local name=$1 node
	shift
	{
		printf 'name: %s\ntracedir: runs\n' "$name"
		hosts_yaml "$@"
		printf 'roledefs:\n'
		for node; do
			printf '    %s: %s\n' "$node" "$node"
		done
		cat
	} >"$name.yaml"
}

# The only run below runs/.
the_run()
{
	local runs=(runs/*)
	if [ "${#runs[@]}" -ne 1 ] || [ ! -d "${runs[0]}" ]; then
		printf 'want one run, got: %s\n' "${runs[*]}" >&2
		return 1
	fi
	printf '%s\n' "${runs[0]}"
}

said()
{
	grep -q -e "$1" "$scratch/err" || {
		printf 'want on standard error: %s\ngot:\n' "$1"
		cat "$scratch/err"
		return 1
	}
}

holds()
{
	grep -q -e "$2" "$1" || {
		printf '%s: want %s, got:\n' "$1" "$2"
		cat "$1"
		return 1
	}
}

lacks()
{
	grep -q -e "$2" "$1" || return 0
	printf '%s: has %s:\n' "$1" "$2"
	cat "$1"
	return 1
}

# List the processes of a run on a node, one per line.
runs_on()
{
	local file
	grep -l -a -z '^CLUSTERTRACE_RUN=' /proc/[0-9]*/environ 2>/dev/null |
		while IFS= read -r file; do
			{ tr '\0' '\n' <"$file" | grep -q -x -F "TMPDIR=$cluster/$1/temp" &&
				tr '\0\n' '  ' <"${file%environ}cmdline" && echo; } 2>/dev/null
		done || :
}

# Nothing of ours may be left on a node: no file, no process.
left_clean()
{
	local left
	left=$(find "$cluster/$1/temp" -mindepth 1)
	[ -z "$left" ] || {
		printf '%s: left behind: %s\n' "$1" "$left"
		return 1
	}
	left=$(runs_on "$1")
	[ -z "$left" ] || {
		printf '%s: still runs: %s\n' "$1" "$left"
		return 1
	}
}

need_namespaces()
{
	[ "$namespaces" = yes ] || skip 'needs root and namespaces'
}
