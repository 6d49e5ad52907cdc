# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2030,SC2031,SC2034,SC2119,SC2120,SC2154
#
# A run on a node, from its begin to the removal of what it recorded.

# The watcher of a collection on the node: every 10 s (tests ask for less) it samples the clocks and claims, and ends
# all when the disk gets full, or when the run's directory was removed: nothing can be
# recorded then, and nobody would find the processes any more.

do_clock()
{
	trap '' HUP
	find_rights
	printf 'realtime_ns,monotonic_ns,boottime_ns\n' >"$data/clock.csv"
	clock_sample
	trap 'clock_sample; sample_claims; exit 0' TERM INT
	sample_claims
	while :; do
		# A signal ends it early.
		sleep_until_due &
		wait $!
		is_there || abandon
		sample_claims
		clock_sample
		guard_disk
	done
}

# Until the real-time clock shows a multiple of 10 s: claims of several nodes can be compared
# best if they are of one time.
sleep_until_due()
{
	[ -z "${CLUSTERTRACE_WATCH_SECONDS:-}" ] || exec sleep "$CLUSTERTRACE_WATCH_SECONDS"
	read_realtime
	rest=$((10000000000 - stamp % 10000000000))
	sleep "$((rest / 1000000000)).$(printf '%09d' $((rest % 1000000000)))" 2>/dev/null || sleep 10
}

# The run's directory, with our mark in it.
is_there()
{
	mark=
	read -r mark 2>/dev/null <"$here/who" || :
	[ "$mark" = "$run" ]
}

# The directory is gone, and with it the records: all that bears the run's name ends. A
# session daemon of ours is left.
abandon()
{
	trap '' TERM INT
	cd /
	for domain in kernel userspace; do
		! use_domain "$domain" || lttng_client destroy "$session" >/dev/null 2>&1
	done
	for signal in TERM KILL; do
		for member in $(members); do
			[ "$member" = $$ ] || send_signal "$signal" "$member"
		done
		[ "$signal" = KILL ] || sleep 1
	done
	remove_instance
	rmdir "$base" 2>/dev/null
	exit 0
}

# KiB that stay free: 5 % of the file system, at most 64 MiB.
disk_reserve()
{
	# shellcheck disable=SC2046 # fields, after seven of the title
	set -- $(df -P -k "$here" 2>/dev/null)
	disk_free=${11:-}
	disk_keep=$((${9:-0} / 20))
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
	note_full_disk
	trap '' TERM
	rm -f "$here/procs/clock"
	stop_sources
	exit 0
}

note_full_disk()
{
	flag full
	rm -f "$here/reserve"
	problem "disk full: $disk_free KiB left at $here, stopped early"
}

# The begin and the end of a collection on a node.

