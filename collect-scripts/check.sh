# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What is looked at or made before a run.

# ctcollect check: ask every node, show a table, and a sentence for whatever is
# missing for this recipe, with the command that mends it.

check_node()
{
	answers=$work/answers.$1
	# The connection first, so that the clock's round trip is that of a session only.
	remote "$1" "$short_seconds" true </dev/null
	connect_status=$?
	if [ "$connect_status" -ne 0 ]; then
		why "$connect_status" "$short_seconds" >"$work/unreachable.$1"
		return
	fi
	measure_clock "$1"
	ask "$1" "$short_seconds" /bin/sh -s "$step_seconds" check <"$work/check.sh"
	check_status=$?
	if ! grep -q -x end "$answers"; then
		why "$check_status" "$short_seconds" >"$work/unreachable.$1"
		return
	fi
	[ -z "$ahead" ] || printf 'offset %s %s\n' "$ahead" $((trip / 2)) >>"$answers"
}

# How far a node's real-time clock is ahead of ours, by the shortest of three round trips:
# sets ahead and trip, both empty where it does not say a time.
measure_clock()
{
	ahead=
	trip=
	for _ in 1 2 3; do
		asked=$(realtime_ns)
		there=$(remote "$1" "$short_seconds" date +%s%N </dev/null)
		round_trip=$(($(realtime_ns) - asked))
		# 19 digits, so that it is a number as arithmetic has it.
		case ${#there}$there in
		19[1-8]*) ;;
		*) continue ;;
		esac
		case $there in
		*[!0-9]*) continue ;;
		esac
		if [ -z "$trip" ] || [ "$round_trip" -lt "$trip" ]; then
			trip=$round_trip
			ahead=$((there - asked - trip / 2))
		fi
	done
}

# shellcheck disable=SC2086 # names of nodes are words
ask_nodes()
{
	plan_of "$1" 1 "$work/plan" || exit 1
	state=$work
	plan_nodes "$work/plan"
	plan_word "$work/plan" tmpdir
	tmpdir=$answer
	node_words "$work/plan"
	{
		printf 'BASE=%s\n' "$(quote "$tmpdir")"
		node_script
	} >"$work/check.sh"
	open_gateway "$work/plan"
	bound=$parallel
	on_nodes check_node $nodes
	[ -z "$interrupted" ] || exit 130
}

do_check()
{
	ask_nodes "$1"
	{
		printf 'NODE\tUSER\tSHELL\tRIGHTS\tLTTNG\tTRACER\tDAEMON\tEVENTS\tSYSSTAT\tTCPDUMP\tFREE MIB\tCLOCK\tAHEAD MS\n'
		for node in $nodes; do
			check_row "$node"
		done
	} | as_table
	for node in $nodes; do
		advise "$node"
	done | group_advice >"$work/advice"
	[ -s "$work/advice" ] || exit 0
	printf '\n'
	cat "$work/advice"
	! grep -q ' *want: ' "$work/advice" || exit 3
	exit 0
}

# A sentence stands there once, with all of its nodes.
group_advice()
{
	awk '
	{
		at = index($0, ": ")
		node = substr($0, 1, at - 1)
		text = substr($0, at)
		if (!(text in nodes)) {
			order[++count] = text
			nodes[text] = node
		} else
			nodes[text] = nodes[text] ", " node
	}
	END {
		for (i = 1; i <= count; i++)
			print nodes[order[i]] order[i]
	}'
}

check_row()
{
	answers=$work/answers.$1
	if [ -f "$work/unreachable.$1" ]; then
		printf '%s\tunreachable\n' "$1"
		return
	fi
	events_found=$(fact events)
	free_kib=$(fact free_kib)
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$(fact user)" "$(fact shell)" \
		"$(fact rights)" "$(fact lttng)" "$(fact tracer | cut -d ' ' -f 1)" \
		"$(fact sessiond)" "${events_found%% *}/7" "$(fact sysstat)" "$(fact tcpdump)" \
		$((${free_kib:-0} / 1024)) "$(fact clock)" "$(ahead_ms)"
}

# 12.3+-0.4
ahead_ms()
{
	fact offset | awk 'NF == 2 { printf "%.1f+-%.1f", $1 / 1e6, $2 / 1e6 }'
}

