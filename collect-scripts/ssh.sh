# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# OpenSSH: one connection a node for as long as a command of ours lasts, and
# sessions over it. All that ssh is told stands in one configuration of our own,
# which jump hosts get as well, and which takes in the user's.

# The user's options (`ssh_options`) come first on the command line and win, but
# not over these: no question is ever asked, nothing of ours is forwarded.
write_ssh_config()
{
	user_config=$(option ssh-config)
	if [ -n "$user_config" ]; then
		[ -r "$user_config" ] || fail "$user_config: cannot be read"
		case $user_config in
		/*) ;;
		*) user_config=$PWD/$user_config ;;
		esac
		case $user_config in
		*[\"\\]* | *"$NL"*) fail "$user_config: not a name for ssh's configuration" ;;
		esac
	fi
	{
		printf 'Host *\n'
		printf '\t%s\n' 'BatchMode yes' 'ControlMaster auto' "ControlPath \"$sockets/%C\"" \
			'ControlPersist 300' 'ForwardAgent no' 'ForwardX11 no' \
			'ClearAllForwardings yes' 'RequestTTY no' 'EscapeChar none' 'LogLevel ERROR'
		if [ -n "$user_config" ]; then
			printf 'Include "%s"\n' "$user_config"
		else
			printf 'Include config\nInclude /etc/ssh/ssh_config\n'
		fi
		printf 'Host *\n'
		printf '\t%s\n' "ConnectTimeout $connect_seconds" 'ServerAliveInterval 5' \
			'ServerAliveCountMax 4' 'ConnectionAttempts 1'
	} >"$work/ssh_config"
}

# A socket's path is up to 107 bytes, and ssh adds 17 to the 40 of %C while it makes it.
make_work()
{
	[ -z "${work:-}" ] || return 0
	work=$(mktemp -d "${TMPDIR:-/tmp}/ctcollect.XXXXXX") || fail 'cannot make a directory for temporary files'
	sockets=$work/s
	mkdir "$sockets" || fail "cannot write at $work"
	if [ ${#sockets} -gt 45 ]; then
		sockets=$(mktemp -d /tmp/ctc.XXXXXX) || fail 'cannot make a directory for sockets'
	fi
	trap leave EXIT
	write_ssh_config
	make_pool
}

# Masters end with us. Where one hangs, ControlPersist ends it.
leave()
{
	leave_status=$?
	trap '' INT TERM HUP
	for socket in "$sockets"/*; do
		[ -S "$socket" ] || continue
		timeout 5 ssh -F none -o "ControlPath=\"$socket\"" -O exit node >/dev/null 2>&1
	done
	rm -rf "$work" "$sockets"
	exit "$leave_status"
}

# The words for ssh of each node: -p PORT ... -- ADDRESS, quoted, in $work/words/NODE.
node_words()
{
	ssh_words=
	ssh_file=$1
	while IFS= read -r plan_line; do
		case $plan_line in
		"ssh_option "*)
			eval "set -- $plan_line"
			ssh_words="$ssh_words -o $(quote "$2")"
			;;
		"ssh_gateway "*)
			eval "set -- $plan_line"
			[ -z "$2" ] || ssh_words="$ssh_words -J $(quote "$2")"
			;;
		esac
	done <"$ssh_file"
	while IFS= read -r plan_line; do
		case $plan_line in
		"node "*) eval "set -- $plan_line" ;;
		*) continue ;;
		esac
		{
			printf "%s " "$ssh_words"
			[ -z "$4" ] || printf -- "-l %s " "$(quote "$4")"
			[ -z "$5" ] || printf -- "-p %s " "$(quote "$5")"
			printf -- "-- %s\n" "$(quote "$3")"
		} >"$work/words/$2"
	done <"$ssh_file"
}

# remote NODE SECONDS WORD...: a command on a node, of words that every login
# shell takes for what they are. Standard input and output are the caller's,
# errors go to $errors. Sets nothing; the exit status is the command's, 255 if
# there is no connection, 124 if it was out of time.
remote()
{
	remote_node=$1
	remote_seconds=$2
	shift 2
	remote_command="$*"
	case $remote_command in
	*[!A-Za-z0-9_./:=@%+,\ -]*)
		printf 'a path on the node has characters that are not safe: %s\n' \
			"$remote_command" >>"$errors"
		return 126
		;;
	esac
	remote_words=
	while IFS= read -r remote_line; do
		remote_words=$remote_words$remote_line$NL
	done <"$work/words/$remote_node"
	eval "set -- $remote_words"
	set -- timeout -k 5 "$remote_seconds" ssh -F "$work/ssh_config" -T "$@" \
		"$remote_command"
	if [ -n "${waiting_name:-}" ]; then
		interruptible "$waiting_name" "$@" 2>>"$errors"
	else
		"$@" 2>>"$errors"
	fi
}

# What ssh or the node said last, for a message.
last_error()
{
	# ssh ends its lines as a terminal wants it.
	said=$(grep -v '^[[:space:]]*$' "$errors" 2>/dev/null | tail -n 1 | tr -d '\r' |
		tr -c '\40-\176\n' '?' | cut -c 1-300)
	printf '%s\n' "${said:-no answer}"
}

# Why a remote command failed: why STATUS SECONDS
why()
{
	case $1 in
	124 | 137) printf 'no answer within %s s\n' "$2" ;;
	255) printf 'no connection: %s\n' "$(last_error)" ;;
	*) last_error ;;
	esac
}

# Connections to the same gateway share one, if it is there before them all.
open_gateway()
{
	gateway=
	while IFS= read -r plan_line; do
		case $plan_line in
		'ssh_gateway '*)
			eval "set -- $plan_line"
			gateway=$2
			;;
		esac
	done <"$1"
	[ -n "$gateway" ] || return 0
	last_hop=${gateway##*,}
	set -- -N -f
	[ "$last_hop" = "$gateway" ] || set -- "$@" -J "${gateway%,*}"
	timeout "$connect_seconds" ssh -F "$work/ssh_config" "$@" -- \
		"$(hop_url "$last_hop")" </dev/null >/dev/null 2>"$work/gateway.err" ||
		complain "gateway $last_hop: $(tail -n 1 "$work/gateway.err")"
}

# -J takes [user@]host[:port], ssh itself a URL.
hop_url()
{
	printf 'ssh://%s\n' "$1"
}
