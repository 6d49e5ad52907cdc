# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Recorders on a node.

# LTTng on the node: two sessions of our own, clustertrace-RUN-kernel and
# clustertrace-RUN-userspace, so that one that fails does not take the other along.
# No other session is ever looked at. What is there already (a session daemon)
# is used; a daemon that we had to start ends with us, if nobody else uses it.

# use_domain kernel|userspace: what is at hand from here on. Sets domain, session, rights, by
# which the client runs ("" or "sudo -n"), and pid_file. Fails if nobody may.
use_domain()
{
	domain=$1
	session=clustertrace-$run-$domain
	rights=
	if [ "$domain" = kernel ] && [ "$uid" != 0 ] && ! root_daemon_is_open; then
		rights=$as_root
		[ -n "$rights" ] || return
	fi
	find_pid_file
}

# Root's session daemon takes clients of the group tracing, though its pid is root's
# to read only.
root_daemon_is_open()
{
	root_socket=${LTTNG_RUNDIR:-/run/lttng}/client-lttng-sessiond
	[ -S "$root_socket" ] && [ -w "$root_socket" ]
}

# A session daemon by its pid file, if it is one. Sets daemon.
daemon_pid()
{
	daemon=
	read -r daemon 2>/dev/null <"$1" || [ -n "$daemon" ] || return 1
	grep -q '^lttng-sessiond' "/proc/$daemon/comm" 2>/dev/null || daemon=
	[ -n "$daemon" ]
}

# Set pid_file to the path of the session daemon's pid.
find_pid_file()
{
	if [ "$uid" = 0 ] || [ -n "$rights" ]; then
		pid_file=${LTTNG_RUNDIR:-/run/lttng}/lttng-sessiond.pid
	else
		pid_file=${LTTNG_HOME:-${HOME:-/}}/.lttng/lttng-sessiond.pid
	fi
}

# The client. Each call is a process that talks with the daemon, so there are few of them.
lttng_client()
{
	# shellcheck disable=SC2086 # a word or two
	timeout "$step_seconds" $rights lttng --no-sessiond "$@" </dev/null
}

logged()
{
	"$@" >>"$data/log/lttng.log" 2>&1
}

# start_daemon: that of $pid_file, unless there is one. Sets is_new.
start_daemon()
{
	is_new=no
	daemon_pid "$pid_file" && return
	is_new=yes
	# shellcheck disable=SC2086
	timeout "$step_seconds" $rights lttng-sessiond --daemonize </dev/null
	until_true "$((step_seconds * 2))" daemon_pid "$pid_file"
}

# no_daemon: the process has ended. Its file goes first, its lock last.
no_daemon()
{
	! grep -q '^State:.*[^ZX] (' "/proc/$daemon/status" 2>/dev/null
}

# stop_daemon: that of $pid_file, unless it has sessions. Sets sessions.
stop_daemon()
{
	count_sessions
	daemon_pid "$pid_file" || return 0
	# shellcheck disable=SC2086
	[ "$sessions" -eq 0 ] && $rights kill -s TERM "$daemon" && until_true 100 no_daemon
}

count_sessions()
{
	sessions=$(($(lttng_client --mi xml list 2>/dev/null | grep -o '<session>' | wc -l)))
}

# A new one is recorded as ours.
need_daemon()
{
	[ "$uid" = 0 ] || [ -n "$rights" ] || ! root_daemon_is_open || return 0
	logged start_daemon || return
	[ "$is_new" = no ] || record "sessiond-$domain" "$daemon"
}

# trace DOMAIN: everything for one domain, kernel or userspace.
trace()
{
	go_on
	if ! has lttng || ! has lttng-sessiond; then
		problem "lttng: not installed, no $1 tracing"
	elif ! use_domain "$1"; then
		problem "lttng: no right to trace the kernel; needs root, sudo without a password, or the group tracing"
	elif ! need_daemon; then
		problem "lttng: no session daemon for $domain tracing"
	elif ! logged lttng_client create "$session" --output="$data"; then
		problem "lttng: cannot create session $session"
	else
		start_session
	fi
}

