# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2046,SC2086,SC2119,SC2120,SC2154
#
# A run, from its begin to its end.

# The whole: for each point of the product of parameters start, run, stop, fetch,
# record.
do_run()
{
	plan_of "$1" 1
	! is_set with-merge && ! is_set with-report || [ "$fetch" != none ] ||
		fail "$1: fetch: none leaves nothing here to merge; run ctbatch afterwards"
	point=1
	last_point=$point_count
	if is_set point; then
		want_number point 1 "$point_count"
		point=$number
		last_point=$point
	fi
	worst=0
	while [ "$point" -le "$last_point" ] && [ -z "$interrupted" ]; do
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
	begin_point "$1" "$2" || return 1
	if [ "$chosen_count" -gt 0 ] && [ -z "$interrupted" ]; then
		each_line "$work/plan" execute run_entry
		each_line "$work/plan" tasks run_queue
		! is_set duration || [ -n "$interrupted" ] ||
			interruptible duration sleep "$(option duration)"
	fi
	end_point
}

# Starts all nodes; $chosen_count of them collect then. Fails if no node has anything of the
# run: then its directory goes, since why was told.
begin_point()
{
	make_run "$1" "$2"
	write_bundle
	uptime_now
	start_up=$up
	start_s=$(date +%s)
	on_nodes start_node $nodes
	realtime_ns >"$state/begin"
	nodes_in collecting
	if [ "$chosen_count" -gt 0 ] && ! grep -q '^tasks ' "$work/plan" &&
		[ -z "$(cat "$state"/nodes/*/records 2>/dev/null)" ]; then
		complain 'no node records anything that the recipe asks for'
		stop_all
		nodes_in 'not fetched' left
		on_nodes clean_node $chosen
	fi
	nodes_in 'not started' removed
	if [ "$chosen_count" -eq "$node_count" ]; then
		rm -rf "$run_dir"
		complain 'no node was started, nothing was recorded'
		return 1
	fi
	printf '%s\n' "$run_dir"
	nodes_in collecting
	if [ "$chosen_count" -gt 0 ]; then
		talk "$run_name: collecting on $chosen_count of $node_count nodes"
	else
		complain 'no node was started'
	fi
}

# From collecting to a finished run directory.
end_point()
{
	stop_all
	[ -z "$interrupted" ] || : >"$state/interrupted"
	lock_run
	on_nodes_in fetch_node 'not fetched'
	finish_point
}

# Two that fetch or remove at once would spoil each other's work. What is interrupted from here on
# is the fetching. The jobs do not have the lock, so that it ends with us.
lock_run()
{
	exec 9>>"$state/lock"
	take_lock 9 "$state/lock" || {
		# The other ctcollect may have just started and not written its pid yet.
		[ -s "$state/lock" ] || sleep 1
		fail "$run_dir: another ctcollect is at work on it, pid $(plain_text "$(head -c 20 "$state/lock")")"
	}
	echo $$ >"$state/lock"
	rm -f "$work/interrupted"
	interrupt_text='interrupted: what was not fetched stays on the nodes, `ctcollect fetch` goes on'
}

# The exit status is the run's: 0 all went well, 3 something is missing, 1 nothing was
# recorded.
finish_point()
{
	write_run_json
	nodes_in left
	if [ "$chosen_count" -gt 0 ]; then
		set --
		for node in $chosen; do
			get_dir "$node" && set -- "$@" "$node=$node_dir/data"
		done
		talk "$run_name: data of $# of $node_count nodes stays there: $*"
		talk "$run_name: \`ctbatch -o OUT $*\` works on it, \`ctcollect clean $run_dir\` removes it"
	else
		nodes_in collecting 'not stopped' 'not fetched' partial
		[ "$chosen_count" -gt 0 ] || : >"$state/fetched"
		has_left || : >"$state/done"
		nodes_in 'not stopped'
		[ "$chosen_count" -eq 0 ] ||
			complain "$run_dir: still collecting on${chosen}; run \`ctcollect stop $run_dir\`"
		nodes_in ok partial
		[ "$chosen_count" -gt 0 ] || {
			complain "$run_dir: nothing was recorded"
			return 1
		}
		talk "$run_name: data of $chosen_count of $node_count nodes in $run_dir"
		further_steps
	fi
	[ "$chosen_count" -eq "$node_count" ] && [ ! -f "$state/failed" ] && ! has_problems || return 3
}

