# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Processes that we start, and their end. Each is the leader of a session of its
# own and recorded with its pid and start time, so that a later process with the
# same pid is never taken for it. What outlives its leader is known by the
# session and by the run's name in its environment.

# spawn NAME COMMAND...: in the background, output to data/log/NAME.log.
spawn()
{
	spawn_name=$1
	shift
	CLUSTERTRACE_RUN=$run CLUSTERTRACE_DIR=$here setsid "$@" \
		</dev/null >>"$data/log/$spawn_name.log" 2>&1 &
	record "$spawn_name" $!
}

# The record is there before anything else can go wrong, or the process is not.
record()
{
	record_start=$(start_time "$2") || record_start=gone
	if ! printf '%s %s\n' "$2" "$record_start" >"$here/procs/$1"; then
		kill -KILL "$2"
		problem "$1: cannot be recorded, so it was not started"
		return 1
	fi
}

# Is the recorded process there? Sets pid.
is_running()
{
	pid=
	pid_start=
	read -r pid pid_start 2>/dev/null <"$here/procs/$1" || return 1
	# Pids and ticks begin anew with a restart.
	[ ! -f "$here/rebooted" ] || return 1
	[ -n "$pid_start" ] && [ "$(start_time "$pid")" = "$pid_start" ]
}

is_gone()
{
	! is_running "$1"
}

# With sudo for what runs as root.
send_signal()
{
	kill -s "$1" -- "$2" 2>/dev/null ||
		${as_root:+$as_root kill -s "$1" -- "$2"} 2>/dev/null
}

# Processes of the recorded session that have our run in their environment.
session_members()
{
	for proc in /proc/[0-9]*; do
		member=${proc#/proc/}
		stat_line=
		read -r stat_line 2>/dev/null <"$proc/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- "$1" ${stat_line##*) }
		[ "${5:-}" = "$1" ] && [ "$2" != Z ] || continue
		# What runs as root only root may look at.
		# shellcheck disable=SC2086
		{ cat "$proc/environ" || ${as_root:+$as_root cat "$proc/environ"}; } 2>/dev/null |
			tr '\0' '\n' | grep -q -x -F "CLUSTERTRACE_RUN=$run" && tell "$member"
	done
}

# end NAME SIGNAL TENTHS: ask, wait, then kill. Sets ended to what it took:
# asked, killed, or gone where it had ended by itself.
end()
{
	ended=gone
	[ -f "$here/procs/$1" ] || return 0
	if is_running "$1"; then
		ended=asked
		send_signal "$2" "-$pid" || send_signal "$2" "$pid"
		if ! until_true "$3" is_gone "$1"; then
			ended=killed
			send_signal KILL "-$pid" || send_signal KILL "$pid"
			until_true 50 is_gone "$1" || problem "$1: does not end"
		fi
	fi
	[ -z "$pid" ] || for member in $(session_members "$pid"); do
		send_signal KILL "$member"
	done
	mv -f "$here/procs/$1" "$here/procs/.$1"
}

recorded()
{
	for proc_file in "$here"/procs/*; do
		[ -f "$proc_file" ] && tell "${proc_file##*/}"
	done
}
