#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154,SC3028
#
# The script that ctcollect runs on a node: sh node.sh [FRAME] ACTION [ARGUMENT...]. The parts in
# node/ are put together (../fetch.sh) and sent over ssh into one private directory of a run,
# which the collector chose and noted before (hello). An action that must work even if nothing
# is there, or only a part, is sent along with the script: sh -s FRAME DIRECTORY ACTION.
#
#   BASE/clustertrace-UID/          mode 700, ours
#     RUN/                          $here: this script lies in it
#       plan                        lines of ctrecipe
#       bin/ctwrap, bin/ctsample
#       procs/NAME                  PID STARTTIME of each process that we started
#       pids/PID                    whitelist of ctsample
#       who                         RUN and the node's name, our mark
#       boot, started               in which boot
#       stopping, stopped, full, rebooted
#                                   what has happened: not-stopping and so on until then, so that
#                                   noting it is a rename, which a full disk does not prevent
#       reserve                     space for what the end of the run writes
#       data/                       what is fetched
#       problems                    one line each
#
# The script runs under dash, bash and busybox sh. It reports to the caller on standard output, a
# line per fact: KEY VALUE, after a line FRAME and before a line FRAME end. The collector chose
# the frame, and skips what a login shell prints before it.
set -u
umask 077
LC_ALL=C
export LC_ALL
unset CDPATH IFS POSIXLY_CORRECT
PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
export PATH
frame=
case ${1:-} in
frame.*)
	frame=$1
	shift
	;;
esac
case $0,${1:-} in
*/node.sh,*) here=${0%/*} ;;
*,/*)
	here=$1
	shift
	;;
*) here=/nonexistent ;;
esac
case $here in
/*) ;;
*) here=$PWD/$here ;;
esac
data=$here/data
base=${here%/*}
unnoted=
# Our user's number, of the user whose rights we have.
while read -r status_key _ uid _; do
	[ "$status_key" != Uid: ] || break
done </proc/self/status

tell()
{
	printf '%s\n' "$*"
}

open_answer()
{
	[ -z "$frame" ] || printf '\n%s\n' "$frame"
}

close_answer()
{
	[ -z "$frame" ] || printf '%s end\n' "$frame"
}

# Keep a problem of this node for run.json, once. If the disk is full it is only reported.
problem()
{
	grep -q -x -F -e "$*" "$here/problems" 2>/dev/null ||
		{ printf '%s\n' "$*" >>"$here/problems"; } 2>/dev/null || unnoted="$unnoted$*
"
}

# flag NAME: note that something has happened. Fails if it was noted before.
flag()
{
	mv "$here/not-$1" "$here/$1" 2>/dev/null
}

give_up()
{
	printf 'failed %s\n' "$*"
	exit 1
}

# Time limit of one step, such as a call of lttng. Emulated machines are slow.
step_seconds=300

has()
{
	command -v "$1" >/dev/null 2>&1
}

as_root=
is_root=no
sudo_lacks='a password'

# Root's rights, if they can be had without a question: "" or "sudo -n"; otherwise sets sudo_lacks,
# what sudo needs.
# lttng needs a home that it can write to.
find_rights()
{
	[ -d "${LTTNG_HOME:-${HOME:-}}" ] && [ -w "${LTTNG_HOME:-${HOME:-}}" ] ||
		export LTTNG_HOME="${here%/*}"
	if [ "$uid" = 0 ]; then
		is_root=yes
	elif has sudo; then
		if sudo_said=$(timeout "$step_seconds" sudo -n true </dev/null 2>&1); then
			is_root=yes
			as_root='sudo -n'
			return
		fi
		case $sudo_said in
		*tty* | *terminal\ to\ run\ sudo*)
			sudo_lacks="a terminal (requiretty); as root: \"Defaults:$(id -un) !requiretty\" in sudoers"
			;;
		esac
	fi
}

# Set boot to the number of this boot.
boot_id()
{
	read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id || boot=unknown
}

# Let up to TENTHS tenths of a second pass until the command succeeds.
until_true()
{
	tenths=$1
	shift
	step=0.02
	while ! "$@"; do
		[ "$tenths" -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep "$step" 2>/dev/null || sleep 1
		step=0.1
	done
}

# Processes that we start, and their end. Each is the leader of a session of its
# own and recorded with its pid and start time, so that a later process with the
# same pid is never taken for it. What outlives its leader is known by the
# session and by the run's name in its environment.

# spawn NAME COMMAND...: in the background, output to data/log/NAME.log.
spawn()
{
	go_on
	spawn_name=$1
	shift
	CLUSTERTRACE_RUN=$run CLUSTERTRACE_DIR=$here setsid "$@" \
		</dev/null >>"$data/log/$spawn_name.log" 2>&1 &
	record "$spawn_name" $!
}

# note_process NAME PID: in $here/procs.
note_process()
{
	note_start=gone
	! is_alive "$2" || note_start=$start
	{ printf '%s %s\n' "$2" "$note_start" >"$here/procs/$1"; } 2>/dev/null
}

# The record is there before anything else can go wrong, or the process is not.
record()
{
	note_process "$@" || {
		kill -KILL "$2"
		problem "$1: cannot be recorded, so it was not started"
		return 1
	}
}

# Is the recorded process there? Sets pid.
is_running()
{
	pid=
	pid_start=
	read -r pid pid_start 2>/dev/null <"$here/procs/$1" || return 1
	# Pids and ticks begin anew with a restart.
	[ ! -f "$here/rebooted" ] || return 1
	[ -n "$pid_start" ] && is_alive "$pid" && [ "$start" = "$pid_start" ]
}

# are_gone PATTERN: none of them runs.
are_gone()
{
	find_recorded "$1"
	for still in $recorded_names; do
		! is_running "$still" || return 1
	done
}

# With sudo for what runs as root.
send_signal()
{
	kill -s "$1" -- "$2" 2>/dev/null ||
		${as_root:+$as_root kill -s "$1" -- "$2"} 2>/dev/null
}

# members [SESSION]: processes that have our run in their environment, except in our own session.
# Only root can look at what runs as root.
members()
{
	read_stat $$
	own_session=$sid
	# shellcheck disable=SC2013,SC2046,SC2086 # numbers
	for member_file in $($as_root grep -l -F "CLUSTERTRACE_RUN=$run" /proc/[0-9]*/environ 2>/dev/null); do
		member_file=${member_file#/proc/}
		read_stat "${member_file%/environ}" && [ "$process_state" != Z ] && [ "$sid" != "$own_session" ] &&
			[ "$sid" = "${1:-$sid}" ] && tell "${member_file%/environ}"
	done
}

