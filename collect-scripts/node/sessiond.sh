# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Start and stop a node's session daemon, sent to `sh -s ACTION` behind base.sh
# and lttng.sh. A daemon with sessions in it is never stopped: they are not ours.

find_rights
find_home
has lttng-sessiond || give_up 'lttng-sessiond: not installed, want lttng-tools'
rights=
# Where root's rights are at hand, root's daemon is meant: it traces the kernel.
[ "$is_root" != yes ] || rights=$as_root
daemon_file

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

case $1 in
start) daemon_start ;;
stop) daemon_stop ;;
restart)
	daemon_stop
	daemon_start
	;;
esac
if daemon_pid "$pid_file"; then
	count_sessions
	tell "daemon running, pid $daemon, sessions: $sessions"
else
	tell 'daemon not running'
fi
