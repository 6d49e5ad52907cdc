# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What is asked of a node outside of a run.

# What `ctcollect check` asks a node: nothing is made or changed there. Sent to
# `sh -s` behind base.sh and lttng.sh. One line a fact: KEY VALUE.

# The events by which ctsync sets clocks: tracefs' name and LTTng's.
network_events='net_dev_queue:net_dev_queue netif_receive_skb:net_if_receive_skb
net_dev_xmit:net_dev_xmit napi_gro_receive_entry:net_napi_gro_receive_entry
napi_gro_receive_exit:net_napi_gro_receive_exit
napi_gro_frags_entry:net_napi_gro_frags_entry
napi_gro_frags_exit:net_napi_gro_frags_exit'

check_shell()
{
	shell=$(readlink -f /bin/sh 2>/dev/null)
	tell "shell ${shell##*/}"
	tell "user $(id -un)"
	missing_tools=
	for tool in awk cksum date find getconf grep head id kill mkfifo sed setsid sleep sort tail tr; do
		case $tool in
		getconf | mkfifo) continue ;;
		esac
		has "$tool" || missing_tools="$missing_tools $tool"
	done
	[ -z "$missing_tools" ] || tell "tools$missing_tools"
	sleep 0.01 2>/dev/null || tell 'tools sleep (with fractions)'
}

check_rights()
{
	find_rights
	if [ "$(id -u)" = 0 ]; then
		tell 'rights root'
	elif [ "$is_root" = yes ]; then
		tell 'rights sudo'
	elif id -Gn | tr ' ' '\n' | grep -q -x tracing; then
		tell 'rights tracing'
	else
		tell 'rights none'
	fi
}

check_lttng()
{
	has lttng && has lttng-sessiond || return 0
	tell "lttng $(version_of lttng --version)"
	if root_daemon_is_open; then
		tell 'sessiond root'
		return
	fi
	for pid_file in /run/lttng/lttng-sessiond.pid /var/run/lttng/lttng-sessiond.pid \
		"${LTTNG_HOME:-${HOME:-/}}/.lttng/lttng-sessiond.pid"; do
		daemon_pid "$pid_file" || continue
		case $pid_file in
		*/.lttng/*) tell 'sessiond own' ;;
		*) tell 'sessiond root' ;;
		esac
		break
	done
}

check_tracer()
{
	tracer_version=$(modinfo -F version lttng-tracer 2>/dev/null ||
		/sbin/modinfo -F version lttng-tracer 2>/dev/null)
	if [ -d /sys/module/lttng_tracer ]; then
		tell "tracer loaded $(first_word_of /sys/module/lttng_tracer/version)"
	elif [ -n "$tracer_version" ] ||
		find "/lib/modules/$(uname -r)" -name 'lttng-tracer.ko*' 2>/dev/null | grep -q .; then
		tell "tracer loadable $tracer_version"
	else
		tell "tracer none $(uname -r)"
	fi
}

# What LTTng says it knows, else what the kernel has.
check_events()
{
	known=
	if has lttng; then
		# shellcheck disable=SC2086
		known=$(limited "$step_seconds" $as_root lttng --no-sessiond list --kernel </dev/null 2>/dev/null)
	fi
	found=0
	lacking=
	for pair in $network_events; do
		if [ -n "$known" ]; then
			tell "$known" | grep -q "[^a-z_]${pair#*:}[^a-z_]"
		else
			# shellcheck disable=SC2086
			$as_root test -d "/sys/kernel/tracing/events/net/${pair%%:*}" 2>/dev/null ||
				$as_root test -d "/sys/kernel/debug/tracing/events/net/${pair%%:*}" 2>/dev/null
		fi && found=$((found + 1)) || lacking="$lacking ${pair#*:}"
	done
	tell "events $found$lacking"
}

check_recorders()
{
	{ has sadf && has sar; } && tell "sysstat $(version_of sar -V)"
	has tcpdump || return 0
	if [ "$is_root" = yes ] || { has getcap &&
		getcap "$(command -v tcpdump)" 2>/dev/null | grep -q cap_net_raw; }; then
		tell "tcpdump $(version_of tcpdump --version)"
	else
		tell 'tcpdump_rights none'
	fi
}

# Offloads that make one packet of several, or several of one, where packets go: not on
# what is down, nor on bridges, which only join others.
check_offloads()
{
	has ethtool || {
		tell 'offloads unknown'
		return
	}
	for interface in /sys/class/net/*; do
		interface=${interface##*/}
		[ "$interface" != lo ] || continue
		[ ! -d "/sys/class/net/$interface/bridge" ] || continue
		[ "$(first_word_of "/sys/class/net/$interface/operstate")" != down ] || continue
		on=$(limited "$step_seconds" ethtool -k "$interface" 2>/dev/null | awk '
			$2 == "on" && $1 == "generic-segmentation-offload:" { print "gso" }
			$2 == "on" && $1 == "tcp-segmentation-offload:" { print "tso" }
			$2 == "on" && $1 == "large-receive-offload:" { print "lro" }
			$2 == "off" && $1 == "generic-receive-offload:" { print "no-gro" }' | tr '\n' ' ')
		[ -z "$on" ] || tell "offload $interface $on"
	done
}

