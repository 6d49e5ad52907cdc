# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086,SC2119,SC2120,SC2154
#
# Queries to a node outside of a run, sent to `sh -s` after three variables: $BASE, the
# recipe's tmpdir, $WANTS, the kinds of lines in its plan, and $PROBES, its lines of probes.

plan_has()
{
	for kind; do
		case " $WANTS " in
		*" $kind "*) return 0 ;;
		esac
	done
	return 1
}

# `ctcollect check` changes nothing on the node. It prints the cells of the node's row, what is
# missing, and remarks.

cell()
{
	tell "cell $*"
}

# missing TEXT FIX
missing()
{
	tell "missing $1; fix: $2"
}

check_tools()
{
	lacks=
	for tool in awk cksum date find grep head id kill sed setsid sleep sort tail timeout tr; do
		has "$tool" || lacks="$lacks $tool"
	done
	sleep 0.01 2>/dev/null || lacks="$lacks sleep (with fractions)"
	[ -z "$lacks" ] || missing "the programs$lacks" 'ctcollect install'
}

# Sets rights: root, sudo, tracing or none.
name_rights()
{
	find_rights
	rights=none
	[ "$sudo_lacks" = 'a password' ] || tell "remark sudo needs $sudo_lacks"
	if [ "$uid" = 0 ]; then
		rights=root
	elif [ "$is_root" = yes ]; then
		rights=sudo
	elif id -Gn | tr ' ' '\n' | grep -q -x tracing; then
		rights=tracing
	fi
}

# Set daemon_of to the owner of the session daemon: root, own or "".
find_daemon()
{
	daemon_of=
	! daemon_pid "${LTTNG_HOME:-${HOME:-/}}/.lttng/lttng-sessiond.pid" || daemon_of=own
	! root_daemon_is_open || daemon_of=root
}

# Set tracer, the state of LTTng's kernel tracer: loaded, loadable or none. Fail if none.
find_tracer()
{
	tracer=none
	if [ -d /sys/module/lttng_tracer ]; then
		tracer=loaded
	elif modinfo lttng-tracer >/dev/null 2>&1 ||
		find "/lib/modules/$(uname -r)" -name 'lttng-tracer.ko*' 2>/dev/null | grep -q .; then
		tracer=loadable
	fi
	[ "$tracer" != none ]
}

# traces_by TRACER: the recipe has events of the kernel for it.
traces_by()
{
	case "$tracers" in
	*$1*) return 0 ;;
	esac
	return 1
}

# Sets tracers.
find_tracers()
{
	tracers=
	find_tracer || :
	for word in lttng ftrace both auto; do
		! plan_has "tracer-$word" || choose_tracers "$word" find_tracer
	done
}

check_tracing()
{
	if traces_by ftrace; then
		[ "$is_root" = yes ] || missing 'rights to trace the kernel by ftrace' 'root, or sudo without a password'
		traces_by lttng || plan_has capture || missing 'a capture: ftrace records no headers of packets, and only they tie clocks' \
			'capture: true in the recipe'
		grep -q tracefs /proc/filesystems || missing 'ftrace in the kernel' 'a kernel with CONFIG_FTRACE'
	fi
	traces_by lttng || return 0
	case $rights,$daemon_of in
	none,*) missing 'rights to trace the kernel' \
		"as root: usermod -aG tracing $(id -un), or sudo without a password" ;;
	tracing,root) ;;
	tracing,*) missing "root's session daemon" 'as root: lttng-sessiond --daemonize' ;;
	esac
}

may_capture()
{
	[ "$is_root" = yes ] || { has getcap &&
		getcap "$(command -v tcpdump)" 2>/dev/null | grep -q cap_net_raw; }
}

# Without generic receive offload, packets have no headers in a trace: of interfaces that are up,
# but for bridges, which only join others.
check_offloads()
{
	has ethtool || return 0
	for interface in /sys/class/net/*; do
		interface=${interface##*/}
		[ "$interface" != lo ] && [ ! -d "/sys/class/net/$interface/bridge" ] &&
			[ "$(first_word_of "/sys/class/net/$interface/operstate")" != down ] || continue
		! timeout "$step_seconds" ethtool -k "$interface" 2>/dev/null |
			grep -q '^generic-receive-offload: off' ||
			missing "generic receive offload on $interface, without which received packets have no headers in the trace" \
				"ethtool -K $interface gro on"
	done
}

# check_probes NODE: ping each neighbor of the node, once to find the way, then for a second.
check_probes()
{
	has ping || return 0
	tell "$PROBES" | while read -r _ prober probe_ms neighbor address; do
		[ "$prober" = "$1" ] || continue
		if ping_said=$(ping -q -c 1 -w 5 "$address" 2>&1 </dev/null) &&
			ping_said=$(ping -q -s 16 -c 5 -i 0.2 -w 5 "$address" 2>&1 </dev/null); then
			tell "probe $neighbor $address $probe_ms $(tell "$ping_said" |
				sed -n 's|^r.* = [0-9.]*/\([0-9.]*\)/.*|\1|p')"
		else
			missing "an answer to ping from $neighbor at $address ($(tell "$ping_said" |
				grep -e '^ping: ' -e ' packet loss' | head -n 1))" "a probe_address of $neighbor in hosts, or let ICMP pass"
		fi
	done
}