# say NODE TEXT MEND: what is wrong, and how to mend it.
say()
{
	printf '%s: want: %s%s\n' "$1" "$2" "${3:+; mend: $3}"
}

remark()
{
	printf '%s: %s\n' "$1" "$2"
}

advise()
{
	answers=$work/answers.$1
	if [ -f "$work/unreachable.$1" ]; then
		say "$1" "a connection ($(cat "$work/unreachable.$1"))" \
			"try \`ssh $(sed 's/ -- / /;s/^-- //' "$work/words/$1")\`, which must not ask anything"
		return
	fi
	tools=$(fact tools)
	[ -z "$tools" ] || say "$1" "the programs $tools" "ctcollect install"
	advise_packages "$1"
	advise_tracing "$1"
	[ -z "$(fact place)" ] || say "$1" "a place to write, $(fact place) is none" 'tmpdir in the recipe'
	free_kib=$(fact free_kib)
	[ "${free_kib:-0}" -ge 262144 ] ||
		say "$1" "more disk space: $((${free_kib:-0} / 1024)) MiB are free" 'another tmpdir in the recipe'
	[ -z "$(fact active)" ] ||
		remark "$1" "run $(fact active) is collecting there, or was left behind"
	fact offset | awk -v node="$1" '$1 > 1e9 || $1 < -1e9 {
		printf "%s: its clock is %.1f s off; ctsync mends that, sar and other logs are easier to read with NTP\n",
			node, $1 / 1e9 }'
	sed -n 's/^offload //p' "$answers" | while read -r interface what_is_on; do
		advise_offload "$1" "$interface" "$what_is_on"
	done
}

advise_offload()
{
	case " $3 " in
	*' no-gro '*) say "$1" "generic receive offload on $2, without it received packets have no headers in the trace" \
		"ethtool -K $2 gro on" ;;
	esac
	case " $3 " in
	*' gso '* | *' tso '* | *' lro '*)
		remark "$1" "$2 joins packets ($3): ctsync copes; tighter with \`ip link set dev $2 gso_max_segs 1 gro_max_size 1\`"
		;;
	esac
}

# What the recipe wants and is not there.
advise_packages()
{
	for package in $(lacking); do
		case $package in
		*lttng-modules*) say "$1" "the kernel tracer for $(fact tracer | cut -d ' ' -f 2)" \
			"$(install_command "$package")" ;;
		*) say "$1" "$package" "$(install_command "$package")" ;;
		esac
	done
	! grep -q '^capture ' "$work/plan" || [ -z "$(fact tcpdump_rights)" ] ||
		say "$1" 'the right to capture' 'as root: setcap cap_net_raw,cap_net_admin+ep /usr/bin/tcpdump'
}

advise_tracing()
{
	grep -q '^event \(kernel\|syscall\) ' "$work/plan" || return 0
	case $(fact rights) in
	none) say "$1" 'rights to trace the kernel' \
		"as root: usermod -aG tracing $(fact user), or sudo without a password" ;;
	tracing)
		[ "$(fact sessiond)" = root ] ||
			say "$1" "root's session daemon" 'as root: lttng-sessiond --daemonize'
		;;
	esac
	# Without the tracer nothing more need be said.
	case $(fact tracer)/$(fact events) in
	none* | */7*) ;;
	*) remark "$1" "network events that cannot be seen there now:$(fact events | sed 's/^[0-9]*//')" ;;
	esac
}

# How to install a package there.
install_command()
{
	prefix=
	[ "$(fact rights)" != sudo ] || prefix='sudo '
	manager=$(fact manager)
	case $manager in
	apt-get | dnf | yum | zypper) printf '%s%s install %s\n' "$prefix" "$manager" "$1" ;;
	apk) printf '%sapk add %s\n' "$prefix" "$1" ;;
	*) printf 'install %s there\n' "$1" ;;
	esac
}

