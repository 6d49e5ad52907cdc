# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086,SC2119,SC2120,SC2154
#
# Queues of tasks, dispatched over the nodes of a role. The queue lives here; a
# task is handed to a node when one of its places there is free, and run by
# ctwrap. With `rr` a task's node is fixed when it is enqueued, in turn; with
# `least-busy` it is the one with the most free places when its turn comes.
#
# When a task was enqueued is read here, and no two are enqueued at the same
# time. It is told to the node on the node's own clock: how far that is ahead of
# ours is measured over ssh before, to about half a round trip.

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
		get_state "$worker"
		[ "$node_state" != collecting ] || workers="$workers $worker"
	done
	queue_work=$work/queue
	rm -rf "$queue_work"
	mkdir "$queue_work"
	grep "^task $queue " "$work/plan" >"$queue_work/tasks"
	talk "$run_name: tasks $queue_name: $(wc -l <"$queue_work/tasks" | tr -d ' ') on${workers:- no node}"
	if [ -z "$workers" ]; then
		complain "tasks $queue_name: none of their nodes was started"
		: >"$state/failed"
		return
	fi
	on_nodes note_ahead $workers
	dispatch
	[ -s "$queue_work/failed" ] || return 0
	: >"$state/failed"
	complain "tasks $queue_name: $(wc -l <"$queue_work/failed" | tr -d ' ') failed"
}

note_ahead()
{
	measure_clock "$1"
	printf '%s\n' "${ahead:-0}" >"$queue_work/ahead.$1"
}

# The pool delivers events: `tick`, it is time to enqueue, and `end QUEUE.NUMBER.NODE`.
# Tasks that wait stand in $waiting, NUMBER:NODE:STAMP each, where NODE is empty until
# somebody is free; $busy has the node of each that runs, as a word.
dispatch()
{
	waiting=
	busy=
	turn=0
	last_stamp=0
	due=yes
	exec 4<"$queue_work/tasks"
	more=yes
	while :; do
		while [ -n "$due" ] && [ -n "$more" ] && may_wait $waiting; do
			enqueue_next
			hand_out
		done
		[ -n "$more$waiting$busy" ] || break
		event=
		read -r event event_job <&7
		case $event in
		tick) due=yes ;;
		end)
			event_job=${event_job#*.*.}
			busy="${busy%%" $event_job "*}${busy#*" $event_job "}"
			;;
		esac
		if [ -n "$interrupted" ]; then
			more=
			waiting=
		fi
		hand_out
	done
	exec 4<&-
	wait
}

# may_wait WAITING...: whether one more may.
may_wait()
{
	[ "$pending_most" -eq 0 ] || [ $# -lt "$pending_most" ]
}

enqueue_next()
{
	IFS= read -r task_line <&4 || {
		more=
		return
	}
	with_words enqueue "$task_line"
	[ "$queue_interval_ms" -gt 0 ] || return 0
	due=
	(
		trap '' INT HUP
		sleep "$((queue_interval_ms / 1000)).$(printf '%03d' $((queue_interval_ms % 1000)))"
		echo tick >&7
	) &
}

# task QUEUE NUMBER INPUT COMMAND
enqueue()
{
	stamp=$(realtime_ns)
	[ "$stamp" -gt "$last_stamp" ] || stamp=$((last_stamp + 1))
	last_stamp=$stamp
	printf '%s' "$5" >"$queue_work/command.$3"
	task_number=$3
	task_node=
	if [ "$policy" = rr ]; then
		set -- $workers
		shift $((turn % $#))
		task_node=$1
		turn=$((turn + 1))
	fi
	waiting="$waiting $task_number:$task_node:$stamp"
}

# find_free NODE...: the one with the fewest tasks, if it has a free place: sets free_node.
find_free()
{
	free_node=
	least=$places
	for worker; do
		at_work=0
		for busy_node in $busy; do
			[ "$busy_node" != "$worker" ] || at_work=$((at_work + 1))
		done
		[ "$at_work" -ge "$least" ] || {
			least=$at_work
			free_node=$worker
		}
	done
}

# Whatever waits and has a free place. A task whose node is busy lets others by.
hand_out()
{
	still=
	for task in $waiting; do
		task_node=${task#*:}
		task_node=${task_node%:*}
		find_free ${task_node:-$workers}
		if [ -z "$free_node" ]; then
			still="$still $task"
			continue
		fi
		busy="$busy $free_node "
		begin_job "$queue.${task%%:*}.$free_node" run_task "${task%%:*}" "$free_node" "${task##*:}"
	done
	waiting=$still
}

# run_task NUMBER NODE STAMP. The name goes over ssh as a word; what is odd in it does not
# matter there.
run_task()
{
	read -r ahead <"$queue_work/ahead.$2"
	run_on_node "$2" "$task_timeout" task "$queue" "$1" \
		"$(printf '%s' "$queue_name" | tr -c 'A-Za-z0-9_.:@%+,-' _)" $(($3 + ahead)) \
		"$id-$queue-$1" "$task_timeout" <"$queue_work/command.$1"
	[ "$command_status" = 0 ] || printf '%s\n' "$1" >>"$queue_work/failed"
	tell_status "$2: task $1 of $queue_name"
}
