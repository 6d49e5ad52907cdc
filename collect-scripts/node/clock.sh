# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154,SC3028
#
# clock.csv: what the real-time clock read when the boot-time clock was at the
# edge of a hundredth of a second. /proc/uptime shows the boot-time clock in such
# steps, and is read without a process of its own until it moves on; right
# after that the real-time clock is read. Where the shell has it as a variable
# that is some 20 us later, else date(1) has to be run, about 1 ms. The reading
# can only be late, so the smallest difference of several is the best one.

uptime_now()
{
	read -r up _ </proc/uptime
	up=${up%.*}${up#*.}
}

# Nanoseconds of time in which the machine slept: CLOCK_BOOTTIME counts them,
# CLOCK_MONOTONIC does not. Empty where it cannot be known.
find_suspended()
{
	suspended=0
	suspends=0
	read -r suspends 2>/dev/null </sys/power/suspend_stats/success || :
	[ "${suspends:-0}" = 0 ] || suspended=$(from_timer_list)
}

# /proc/timer_list has CLOCK_MONOTONIC in nanoseconds, for root only.
from_timer_list()
{
	now=
	while read -r word _ now _; do
		[ "$word" != now ] || break
	done 2>/dev/null </proc/timer_list || return 0
	case $now in
	'' | *[!0-9]*) return 0 ;;
	esac
	uptime_now
	tell $((up * 10000000 - now))
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
	edge_ns=${EPOCHREALTIME:-}
	if [ -n "$edge_ns" ]; then
		edge_ns=${edge_ns%[.,]*}${edge_ns#*[.,]}000
	else
		edge_ns=$(realtime_ns)
	fi
}

# A line of clock.csv.
clock_sample()
{
	best=
	for edge in 1 2 3; do
		clock_edge
		apart=$((edge_ns - edge_up * 10000000))
		if [ -z "$best" ] || [ "$apart" -lt "$best" ]; then
			best=$apart
			best_ns=$edge_ns
			best_up=$edge_up
		fi
	done
	[ -n "${suspended:=}" ] || return 0
	printf '%s,%s,%s\n' "$best_ns" $((best_up * 10000000 - suspended)) \
		$((best_up * 10000000)) >>"$data/clock.csv"
}

clock_begin()
{
	find_suspended
	[ -n "$suspended" ] ||
		problem 'clock.csv: the machine has slept, and how long only root can read'
	printf 'realtime_ns,monotonic_ns,boottime_ns\n' >"$data/clock.csv"
	clock_sample
}

# Every 10 s: a sample, and a look at the disk.
clock_loop()
{
	find_suspended
	trap 'clock_sample; exit 0' TERM INT
	trap '' HUP
	while :; do
		sleep 10 &
		wait $!
		clock_sample
		guard_disk
	done
}

# KiB that stay free: 5 % of the file system, at most 64 MiB.
disk_reserve()
{
	# shellcheck disable=SC2046 # fields
	set -- $(df -P -k "$here" 2>/dev/null | tail -n 1)
	disk_free=${4:-}
	disk_keep=$((${2:-0} / 20))
	[ "$disk_keep" -le 65536 ] || disk_keep=65536
}

disk_is_full()
{
	disk_reserve
	[ -n "$disk_free" ] && [ "$disk_free" -le "$disk_keep" ]
}

# A tracer that finds the disk full loses what it has in hand, and leaves no
# room to convert: so end in time.
guard_disk()
{
	disk_is_full || return 0
	problem "disk full: $disk_free KiB left at $here, stopped early"
	trap '' TERM
	stop_sources clock
	exit 0
}