has_problems()
{
	[ -n "$(cat "$state"/nodes/*/problems 2>/dev/null)" ]
}

further_steps()
{
	! is_set with-merge && ! is_set with-report && return
	"$bin/ctmerge" -q -o "$run_dir/run.db" "$run_dir"
	case $? in
	# 3: there is a timeline, in which not all clocks are tied.
	0 | 3) ;;
	*)
		complain "$run_dir: not all of it is in run.db, as ctmerge told"
		: >"$state/failed"
		;;
	esac
	[ -f "$run_dir/run.db" ] && is_set with-report || return 0
	"$bin/ctanalyze" report "$run_dir/run.db" -o "$run_dir/report.html" || {
		complain "$run_dir: ctanalyze failed"
		: >"$state/failed"
	}
}

do_start()
{
	begin_point "$1" "$(option point 1)"
	start_status=$?
	if [ "$start_status" -eq 0 ] && [ "$chosen_count" -gt 0 ] && [ -z "$interrupted" ]; then
		write_run_json
		[ "$chosen_count" -eq "$node_count" ] && ! has_problems || exit 3
		exit 0
	fi
	[ "$start_status" -ne 0 ] || end_point
	[ -z "$interrupted" ] || exit 130
	exit 1
}

do_stop()
{
	open_run "$1" fetched
	stop_all
	if [ "$fetch" = none ]; then
		finish_point
		exit $?
	fi
	write_run_json
	nodes_in collecting 'not stopped'
	[ "$chosen_count" -eq 0 ] && ! has_problems || exit 3
	exit 0
}

# want_stopped STATE...: no node is in such a state.
want_stopped()
{
	nodes_in "$@"
	[ "$chosen_count" -eq 0 ] ||
		fail "$run_dir: still collecting on${chosen}; run \`ctcollect stop\` first"
}

# Fetch from stopped nodes; first try again to stop those that could not be reached.
do_fetch()
{
	open_run "$1" fetched
	want_stopped collecting
	lock_run
	on_nodes_in stop_node 'not stopped'
	on_nodes_in fetch_node 'not fetched' left partial
	[ -f "$state/fetched" ] || is_set keep || on_nodes_in clean_fetched ok
	finish_point
	fetch_status=$?
	[ -z "$interrupted" ] || exit 130
	exit "$fetch_status"
}

# A collector that was killed after a node was fetched has not removed the node's copy.
clean_fetched()
{
	! get_dir "$1" || clean_node "$1"
}

# Remove from the nodes what `fetch: none` left there, and what was fetched but not removed.
do_clean()
{
	open_run "$1" 'done'
	want_stopped collecting 'not stopped'
	nodes_in 'not fetched'
	[ "$chosen_count" -eq 0 ] ||
		fail "$run_dir: not fetched from${chosen}; run \`ctcollect fetch\` first"
	lock_run
	cleanable=
	for node in $nodes; do
		! get_dir "$node" || cleanable="$cleanable $node"
	done
	on_nodes clean_node $cleanable
	write_run_json
	! has_left || exit 3
	: >"$state/done"
	exit 0
}

# Start and stop the collection on the nodes. What a node answers is a line a
# fact; a node that fails is noted and the others go on.

# The script sent to a node creates the private directory, writes into it and starts recording. If
# that fails, the node undoes it. The directory is noted before, so whatever becomes
# of the connection and of us, it can be found and stopped.
start_node()
{
	[ ! -f "$work/interrupted" ] || return 0
	find_place "$1" || {
		set_state "$1" 'not started'
		return
	}
	bundle_for "$1"
	if action "$1" "$start_seconds" start "$1" && get_fact state && [ "$fact" = started ]; then
		set_state "$1" collecting
		get_fact sources
		[ "$fact" = 0 ] || echo yes >"$state/nodes/$1/records"
		return
	fi
	node_problem "$1" "not started: $(why "$action_status" "$start_seconds")"
	if grep -q -x 'state clean' "$answers"; then
		forget_dir "$1"
		set_state "$1" 'not started'
	else
		set_state "$1" 'not stopped'
	fi
}

