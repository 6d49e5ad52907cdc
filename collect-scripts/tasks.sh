# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Queues of tasks, dispatched over the nodes of a role. The queue lives here; a
# task is handed to a node when one of its places there is free, and run by
# ctwrap. With `rr` a task's node is fixed when it is enqueued, in turn; with
# `least-busy` it is the one with the most free places when its turn comes.
#
# When a task was enqueued is read here, and no two are enqueued at the same
# time. It is told to the node on the node's own clock: how far that is ahead of
# ours is measured over ssh before, to about half a round trip.

run_queues()
{
	each_line "$state/plan" tasks run_queue
}

# tasks INDEX NAME POLICY PARALLEL INTERVAL_MS PENDING TIMEOUT_MS NODE...
run_queue()
{
	[ -z "$interrupted" ] || return 0
	queue=$2
	queue_name=$3
	policy=$4
	places=$5
	queue_interval_ms=$6
	pending_most=$7
	task_timeout=$8
	shift 8
	workers=
	for worker; do
		in_state "$worker" started && workers="$workers $worker"
	done
	queue_work=$work/queue.$queue
	rm -rf "$queue_work"
	mkdir -p "$queue_work" "$state/commands"
	grep "^task $queue " "$state/plan" >"$queue_work/tasks"
	talk "$run_name: tasks $queue_name: $(wc -l <"$queue_work/tasks" | tr -d ' ') on${workers:- no node}"
	if [ -z "$workers" ]; then
		complain "tasks $queue_name: none of their nodes was started"
		: >"$state/failed"
		return
	fi
	measure_clocks
	dispatch
	count_tasks
}

# shellcheck disable=SC2086
measure_clocks()
{
	bound=$parallel
	on_nodes keep_ahead $workers
}

keep_ahead()
{
	measure_clock "$1"
	printf '%s\n' "${ahead:-0}" >"$queue_work/ahead.$1"
}

# The dispatcher reads what happens from one pipe: `tick` (time to enqueue) and
# `end NODE`. Numbers of tasks that wait stand in $waiting, "NUMBER:NODE" each,
# where NODE is empty until somebody is free.
dispatch()
{
	mkfifo "$queue_work/events" || return
	exec 5<>"$queue_work/events"
	waiting=
	pending=0
	busy=0
	turn=0
	last_stamp=0
	for worker in $workers; do
		set_busy "$worker" 0
	done
	exec 4<"$queue_work/tasks"
	more=yes
	echo tick >&5
	while [ "$more" = yes ] || [ "$pending" -gt 0 ] || [ "$busy" -gt 0 ]; do
		read -r event event_node <&5 || {
			[ -n "$interrupted" ] || continue
			more=no
			waiting=
			pending=0
			continue
		}
		case $event in
		tick) enqueue_some ;;
		end)
			busy=$((busy - 1))
			get_busy "$event_node"
			set_busy "$event_node" $((at_work - 1))
			# Room again for a task that had to stay out.
			[ "${held:-no}" = no ] || enqueue_some
			;;
		esac
		if [ -n "$interrupted" ]; then
			more=no
			waiting=
			pending=0
		fi
		hand_out
	done
	exec 4<&- 5>&-
	wait
}

# Without an interval all tasks are enqueued at once, as far as there is room.
enqueue_some()
{
	held=no
	while [ "$more" = yes ]; do
		if [ "$pending_most" -gt 0 ] && [ "$pending" -ge "$pending_most" ]; then
			held=yes
			return
		fi
		enqueue_one
		[ "$queue_interval_ms" -eq 0 ] || {
			[ "$more" = no ] || next_tick
			return
		}
	done
}

next_tick()
{
	(
		trap '' INT HUP
		sleep "$((queue_interval_ms / 1000)).$(printf '%03d' $((queue_interval_ms % 1000)))"
		echo tick >&5
	) &
}

