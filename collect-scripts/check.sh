# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# ctcollect check: ask every node, show a table, and a sentence for whatever is
# missing for this recipe, with the command that mends it.

# check_script: for `sh -s`.
check_script()
{
	printf 'BASE=%s\nSTEP_SECONDS=%s\n' "$(quote "$tmpdir")" "$step_seconds"
	cat "$lib/node/base.sh"
	for part in words kernel node/procs node/clock node/watch node/describe node/lttng node/check; do
		sed '1,/^$/d' "$lib/$part.sh"
	done
}

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
	ask "$1" "$short_seconds" /bin/sh -s <"$work/check.sh"
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
	check_script >"$work/check.sh"
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
	advise_tracing "$1"
	advise_recorders "$1"
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

advise_tracing()
{
	grep -q '^event ' "$work/plan" || return 0
	if [ -z "$(fact lttng)" ]; then
		say "$1" 'lttng-tools' "$(install_command "$1" lttng-tools)"
	fi
	grep -q '^event \(kernel\|syscall\) ' "$work/plan" || return 0
	case $(fact tracer) in
	none*) say "$1" "the kernel tracer for $(uname_of "$1")" "$(install_command "$1" lttng-modules-dkms)" ;;
	esac
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

uname_of()
{
	fact tracer | cut -d ' ' -f 2
}

advise_recorders()
{
	if grep -q '^sar ' "$work/plan" && [ -z "$(fact sysstat)" ]; then
		say "$1" 'sysstat' "$(install_command "$1" sysstat)"
	fi
	grep -q '^capture ' "$work/plan" && [ -z "$(fact tcpdump)" ] || return 0
	if [ -n "$(fact tcpdump_rights)" ]; then
		say "$1" 'the right to capture' 'as root: setcap cap_net_raw,cap_net_admin+ep /usr/bin/tcpdump'
	else
		say "$1" 'tcpdump' "$(install_command "$1" tcpdump)"
	fi
}

# How to install a package there.
install_command()
{
	prefix=
	[ "$(fact rights)" != sudo ] || prefix='sudo '
	case $(fact manager) in
	apt-get) printf '%sapt-get install %s\n' "$prefix" "$2" ;;
	dnf | yum) printf '%s%s install %s\n' "$prefix" "$(fact manager)" \
		"$(printf '%s\n' "$2" | sed 's/lttng-modules-dkms/kmod-lttng-modules/')" ;;
	zypper | apk) printf '%s%s %s %s\n' "$prefix" "$(fact manager)" \
		"$([ "$(fact manager)" = apk ] && echo add || echo install)" "$2" ;;
	*) printf 'install %s there\n' "$2" ;;
	esac
}
