# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What a script asks of the system: the time, and which process is which.

# The real-time clock in nanoseconds. date of some small systems has no %N.
realtime_ns()
{
	stamp=$(date +%s%N)
	case $stamp in
	*[!0-9]* | ??????????) stamp=$(date +%s)000000000 ;;
	esac
	printf '%s\n' "$stamp"
}

# When a process was started, in clock ticks since the boot: with its pid, what
# tells it from all others of this boot. Fails if there is no such process, or
# nothing is left of it but its status.
#
# Field 22 of /proc/PID/stat; the name in parentheses may hold anything.
start_time()
{
	stat_line=
	while IFS= read -r stat_part; do
		stat_line=$stat_line$stat_part
	done 2>/dev/null <"/proc/$1/stat" || return 1
	stat_line=${stat_line##*) }
	# shellcheck disable=SC2086 # fields
	set -- $stat_line
	[ $# -gt 20 ] || return 1
	[ "$1" != Z ] && [ "$1" != X ] || return 1
	shift 19
	printf '%s\n' "$1"
}
