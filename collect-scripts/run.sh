# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# A run, from its begin to its end.

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

# Start and stop the collection on the nodes. What a node answers is a line a
# fact; a node that fails is noted and the others go on.

# Make the private directory and write into it.
set_up_node()
{
	answers=$work/answers.$1
	bundle_for "$1" >"$work/bundle.$1"
	ask "$1" "$short_seconds" /bin/sh -s <"$work/bundle.$1"
	set_up_status=$?
	set_up_dir=$(fact dir)
	if [ "$set_up_status" -ne 0 ] || [ -z "$set_up_dir" ]; then
		node_problem "$1" "not started: $(why "$set_up_status" "$short_seconds")"
		set_state "$1" absent
		return
	fi
	take_dir "$set_up_dir" || {
		node_problem "$1" 'not started: it answers nonsense'
		set_state "$1" absent
		return
	}
	printf '%s\n' "$node_dir" >"$state/nodes/$1/dir"
	set_state "$1" 'set-up'
}

start_node()
{
	in_state "$1" 'set-up' || return
	if action "$1" "$start_seconds" start; then
		set_state "$1" started
		return
	fi
	node_problem "$1" "not started: $(why "$action_status" "$start_seconds")"
	set_state "$1" broken
	# What it had begun is ended, and gone.
	action "$1" "$short_seconds" stop && action "$1" "$short_seconds" clean &&
		set_state "$1" absent
}

# shellcheck disable=SC2046,SC2086 # names of nodes are words
start_all()
{
	node_script >"$work/node.sh"
	write_bundle
	open_gateway "$state/plan"
	bound=$parallel
	on_nodes set_up_node $nodes
	set -- $(nodes_in set-up)
	[ -n "$interrupted" ] || on_nodes start_node "$@"
	realtime_ns >"$state/begin"
}

stop_node()
{
	for attempt in 1 2 3; do
		if action "$1" "$stop_seconds" stop; then
			set_state "$1" stopped
			return
		fi
		stop_why=$(why "$action_status" "$stop_seconds")
		[ "$action_status" -eq 255 ] || break
		[ "$attempt" -eq 3 ] || sleep "$attempt"
	done
	node_problem "$1" "not stopped: $stop_why"
	set_state "$1" lost
}

# Whatever was set up is stopped, whether or not it is known to run.
# shellcheck disable=SC2046,SC2086
stop_all()
{
	bound=$parallel
	on_nodes stop_node $(nodes_in set-up started broken lost)
	[ -f "$state/end" ] || realtime_ns >"$state/end"
}

status_node()
{
	shown=$state/nodes/$1/shown
	get_state "$1"
	if in_state "$1" absent cleaned fetched; then
		printf '%s\t%s\t\t\t\n' "$1" "$node_state" >"$shown"
	elif action "$1" "$short_seconds" status; then
		printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$(fact state)" \
			"$(grep -c '^process ' "$answers")" "$(fact kib)" "$(fact free_kib)" >"$shown"
	else
		printf '%s\t%s\t\t\t\n' "$1" unreachable >"$shown"
		node_problem "$1" "$(why "$action_status" "$short_seconds")"
	fi
}

# shellcheck disable=SC2086
status_all()
{
	open_gateway "$state/plan"
	bound=$parallel
	on_nodes status_node $nodes
	{
		printf 'NODE\tSTATE\tPROCESSES\tKIB\tFREE KIB\n'
		for node in $nodes; do
			cat "$state/nodes/$node/shown"
			rm -f "$state/nodes/$node/shown"
		done
	} | as_table
}

# The commands of the recipe: those of one `execute` entry run at the same time on
# all of its nodes, entries one after the other. A command that fails does not
# stop the others; its record in run.json says so.

run_commands()
{
	mkdir -p "$state/commands"
	entry=
	each_line "$state/plan" execute run_entry
}

