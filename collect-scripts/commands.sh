# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# The commands of the recipe: those of one `execute` entry run at the same time on
# all of its nodes, entries one after the other. A command that fails does not
# stop the others; its record in run.json says so.

run_commands()
{
	mkdir -p "$state/commands"
	entry=
	each_line "$state/plan" execute run_entry
}

# execute INDEX METHOD TIMEOUT_MS SUDO NODE COMMAND: the whole entry at its first line,
# on all nodes at once, whatever the bound is, as they may need one another.
run_entry()
{
	[ "$2" != "$entry" ] && [ -z "$interrupted" ] || return 0
	entry=$2
	entry_method=$3
	entry_timeout=$4
	entry_sudo=$5
	entry_nodes=
	each_line "$state/plan" "execute $entry" add_command
	talk "$run_name: $entry_method: $(one_line "$7")"
	bound=0
	# shellcheck disable=SC2086 # names of nodes are words
	on_nodes run_on $entry_nodes
}

add_command()
{
	entry_nodes="$entry_nodes ${6:-.local}"
	printf '%s' "$7" >"$work/command.$entry.${6:-.local}"
}

one_line()
{
	printf '%s\n' "$1" | sed -n '1s/^\(.\{100\}\).*/\1.../;1p'
}

# One command on one node, or here.
run_on()
{
	begun=$(realtime_ns)
	case $1 in
	.local) run_local ;;
	*)
		if in_state "$1" started; then
			run_remote "$1"
		else
			command_status='not run'
		fi
		;;
	esac
	note_command "$1" "$(cat "$work/command.$entry.$1"; echo .)"
	[ "$command_status" = 0 ] || [ "$command_status" = launched ] ||
		command_failed "$1"
}

run_remote()
{
	# Beyond its own time limit, the connection gets a minute; without one, it lives
	# as long as the node answers.
	remote_limit=31536000
	[ "$entry_timeout" -eq 0 ] || remote_limit=$((entry_timeout / 1000 + 60 + short_seconds))
	[ "$entry_method" != background ] || remote_limit=$short_seconds
	waiting_name=$entry.$1
	action "$1" "$remote_limit" exec "$entry" "$entry_method" \
		"$entry_timeout" "${entry_sudo:-no}" <"$work/command.$entry.$1"
	waiting_name=
	command_status=$(fact status)
	command_said=$(fact said)
	[ -n "$command_status" ] || case $(fact state) in
	launched) command_status=launched ;;
	*) command_status="lost: $(why "$action_status" "$remote_limit")" ;;
	esac
	[ ! -f "$work/interrupted" ] || [ "$command_status" = 0 ] || command_status=interrupted
}

# On this machine, with the run's directory in its environment.
run_local()
{
	CLUSTERTRACE_RUN_DIRECTORY=$run_dir
	export CLUSTERTRACE_RUN_DIRECTORY
	set -- sh -c "$(cat "$work/command.$entry..local")"
	[ "$entry_timeout" -eq 0 ] ||
		set -- timeout -k 5 "$(((entry_timeout + 999) / 1000))" "$@"
	command_said=
	mkdir -p "$run_dir/commands" || return
	interruptible "$entry..local" "$@" </dev/null >"$run_dir/commands/$entry.out" \
		2>"$run_dir/commands/$entry.err"
	command_status=$?
	[ "$entry_timeout" -eq 0 ] || [ "$command_status" -ne 124 ] || command_status=timeout
}

# A line of run.json; the command comes with a dot at its end.
note_command()
{
	note_name=$1
	[ "$note_name" != .local ] || note_name=
	case $command_status in
	*[!0-9]* | '') status_json=$(json_strings "$command_status") ;;
	*) status_json=$command_status ;;
	esac
	printf '{"index": %s, "method": %s, "node": %s, "command": %s, "begin_ns": %s, "end_ns": %s, "status": %s}\n' \
		"$entry" "$(json_strings "$entry_method")" "$(json_strings "$note_name")" \
		"$(json_strings "${2%.}")" "$begun" "$(realtime_ns)" "$status_json" \
		>"$state/commands/$(printf '%05d' "$entry")-${1#.}"
}

command_failed()
{
	: >"$state/failed"
	case $command_status in
	[0-9]*) complain "${note_name:-here}: command $entry ended with status $command_status${command_said:+: $command_said}" ;;
	*) complain "${note_name:-here}: command $entry: $command_status" ;;
	esac
}