enqueue_one()
{
	IFS= read -r task_line <&4 || {
		more=no
		return
	}
	with_words enqueue "$task_line"
}

# task QUEUE NUMBER INPUT COMMAND
enqueue()
{
	stamp=$(realtime_ns)
	[ "$stamp" -gt "$last_stamp" ] || stamp=$((last_stamp + 1))
	last_stamp=$stamp
	printf '%s' "$5" >"$queue_work/command.$3"
	printf '%s\n' "$stamp" >"$queue_work/stamp.$3"
	task_node=
	if [ "$policy" = rr ]; then
		worker_at "$turn"
		task_node=$found_worker
		turn=$((turn + 1))
	fi
	waiting="$waiting $3:$task_node"
	pending=$((pending + 1))
}

# shellcheck disable=SC2086
worker_at()
{
	worker_turn=$1
	set -- $workers
	shift $((worker_turn % $#))
	found_worker=$1
}

set_busy()
{
	printf '%s\n' "$2" >"$queue_work/busy.$1"
}

get_busy()
{
	read -r at_work <"$queue_work/busy.$1"
}

least_busy()
{
	found_worker=
	least=$places
	for worker in $workers; do
		get_busy "$worker"
		if [ "$at_work" -lt "$least" ]; then
			least=$at_work
			found_worker=$worker
		fi
	done
}

# Whatever waits and has a free place. A task whose node is busy lets others by.
hand_out()
{
	still=
	for entry in $waiting; do
		found_worker=${entry#*:}
		if [ -n "$found_worker" ]; then
			get_busy "$found_worker"
			[ "$at_work" -lt "$places" ] || found_worker=
		else
			least_busy
		fi
		if [ -z "$found_worker" ]; then
			still="$still $entry"
			continue
		fi
		get_busy "$found_worker"
		set_busy "$found_worker" $((at_work + 1))
		busy=$((busy + 1))
		pending=$((pending - 1))
		start_task "${entry%%:*}" "$found_worker"
	done
	waiting=$still
	[ "${held:-no}" = no ] || [ "$pending" -ge "$pending_most" ] || enqueue_some_more
}

# A place among those that wait was taken: what was held back may come in.
enqueue_some_more()
{
	held=no
	echo tick >&5
}

start_task()
{
	(
		trap '' INT HUP
		task_worker=$2
		trap 'printf "end %s\n" "$task_worker" >&5' EXIT
		errors=$work/errors.task.$1
		: >"$errors"
		run_task "$1" "$2"
	) &
}

# A task has its own file of answers: several run on one node.
run_task()
{
	read -r stamp <"$queue_work/stamp.$1"
	read -r ahead <"$queue_work/ahead.$2"
	get_dir "$2"
	task_limit=31536000
	[ "$task_timeout" -eq 0 ] || task_limit=$((task_timeout / 1000 + 60 + short_seconds))
	answers=$work/answers.task.$1
	waiting_name=task.$queue.$1
	ask "$2" "$task_limit" /bin/sh "$node_dir/node.sh" task \
		"$queue" "$1" "$(safe_name "$queue_name")" $((stamp + ahead)) "$id-$queue-$1" \
		"$task_timeout" <"$queue_work/command.$1"
	task_status=$(fact status)
	[ "$task_status" = 0 ] && return
	printf '%s\n' "$1" >>"$queue_work/failed"
	complain "$2: task $1 of $queue_name: $(
		[ -z "$task_status" ] && fact failed || printf 'status %s' "$task_status")$(fact said | sed 's/^/: /')"
}

# The name goes over ssh as a word; what is odd in it does not matter there.
safe_name()
{
	printf '%s' "$1" | tr -c 'A-Za-z0-9_.:@%+,-' _
}

count_tasks()
{
	[ -s "$queue_work/failed" ] || return 0
	: >"$state/failed"
	complain "tasks $queue_name: $(wc -l <"$queue_work/failed" | tr -d ' ') failed"
}