# signal_all PATTERN SIGNAL: to the group of each that runs.
signal_all()
{
	find_recorded "$1"
	for name in $recorded_names; do
		! is_running "$name" || send_signal "$2" "-$pid" || send_signal "$2" "$pid"
	done
}

# end PATTERN SIGNAL SECONDS: the signal each second until all of them are gone, since one can get
# lost, and in the end SIGKILL.
end()
{
	find_recorded "$1"
	for name in $recorded_names; do
		is_running "$name" || tell_early "$name"
	done
	patience=$3
	while signal_all "$1" "$2" && ! until_true 10 are_gone "$1" && [ "$patience" -gt 0 ]; do
		patience=$((patience - 1))
	done
	are_gone "$1" || {
		signal_all "$1" KILL
		until_true 50 are_gone "$1" || problem "$1: does not end"
	}
	# shellcheck disable=SC2086 # a pattern
	[ -z "$recorded_names" ] || rm -f "$here"/procs/$1
}

# Set strays to the processes of the recipe's commands that still run: those that have the run in
# their environment and do not belong to a recorder.
find_strays()
{
	recorders=
	find_recorded '*'
	for name in $recorded_names; do
		case $name in
		exec-*) ;;
		*) ! is_running "$name" || recorders="$recorders $pid " ;;
		esac
	done
	strays=
	for stray in $(members); do
		read_stat "$stray" || continue
		case $recorders in
		*" $sid "*) ;;
		*) strays="$strays $stray" ;;
		esac
	done
}

