# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# The whole: for each point of the product of parameters start, run, stop, fetch,
# record.

do_run()
{
	plan_of "$1" 1 "$work/plan" || exit 1
	plan_word "$work/plan" fetch
	! given with-merge && ! given with-report || [ "$answer" != none ] ||
		fail "$1: fetch: none leaves nothing here to merge, want ctbatch after it"
	plan_point "$work/plan"
	points=$point_count
	first=1
	if given point; then
		want_number point 1 "$points"
		first=$(option point)
		points=$first
	fi
	point=$first
	worst=0
	while [ "$point" -le "$points" ] && [ -z "$interrupted" ]; do
		run_point "$1" "$point"
		point_status=$?
		[ "$point_status" -le "$worst" ] || worst=$point_status
		point=$((point + 1))
	done
	[ -z "$interrupted" ] || exit 130
	exit "$worst"
}

run_point()
{
	begin_point "$1" "$2" || return
	# shellcheck disable=SC2046
	set -- $(nodes_in started)
	if [ $# -eq 0 ]; then
		complain 'no node was started'
	elif [ -z "$interrupted" ]; then
		talk "$run_name: collecting on $# of $(count_nodes) nodes"
		run_commands
		run_queues
		wait_duration
	fi
	end_point
}

# shellcheck disable=SC2086 # words
count_nodes()
{
	set -- $nodes
	printf '%s\n' $#
}

# Fails if no node has anything of the run: then its directory goes, since why was told.
begin_point()
{
	make_run "$1" "$2" && fill_run "$1" "$2" || exit 1
	start_all
	# shellcheck disable=SC2046
	set -- $(nodes_in absent)
	if [ $# -eq "$(count_nodes)" ]; then
		rm -rf "$run_dir"
		complain 'no node was started, nothing was recorded'
		return 1
	fi
	printf '%s\n' "$run_dir"
}

# How long to collect where no command says it: --duration.
wait_duration()
{
	given duration && [ -z "$interrupted" ] || return 0
	interruptible duration sleep "$(option duration)"
}

# From collecting to a finished run directory. The exit status is the run's: 0 all
# went well, 3 something is missing, 1 nothing was recorded.
end_point()
{
	stop_all
	[ -z "$interrupted" ] || : >"$state/interrupted"
	if leaves_data; then
		finish_left
	else
		fetch_all
		finish_point
	fi
}

finish_point()
{
	# shellcheck disable=SC2046
	set -- $(nodes_in fetched cleaned)
	: >"$state/done"
	write_run_json
	if [ $# -eq 0 ]; then
		complain "$run_dir: nothing was recorded"
		return 1
	fi
	talk "$run_name: data of $# of $(count_nodes) nodes in $run_dir"
	further_steps
	is_complete $#
}

# Whether so many nodes are all, and nothing went wrong: else 3.
is_complete()
{
	[ "$1" -eq "$(count_nodes)" ] && [ ! -f "$state/failed" ] &&
		[ -z "$(cat "$state"/nodes/*/problems 2>/dev/null)" ] || return 3
}

# With `fetch: none` the data stays on the nodes, where ctbatch works on it.
leaves_data()
{
	plan_word "$state/plan" fetch
	[ "$answer" = none ]
}

finish_left()
{
	write_run_json
	set --
	for node in $(nodes_in stopped); do
		get_dir "$node" && set -- "$@" "$node=$node_dir/data"
	done
	if [ $# -eq 0 ]; then
		complain "$run_dir: nothing was recorded"
		return 1
	fi
	talk "$run_name: data of $# of $(count_nodes) nodes stays there: $*"
	talk "$run_name: \`ctbatch -o OUT $*\` works on it, \`ctcollect clean $run_dir\` removes it"
	is_complete $#
}

# What `fetch: none` left on the nodes goes.
do_clean()
{
	open_run "$1"
	leaves_data || fail "$run_dir: its recipe has no \`fetch: none\`, want \`ctcollect fetch\`"
	open_gateway "$state/plan"
	# shellcheck disable=SC2046
	set -- $(nodes_in set-up started broken lost)
	[ $# -eq 0 ] || fail "$run_dir: still collecting on $1, want \`ctcollect stop\` first"
	bound=$parallel
	# shellcheck disable=SC2046
	on_nodes clean_node $(nodes_in stopped)
	# shellcheck disable=SC2046
	set -- $(nodes_in stopped)
	write_run_json
	[ $# -eq 0 ] || exit 3
	: >"$state/done"
	exit 0
}

further_steps()
{
	! given with-merge && ! given with-report && return
	merge=$bin/ctmerge
	[ -x "$merge" ] || merge=ctmerge
	"$merge" -q -o "$run_dir/run.db" "$run_dir"
	case $? in
	# 3: there is a timeline, in which not all clocks are tied.
	0 | 3) ;;
	*)
		: >"$state/failed"
		if [ ! -f "$run_dir/run.db" ]; then
			complain "$run_dir: ctmerge failed"
			return 0
		fi
		complain "$run_dir: not all of it is in run.db, as ctmerge told"
		;;
	esac
	given with-report || return 0
	analyze=$bin/ctanalyze
	[ -x "$analyze" ] || analyze=ctanalyze
	"$analyze" report "$run_dir/run.db" -o "$run_dir/report.html" || {
		complain "$run_dir: ctanalyze failed"
		: >"$state/failed"
	}
}

do_start()
{
	set_default point 1
	if ! begin_point "$1" "$(option point)"; then
		[ -z "$interrupted" ] || exit 130
		exit 1
	fi
	# shellcheck disable=SC2046
	set -- $(nodes_in started)
	if [ -n "$interrupted" ] || [ $# -eq 0 ]; then
		[ $# -gt 0 ] || complain 'no node was started'
		end_point
		[ -z "$interrupted" ] || exit 130
		exit 1
	fi
	write_run_json
	talk "$run_name: collecting on $# of $(count_nodes) nodes"
	[ $# -eq "$(count_nodes)" ] || exit 3
	exit 0
}

do_stop()
{
	open_run "$1"
	open_gateway "$state/plan"
	stop_all
	# shellcheck disable=SC2046
	set -- $(nodes_in set-up started broken lost)
	if leaves_data; then
		finish_left
		exit $?
	fi
	write_run_json
	[ $# -eq 0 ] || exit 3
	exit 0
}

# What is stopped is fetched; a node that could not be reached gets another try.
do_fetch()
{
	open_run "$1"
	open_gateway "$state/plan"
	# shellcheck disable=SC2046
	set -- $(nodes_in started)
	[ $# -eq 0 ] || fail "$run_dir: still collecting on $1, want \`ctcollect stop\` first"
	bound=$parallel
	# shellcheck disable=SC2046
	on_nodes stop_node $(nodes_in lost broken)
	fetch_all
	finish_point
	exit $?
}

do_status()
{
	open_run "$1"
	status_all
}