check_place()
{
	find_base
	place=$BASE
	while [ ! -d "$place" ] && [ -n "$place" ]; do
		place=${place%/*}
	done
	here=${place:-/}
	disk_reserve
	free_mib=$((${disk_free:-0} / 1024))
	[ -w "$here" ] || missing "write access to $here" 'tmpdir in the recipe'
	[ "$free_mib" -ge 256 ] ||
		missing "disk space: only $free_mib MiB are free" 'another tmpdir in the recipe'
	for other in "$place/clustertrace-$uid"/*/; do
		[ ! -f "$other/started" ] || [ -f "$other/stopped" ] || {
			other=${other%/}
			tell "remark run ${other##*/} is collecting there, or was left behind"
		}
	done
}

# Packages that this node lacks for the recipe: sets lacking.
find_lacking()
{
	lacking=
	find_tracers
	! traces_by lttng && ! plan_has userspace || { has lttng && has lttng-sessiond; } || lacking=lttng-tools
	! traces_by ftrace || has trace-cmd || lacking="$lacking trace-cmd"
	! traces_by lttng || [ "$tracer" != none ] || case $manager in
	dnf | yum) lacking="$lacking kmod-lttng-modules" ;;
	*) lacking="$lacking lttng-modules-dkms" ;;
	esac
	! plan_has sar || { has sadf && has sar; } || lacking="$lacking sysstat"
	! plan_has capture || has tcpdump || lacking="$lacking tcpdump"
	! plan_has probe || has ping || case $manager in
	dnf | yum) lacking="$lacking iputils" ;;
	*) lacking="$lacking iputils-ping" ;;
	esac
	lacking=${lacking# }
}

find_manager()
{
	for manager in apt-get dnf yum none; do
		! has "$manager" || break
	done
}

# Print the command that installs packages here.
install_command()
{
	set -- "$*"
	[ "$rights" != sudo ] || set -- "$1" 'sudo '
	case $manager in
	none) tell "install $1 there" ;;
	*) tell "${2:-}$manager install $1" ;;
	esac
}

# do_check NODE: the node's name in the plan.
do_check()
{
	name_rights
	find_manager
	find_lacking
	find_daemon
	shell=$(readlink -f /bin/sh 2>/dev/null)
	check_tools
	for package in $lacking; do
		case $package in
		*lttng-modules*) missing "the kernel tracer for $(uname -r)" "$(install_command "$package")" ;;
		*) missing "$package" "$(install_command "$package")" ;;
		esac
	done
	! plan_has capture || ! has tcpdump || may_capture ||
		missing 'the right to capture' 'as root: setcap cap_net_raw,cap_net_admin+ep /usr/bin/tcpdump'
	check_tracing
	check_place
	check_offloads
	check_probes "$1"
	cell "$(id -un)"
	cell "${shell##*/}"
	cell "$rights"
	cell "$(version_of lttng --version)"
	cell "$(! traces_by lttng && traces_by ftrace && echo ftrace || echo "$tracer")"
	cell "$daemon_of"
	cell "$(version_of sar -V)"
	cell "$(! may_capture || version_of tcpdump --version)"
	cell "$free_mib"
	cell "$(first_word_of /sys/devices/system/clocksource/clocksource0/current_clocksource)"
}

# do_install [show]: what the recipe needs and is not there, by the node's own package manager.
do_install()
{
	name_rights
	find_manager
	find_lacking
	if [ -z "$lacking" ]; then
		tell 'done nothing to install'
		return
	elif [ "${1:-}" = show ]; then
		tell "done $(install_command "$lacking")"
		return
	fi
	[ "$is_root" = yes ] || give_up "not root, and sudo needs $sudo_lacks"
	case $manager in
	apt-get)
		$as_root apt-get -q -y update >/dev/null
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
			install --no-install-recommends $lacking
		;;
	dnf | yum) $as_root "$manager" -y install $lacking ;;
	*) give_up "no apt-get or dnf here, install $lacking by hand, or give --script" ;;
	esac </dev/null >&2 || exit 1
	tell "done installed $lacking"
}

# Start and stop a node's session daemon. One with sessions in it is never stopped: they are
# not ours.

do_daemon()
{
	find_rights
	has lttng-sessiond || give_up 'lttng-sessiond: not installed; install lttng-tools'
	rights=
	# With root's rights, manage root's daemon: that one traces the kernel.
	[ "$is_root" != yes ] || rights=$as_root
	find_pid_file
	case $1 in
	stop | restart)
		stop_daemon || {
			[ "$sessions" -eq 0 ] || give_up "the session daemon has $sessions sessions, destroy them first"
			give_up 'the session daemon cannot be ended'
		}
		;;
	esac
	case $1 in
	start | restart) start_daemon >/dev/null 2>&1 || give_up 'the session daemon does not start' ;;
	esac
	if daemon_pid "$pid_file"; then
		count_sessions
		tell "done running, pid $daemon, sessions: $sessions"
	else
		tell 'done not running'
	fi
}