start_session()
{
	: >"$here/session-$domain"
	has_channel=no
	each_line "$here/plan" "channel $domain" enable_channel
	events=0
	if [ "$has_channel" = yes ] || tracer_is_there; then
		enable_events "$domain"
		[ "$domain" = userspace ] || enable_events syscall
	fi
	if [ "$events" -gt 0 ]; then
		for context in $(plan_words "context $domain"); do
			logged lttng_client add-context "--$domain" --session="$session" --channel=ch \
				--type="$context" || problem "lttng: no context $context for $domain events"
		done
		if logged lttng_client start "$session"; then
			[ "$domain" = userspace ] || find_unknown
			return
		fi
		problem "lttng: cannot start $domain tracing"
	elif tracer_is_there; then
		problem "lttng: none of the $domain events can be enabled"
	else
		problem "lttng: the kernel tracer is not loaded (lttng-modules for $(uname -r)), no kernel tracing"
	fi
	end_session "$domain"
}

# plan_words KIND: the rest of these lines, of words that no shell would stumble over.
plan_words()
{
	sed -n "s/^$1 //p" "$here/plan" | tr -d "'"
}

tracer_is_there()
{
	[ "$domain" != kernel ] || [ -d /sys/module/lttng_tracer ]
}

# channel DOMAIN SUBBUF_SIZE NUM_SUBBUF MODE SWITCH_US READ_US
enable_channel()
{
	if logged lttng_client enable-channel "--$domain" --session="$session" --subbuf-size="$3" \
		--num-subbuf="$4" --"$5" ${6:+--switch-timer="$6"} ${7:+--read-timer="$7"} ch; then
		has_channel=yes
	elif tracer_is_there; then
		problem "lttng: channel of $4 x $3 bytes refused, the default size is used"
	fi
}

# enable_events kernel|syscall|userspace: all of a kind in one call. What the client says of
# each, in its machine interface, tells which of them are there.
enable_events()
{
	event_kind=$1
	event_names=$(plan_words "event $1" | awk '{ printf "%s%s", (NR > 1 ? "," : ""), $1 }')
	[ -n "$event_names" ] || return 0
	set -- enable-event "--$domain" --session="$session" --channel=ch
	[ "$event_kind" != syscall ] || set -- "$@" --syscall
	case $event_kind,$event_names, in
	syscall,*,\*,* | syscall,\*,*) set -- "$@" --all ;;
	*) set -- "$@" -- "$event_names" ;;
	esac
	lttng_client --mi xml "$@" >"$here/enabled.xml" 2>>"$data/log/lttng.log"
	enabled_all=$?
	enabled=$(sed 's/<event>/\
<event>/g' "$here/enabled.xml" | sed -n \
		'/<success>true<.*<\/event>/s/^<event><name>\([^<]*\)<.*/\1/p')
	while read -r event_name event_need; do
		case $enabled_all$NL$enabled$NL in
		0"$NL"* | *"$NL$event_name$NL"*) events=$((events + 1)) ;;
		*) [ "$event_need" = optional ] || problem "lttng: cannot enable the $event_kind event $event_name" ;;
		esac
	done <<EOT
$(plan_words "event $event_kind")
EOT
}

# The kernel tracer enables any name, for probes that may be loaded later: what it does
# not know is told once the trace goes on.
find_unknown()
{
	known=$(lttng_client list --kernel 2>>"$data/log/lttng.log")
	[ -n "$known" ] || return 0
	plan_words 'event kernel' | sed -n 's/ required$//p' | grep -v -F '*' | while read -r event_name; do
		case $known in
		*" $event_name ("*) ;;
		*) problem "lttng: the kernel tracer does not know the event $event_name" ;;
		esac
	done
}

# destroy stops the session first and waits until all is on disk; it is of ours only.
end_session()
{
	[ -f "$here/session-$1" ] || return 0
	use_domain "$1" || :
	logged lttng_client destroy "$session" || problem "lttng: cannot destroy session $session"
	rm -f "$here/session-$domain"
}

# A daemon of ours ends unless there are sessions of others in it.
end_daemon()
{
	is_running "sessiond-$1" || return 0
	use_domain "$1" || return 0
	stop_daemon || [ "$sessions" -gt 0 ] || problem "sessiond-$domain: does not end"
	rm -f "$here/procs/sessiond-$domain"
}

# ftrace on the node: trace-cmd with a buffer of its own, the instance clustertrace-RUN, so
# that whatever others trace stays as it is.

