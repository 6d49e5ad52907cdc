#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154,SC3028
#
# What ctcollect runs on a node: sh node.sh ACTION [ARGUMENT...]. The parts in
# node/ are put together in the order of their names' use (see ../bundle.sh)
# and sent over ssh into one private directory of a run:
#
#   BASE/clustertrace-UID/          mode 700, ours
#     RUN/                          $here: this script lies in it
#       plan                        lines of ctrecipe
#       bin/ctwrap, bin/ctsample
#       procs/NAME                  PID STARTTIME of each process that we started
#       pids/PID                    whitelist of ctsample
#       who                         RUN and the node's name, our mark
#       boot, started, stopped      in which boot, and when
#       data/                       what is fetched
#       problems                    one line each
#
# It runs under dash, bash and busybox sh. What it tells the caller goes to
# standard output, a line a fact: KEY VALUE.
set -u
umask 077
LC_ALL=C
export LC_ALL
unset CDPATH IFS
PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
export PATH
here=${0%/*}
case $here in
/*) ;;
*) here=$PWD/$here ;;
esac
data=$here/data

tell()
{
	printf '%s\n' "$*"
}

# A problem of this node is kept for run.json, once.
problem()
{
	grep -q -x -F -e "$*" "$here/problems" 2>/dev/null ||
		printf '%s\n' "$*" >>"$here/problems"
}

give_up()
{
	printf 'failed %s\n' "$*"
	exit 1
}

# How long one step may take: a call of lttng, a look at a version. The caller says.
step_seconds=60

has()
{
	command -v "$1" >/dev/null 2>&1
}

as_root=
is_root=no

# Root's rights, if they can be had without a question: "" or "sudo -n".
find_rights()
{
	if [ "$(id -u)" = 0 ]; then
		is_root=yes
	elif has sudo && timeout "$step_seconds" sudo -n true </dev/null >/dev/null 2>&1; then
		is_root=yes
		as_root='sudo -n'
	fi
}

boot_id()
{
	cat /proc/sys/kernel/random/boot_id 2>/dev/null || tell unknown
}

# Let up to TENTHS tenths of a second pass until the command succeeds.
until_true()
{
	tenths=$1
	shift
	while ! "$@"; do
		[ "$tenths" -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep 0.1 2>/dev/null || sleep 1
	done
}

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

# members [SESSION]: processes that have our run in their environment.
members()
{
	for proc in /proc/[0-9]*; do
		stat_line=
		read -r stat_line 2>/dev/null <"$proc/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- "${1:-}" ${stat_line##*) }
		[ "${5:-}" = "${1:-${5:-}}" ] && [ "${2:-Z}" != Z ] || continue
		# What runs as root only root may look at.
		# shellcheck disable=SC2086
		{ cat "$proc/environ" || ${as_root:+$as_root cat "$proc/environ"}; } 2>/dev/null |
			tr '\0' '\n' | grep -q -x -F "CLUSTERTRACE_RUN=$run" && tell "${proc#/proc/}"
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
	[ -z "$pid" ] || for member in $(members "$pid"); do
		send_signal KILL "$member"
	done
	rm -f "$here/procs/$1"
}

recorded()
{
	for proc_file in "$here"/procs/*; do
		[ -f "$proc_file" ] && tell "${proc_file##*/}"
	done
}

# clock.csv: what the real-time clock read when the boot-time clock read the other, which
# is the monotonic one, too, unless the machine has slept.
#
# /proc/uptime shows the boot-time clock in steps of a hundredth of a second. It is read
# without a process of its own until it moves on; right after that the real-time clock is
# read. Where the shell has it as a variable that is some 20 us later, else date(1) has to
# be run, about 1 ms. The reading can only be late, so the smallest difference of several
# is the best one.

# CLOCK_BOOTTIME counts the time asleep, CLOCK_MONOTONIC does not.
has_slept()
{
	suspends=0
	read -r suspends 2>/dev/null </sys/power/suspend_stats/success || :
	[ "${suspends:-0}" != 0 ]
}

