# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
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
			apt-get) printf '%s ' lttng-modules-dkms ;;
			*) printf '%s ' kmod-lttng-modules ;;
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
		printf '%s: %s\n' "$1" "$(install_command "$1" "${packages% }")"
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
	{
		printf 'STEP_SECONDS=%s\n' "$step_seconds"
		cat "$lib/node/base.sh"
		for part in words kernel node/procs node/lttng node/sessiond; do
			sed '1,/^$/d' "$lib/$part.sh"
		done
	} >"$work/sessiond.sh"
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
	ask "$1" "$short_seconds" /bin/sh -s "$daemon_action" <"$work/sessiond.sh"
	sessiond_status=$?
	if [ "$sessiond_status" -ne 0 ] || grep -q '^failed ' "$answers"; then
		complain "$1: $(fact failed)$([ -n "$(fact failed)" ] || why "$sessiond_status" "$short_seconds")"
		: >"$work/failed"
		return
	fi
	sed -n "s/^daemon /$1: /p" "$answers" >"$work/shown.$1"
}
