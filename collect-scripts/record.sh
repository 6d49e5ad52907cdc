# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# run.json, from what stands in .collect/.

# The value of a member of a JSON object on one line.
json_member()
{
	MEMBER=$1 awk '
	{
		want = "\"" ENVIRON["MEMBER"] "\""
		depth = 0
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (c == "\"") {
				begin = i
				for (i++; i <= length($0); i++) {
					c = substr($0, i, 1)
					if (c == "\\")
						i++
					else if (c == "\"")
						break
				}
				if (depth == 1 && !from && !value &&
				    substr($0, begin, i - begin + 1) == want)
					from = -1
				continue
			}
			if (c == ":" && from == -1 && depth == 1) {
				from = i + 1
				continue
			}
			if (depth == 1 && from > 0 && (c == "," || c == "}")) {
				print substr($0, from, i - from)
				exit
			}
			if (c == ":" && depth == 1)
				value = 1
			else if (c == "," && depth == 1)
				value = 0
			if (c ~ /[{\[]/)
				depth++
			else if (c ~ /[}\]]/)
				depth--
		}
	}'
}

# node NAME ADDRESS USER PORT ROLE...: one of run.json.
node_json()
{
	node_name=$2
	get_state "$node_name"
	node_data=
	case $node_state in
	fetched) node_state=ok ;;
	cleaned)
		node_state=ok
		! leaves_data || [ -d "$run_dir/$node_name" ] || node_state=removed
		;;
	absent | set-up) node_state='not started' ;;
	stopped)
		node_state='not fetched'
		! leaves_data || node_state=left
		! get_dir "$node_name" || node_data=$node_dir/data
		;;
	lost | broken) node_state='not stopped' ;;
	started) node_state=collecting ;;
	esac
	printf '%s\n  {"name": %s, "address": %s' "$nodes_comma" "$(json_strings "$2")" "$(json_strings "$3")"
	shift 5
	printf ', "roles": [%s], "status": %s' "$(json_strings "$@")" "$(json_strings "${node_state:-unknown}")"
	[ -z "$node_data" ] || printf ', "data": %s' "$(json_strings "$node_data")"
	printf ', "problems": ['
	comma=
	[ ! -f "$state/nodes/$node_name/problems" ] ||
		while IFS= read -r problem_line; do
			printf '%s%s' "$comma" "$(json_strings "$problem_line")"
			comma=', '
		done <"$state/nodes/$node_name/problems"
	printf ']}'
	nodes_comma=,
}

nodes_json()
{
	nodes_comma=
	each_line "$state/plan" node node_json
}

parameters_json()
{
	parameters_comma=
	each_line "$state/plan" point point_json
}

# point INDEX COUNT SUFFIX KEY=VALUE...
point_json()
{
	[ $# -gt 4 ] || return 0
	shift 4
	for parameter; do
		printf '%s%s: %s' "$parameters_comma" "$(json_strings "${parameter%%=*}")" \
			"$(json_strings "${parameter#*=}")"
		parameters_comma=', '
	done
}

# kept_time FILE: the nanoseconds that stand in it, or now.
kept_time()
{
	kept=
	read -r kept 2>/dev/null <"$1" || :
	case $kept in
	'' | 0* | *[!0-9]*) realtime_ns ;;
	*) printf '%s\n' "$kept" ;;
	esac
}

write_run_json()
{
	plan_word "$state/plan" name
	rm -f "$run_dir/run.json.new"
	{
		printf '{"name": %s,\n' "$(json_strings "$answer")"
		printf ' "collector_version": %s,\n' "$(json_strings "$version")"
		printf ' "begin_ns": %s, "end_ns": %s,\n' "$(kept_time "$state/begin")" \
			"$(kept_time "$state/end")"
		printf ' "parameters": {%s},\n' "$(parameters_json)"
		printf ' "interrupted": %s,\n' "$([ -f "$state/interrupted" ] && echo true || echo false)"
		printf ' "nodes": [%s],\n' "$(nodes_json)"
		printf ' "commands": [%s],\n' "$(commands_json)"
		printf ' "recipe": %s}\n' "$(json_member recipe <"$state/json")"
	} >"$run_dir/run.json.new" && mv -f "$run_dir/run.json.new" "$run_dir/run.json" ||
		fail "$run_dir/run.json: cannot be written"
}

# Each command wrote its line to a file of its own, in the order of the recipe.
commands_json()
{
	commands_comma=
	for command_file in "$state"/commands/*; do
		[ -f "$command_file" ] || continue
		printf '%s\n  %s' "$commands_comma" "$(cat "$command_file")"
		commands_comma=,
	done
}