# find_place NODE: ask where the private directory of this run will be, and note it.
find_place()
{
	sent=$work/hello
	patiently "$1" "$start_seconds" hello || {
		node_problem "$1" "not started: $(why "$action_status" "$start_seconds")"
		return 1
	}
	get_fact dir
	place=$fact
	is_private_dir "$place" || {
		node_problem "$1" 'not started: it answers nonsense about its directory'
		return 1
	}
	get_fact clock
	uptime_now
	clock_off=$((${fact:-0} - start_s - (up - start_up) / 100))
	[ "$clock_off" -ge -60 ] && [ "$clock_off" -le 60 ] ||
		complain "$1: its clock is $clock_off s off; traces are corrected by ctsync, but set it, by NTP for example: logs of sar are hard to read otherwise"
	printf '%s\n' "$place" >"$state/nodes/$1/dir" || {
		forget_dir "$1"
		node_problem "$1" 'not started: its directory cannot be noted here'
		return 1
	}
}

# The script is sent along, so that it finds what a start that broke off has left there.
stop_node()
{
	sent=$work/node.sh
	if ! patiently "$1" "$stop_seconds" stop; then
		node_problem "$1" "not stopped: $(why "$action_status" "$stop_seconds")"
		set_state "$1" 'not stopped'
		return
	fi
	get_fact state
	case $fact in
	stopped) [ "$fetch" = none ] && set_state "$1" left || set_state "$1" 'not fetched' ;;
	clean)
		forget_dir "$1"
		set_state "$1" 'not started'
		;;
	*)
		node_problem "$1" "not stopped: nothing of the run is there any more ($node_dir)"
		forget_dir "$1"
		set_state "$1" 'not started'
		;;
	esac
}

# Whatever was set up is stopped, whether or not it is known to run.
stop_all()
{
	on_nodes_in stop_node collecting 'not stopped'
	[ -f "$state/end" ] || realtime_ns >"$state/end"
}

do_status()
{
	open_run "$1" fetched
	{
		printf 'NODE\tSTATE\tPROCESSES\tKIB\tFREE KIB\n'
		on_nodes status_node $nodes
	} >"$work/table"
	as_table <"$work/table"
}

# A line of the table, from what a node answered.
tell_node_status()
{
	told_state=
	told_processes=0
	told_kib=
	told_free=
	while IFS= read -r answer_line; do
		case $answer_line in
		'process '*) told_processes=$((told_processes + 1)) ;;
		'state '*) told_state=${answer_line#* } ;;
		'kib '*) told_kib=${answer_line#* } ;;
		'free_kib '*) told_free=${answer_line#* } ;;
		esac
	done <"$answers"
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$told_state" "$told_processes" "$told_kib" "$told_free"
}

status_node()
{
	get_state "$1"
	sent=$work/node.sh
	case $node_state in
	'not started' | ok | removed) printf '%s\t%s\t\t\t\n' "$1" "$node_state" ;;
	*)
		if action "$1" "$short_seconds" status; then
			tell_node_status "$1"
		else
			printf '%s\tunreachable\t\t\t\n' "$1"
			node_problem "$1" "$(why "$action_status" "$short_seconds")"
		fi
		;;
	esac
}

# The commands of the recipe: those of one `execute` entry run at the same time on
# all of its nodes, entries one after the other. A command that fails does not
# stop the others; its record in run.json says so.

entry=