# One collection at a time. A run that a restart or a crash left behind is no
# hindrance: it counts only while a process of it is there, in this boot.
look_around()
{
	for other in "$base"/*/; do
		other=${other%/}
		if [ "$other" = "$here" ] || [ -f "$other/stopped" ]; then
			continue
		elif is_collecting "$other"; then
			give_up "already collecting here: run ${other##*/}; run \`ctcollect stop\` on it first"
		fi
		problem "run ${other##*/} was left behind here"
	done
}

# Does a process of this run live? A run that is just being set up counts.
is_collecting()
(
	here=$1
	boot_id
	read -r begun_in 2>/dev/null <"$here/boot" && [ "$begun_in" = "$boot" ] && [ ! -f "$here/stopped" ] || exit 1
	find_recorded '*'
	for name in $recorded_names; do
		is_running "$name" && exit 0
	done
	exit 1
)

# The shell for our own loops: bash, if it is there, has the real-time clock as a variable,
# which costs no process and is exact to microseconds. Sets sh.
find_shell()
{
	sh=/bin/sh
	[ -n "${EPOCHREALTIME:-}" ] || ! has bash || sh=bash
}

# go_on: unless a stop came meanwhile, which waits for us.
go_on()
{
	[ ! -e "$here/stopping" ] || give_up 'stopped while it was starting'
}

do_start()
{
	boot_id
	record starter $$ && tell "$boot" >"$here/boot" || give_up "cannot write at $here"
	! disk_is_full || give_up "disk full: $disk_free KiB left at $here"
	head -c 1048576 /dev/zero >"$here/reserve" || give_up "cannot write at $here"
	look_around
	find_rights
	find_shell
	describe && [ -s "$data/node.json" ] || give_up "cannot write at $data"
	spawn clock "$sh" "$here/node.sh" clock
	start_recorders
	[ -z "$has_tracer" ] || trace_kernel
	[ -z "$has_userspace" ] || trace userspace
	each_line "$here/plan" probe start_probe
	settle
	go_on
	: >"$here/started" || give_up "cannot write at $here"
	rm -f "$here/procs/starter"
	tell "sources $source_count"
	report started
}

# Start what the plan names but for tracers and probes. Sets has_tracer and has_userspace.
start_recorders()
{
	sensor_count=0
	has_tracer=
	has_userspace=
	while IFS= read -r plan_line; do
		starter=
		case $plan_line in
		'sar '*) starter=start_sar ;;
		'capture '*) starter=start_captures ;;
		'process '*) starter=start_sampler ;;
		'sensor '*) starter=start_sensor ;;
		'tracer '*) has_tracer=yes ;;
		'event userspace '*) has_userspace=yes ;;
		esac
		[ -z "$starter" ] || with_words "$starter" "$plan_line" </dev/null
	done <"$here/plan"
}

# A capture that cannot begin ends at once: give all a moment, then look. Sets source_count, how
# many sources of the recipe record.
settle()
{
	source_count=0
	find_recorded '*'
	for name in $recorded_names session-kernel session-userspace; do
		case $name in
		starter | sessiond-*) continue ;;
		session-*)
			[ ! -f "$here/$name" ] || source_count=$((source_count + 1))
			continue
			;;
		capture-*) until_true 50 has_begun "$name" "${name#capture-}" || : ;;
		ftrace) until_true "$((step_seconds * 10))" ftrace_has_begun || : ;;
		clock) until_true 50 has_begun clock clock.csv || : ;;
		sensor-*)
			source_count=$((source_count + 1))
			continue
			;;
		esac
		if ! is_running "$name"; then
			problem "$name: ended at once$(last_words "$name")"
			rm -f "$here/procs/$name"
			continue
		fi
		case $name in
		clock | probe-*) ;;
		*) source_count=$((source_count + 1)) ;;
		esac
	done
}

has_begun()
{
	[ -s "$data/$2" ] || are_gone "$1"
}

# Commands first, then the tracers, probes after everything that records them, the clock last.
# Once only: who comes second waits for the first.
stop_sources()
{
	if ! flag stopping && is_running stopper; then
		until_true 1200 test -e "$here/stopped" || problem 'the collection does not end'
		return
	fi
	[ ! -f "$here/stopped" ] || return 0
	rm -f "$here/reserve"
	note_process stopper $$ || :
	# The starter notices the stop before its next step.
	until_true 600 are_gone starter || end starter KILL 0
	end_commands
	end_session kernel
	end_session userspace
	end_ftrace
	# The kernel hands packets over to tcpdump by the block, which is full or a second old;
	# those of a block that is not are lost when tcpdump ends.
	! ls "$here"/procs/capture-* >/dev/null 2>&1 || sleep 1.2
	# A recorder may have much left to write on a slow machine.
	end sar INT 150
	end 'capture-*' INT 150
	tell_dropped
	end 'probe-*' INT 10
	tell_unanswered
	end 'sensor-*' TERM 10
	end ctsample TERM 10
	end clock TERM 30
	for member in $(members); do
		send_signal KILL "$member"
	done
	end_daemon kernel
	end_daemon userspace
	flag stopped || problem 'that it has stopped cannot be noted'
	rm -f "$here/procs/stopper"
}

# tcpdump says at its end what the kernel could not keep for it.
tell_dropped()
{
	for log in "$data"/log/capture-*.log; do
		[ -f "$log" ] || continue
		dropped=$(awk '/^[0-9]+ packets? dropped by / { sum += $1 } END { print sum + 0 }' "$log")
		name=${log##*/}
		[ "$dropped" = 0 ] ||
			problem "${name%.log}: lacks $dropped packets that were dropped while it was written"
	done
}

# ping says at its end how many packets it sent and how many answers it received.
tell_unanswered()
{
	for log in "$data"/log/probe-*.log; do
		[ -f "$log" ] || continue
		name=${log##*/probe-}
		! grep -q ' packets transmitted, 0 ' "$log" ||
			problem "probe of ${name%.log}: no answer"
	done
}

note_reboot()
{
	read -r begun_in 2>/dev/null <"$here/boot" || return 0
	boot_id
	[ "$begun_in" != "$boot" ] || return 0
	flag rebooted || :
	problem 'the node was restarted during the run: there is data up to then only'
}

# is_set_up: or nothing ever ran there, and what there is was removed.
is_set_up()
{
	[ -d "$here" ] && [ ! -L "$here" ] && ! rmdir "$here" 2>/dev/null || {
		tell 'state gone'
		return 1
	}
	[ "$run" = "${here##*/}" ] || give_up "$here: not ours, left as it is"
	[ ! -f "$here/boot" ] || return 0
	do_clean
	return 1
}

do_stop()
{
	is_set_up || return 0
	find_rights
	note_reboot
	if [ -f "$here/rebooted" ]; then
		rm -f "$here"/session-*
	fi
	disk_reserve
	[ "${disk_free:-99}" -gt 64 ] || [ -f "$here/stopped" ] || note_full_disk
	stop_sources
	# Files that commands created as root are fetched too.
	# shellcheck disable=SC2086
	[ -z "$as_root" ] || $as_root chown -R -h "$uid:$(id -g)" "$data" 2>/dev/null
	convert
	report stopped
	[ -f "$here/stopped" ]
}

# The text of sar's log is made here, where its version is known. What cannot
# be made whole is left out: the log itself is still there.
convert()
{
	join_sensors
	[ -s "$data/sar.sa" ] && [ ! -s "$data/sar.sadf" ] || return 0
	if ! has sadf; then
		problem 'sadf: not installed, the log is fetched as it is'
	elif ! LC_ALL=C timeout $((step_seconds * 10)) sadf -p -U "$data/sar.sa" -- -A </dev/null \
		>"$data/sar.sadf.new" 2>>"$data/log/sar.log"; then
		problem "sar.sa: sadf cannot convert it$(last_words sar)"
		rm -f "$data/sar.sadf.new"
	else
		mv -f "$data/sar.sadf.new" "$data/sar.sadf"
	fi
}

# Report the problems and the state at the end of an action.
report()
{
	{
		while IFS= read -r problem_line || [ -n "$problem_line" ]; do
			tell "problem $problem_line"
		done <"$here/problems"
	} 2>/dev/null
	[ -z "$unnoted" ] || printf '%s' "$unnoted" | sed 's/^/problem /'
	[ ! -f "$here/full" ] || grep -q -s '^disk full: ' "$here/problems" || [ -n "$unnoted" ] ||
		tell "problem disk full at $here, stopped early"
	tell "state $1"
}

do_status()
{
	[ -d "$here" ] || {
		tell 'state gone'
		return
	}
	note_reboot
	run_state=running
	[ -f "$here/started" ] || run_state=starting
	[ ! -f "$here/stopped" ] || run_state=stopped
	[ ! -f "$here/rebooted" ] || run_state=restarted
	find_recorded '*'
	for name in $recorded_names; do
		if is_running "$name"; then
			tell "process $name $pid"
		elif [ "$run_state" = running ]; then
			tell_early "$name"
		fi
	done
	# shellcheck disable=SC2046
	set -- $(du -s -k "$data" 2>/dev/null)
	tell "kib ${1:-0}"
	disk_reserve
	tell "free_kib ${disk_free:-0}"
	report "$run_state"
}

# Commands of the recipe. The command itself comes on standard input, so that no
# shell but the one that is to run it ever reads it.

# do_exec NAME METHOD TIMEOUT_MS SUDO [WORD...]: with these words before sh.
do_exec()
{
	exec_name=$1
	cat >"$here/exec/$exec_name" || give_up "cannot write at $here"
	[ -f "$here/boot" ] || give_up 'not started'
	[ ! -f "$here/stopped" ] || give_up 'the collection has stopped already'
	mkdir -p "$data/commands"
	out=$data/commands/$exec_name
	command_text=$(cat "$here/exec/$exec_name"; echo .)
	# The command's environment finds ctwrap in its path, and ctwrap the run.
	exec_method=$2
	set_limit "$3"
	exec_sudo=$4
	shift 4
	[ "$limit_up" -eq 0 ] || set -- timeout -k 5 "$limit" "$@"
	set -- env PATH="$here/bin:$PATH" CLUSTERTRACE_RUN="$run" CLUSTERTRACE_DIR="$here" "$@"
	if [ "$exec_sudo" = sudo ] && [ "$uid" != 0 ]; then
		find_rights
		[ "$is_root" = yes ] || give_up "sudo needs $sudo_lacks here"
		set -- sudo -n "$@"
	fi
	# The system takes words of up to 128 KiB.
	if [ ${#command_text} -lt 100000 ]; then
		set -- "$@" sh -c "${command_text%.}"
	else
		set -- "$@" sh "$here/exec/$exec_name"
	fi
	cd "${HOME:-/}" 2>/dev/null || cd /
	uptime_now
	begun=$up
	umask 022
	CLUSTERTRACE_RUN=$run CLUSTERTRACE_DIR=$here setsid "$@" </dev/null >"$out.out" 2>"$out.err" &
	launched=$!
	umask 077
	record "exec-$exec_name" "$launched"
	if [ "$exec_method" = background ]; then
		tell 'state launched'
		return
	fi
	await_launched
	tell "status $status"
	[ "$status" = 0 ] || tail -n 1 "$out.err" | tr -c '\40-\176\n' '?' | cut -c 1-200 | sed 's/^/said /'
}

# Sets status.
await_launched()
{
	wait "$launched"
	status=$?
	if is_timeout "$status" "$begun"; then
		status=timeout
		for member in $(members "$launched"); do
			send_signal KILL "$member"
		done
	elif [ -f "$here/stopped" ]; then
		status=stopped
	fi
	rm -f "$here/procs/exec-$exec_name"
}

# do_task QUEUE NUMBER NAME ENQUEUE_NS TRACE_ID TIMEOUT_MS: one task, by ctwrap.
do_task()
{
	do_exec "task-$1-$2" foreground "$6" no ctwrap --name "$3" --enqueue-ns "$4" --trace-id "$5" --
}

# Handing over what was recorded. Paths are relative to data/.

# CRC SIZE PATH of each file. A path with a line feed, another control character or
# a backslash would not survive the lists; we make none, so these are counted and
# left here.
do_list()
{
	cd "$data" 2>/dev/null || give_up "no data at $data"
	{
		find . -type f ! -path '*[[:cntrl:]]*' ! -path '*\\*' -exec cksum {} + 2>&1 >&3 3>&- |
			awk 'NR == 1 { first = $0 } END { if (NR) print "unread " NR ": " first }'
	} 3>&1
	find . \( -type f \( -path '*[[:cntrl:]]*' -o -path '*\\*' \) -exec printf 'odd%.0s\n' {} + \) -o \
		\( ! -type f ! -type d -exec printf 'special%.0s\n' {} + \) 2>/dev/null | sort | uniq -c |
		awk '{ print $2, $1 }'
}

# Read lines HAVE SIZE PATH; for each, write the file's bytes from HAVE up to SIZE.
do_send()
{
	cd "$data" || give_up "no data at $data"
	while IFS= read -r line; do
		have=${line%% *}
		line=${line#* }
		size=${line%% *}
		path=${line#* }
		tail -c +$((have + 1)) -- "$path" | head -c $((size - have)) || return
	done
}

# Remove this run from the node: only what is surely ours.
do_clean()
{
	[ -e "$here" ] || [ -L "$here" ] || {
		tell 'state clean'
		return
	}
	case $here in
	*/clustertrace-*/"$run") ;;
	*) run= ;;
	esac
	[ -n "$run" ] && [ ! -L "$here" ] && is_there || give_up "$here: not ours, left as it is"
	find_recorded '*'
	for name in $recorded_names; do
		! is_running "$name" || give_up "$here: $name still runs; stop it first"
	done
	cd / && rm -rf -- "$here" || give_up "$here: cannot be removed"
	rmdir "$base" 2>/dev/null || :
	tell 'state clean'
}

# Run the action. $run and $node are in a file next to this script.

run=
node=
{
	read -r run
	IFS= read -r node
} 2>/dev/null <"$here/who" || :

case ${1:-} in
start | stop | status | exec | task | list | send | clean | check | install | daemon | clock | sensor)
	action=$1
	shift
	open_answer
	"do_$action" "$@" || exit
	close_answer
	;;
*) give_up "no action '${1:-}'" ;;
esac
