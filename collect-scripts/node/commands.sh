# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Commands of the recipe. The command itself comes on standard input, so that no
# shell but the one that is to run it ever reads it.

# do_exec NAME METHOD TIMEOUT_MS SUDO
do_exec()
{
	exec_name=$1
	find_rights
	cat >"$here/exec/$exec_name" || give_up "cannot write at $here"
	[ -f "$here/boot" ] || give_up 'not started'
	[ ! -f "$here/stopped" ] || give_up 'the collection has stopped already'
	mkdir -p "$data/commands"
	elevate=
	if [ "$4" = sudo ] && [ "$(id -u)" != 0 ]; then
		[ "$is_root" = yes ] || give_up 'sudo wants a password here'
		elevate=yes
	fi
	launch
	if [ "$2" = background ]; then
		tell "pid $launched"
		tell 'state launched'
		return
	fi
	await_launched "$3"
	tell "status $status"
	[ "$status" = 0 ] || tail -n 1 "$out.err" | tr -c '\40-\176\n' '?' | cut -c 1-200 | sed 's/^/said /'
	tell 'state done'
}

# The command's environment finds ctwrap in its path, and ctwrap the run.
launch()
{
	command_text=$(cat "$here/exec/$exec_name"; echo .)
	command_text=${command_text%.}
	out=$data/commands/$exec_name
	cd "${HOME:-/}" 2>/dev/null || cd /
	PATH=$here/bin:$PATH
	CLUSTERTRACE_RUN=$run
	CLUSTERTRACE_DIR=$here
	export PATH CLUSTERTRACE_RUN CLUSTERTRACE_DIR
	umask 022
	if [ "$elevate" = yes ]; then
		setsid sudo -n env PATH="$PATH" CLUSTERTRACE_RUN="$run" CLUSTERTRACE_DIR="$here" \
			sh -c "$command_text" </dev/null >"$out.out" 2>"$out.err" &
	else
		setsid sh -c "$command_text" </dev/null >"$out.out" 2>"$out.err" &
	fi
	launched=$!
	umask 077
	record "exec-$exec_name" "$launched"
}

# await_launched TIMEOUT_MS: sets status; a command out of time is ended.
await_launched()
{
	watchdog=
	if [ "$1" -gt 0 ]; then
		(
			trap 'kill "$nap" 2>/dev/null; exit' TERM
			sleep $((($1 + 999) / 1000)) &
			nap=$!
			wait $nap
			: >"$here/exec/$exec_name.late"
			end "exec-$exec_name" TERM 50
		) >/dev/null 2>&1 &
		watchdog=$!
	fi
	wait "$launched"
	status=$?
	[ -z "$watchdog" ] || kill "$watchdog" 2>/dev/null
	if [ -f "$here/exec/$exec_name.late" ]; then
		status=timeout
	elif [ -f "$here/stopped" ]; then
		status=stopped
	fi
	rm -f "$here/procs/exec-$exec_name"
}

# do_task QUEUE NUMBER NAME ENQUEUE_NS TRACE_ID TIMEOUT_MS: one task, by ctwrap.
do_task()
{
	exec_name=task-$1-$2
	{
		printf "NL='%s'\n" "$NL" # of quote
		printf 'exec ctwrap --name %s --enqueue-ns %s --trace-id %s -- sh -c ' \
			"$(quote "$3")" "$4" "$(quote "$5")"
		quote "$(cat)"
	} >"$here/exec/$exec_name.in" || give_up "cannot write at $here"
	do_exec "$exec_name" foreground "$6" no <"$here/exec/$exec_name.in"
}