# Columns of the right width, from tabs.
as_table()
{
	awk -F '\t' '
	{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i == "" ? "-" : $i
			if (length(cell[NR, i]) > width[i])
				width[i] = length(cell[NR, i])
		}
		if (NF > columns)
			columns = NF
	}
	END {
		for (r = 1; r <= NR; r++) {
			line = ""
			for (i = 1; i <= columns; i++)
				line = line sprintf("%-*s ", width[i], cell[r, i])
			sub(/ +$/, "", line)
			print line
		}
	}'
}

# ctcollect install: what the recipe needs and a node lacks, by the node's own
# package manager, or the user's own script. ctcollect sessiond: the daemons.

do_install()
{
	ask_nodes "$1"
	if given script; then
		script=$(option script)
		[ -f "$script" ] && [ -r "$script" ] || fail "$script: cannot be read"
	fi
	bound=$parallel
	if given dry-run; then
		for node in $nodes; do
			would_install "$node"
		done
		exit 0
	fi
	# shellcheck disable=SC2086 # names of nodes are words
	on_nodes install_node $nodes
	[ -z "$interrupted" ] || exit 130
	[ ! -f "$work/failed" ] || exit 3
	exit 0
}

# Packages that this node lacks for the recipe.
lacking()
{
	! grep -q '^event ' "$work/plan" || [ -n "$(fact lttng)" ] || printf '%s ' lttng-tools
	if grep -q '^event \(kernel\|syscall\) ' "$work/plan"; then
		case $(fact tracer) in
		none*)
			case $(fact manager) in
			dnf | yum) printf '%s ' kmod-lttng-modules ;;
			*) printf '%s ' lttng-modules-dkms ;;
			esac
			;;
		esac
	fi
	! grep -q '^sar ' "$work/plan" || [ -n "$(fact sysstat)" ] || printf '%s ' sysstat
	! grep -q '^capture ' "$work/plan" || [ -n "$(fact tcpdump)$(fact tcpdump_rights)" ] ||
		printf '%s ' tcpdump
}

# What would be done there.
would_install()
{
	answers=$work/answers.$1
	if [ -f "$work/unreachable.$1" ]; then
		printf '%s: no connection: %s\n' "$1" "$(cat "$work/unreachable.$1")"
	elif given script; then
		printf '%s: would run %s\n' "$1" "$script"
	elif [ -z "$(lacking)" ]; then
		printf '%s: nothing to install\n' "$1"
	else
		packages=$(lacking)
		printf '%s: %s\n' "$1" "$(install_command "${packages% }")"
	fi
}

install_node()
{
	answers=$work/answers.$1
	if [ -f "$work/unreachable.$1" ]; then
		not_installed "$1" "$(cat "$work/unreachable.$1")"
		return
	fi
	most_bytes=16777216
	if given script; then
		remote "$1" "$fetch_seconds" /bin/sh -s <"$script" >"$work/installed.$1"
		install_status=$?
		plain_lines <"$work/installed.$1" | sed "s/^/$1: /"
	else
		packages=$(lacking)
		[ -n "$packages" ] || {
			printf '%s: nothing to install\n' "$1"
			return
		}
		elevate=
		case $(fact rights) in
		root) ;;
		sudo) elevate='sudo -n' ;;
		*)
			not_installed "$1" 'want root or sudo without a password'
			return
			;;
		esac
		install_packages "$1" >"$work/installed.$1"
		install_status=$?
		cat "$work/installed.$1" >>"$errors"
	fi
	if [ "$install_status" -ne 0 ]; then
		not_installed "$1" "$(why "$install_status" "$fetch_seconds")"
	elif ! given script; then
		printf '%s: installed %s\n' "$1" "${packages% }"
	fi
}

not_installed()
{
	complain "$1: not installed: $2"
	: >"$work/failed"
}

# shellcheck disable=SC2086 # words
install_packages()
{
	case $(fact manager) in
	apt-get)
		remote "$1" "$fetch_seconds" $elevate apt-get -q -y update >/dev/null
		remote "$1" "$fetch_seconds" $elevate env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
			-o DPkg::Lock::Timeout=300 install --no-install-recommends $packages
		;;
	dnf | yum) remote "$1" "$fetch_seconds" $elevate "$(fact manager)" -y install $packages ;;
	*)
		echo "no apt-get or dnf there, install $packages by hand, or give --script" >>"$errors"
		return 1
		;;
	esac
}