are_ended()
{
	for still; do
		! is_alive "$still" || return 1
	done
}

end_commands()
{
	for signal in TERM KILL; do
		signal_all 'exec-*' "$signal"
		find_strays
		for stray in $strays; do
			send_signal "$signal" "$stray"
		done
		# shellcheck disable=SC2086 # numbers
		! until_true 50 are_gone 'exec-*' || ! until_true 50 are_ended $strays || break
	done
	rm -f "$here"/procs/exec-*
}

# A recorder that ended by itself has missed something: report it. Commands and sensors may end.
tell_early()
{
	case $1 in
	exec-* | sensor-* | starter | stopper) ;;
	*) [ -f "$here/rebooted" ] || problem "$1: ended before its time$(last_words "$1")" ;;
	esac
}

last_words()
{
	last_line=$(tail -n 1 "$data/log/$1.log" 2>/dev/null | tr -c '\40-\176\n' '?' | cut -c 1-200)
	[ -z "$last_line" ] || tell ": $last_line"
}

# find_recorded PATTERN: set recorded_names.
find_recorded()
{
	recorded_names=
	for proc_file in "$here"/procs/$1; do
		[ ! -f "$proc_file" ] || recorded_names="$recorded_names ${proc_file##*/}"
	done
}

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

# Return 0 if all clocks can be read exactly: sets exact_mono, exact_real and exact_boot, by the first bases of
# timers in the list. The list may be long, which a shell would read byte by byte. A processor
# that sleeps may not have heard yet that the clock was set, so what it says must lie just before
# what date says. It is asked again, rather than that a sample of another kind makes the clock
# seem to jump.
clocks_are_exact()
{
	[ -r /proc/timer_list ] || return 1
	for _ in 1 2 3 4 5; do
		# shellcheck disable=SC2046 # numbers
		set -- $(exec awk '
			$1 == "now" { print $3 }
			$1 == ".index:" { base = $2 }
			$1 == ".offset:" && base == 1 { print $2 }
			$1 == ".offset:" && base == 2 { print $2; exit }' /proc/timer_list 2>/dev/null)
		[ $# -eq 3 ] || return 1
		exact_mono=$1
		exact_real=$(($1 + $2))
		exact_boot=$(($1 + $3))
		read_realtime
		late=$((stamp - exact_real))
		[ "$late" -lt 0 ] || [ "$late" -ge 1000000000 ] || return 0
		sleep 0.2
	done
	return 1
}

# A line of clock.csv.
clock_sample()
{
	if clocks_are_exact; then
		printf '%s,%s,%s\n' "$exact_real" "$exact_mono" "$exact_boot" >>"$data/clock.csv"
		return
	fi
	# CLOCK_BOOTTIME counts the time that the machine slept, CLOCK_MONOTONIC does not.
	suspends=0
	read -r suspends 2>/dev/null </sys/power/suspend_stats/success || :
	if [ "${suspends:-0}" != 0 ]; then
		problem 'clock.csv: the machine has slept, and how long only root can read'
		return
	fi
	best=
	for _ in 1 2 3; do
		uptime_now
		before=$up
		while [ "$up" = "$before" ]; do
			uptime_now
		done
		read_realtime
		boot_ns=$((up * 10000000))
		if [ -z "$best" ] || [ $((stamp - boot_ns)) -lt "$best" ]; then
			best=$((stamp - boot_ns))
			sample=$stamp,$boot_ns,$boot_ns
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

# For awk: version(LINE), the first word with a digit and a dot in it, or nothing.
version_function='
function version(line) {
	return match(line, /[^0-9.][0-9]+[.][0-9][0-9.]*/) ? substr(line, RSTART + 1, RLENGTH - 1) : ""
}
'

# A tool's version, by the first line that it prints one in.
version_of()
{
	has "$1" || return 0
	timeout "$step_seconds" "$@" </dev/null 2>&1 | awk -- "$version_function"'
		(found = version($0)) != "" {
			print found
			exit
		}'
}

# Print the output of programs about this node, in sections that begin with a line "\001 SECTION NAME".
ask_programs()
{
	printf '\001 machine\n'
	uname -m
	for tool in 'lttng lttng --version' 'sysstat sar -V' 'tcpdump tcpdump --version' \
		'trace-cmd trace-cmd --version'; do
		tool_command=${tool#* }
		has "${tool_command%% *}" || continue
		printf '\n\001 tool %s\n' "${tool%% *}"
		# shellcheck disable=SC2086 # words
		timeout "$step_seconds" $tool_command </dev/null 2>&1
	done
	printf '\n'
	has ip || return 0
	for speed_file in /sys/class/net/*/speed; do
		speed_of=${speed_file#/sys/class/net/}
		! read -r speed <"$speed_file" || printf '\001 speed %s\n%s\n' "${speed_of%/speed}" "$speed"
	done
	printf '\001 link\n'
	ip -o link show
	printf '\001 address\n'
	ip -o addr show
} 2>/dev/null

# The frequency is the processor's nominal one, or its current one if that is unknown. Each interface has its
# speed, if known, and its addresses.
describe()
{
	ask_programs | BOOT=$boot LC_ALL=C awk -- "$escape_functions$version_function"'
	function quoted(text) {
		return "\"" escaped(text, "\"\\") "\""
	}
	# Print "name": value, if there is one.
	function member(name, value) {
		if (value == "")
			return
		printf "%s%s: %s", separator, quoted(name), value
		separator = ", "
	}
	function text(name, value) {
		member(name, value == "" ? "" : quoted(value))
	}
	function number(name, value) {
		member(name, value ~ /^[0-9]+([.][0-9]+)?$/ ? value : "")
	}
	function line_of(file,    line) {
		line = ""
		getline line <file
		close(file)
		return line
	}
	function word_of(file,    part) {
		return split(line_of(file), part) ? part[1] : ""
	}
	# Set value[KEY] to the first value of each key in a file of lines KEY: VALUE, and processors.
	function read_facts(file,    line, at, key) {
		while ((getline line <file) > 0) {
			processors += line ~ /^processor/
			at = index(line, ":")
			key = substr(line, 1, at - 1)
			sub(/[ \t]+$/, "", key)
			line = substr(line, at + 1)
			sub(/^[ \t]+/, "", line)
			if (at && !(key in value))
				value[key] = line
		}
		close(file)
	}
	# Return the number of processors in a list such as 0-3,8.
	function count_online(list,    part, ends, n, i, sum) {
		n = split(list, part, ",")
		for (i = 1; i <= n; i++)
			sum += split(part[i], ends, "-") > 1 ? ends[2] - ends[1] + 1 : 1
		return n ? sum : processors
	}
	function mhz(    khz) {
		khz = word_of(frequency "base_frequency")
		if (khz == "")
			khz = word_of(frequency "cpuinfo_max_freq")
		return khz == "" ? value["cpu MHz"] : sprintf("%.3f", khz / 1000)
	}
	$1 == "\001" {
		section = $2
		about = $3
		next
	}
	section == "machine" && !machine { machine = $1 }
	section == "tool" && tool[about] == "" { tool[about] = version($0) }
	section == "speed" && /^[0-9]+$/ { speed[about] = "\"speed_mbps\": " $1 ", " }
	{
		name = $2
		sub(/[@:].*/, "", name)
	}
	section == "link" && NF > 1 { interface[++count] = name }
	section == "address" && NF > 3 {
		sub(/\/.*/, "", $4)
		addresses[name] = addresses[name] (addresses[name] == "" ? "" : ", ") quoted($4)
	}
	END {
		frequency = "/sys/devices/system/cpu/cpu0/cpufreq/"
		read_facts("/proc/cpuinfo")
		read_facts("/proc/meminfo")
		printf "{"
		text("hostname", line_of("/proc/sys/kernel/hostname"))
		text("kernel", word_of("/proc/sys/kernel/osrelease"))
		text("machine", machine)
		text("boot_id", ENVIRON["BOOT"])
		number("cpus", count_online(word_of("/sys/devices/system/cpu/online")))
		text("cpu_model", value["model name"])
		number("cpu_mhz", mhz())
		number("mem_kib", value["MemTotal"] + 0)
		text("clock_source", word_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
		printf ", \"tools\": {"
		separator = ""
		text("lttng", tool["lttng"])
		text("sysstat", tool["sysstat"])
		text("tcpdump", tool["tcpdump"])
		text("trace-cmd", tool["trace-cmd"])
		printf "}, \"interfaces\": ["
		for (i = 1; i <= count; i++)
			printf "%s{\"name\": %s, %s\"addresses\": [%s]}", (i > 1 ? "," : ""), quoted(interface[i]),
				speed[interface[i]], addresses[interface[i]]
		print "]}"
	}' >"$data/node.json.new" && mv -f "$data/node.json.new" "$data/node.json"
}

# Make the private directory of a run and fill it, of what `sh -s` is sent. Before that, `hello`
# says where it will be, from the variables BASE and RUN, so that the collector can note it.

# Set BASE to the directory for private directories: the recipe's tmpdir, or this system's.
find_base()
{
	[ -n "$BASE" ] || for BASE in "${TMPDIR:-}" /var/tmp /tmp; do
		[ -z "$BASE" ] || [ ! -d "$BASE" ] || [ ! -w "$BASE" ] || break
	done
}

# The path has neither links nor ".." in it.
hello()
{
	open_answer
	[ -z "$BASE" ] || mkdir -p "$BASE" 2>/dev/null
	find_base
	case $BASE in
	/*) ;;
	*) give_up "$BASE: not an absolute path" ;;
	esac
	cd -P "$BASE" 2>/dev/null || give_up "$BASE: cannot be made, or entered"
	BASE=$PWD
	case $BASE in
	*[!A-Za-z0-9_./:=@%+,-]*) give_up "$BASE: has characters that are not safe; expected a plain path" ;;
	esac
	tell "dir ${BASE%/}/clustertrace-$uid/$RUN"
	tell "clock $(date +%s)"
	close_answer
}

# set_up NODE. The directory above is our own, and nobody else can look into it: it is neither a
# link nor one that somebody has laid out for us.
set_up()
{
	open_answer
	mkdir "$base" 2>/dev/null
	[ "$(find "$base" -prune -type d -user "$uid" -perm 700 2>/dev/null)" = "$base" ] ||
		give_up "$base: expected a directory of $(id -un) with mode 700, or a place to create it"
	mkdir "$here" 2>/dev/null || give_up "$here: cannot be created, or exists already"
	printf '%s\n%s\n' "${here##*/}" "$1" >"$here/who" &&
		mkdir -p "$here/bin" "$here/libexec/clustertrace" "$here/data/log" "$here/procs" \
			"$here/pids" "$here/sensors" "$here/exec" || cannot_write
	for later in stopping stopped full rebooted; do
		: >"$here/not-$later" || cannot_write
	done
}

cannot_write()
{
	rm -rf "$here"
	rmdir "$base" 2>/dev/null
	printf 'state clean\n'
	give_up "$here: cannot be written"
}

# Write the files that are sent, each after a line FILE OF RUN PATH.
unpack()
{
	HERE=$here/ MARK="FILE OF ${here##*/} " awk '
	index($0, ENVIRON["MARK"]) == 1 {
		if (file)
			close(file)
		file = ENVIRON["HERE"] substr($0, length(ENVIRON["MARK"]) + 1)
		next
	}
	{ print >file }' || cannot_write
}

# begin BYTES: the collection, if the files are there with all of their bytes; what fails leaves nothing.
begin()
{
	unpacked=$(wc -c "$here/node.sh" "$here/plan" "$here"/bin/* "$here"/libexec/clustertrace/*)
	unpacked=${unpacked%' total'}
	[ "${unpacked##*[!0-9]}" = "$1" ] || cannot_write
	chmod 700 "$here/bin/ctwrap" "$here/bin/ctsample"
	/bin/sh "$here/node.sh" start </dev/null || {
		/bin/sh "$here/node.sh" stop </dev/null
		/bin/sh "$here/node.sh" clean </dev/null
		exit 1
	}
	close_answer
}
