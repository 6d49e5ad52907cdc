# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2030,SC2031,SC2034,SC2119,SC2120,SC2154
#
# The begin and the end of a collection on a node.

base=${here%/*}

# One collection at a time. A run that a restart or a crash left behind is no
# hindrance: it counts only while a process of it is there, in this boot.
take_active()
{
	mkdir "$base/active" 2>/dev/null && {
		tell "$run" >"$base/active/run"
		return 0
	}
	other=
	read -r other 2>/dev/null <"$base/active/run" || :
	if [ "$other" = "$run" ] || is_collecting "$base/$other"; then
		give_up "already collecting here: run $other, want \`ctcollect stop\` of it first"
	fi
	# mkdir says who wins where two take over.
	mkdir "$base/active/taken-$run" 2>/dev/null || give_up "cannot write below $base"
	tell "$run" >"$base/active/run"
	problem "run $other was left behind here, taken over"
}

# Does a process of this run live? A run that is just being set up counts.
is_collecting()
(
	here=$1
	[ -n "${1##*/}" ] && [ -d "$here/procs" ] || exit 1
	[ "$(cat "$here/boot" 2>/dev/null)" = "$(boot_id)" ] || exit 1
	[ ! -f "$here/stopped" ] || exit 1
	for name in $(recorded); do
		is_running "$name" && exit 0
	done
	# Nothing runs yet, or no longer: a young one is starting.
	[ ! -f "$here/started" ]
)

release_active()
{
	holder=
	read -r holder 2>/dev/null <"$base/active/run" || :
	[ "$holder" != "$run" ] || rm -rf "$base/active"
}

do_start()
{
	boot_id >"$here/boot"
	mkdir -p "$data/log" "$here/procs" "$here/pids" "$here/sensors" "$here/exec" ||
		give_up "cannot write at $here"
	! disk_is_full || give_up "disk full: $disk_free KiB left at $here"
	take_active
	find_rights
	find_home
	describe || give_up "cannot write at $data"
	[ -s "$data/node.json" ] || give_up "cannot write at $data"
	spawn clock "$sh" "$here/node.sh" clock-loop
	each_line "$here/plan" sar start_sar
	each_line "$here/plan" capture start_captures
	each_line "$here/plan" process start_sampler
	sensor_count=0
	each_line "$here/plan" sensor start_sensor
	! grep -q '^event \(kernel\|syscall\) ' "$here/plan" || trace kernel
	! grep -q '^event userspace ' "$here/plan" || trace user
	settle
	realtime_ns >"$here/started"
	report started
}

# A capture that cannot begin ends at once: give all a moment, then look.
settle()
{
	for name in $(recorded); do
		case $name in
		capture-*) until_true 50 capture_is_open "$name" || : ;;
		clock) until_true 50 clock_has_begun || : ;;
		sensor-* | sessiond-*) continue ;;
		esac
		is_running "$name" || {
			problem "$name: ended at once$(last_words "$name")"
			mv -f "$here/procs/$name" "$here/procs/.$name"
		}
	done
}

clock_has_begun()
{
	[ "$(wc -l 2>/dev/null <"$data/clock.csv")" -gt 1 ] 2>/dev/null || is_gone clock
}

capture_is_open()
{
	[ -s "$data/${1#capture-}" ] || is_gone "$1"
}

last_words()
{
	last_line=$(tail -n 1 "$data/log/$1.log" 2>/dev/null | tr -c '\40-\176\n' '?' | cut -c 1-200)
	[ -z "$last_line" ] || tell ": $last_line"
}

# Who is asked first, and how; whoever is left over is started by commands.
stop_order()
{
	for name in $(recorded); do
		case $name in
		exec-* | task-*) tell "1 TERM $name" ;;
		sar | capture-*) tell "2 INT $name" ;;
		sensor-* | ctsample) tell "2 TERM $name" ;;
		clock) tell "3 TERM $name" ;;
		esac
	done | sort
}

# The kernel hands packets over to tcpdump by the block, which is full or a second old;
# those of a block that is not are lost when tcpdump ends.
let_captures_drain()
{
	for name in $(recorded); do
		case $name in
		capture-*)
			! is_running "$name" || {
				sleep 1.2
				return
			}
			;;
		esac
	done
}

