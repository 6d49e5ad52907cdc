# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2030,SC2031,SC2034,SC2086,SC2119,SC2120,SC2154
#
# The way to the nodes.

# OpenSSH: one connection a node for as long as a command of ours lasts, and
# sessions over it. All that ssh is told stands in one configuration of our own,
# which jump hosts get as well, and which takes in the user's.

# ssh uses the first value of each option. These precede all others on the command line: no
# question is ever asked, and nothing of ours is forwarded. Then come the recipe's
# (`ssh_options`), and last the user's configuration. ssh reads a copy of that: the path of what
# it includes is a pattern.
ssh_first='-o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes -o Tunnel=no'

write_ssh_config()
{
	user_config=$(option ssh-config)
	if [ -n "$user_config" ]; then
		cat -- "$user_config" >"$sockets/config" || fail "$user_config: cannot be read"
		user_config="Include \"$sockets/config\""
	fi
	cat >"$work/ssh_config" <<EOT
Host *
	BatchMode yes
	ControlMaster auto
	ControlPath "$sockets/%C"
	ControlPersist 300
	ForwardAgent no
	ForwardX11 no
	ClearAllForwardings yes
	RequestTTY no
	EscapeChar none
	LogLevel ERROR
${user_config:-Include config${NL}Include /etc/ssh/ssh_config}
Host *
	ConnectTimeout $connect_seconds
	ServerAliveInterval 5
	ServerAliveCountMax 4
	ConnectionAttempts 1
EOT
}

