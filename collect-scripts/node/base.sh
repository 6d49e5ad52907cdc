#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What ctcollect runs on a node: sh node.sh ACTION [ARGUMENT...]. The parts in
# node/ are put together in the order of their names' use (see ../bundle.sh)
# and sent over ssh into one private directory of a run:
#
#   BASE/clustertrace-UID/          mode 700, ours
#     active/                       which run collects here now
#     RUN/                          $here: this script lies in it
#       plan                        lines of ctrecipe
#       bin/ctwrap, bin/ctsample
#       procs/NAME                  PID STARTTIME of each process that we started
#       pids/PID                    whitelist of ctsample
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
step_seconds=${STEP_SECONDS:-60}

has()
{
	command -v "$1" >/dev/null 2>&1
}

# limited SECONDS COMMAND...: where there is timeout(1), with it.
limited()
{
	limit=$1
	shift
	if has timeout; then
		timeout "$limit" "$@"
	else
		"$@"
	fi
}

# Root's rights, if they can be had without a question: "" or "sudo -n".
find_rights()
{
	as_root=
	is_root=no
	if [ "$(id -u)" = 0 ]; then
		is_root=yes
	elif has sudo && limited "$step_seconds" sudo -n true </dev/null >/dev/null 2>&1; then
		is_root=yes
		as_root='sudo -n'
	fi
}

boot_id()
{
	boot=unknown
	read -r boot </proc/sys/kernel/random/boot_id 2>/dev/null || :
	tell "$boot"
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

planned()
{
	grep -q "^$1 " "$here/plan"
}