check_place()
{
	place=$BASE
	[ -n "$place" ] || for place in "${TMPDIR:-}" /var/tmp /tmp; do
		[ -z "$place" ] || [ ! -d "$place" ] || [ ! -w "$place" ] || break
	done
	while [ ! -d "$place" ] && [ "$place" != / ] && [ -n "$place" ]; do
		place=${place%/*}
	done
	here=${place:-/}
	disk_reserve
	tell "free_kib ${disk_free:-0}"
	[ -w "${place:-/}" ] || tell "place $place"
	own=$place/clustertrace-$(id -u)
	[ ! -d "$own/active" ] || tell "active $(cat "$own/active/run" 2>/dev/null)"
}

check_clock()
{
	tell "clock $(first_word_of /sys/devices/system/clocksource/clocksource0/current_clocksource)"
}

check_packages()
{
	for manager in apt-get dnf yum zypper apk; do
		if has "$manager"; then
			tell "manager $manager"
			break
		fi
	done
}

# First the clock: it is compared with the caller's.
do_check()
{
	check_clock
	check_shell
	check_rights
	check_lttng
	check_tracer
	check_events
	check_recorders
	check_offloads
	check_place
	check_packages
	tell end
}

# Start and stop a node's session daemon, sent to `sh -s ACTION` behind base.sh
# and lttng.sh. A daemon with sessions in it is never stopped: they are not ours.

count_sessions()
{
	# shellcheck disable=SC2086
	sessions=$(limited "$step_seconds" $rights lttng --no-sessiond --mi xml list </dev/null 2>/dev/null |
		grep -o '<session>' | wc -l)
	sessions=$((sessions))
}

no_daemon()
{
	! daemon_pid "$pid_file"
}

daemon_stop()
{
	daemon_pid "$pid_file" || return 0
	count_sessions
	[ "$sessions" -eq 0 ] ||
		give_up "the session daemon has $sessions sessions, destroy them first"
	daemon_pid "$pid_file" || return 0
	# shellcheck disable=SC2086
	$rights kill -s TERM "$daemon" || give_up 'no right to stop the session daemon'
	until_true 100 no_daemon || give_up 'the session daemon does not end'
}

daemon_start()
{
	! daemon_pid "$pid_file" || return 0
	# shellcheck disable=SC2086
	limited "$step_seconds" $rights lttng-sessiond --daemonize </dev/null >/dev/null 2>&1
	until_true 100 daemon_pid "$pid_file" || give_up 'the session daemon does not start'
}

do_daemon()
{
	find_rights
	find_home
	has lttng-sessiond || give_up 'lttng-sessiond: not installed, want lttng-tools'
	rights=
	# Where root's rights are at hand, root's daemon is meant: it traces the kernel.
	[ "$is_root" != yes ] || rights=$as_root
	daemon_file
	case $1 in
	stop | restart) daemon_stop ;;
	esac
	case $1 in
	start | restart) daemon_start ;;
	esac
	if daemon_pid "$pid_file"; then
		count_sessions
		tell "daemon running, pid $daemon, sessions: $sessions"
	else
		tell 'daemon not running'
	fi
}