# ftrace_events: the kernel's names, SYSTEM:EVENT, of the events that the plan names as LTTng does
# or as the kernel does; "-NAME" for a required one that is not there.
ftrace_events()
{
	{
		plan_words event
		# shellcheck disable=SC2086 # a word or two
		timeout "$step_seconds" $as_root trace-cmd list -e </dev/null 2>>"$data/log/ftrace.log"
	} | awk '
	NF == 3 && $1 != "userspace" {
		form = $2
		gsub(/[.$]/, "[&]", form)
		gsub(/[*]/, ".*", form)
		gsub(/[?]/, ".", form)
		if ($1 == "syscall")
			form = $2 == "*" ? "raw_syscalls:sys_(enter|exit)" : "syscalls:sys_(enter|exit)_" form
		forms[++count] = "^" form "$"
		kind[count] = $1
		name[count] = $2
		is_needed[count] = $3 != "optional"
	}
	NF == 1 && split($1, part, ":") == 2 {
		# LTTng begins names with the system, and writes net_if for netif.
		lttng = part[2]
		if (part[1] == "net")
			sub(/^netif_/, "net_if_", lttng)
		if (index(lttng, part[1] "_") != 1)
			lttng = part[1] "_" lttng
		is_chosen = 0
		is_call = part[1] ~ /^(raw_)?syscalls$/
		for (i = 1; i <= count; i++)
			if ((kind[i] == "syscall") != is_call)
				continue
			else if ((is_call || name[i] ~ /:/ ? $1 : lttng) ~ forms[i])
				is_chosen = is_there[i] = 1
		if (is_chosen)
			print $1
	}
	END {
		for (i = 1; i <= count; i++)
			if (is_needed[i] && !is_there[i])
				print "-" name[i]
	}'
}

trace_by_ftrace()
{
	if ! has trace-cmd; then
		problem 'trace-cmd: not installed, no kernel tracing'
		return
	elif [ "$is_root" != yes ]; then
		problem 'trace-cmd: no right to trace the kernel; needs root, or sudo without a password'
		return
	fi
	set --
	for event_name in $(ftrace_events); do
		case $event_name in
		-*) problem "trace-cmd: the kernel has no event ${event_name#-}" ;;
		*) set -- "$@" -e "$event_name" ;;
		esac
	done
	if [ $# -eq 0 ]; then
		problem "trace-cmd: the kernel has none of the events, no kernel tracing$(last_words ftrace)"
		return
	fi
	# shellcheck disable=SC2046 # numbers
	set -- $(plan_words 'channel kernel' | awk '{ print int($1 * $2 / 1024) }') "$@"
	ftrace_kib=$1
	shift
	: >"$here/ftrace"
	# shellcheck disable=SC2086 # a word or two
	spawn ftrace $as_root trace-cmd record -B "clustertrace-$run" -C mono -b "$ftrace_kib" "$@" \
		-o "$data/trace.dat"
}

# The files are made when the recorders start, and the buffer is switched on after that.
ftrace_has_begun()
{
	are_gone ftrace || {
		[ -e "$data/trace.dat.clustertrace-$run.cpu0" ] &&
			! $as_root grep -q 0 "/sys/kernel/tracing/instances/clustertrace-$run/tracing_on" 2>/dev/null
	}
}

# End trace-cmd, which writes its file at its end. The kernel frees an instance when its
# directory is removed; trace-cmd does so unless it failed or was killed.
end_ftrace()
{
	[ -f "$here/ftrace" ] || return 0
	end ftrace INT 150
	remove_instance
	rm -f "$here/ftrace"
}

remove_instance()
{
	$as_root rmdir "/sys/kernel/tracing/instances/clustertrace-$run" 2>/dev/null || :
}

# trace_kernel: by the tracers that the plan names.
trace_kernel()
{
	choose_tracers "$(plan_words tracer)" lttng_loads
	case $tracers in
	*lttng*) trace kernel ;;
	esac
	case $tracers in
	*ftrace*) trace_by_ftrace ;;
	esac
}

# choose_tracers WORD TEST: the tracers that the recipe's word means here; `auto` is LTTng if it is
# installed and the test finds its modules. Sets tracers.
choose_tracers()
{
	tracers=$1
	case $1 in
	both) tracers='lttng ftrace' ;;
	auto)
		tracers=ftrace
		! has lttng || ! has lttng-sessiond || ! "$2" || tracers=lttng
		;;
	esac
}

lttng_loads()
{
	[ -d /sys/module/lttng_tracer ] || $as_root modprobe -q lttng-tracer >/dev/null 2>&1
}

# Recorders other than tracers: sar, tcpdump, ctsample, sensors; and probes.