# execute INDEX METHOD TIMEOUT_MS SUDO NODE COMMAND: the whole entry at its first line,
# on all nodes at once, whatever the bound is, as they may need one another.
run_entry()
{
	[ "$state $2" != "$entry" ] && [ -z "$interrupted" ] || return 0
	entry="$state $2"
	entry_index=$2
	entry_method=$3
	entry_timeout=$4
	entry_sudo=$5
	entry_nodes=
	each_line "$work/plan" "execute $2" add_command
	talk "$run_name: $entry_method: $(printf '%s\n' "$7" | sed -n '1s/^\(.\{100\}\).*/\1.../;1p')"
	bound=0
	on_nodes run_on $entry_nodes
	bound=$parallel
}

add_command()
{
	entry_nodes="$entry_nodes ${6:-.local}"
	printf '%s' "$7" >"$work/command.${6:-.local}"
}

# run_on_node NODE TIMEOUT_MS ACTION [WORD...]: a command, which comes in. Sets command_status and
# command_said. The connection may last a minute longer than the command; without a timeout,
# as long as the node answers.
run_on_node()
{
	command_node=$1
	command_limit=31536000
	[ "$2" -eq 0 ] || command_limit=$(($2 / 1000 + 60 + short_seconds))
	shift 2
	is_interruptible=yes
	action "$command_node" "$command_limit" "$@"
	get_fact said
	command_said=$fact
	get_fact status
	command_status=$fact
	get_fact state
	[ -n "$command_status" ] || case $fact in
	launched) command_status=launched ;;
	*) command_status="lost: $(why "$action_status" "$command_limit")" ;;
	esac
	[ ! -f "$work/interrupted" ] || [ "$command_status" = 0 ] || command_status=interrupted
}

# tell_status WHAT: how its command ended, unless that is well; then it fails.
tell_status()
{
	case $command_status in
	0 | launched) return ;;
	[0-9]*) complain "$1 ended with status $command_status${command_said:+: $command_said}" ;;
	*) complain "$1: $command_status" ;;
	esac
	return 1
}

# One command on one node, or here.
run_on()
{
	begun=$(realtime_ns)
	command_said=
	if [ "$1" = .local ]; then
		run_local
	elif get_state "$1" && [ "$node_state" = collecting ]; then
		# To have it launched takes as long as any other short action.
		[ "$entry_method" = background ] && launch_ms=1 || launch_ms=$entry_timeout
		run_on_node "$1" "$launch_ms" exec "$entry_index" "$entry_method" \
			"$entry_timeout" "${entry_sudo:-no}" <"$work/command.$1"
	else
		command_status='not run'
	fi
	where=${1#.local}
	note_command "$where" "$(cat "$work/command.$1"; echo .)"
	tell_status "${where:-here}: command $entry_index" || : >"$state/failed"
}

# On this machine, with the run's directory in its environment.
run_local()
{
	CLUSTERTRACE_RUN_DIRECTORY=$run_dir
	export CLUSTERTRACE_RUN_DIRECTORY
	set -- sh -c "$(cat "$work/command..local")"
	# The system takes words of up to 128 KiB.
	[ ${#2} -lt 100000 ] && [ ${#3} -lt 100000 ] || set -- sh "$work/command..local"
	set_limit "$entry_timeout"
	[ "$limit_up" -eq 0 ] || set -- timeout -k 5 "$limit" "$@"
	mkdir -p "$run_dir/commands" || return
	uptime_now
	run_begun=$up
	interruptible .local "$@" </dev/null >"$run_dir/commands/$entry_index.out" \
		2>"$run_dir/commands/$entry_index.err"
	command_status=$?
	! is_timeout "$command_status" "$run_begun" || command_status=timeout
}

# note_command NODE COMMAND: a line of run.json; the command comes with a dot at its end.
note_command()
{
	status_json=$command_status
	case $command_status in
	*[!0-9]* | '') status_json=$(json_strings "$command_status") ;;
	esac
	printf '{"index": %s, "method": %s, "node": %s, "command": %s, "begin_ns": %s, "end_ns": %s, "status": %s}\n' \
		"$entry_index" "$(json_strings "$entry_method")" "$(json_strings "$1")" \
		"$(json_strings "${2%.}")" "$begun" "$(realtime_ns)" "$status_json" \
		>"$state/commands/$(printf '%05d' "$entry_index")-$1"
}
