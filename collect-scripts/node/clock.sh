# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154,SC3028
#
# clock.csv: what the real-time clock read when the monotonic and the boot-time clock
# read the others.
#
# For root, /proc/timer_list has the monotonic clock in nanoseconds and what the
# others are ahead of it, exactly and at one instant.
#
# For all others /proc/uptime shows the boot-time clock in steps of a hundredth of a
# second. It is read without a process of its own until it moves on; right
# after that the real-time clock is read. Where the shell has it as a variable
# that is some 20 us later, else date(1) has to be run, about 1 ms. The reading
# can only be late, so the smallest difference of several is the best one.

uptime_now()
{
	read -r up _ </proc/uptime
	up=${up%.*}${up#*.}
}

# The monotonic clock, and the real-time and boot-time clock on it, by the first bases
# of timers in the list. Sets exact_mono, exact_real, exact_boot; fails where it cannot
# be read. The list may be long, which a shell would read byte by byte.
read_timer_list()
{
	[ -r /proc/timer_list ] || return 1
	exact=$(awk '
		$1 == "now" { print $3 }
		$1 == ".index:" { base = $2 }
		$1 == ".offset:" && base == 1 { print $2 }
		$1 == ".offset:" && base == 2 { print $2; exit }' /proc/timer_list 2>/dev/null)
	case $exact in
	*"$NL"*"$NL"*) ;;
	*) return 1 ;;
	esac
	exact_mono=${exact%%"$NL"*}
	exact_boot=${exact##*"$NL"}
	exact_real=${exact#*"$NL"}
	exact_real=${exact_real%"$NL"*}
	case $exact_mono,$exact_real,$exact_boot in
	,* | *, | *,,* | *[!0-9,]*) return 1 ;;
	esac
	exact_real=$((exact_mono + exact_real))
	exact_boot=$((exact_mono + exact_boot))
}

# Whether all can be had exactly. A processor that sleeps may not have heard yet that
# the clock was set, so what it says must lie just before what date says.
clocks_are_exact()
{
	read_timer_list || return 1
	late=$(($(realtime_ns) - exact_real))
	[ "$late" -ge 0 ] && [ "$late" -lt 1000000000 ]
}

# Where it was exact before, a machine that is too busy is asked again, rather than that
# a sample of another kind makes the clock seem to jump.
clocks_are_exact_after_all()
{
	for _ in 1 2 3 4; do
		sleep 0.2
		! clocks_are_exact || return 0
	done
	return 1
}

# Nanoseconds of time in which the machine slept: CLOCK_BOOTTIME counts them,
# CLOCK_MONOTONIC does not. Empty where it cannot be known.
find_suspended()
{
	suspended=0
	suspends=0
	read -r suspends 2>/dev/null </sys/power/suspend_stats/success || :
	[ "${suspends:-0}" != 0 ] || return 0
	suspended=
	! read_timer_list || suspended=$((exact_boot - exact_mono))
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
	if clocks_are_exact || { "${exact_before:-false}" && clocks_are_exact_after_all; }; then
		exact_before=true
		printf '%s,%s,%s\n' "$exact_real" "$exact_mono" "$exact_boot" \
			>>"$data/clock.csv"
		return 0
	fi
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