# stop_sources [EXCEPT]: commands first, then the tracers, the clock last. Once only:
# who comes second waits for the first.
stop_sources()
{
	if ! mkdir "$here/stopping" 2>/dev/null && is_running stopper; then
		until_true 1200 test -e "$here/ended" || problem 'the collection does not end'
		return
	fi
	[ ! -f "$here/ended" ] || return 0
	record stopper $$
	stop_group 1 ""
	end_session kernel
	end_session user
	let_captures_drain
	stop_group 2 ""
	stop_group 3 "${1:-}"
	end_daemon kernel
	end_daemon user
	rm -f "$here/procs/stopper"
	: >"$here/ended"
}

# stop_group NUMBER EXCEPT
stop_group()
{
	stop_order | while read -r number signal name; do
		[ "$number" = "$1" ] && [ "$name" != "$2" ] || continue
		# What writes a log may have much to write on a slow machine.
		patience=50
		[ "$1" = 1 ] || patience=$((step_seconds * 5))
		end "$name" "$signal" "$patience" </dev/null
		case $name in
		exec-* | task-* | sensor-*) continue ;;
		esac
		[ "$ended" != gone ] || [ -f "$here/rebooted" ] ||
			problem "$name: ended before its time$(last_words "$name")"
		case $name in
		capture-*) tell_dropped "$name" ;;
		esac
	done
}

# tcpdump says at its end what the kernel could not keep for it.
tell_dropped()
{
	dropped=$(awk '/^[0-9]+ packets? dropped by / { sum += $1 } END { print sum + 0 }' \
		"$data/log/$1.log" 2>/dev/null)
	[ "${dropped:-0}" = 0 ] ||
		problem "$1: lacks $dropped packets that were dropped while it was written"
}

note_reboot()
{
	[ -f "$here/boot" ] || return 0
	[ "$(cat "$here/boot")" != "$(boot_id)" ] || return 0
	: >"$here/rebooted"
	problem 'the node was restarted during the run: there is data up to then only'
}

do_stop()
{
	find_rights
	find_home
	note_reboot
	if [ -f "$here/rebooted" ]; then
		rm -f "$here"/session-*
	fi
	stop_sources
	end clock TERM 50
	[ -f "$here/stopped" ] || realtime_ns >"$here/stopped"
	# What commands left there as root is fetched, too.
	# shellcheck disable=SC2086
	[ -z "$as_root" ] || $as_root chown -R -h "$(id -u):$(id -g)" "$data" 2>/dev/null
	convert
	release_active
	report stopped
}

# The text of sar's log is made here, where its version is known. What cannot
# be made whole is left out: the log itself is still there.
convert()
{
	join_sensors
	[ -s "$data/sar.sa" ] && [ ! -s "$data/sar.sadf" ] || return 0
	if ! has sadf; then
		problem 'sadf: not installed, the log is fetched as it is'
	elif ! LC_ALL=C limited $((step_seconds * 10)) sadf -p -U "$data/sar.sa" -- -A </dev/null \
		>"$data/sar.sadf.new" 2>>"$data/log/sar.log"; then
		problem "sar.sa: sadf cannot convert it$(last_words sar)"
		rm -f "$data/sar.sadf.new"
	else
		mv -f "$data/sar.sadf.new" "$data/sar.sadf"
	fi
}

# What the caller is told at the end of an action.
report()
{
	[ ! -f "$here/problems" ] || sed 's/^/problem /' "$here/problems"
	tell "state $1"
}

do_status()
{
	note_reboot
	state=running
	[ -f "$here/started" ] || state=starting
	[ ! -f "$here/stopped" ] || state=stopped
	[ ! -f "$here/rebooted" ] || state=restarted
	for name in $(recorded); do
		if is_running "$name"; then
			tell "process $name $pid"
		elif [ "$state" = running ]; then
			case $name in
			exec-* | task-*) ;;
			*) problem "$name: ended before its time$(last_words "$name")" ;;
			esac
		fi
	done
	# shellcheck disable=SC2046
	set -- $(du -s -k "$data" 2>/dev/null)
	tell "kib ${1:-0}"
	disk_reserve
	tell "free_kib ${disk_free:-0}"
	report "$state"
}