# sar INTERVAL KEYWORDS. sadc writes what sar would have it write, without printing it.
start_sar()
{
	for sadc in /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/lib/sa/sadc \
		/usr/libexec/sysstat/sadc; do
		[ -x "$sadc" ] || continue
		# sadc expects each keyword as an option of its own, or a list with commas.
		spawn sar "$sadc" ${3:+-S "$3"} "$2" "$data/sar.sa"
		return
	done
	problem 'sar: not installed (sysstat), nothing logged'
}

# capture SNAPLEN FILTER INTERFACE...
start_captures()
{
	snaplen=$2
	filter=$3
	shift 3
	if ! has tcpdump; then
		problem 'tcpdump: not installed, nothing captured'
		return
	fi
	if [ $# -eq 1 ]; then
		capture "$1" "$data/$node.pcap"
		return
	fi
	for interface; do
		capture "$interface" "$data/$node-$(tell "$interface" | tr -c 'A-Za-z0-9._\n-' _).pcap"
	done
}

# -p: a promiscuous capture has everybody's packets. -Z: root's tcpdump becomes
# another user, who could not write here; it stays who we are.
capture()
{
	# shellcheck disable=SC2086
	spawn "capture-${2##*/}" $as_root tcpdump -p -n -U -s "$snaplen" -i "$1" \
		-Z "$(id -un)" -w "$2" -- ${filter:+"$filter"}
}

# process INTERVAL_MS all|match|whitelist ...
start_sampler()
{
	sample_ms=$2
	sample_what=$3
	shift 3
	case $sample_what in
	all) set -- --all ;;
	match)
		for pattern; do
			shift
			set -- "$@" --match "$pattern"
		done
		;;
	whitelist) set -- --whitelist "${1:-$here/pids}" ;;
	esac
	# ctsample ends with the watcher, which runs until everything else has been stopped.
	read -r watcher _ <"$here/procs/clock"
	spawn ctsample "$sh" "$here/bin/ctsample" --interval "$sample_ms" --parent "$watcher" \
		--output "$data/proc.csv" "$@"
}

# sensor NODE NAME INTERVAL_MS COMMAND
start_sensor()
{
	[ "$2" = "$node" ] || return 0
	sensor_count=$((sensor_count + 1))
	printf '%s' "$5" >"$here/sensors/$sensor_count"
	spawn "sensor-$sensor_count" "$sh" "$here/node.sh" sensor "$sensor_count" "$3" "$4"
}

# probe NODE INTERVAL_MS NEIGHBOR ADDRESS: small packets to the neighbor, whose kernel answers.
start_probe()
{
	if has ping; then
		spawn "probe-$4" ping -q -s 16 -i "$(($3 / 1000)).$(printf '%03d' $(($3 % 1000)))" "$5"
	else
		problem 'ping: not installed, no probes'
	fi
}

# One sensor: its command prints lines `[PART/]METRIC VALUE`, and the sensor is
# NAME/PART then. What is no such line, or would not be a cell of CSV, is left out. It ends with the
# run's directory and with the watcher.
do_sensor()
{
	sensor_command=$(cat "$here/sensors/$1")
	pause=$(($3 / 1000)).$(printf '%03d' $(($3 % 1000)))
	while is_there && is_running clock; do
		read_realtime
		timeout "$step_seconds" sh -c "$sensor_command" </dev/null | STAMP=$stamp SENSOR=$2 awk '
			NF == 2 && $1 !~ /[",\r]/ &&
					$2 ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ {
				at = match($1, /[^\/]*$/)
				part = substr($1, 1, at - 2)
				print ENVIRON["STAMP"] "," ENVIRON["SENSOR"] (at > 1 ? "/" part : "") \
					"," substr($1, at) "," $2
			}' >>"$here/sensors/readings.$1"
		sleep "$pause" 2>/dev/null || sleep $(($3 / 1000 + 1))
	done
}

# All sensors in one file.
join_sensors()
{
	for part in "$here"/sensors/readings.*; do
		[ -f "$part" ] || return 0
	done
	{
		echo realtime_ns,sensor,metric,value &&
			timeout $((step_seconds * 10)) sort -t, -k1,1n "$here"/sensors/readings.*
	} >"$data/sensors.csv.new" && mv -f "$data/sensors.csv.new" "$data/sensors.csv" || {
		problem 'sensors.csv: cannot be written, the readings are in sensors/'
		rm -f "$data/sensors.csv.new"
		mv "$here/sensors" "$data/sensors"
	}
}