# One edge: sets edge_up (hundredths) and edge_ns (real time).
clock_edge()
{
	uptime_now
	edge_up=$up
	while [ "$up" = "$edge_up" ]; do
		uptime_now
	done
	edge_up=$up
	read_realtime
	edge_ns=$stamp
}

# A line of clock.csv.
clock_sample()
{
	if has_slept; then
		problem 'clock.csv: the machine has slept, and for how long cannot be read'
		return
	fi
	best=
	for _ in 1 2 3; do
		clock_edge
		apart=$((edge_ns - edge_up * 10000000))
		if [ -z "$best" ] || [ "$apart" -lt "$best" ]; then
			best=$apart
			sample=$edge_ns,$((edge_up * 10000000)),$((edge_up * 10000000))
		fi
	done
	printf '%s\n' "$sample" >>"$data/clock.csv"
}

# node.json: what this node is.

first_word_of()
{
	word=
	read -r word _ 2>/dev/null <"$1" || :
	tell "$word"
}

# A tool's version: the first word with a digit and a dot in what it prints.
version_of()
{
	has "$1" || return 0
	timeout "$step_seconds" "$@" </dev/null 2>&1 | sed -n \
		's/^.*[^0-9.]\([0-9][0-9]*\.[0-9][0-9.]*\).*$/\1/p' | head -n 1
}

# What the processor is sold as, where that is known; else what it runs at.
cpu_mhz()
{
	for khz_file in base_frequency cpuinfo_max_freq; do
		khz=$(first_word_of "/sys/devices/system/cpu/cpu0/cpufreq/$khz_file")
		[ -z "$khz" ] || { tell "$khz" | awk '{ printf "%.3f\n", $1 / 1000 }' && return; }
	done
	sed -n 's/^cpu MHz[^0-9]*\([0-9][0-9.]*\).*/\1/p' /proc/cpuinfo | head -n 1
}

# Each with its speed, if known, and its addresses.
interfaces_json()
{
	has ip || return 0
	between=
	for interface in $(ip -o link show 2>/dev/null | awk '{ sub(/[@:].*/, "", $2); print $2 }'); do
		speed=$(first_word_of "/sys/class/net/$interface/speed")
		case $speed in
		*[!0-9]*) speed= ;;
		esac
		# shellcheck disable=SC2046 # addresses
		printf '%s{"name": %s, %s"addresses": [%s]}' "$between" "$(json_strings "$interface")" \
			"${speed:+\"speed_mbps\": $speed, }" "$(json_strings $(ip -o addr show dev "$interface" \
				2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4 }'))"
		between=,
	done
}

# "name": value, if there is one. member NAME VALUE [number]
member()
{
	[ -n "$2" ] || return 0
	if [ "${3:-}" != number ]; then
		printf '%s: %s' "$separator$(json_strings "$1")" "$(json_strings "$2")"
	else
		case $2 in
		*[!0-9.]* | .* | *. | *.*.*) return 0 ;;
		esac
		printf '%s: %s' "$separator$(json_strings "$1")" "$2"
	fi
	separator=', '
}

describe()
{
	{
		separator=
		printf '{'
		member hostname "$(uname -n)"
		member kernel "$(uname -r)"
		member machine "$(uname -m)"
		member boot_id "$(boot_id)"
		member cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || grep -c '^processor' /proc/cpuinfo)" number
		member cpu_model "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
		member cpu_mhz "$(cpu_mhz)" number
		member mem_kib "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)" number
		member clock_source "$(first_word_of \
			/sys/devices/system/clocksource/clocksource0/current_clocksource)"
		printf ', "tools": {'
		separator=
		member lttng "$(version_of lttng --version)"
		member sysstat "$(version_of sar -V)"
		member tcpdump "$(version_of tcpdump --version)"
		printf '}, "interfaces": [%s]}\n' "$(interfaces_json)"
	} >"$data/node.json.new" && mv -f "$data/node.json.new" "$data/node.json"
}
