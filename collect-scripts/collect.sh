# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Start and stop the collection on the nodes. What a node answers is a line a
# fact; a node that fails is noted and the others go on.

# action NODE SECONDS ACTION [WORD...]: of the node's script; the answer is in
# $answers, standard input is handed on. Fails if the node says so, or says nothing.
action()
{
	action_node=$1
	action_seconds=$2
	shift 2
	answers=$work/answers.$action_node
	action_status=126
	get_dir "$action_node" || {
		: >"$answers"
		echo 'nothing was set up there' >>"$errors"
		return 1
	}
	ask "$action_node" "$action_seconds" /bin/sh "$node_dir/node.sh" "$step_seconds" "$@"
	action_status=$?
	while IFS= read -r answer_line; do
		case $answer_line in
		'problem '*) node_problem "$action_node" "${answer_line#problem }" ;;
		esac
	done <"$answers"
	[ "$action_status" -eq 0 ]
}

# ask NODE SECONDS WORD...: a command on the node, of which the answer goes to $answers:
# lines that may be an answer, and no others. All of it is in $answers.raw.
ask()
{
	remote "$@" >"$answers.raw"
	ask_status=$?
	[ "$(size_of "$answers.raw")" -lt "$most_bytes" ] || {
		echo "it answers with more than $most_bytes bytes" >>"$errors"
		ask_status=125
	}
	take_answers <"$answers.raw" >"$answers"
	while IFS= read -r answer_line; do
		case $answer_line in
		'failed '*) printf '%s\n' "${answer_line#failed }" >>"$errors" ;;
		esac
	done <"$answers"
	return "$ask_status"
}

# A node may send what it likes. What comes out is KEY VALUE, where the value is one
# that this key may have; a login shell may have said more, which is passed over.
take_answers()
{
	tr -d '\000' | LC_ALL=C awk -- "$escape_functions"'
	BEGIN {
		number = "^(0|[1-9][0-9]*)$"
		word = "^[A-Za-z0-9_.:@+~-]*$"
		words = "^[A-Za-z0-9_.:@+~ -]*$"
		split("free_kib kib odd pid", name)
		for (i in name)
			may[name[i]] = number
		split("clock lttng manager rights sessiond state sysstat tcpdump tcpdump_rights", name)
		for (i in name)
			may[name[i]] = word
		split("events offload offloads process tracer", name)
		for (i in name)
			may[name[i]] = words
		split("active daemon dir failed place problem said shell tools user", name)
		for (i in name)
			may[name[i]] = ""
		may["status"] = "^(0|[1-9][0-9]?[0-9]?|timeout|stopped)$"
	}
	$0 == "end"
	{
		space = index($0, " ")
		key = substr($0, 1, space - 1)
		value = substr($0, space + 1, 400)
	}
	!(key in may) { next }
	key == "problem" && ++problems > 100 { next }
	value !~ may[key] || may[key] == number && length(value) > 15 {
		if (!odd[key]++)
			print "problem it answers nonsense about its " key
		next
	}
	{ print key " " escaped(value, "") }'
}

# What the node said of something, by the shell alone: it is asked for often.
fact()
{
	while IFS= read -r fact_line; do
		case $fact_line in
		"$1 "*)
			printf '%s\n' "${fact_line#"$1 "}"
			return
			;;
		esac
	done <"$answers"
}

# Make the private directory and write into it.
set_up_node()
{
	answers=$work/answers.$1
	bundle_for "$1" >"$work/bundle.$1"
	ask "$1" "$short_seconds" /bin/sh -s <"$work/bundle.$1"
	set_up_status=$?
	set_up_dir=$(fact dir)
	if [ "$set_up_status" -ne 0 ] || [ -z "$set_up_dir" ]; then
		node_problem "$1" "not started: $(why "$set_up_status" "$short_seconds")"
		set_state "$1" absent
		return
	fi
	take_dir "$set_up_dir" || {
		node_problem "$1" 'not started: it answers nonsense'
		set_state "$1" absent
		return
	}
	printf '%s\n' "$node_dir" >"$state/nodes/$1/dir"
	set_state "$1" 'set-up'
}

start_node()
{
	in_state "$1" 'set-up' || return
	if action "$1" "$start_seconds" start; then
		set_state "$1" started
		return
	fi
	node_problem "$1" "not started: $(why "$action_status" "$start_seconds")"
	set_state "$1" broken
	# What it had begun is ended, and gone.
	action "$1" "$short_seconds" stop && action "$1" "$short_seconds" clean &&
		set_state "$1" absent
}

# shellcheck disable=SC2046,SC2086 # names of nodes are words
start_all()
{
	node_script >"$work/node.sh"
	write_bundle
	open_gateway "$state/plan"
	bound=$parallel
	on_nodes set_up_node $nodes
	set -- $(nodes_in set-up)
	[ -n "$interrupted" ] || on_nodes start_node "$@"
	realtime_ns >"$state/begin"
}

stop_node()
{
	for attempt in 1 2 3; do
		if action "$1" "$stop_seconds" stop; then
			set_state "$1" stopped
			return
		fi
		stop_why=$(why "$action_status" "$stop_seconds")
		[ "$action_status" -eq 255 ] || break
		[ "$attempt" -eq 3 ] || sleep "$attempt"
	done
	node_problem "$1" "not stopped: $stop_why"
	set_state "$1" lost
}

# Whatever was set up is stopped, whether or not it is known to run.
# shellcheck disable=SC2046,SC2086
stop_all()
{
	bound=$parallel
	on_nodes stop_node $(nodes_in set-up started broken lost)
	[ -f "$state/end" ] || realtime_ns >"$state/end"
}

status_node()
{
	shown=$state/nodes/$1/shown
	get_state "$1"
	if in_state "$1" absent cleaned fetched; then
		printf '%s\t%s\t\t\t\n' "$1" "$node_state" >"$shown"
	elif action "$1" "$short_seconds" status; then
		printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$(fact state)" \
			"$(grep -c '^process ' "$answers")" "$(fact kib)" "$(fact free_kib)" >"$shown"
	else
		printf '%s\t%s\t\t\t\n' "$1" unreachable >"$shown"
		node_problem "$1" "$(why "$action_status" "$short_seconds")"
	fi
}

# shellcheck disable=SC2086
status_all()
{
	open_gateway "$state/plan"
	bound=$parallel
	on_nodes status_node $nodes
	{
		printf 'NODE\tSTATE\tPROCESSES\tKIB\tFREE KIB\n'
		for node in $nodes; do
			cat "$state/nodes/$node/shown"
			rm -f "$state/nodes/$node/shown"
		done
	} | as_table
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
