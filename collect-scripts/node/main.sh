# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Which action? $run and $node stand in a file beside this script.

run=
node=
{
	read -r run
	IFS= read -r node
} 2>/dev/null <"$here/who" || :

# The shell for our own loops: one that has the real-time clock as a variable if
# there is one, which costs no process and is exact to microseconds.
sh=/bin/sh
if [ -z "${EPOCHREALTIME:-}" ] && has bash; then
	case $(bash -c 'echo "$EPOCHREALTIME"') in
	[0-9]*) sh=bash ;;
	esac
fi

# node.sh [STEP_SECONDS] ACTION [ARGUMENT...]
case ${1:-} in
[1-9]*)
	step_seconds=$1
	shift
	;;
esac
action=${1:-}
[ $# -eq 0 ] || shift
case $action in
start) do_start ;;
stop) do_stop ;;
status) do_status ;;
exec) do_exec "$@" ;;
task) do_task "$@" ;;
list) do_list ;;
send) do_send ;;
clean) do_clean ;;
clock-loop)
	find_rights
	find_home
	clock_begin
	watch
	;;
sensor-loop) sensor_loop "$@" ;;
*) give_up "no action '$action'" ;;
esac