# execute INDEX METHOD TIMEOUT_MS SUDO NODE COMMAND: the whole entry at its first line,
# on all nodes at once, whatever the bound is, as they may need one another.
run_entry()
{
	[ "$2" != "$entry" ] && [ -z "$interrupted" ] || return 0
	entry=$2
	entry_method=$3
	entry_timeout=$4
	entry_sudo=$5
	entry_nodes=
	each_line "$state/plan" "execute $entry" add_command
	talk "$run_name: $entry_method: $(one_line "$7")"
	bound=0
	# shellcheck disable=SC2086 # names of nodes are words
	on_nodes run_on $entry_nodes
}

add_command()
{
	entry_nodes="$entry_nodes ${6:-.local}"
	printf '%s' "$7" >"$work/command.$entry.${6:-.local}"
}

one_line()
{
	printf '%s\n' "$1" | sed -n '1s/^\(.\{100\}\).*/\1.../;1p'
}

# One command on one node, or here.
run_on()
{
	begun=$(realtime_ns)
	case $1 in
	.local) run_local ;;
	*)
		if in_state "$1" started; then
			run_remote "$1"
		else
			command_status='not run'
		fi
		;;
	esac
	note_command "$1" "$(cat "$work/command.$entry.$1"; echo .)"
	[ "$command_status" = 0 ] || [ "$command_status" = launched ] ||
		command_failed "$1"
}

run_remote()
{
	# Beyond its own time limit, the connection gets a minute; without one, it lives
	# as long as the node answers.
	remote_limit=31536000
	[ "$entry_timeout" -eq 0 ] || remote_limit=$((entry_timeout / 1000 + 60 + short_seconds))
	[ "$entry_method" != background ] || remote_limit=$short_seconds
	waiting_name=$entry.$1
	action "$1" "$remote_limit" exec "$entry" "$entry_method" \
		"$entry_timeout" "${entry_sudo:-no}" <"$work/command.$entry.$1"
	waiting_name=
	command_status=$(fact status)
	command_said=$(fact said)
	[ -n "$command_status" ] || case $(fact state) in
	launched) command_status=launched ;;
	*) command_status="lost: $(why "$action_status" "$remote_limit")" ;;
	esac
	[ ! -f "$work/interrupted" ] || [ "$command_status" = 0 ] || command_status=interrupted
}

# On this machine, with the run's directory in its environment.
run_local()
{
	CLUSTERTRACE_RUN_DIRECTORY=$run_dir
	export CLUSTERTRACE_RUN_DIRECTORY
	set -- sh -c "$(cat "$work/command.$entry..local")"
	[ "$entry_timeout" -eq 0 ] ||
		set -- timeout -k 5 "$(((entry_timeout + 999) / 1000))" "$@"
	command_said=
	mkdir -p "$run_dir/commands" || return
	interruptible "$entry..local" "$@" </dev/null >"$run_dir/commands/$entry.out" \
		2>"$run_dir/commands/$entry.err"
	command_status=$?
	[ "$entry_timeout" -eq 0 ] || [ "$command_status" -ne 124 ] || command_status=timeout
}

# A line of run.json; the command comes with a dot at its end.
note_command()
{
	note_name=$1
	[ "$note_name" != .local ] || note_name=
	case $command_status in
	*[!0-9]* | '') status_json=$(json_strings "$command_status") ;;
	*) status_json=$command_status ;;
	esac
	printf '{"index": %s, "method": %s, "node": %s, "command": %s, "begin_ns": %s, "end_ns": %s, "status": %s}\n' \
		"$entry" "$(json_strings "$entry_method")" "$(json_strings "$note_name")" \
		"$(json_strings "${2%.}")" "$begun" "$(realtime_ns)" "$status_json" \
		>"$state/commands/$(printf '%05d' "$entry")-${1#.}"
}

command_failed()
{
	: >"$state/failed"
	case $command_status in
	[0-9]*) complain "${note_name:-here}: command $entry ended with status $command_status${command_said:+: $command_said}" ;;
	*) complain "${note_name:-here}: command $entry: $command_status" ;;
	esac
}