# The path of a socket is up to 107 bytes, so sockets do not lie below TMPDIR, which may be long.
make_work()
{
	sockets=
	work=$(mktemp -d "${TMPDIR:-/tmp}/ctc.XXXXXX") || fail 'cannot make a directory for temporary files'
	trap leave EXIT
	sockets=$(unset TMPDIR && mktemp -d) || fail 'cannot make a directory for sockets'
	# A string that no node can know in advance.
	frame=frame.${work##*.}${sockets##*.}
	write_ssh_config
	make_pool
}

# Masters end with us. Where one hangs, ControlPersist ends it.
leave()
{
	leave_status=$?
	trap '' INT TERM HUP
	set --
	for socket in "$sockets"/*; do
		[ ! -S "$socket" ] || set -- "$@" "$socket"
	done
	[ $# -eq 0 ] || timeout $((5 + $# / 10)) sh -c '
		for socket; do
			ssh -F none -o "ControlPath=\"$socket\"" -O exit node &
		done
		wait' sh "$@" >/dev/null 2>&1
	rm -rf "$work" ${sockets:+"$sockets"}
	exit "$leave_status"
}

# Options for ssh may run commands here and write files, so none is taken from a run directory,
# which may be somebody else's.
foreign=
add_option()
{
	if [ -n "$foreign" ]; then
		complain "$plan_file: option ${2%%=*} of ssh is not taken from a run, name the recipe instead where it is needed"
	elif [ $# -eq 2 ]; then
		ssh_words="$ssh_words-o $(quote "$2") "
	fi
}

add_gateway()
{
	[ -n "${2:-}" ] || return 0
	case $2 in
	-* | *,-* | *@-* | *[!][A-Za-z0-9_.:@%,+-]*) fail "$plan_file: '$(plain_text "$2")' is not a gateway" ;;
	esac
	gateway=$2
	ssh_words="$ssh_words-J $2 "
}

# node NAME ADDRESS USER PORT ROLE...
add_node()
{
	[ $# -ge 5 ] || fail "$plan_file: '$(plain_text "$*")' is not the line of a node"
	case $2 in
	'' | [!A-Za-z0-9_]* | *[!A-Za-z0-9_.-]*)
		fail "$plan_file: '$(plain_text "$2")' is not the name of a node"
		;;
	esac
	case $3/$4/$5 in
	/* | -* | */-* | *[!A-Za-z0-9_.:%@+/-]* | */*/*/* | */*/*[!0-9]*)
		fail "$plan_file: '$(plain_text "$4@$3:$5")' is not the address of a node"
		;;
	esac
	nodes="$nodes $2"
	node_count=$((node_count + 1))
	printf '%s\n' "$ssh_words${4:+-l $4 }${5:+-p $5 }-- $3" >"$work/words/$2"
}

# stream NODE SECONDS WORD...: a command on a node, of words that every login
# shell takes for what they are. Standard input and output are the caller's, errors
# go to $errors. The exit status is the command's, 255 if there is no connection, 124
# if it was out of time; it is left in $errors.status. For the left side of a pipe.
#
# No file that ssh writes for the node gets past 16 MiB: then the connection ends. (The
# end of a pipe cannot be waited for here: ssh keeps that of errors open when it is ended.)
stream()
{
	stream_seconds=$2
	IFS= read -r stream_words <"$work/words/$1"
	shift 2
	stream_command="$*"
	case $stream_command in
	*[!A-Za-z0-9_./:=@%+,\ -]*)
		printf 'a path on the node has characters that are not safe: %s\n' \
			"$stream_command" >>"$errors"
		echo 126 >"$errors.status"
		return
		;;
	esac
	(
		ulimit -f 32768
		# shellcheck disable=SC3045 # each of the shells has it
		ulimit -c 0
		with_words run_ssh "$stream_words"
	) 2>>"$errors"
	echo $? >"$errors.status"
}

is_interruptible=
run_ssh()
{
	set -- timeout -k 5 "$stream_seconds" ssh -F "$work/ssh_config" -T $ssh_first "$@" \
		"$stream_command"
	if [ -n "$is_interruptible" ]; then
		interruptible "$job_name" "$@"
	else
		exec "$@"
	fi
}

# As stream, to a file, or with up to $most_bytes of output where that may be more than a file of
# ours: a node may send without end.
most_bytes=1048576
remote()
{
	if [ "$most_bytes" -gt 1048576 ]; then
		stream "$@" | head -c "$most_bytes"
	else
		stream "$@"
	fi
	read -r remote_status <"$errors.status"
	return "$remote_status"
}

# Print the last line from ssh or the node, for a message.
last_error()
{
	# ssh ends its lines as a terminal expects it.
	said=$(tr -d '\r' <"$errors" 2>/dev/null | grep -v '^[[:space:]]*$' | tail -n 1 |
		cut -b 1-300 | plain_lines)
	printf '%s\n' "${said:-no answer}"
}

# Why a remote command failed: why STATUS SECONDS. What kept it from running at all is explained,
# and, after "; fix: ", what to do.
why()
{
	if [ "$(wc -c <"$answers.raw")" -ge "$most_bytes" ] 2>/dev/null; then
		printf 'it answers with more than %s bytes; fix: its login shell may print only if interactive: case $- in *i*) ... esac\n' \
			"$most_bytes"
		return
	fi
	case $1-$(head -c 65536 "$errors" "$answers.raw" 2>/dev/null | tr -d '\000') in
	124-* | 137-*) printf 'no answer within %s s\n' "$2" ;;
	255-*'HOST IDENTIFICATION HAS CHANGED'*)
		printf '%s\n' 'no connection: its host key has changed, so it may be another machine; fix: if it was installed anew: ssh-keygen -R its name, and log in once by hand'
		;;
	255-*'Host key verification failed'*)
		printf '%s\n' 'no connection: Host key verification failed: its key is not known here; fix: log in once by hand'
		;;
	255-*) printf 'no connection: %s\n' "$(last_error)" ;;
	126-*'allows sftp connections only'*)
		printf '%s\n' 'its sshd runs no commands for this user, only sftp; fix: another user, or no "ForceCommand internal-sftp" in sshd_config'
		;;
	126-*'account is currently not available'* | 126-*nologin*)
		printf '%s\n' 'the login shell of this user there is nologin, which runs no commands; fix: another user, or as root: chsh -s /bin/sh USER'
		;;
	126-*fish:*)
		printf '%s\n' 'its login shell becomes fish instead of running the command; fix: in its .bashrc, exec fish only if interactive: case $- in *i*) exec fish ;; esac'
		;;
	126-*node.sh*) last_error ;;
	*'BASE: parameter not set'*)
		printf '%s\n' 'its login shell reads input that is for the command; fix: in its .bashrc, read only if interactive: case $- in *i*) ... esac'
		;;
	126-*)
		printf 'its login shell or sshd did not run the command: %s; fix: `ssh ... echo works` must print that alone; look for ForceCommand in sshd_config, for sftp-server or false as login shell, for exec in .bashrc\n' \
			"$(last_error)"
		;;
	*) last_error ;;
	esac
}

# Connections to the same gateway share one, if it is there before them all.
open_gateway()
{
	last_hop=${gateway##*,}
	before=
	[ "$last_hop" = "$gateway" ] || before=${gateway%,*}
	# -J takes [user@]host[:port], ssh itself a URL.
	timeout "$connect_seconds" ssh -F "$work/ssh_config" -N -f ${before:+-J "$before"} -- "ssh://$last_hop" \
		</dev/null >/dev/null 2>"$work/gateway.err" ||
		complain "gateway $last_hop: $(tail -n 1 "$work/gateway.err")"
}

# action NODE SECONDS ACTION [WORD...]: of the node's script, the one in its private directory or,
# if it is set, the file $sent, which then needs nothing that is there. Standard input is handed
# on. The answer is in $answers, only lines that may be in one, and all of it in $answers.raw.
# Fails if the node says so, or the answer is not complete: 126 if nothing was run.
sent=
action()
{
	action_node=$1
	action_seconds=$2
	shift 2
	if ! get_dir "$action_node" && [ -z "$sent" ]; then
		echo 'nothing was set up there' >>"$errors"
		: >"$answers"
		action_status=1
		return 1
	elif [ -n "$sent" ]; then
		remote "$action_node" "$action_seconds" /bin/sh -s "$frame" $node_dir "$@" <"$sent"
	else
		remote "$action_node" "$action_seconds" /bin/sh "$node_dir/node.sh" "$frame" "$@"
	fi >"$answers.raw"
	action_status=$?
	(filter_answers) <"$answers.raw" >"$answers"
	case $?-$action_status in
	3-*) action_status=125 && echo "it answers with more than $most_bytes bytes" >>"$errors" ;;
	0-* | *-255 | *-124 | *-137) ;;
	1-0) action_status=255 && echo 'the answer breaks off' >>"$errors" ;;
	2-*) action_status=126 ;;
	esac
	while IFS= read -r answer_line; do
		case $answer_line in
		'problem '*) node_problem "$action_node" "${answer_line#problem }" ;;
		'failed '*) printf '%s\n' "${answer_line#failed }" >>"$errors" ;;
		esac
	done <"$answers"
	return "$action_status"
}

# An action that may be done twice: again where the connection breaks.
patiently()
{
	for attempt in 1 2 3; do
		action "$@" && return
		[ "$action_status" -eq 255 ] && [ "$attempt" -lt 3 ] || return
		sleep "$attempt"
	done
}

# A node may send anything. What comes out is KEY VALUE, where the value is one that this key may
# have. What comes before the frame, of a login shell, is skipped, and its first line is `noise`.
# The status is 0 if the answer is complete, 1 if its end is missing, 2 if its beginning is, and
# 3 if it was cut off at $most_bytes. For a subshell.
filter_answers()
{
	LC_ALL=C FRAME=$frame MOST=$most_bytes exec awk -- "$escape_functions"'
	BEGIN {
		split("cell dir done failed missing probe problem process remark said state unread", name)
		for (i in name)
			may[name[i]] = ""
		may["clock"] = may["free_kib"] = may["kib"] = may["odd"] = may["sources"] = \
			may["special"] = "^(0|[1-9][0-9]*)$"
		may["status"] = "^(0|[1-9][0-9]?[0-9]?|timeout|stopped)$"
		frame = ENVIRON["FRAME"]
	}
	{
		bytes += length($0) + 1
		if (bytes >= ENVIRON["MOST"])
			exit
	}
	!is_open {
		if ($0 == frame) {
			is_open = 1
			if (noise != "")
				print "noise " escaped(substr(noise, 1, 100), "")
		} else if (noise == "" && $0 != "")
			noise = $0
		next
	}
	$0 == frame " end" { is_whole = 1 }
	is_whole { next }
	{
		space = index($0, " ")
		key = substr($0, 1, space - 1)
		value = substr($0, space + 1, 400)
	}
	!(key in may) { next }
	key == "problem" && ++problems > 100 { next }
	value !~ may[key] || may[key] && length(value) > 15 {
		if (!odd[key]++)
			print "problem it answers nonsense about its " key
		next
	}
	{ print key " " escaped(value, "") }
	END { exit bytes >= ENVIRON["MOST"] ? 3 : is_whole ? 0 : is_open ? 1 : 2 }'
}

# get_fact KEY: set fact to the node's first value of it, or to nothing. Costs no process.
get_fact()
{
	fact=
	while IFS= read -r fact_line; do
		case $fact_line in
		"$1 "*)
			fact=${fact_line#* }
			return
			;;
		esac
	done <"$answers"
}