# sessiond start|stop|restart|status RECIPE
do_sessiond()
{
	plan_of "$1" 1 "$work/plan" || exit 1
	daemon_action=$2
	state=$work
	plan_nodes "$work/plan"
	node_words "$work/plan"
	node_script >"$work/node.sh"
	open_gateway "$work/plan"
	bound=$parallel
	# shellcheck disable=SC2086
	on_nodes sessiond_node $nodes
	for node in $nodes; do
		[ ! -f "$work/shown.$node" ] || cat "$work/shown.$node"
	done
	[ -z "$interrupted" ] || exit 130
	[ ! -f "$work/failed" ] || exit 3
	exit 0
}

sessiond_node()
{
	answers=$work/answers.$1
	ask "$1" "$short_seconds" /bin/sh -s "$step_seconds" "daemon-$daemon_action" <"$work/node.sh"
	sessiond_status=$?
	if [ "$sessiond_status" -ne 0 ] || grep -q '^failed ' "$answers"; then
		complain "$1: $(fact failed)$([ -n "$(fact failed)" ] || why "$sessiond_status" "$short_seconds")"
		: >"$work/failed"
		return
	fi
	sed -n "s/^daemon /$1: /p" "$answers" >"$work/shown.$1"
}

# ctcollect plan: what would run where, for each point. Nothing is touched.

do_plan()
{
	point=1
	point_count=1
	only=
	if given point; then
		only=$(option point)
		point=$only
	fi
	while [ "$point" -le "${only:-$point_count}" ]; do
		plan_of "$1" "$point" "$work/plan" || exit 1
		plan_point "$work/plan"
		show_point | plain_lines
		point=$((point + 1))
	done
	exit 0
}

show_point()
{
	plan_word "$work/plan" name
	[ "$point" -eq "${only:-1}" ] || printf '\n'
	printf 'point %s of %s: %s-YYYYmmdd-HHMMSS%s\n' "$point" "$point_count" "$answer" \
		"${suffix:+-$suffix}"
	while IFS= read -r plan_line; do
		with_words show_line "$plan_line"
	done <"$work/plan"
	show_events
}

# Events are many: as one list a domain.
show_events()
{
	for domain in kernel syscall userspace; do
		list=$(sed -n "s/^event $domain \\([^ ]*\\) .*/\\1/p" "$work/plan" | tr -d "'" | tr '\n' ' ')
		[ -z "$list" ] || {
			printf '  %s events:\n' "$domain"
			printf '%s\n' "${list% }" | fold -s -w 76 | sed 's/^/    /; s/ *$//'
		}
	done
}

show_line()
{
	kind=$1
	shift
	case $kind in
	node) show_node "$@" ;;
	ssh_gateway) [ -z "$1" ] || printf '  through %s\n' "$1" ;;
	channel) printf '  all nodes: lttng, %s channel, %s x %s bytes, %s\n' "$1" "$3" "$2" "$4" ;;
	sar) printf '  all nodes: sar every %s s%s\n' "$1" "${2:+, activities $2}" ;;
	capture) show_capture "$@" ;;
	process) printf '  all nodes: process samples every %s ms: %s\n' "$1" "$(shift; echo "$*")" ;;
	sensor) printf '  %s: sensor %s every %s ms: %s\n' "$1" "$2" "$3" "$4" ;;
	execute) printf '  %s: %s%s: %s\n' "${5:-this machine}" "${4:+sudo, }" "$2" "$6" ;;
	tasks) show_tasks "$@" ;;
	task) printf '    task %s: %s\n' "$2" "$4" ;;
	esac
}

show_node()
{
	node=$1
	where=${3:+$3@}$2${4:+:$4}
	shift 4
	printf '  node %s is %s%s\n' "$node" "$where" "${1:+, $*}"
}

show_capture()
{
	length=$1
	filter=$2
	shift 2
	printf '  all nodes: tcpdump of %s, %s bytes a packet%s\n' "$*" "$length" "${filter:+: $filter}"
}

show_tasks()
{
	name=$2
	policy=$3
	places=$4
	shift 7
	printf '  tasks %s, %s, %s at a time on each of: %s\n' "$name" "$policy" "$places" "$*"
}
