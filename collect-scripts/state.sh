# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What is known of a run.

# What is known of a run stands in RUN/.collect/, so that `stop` and `fetch` can
# come later, and again:
#
#   plan        all lines of ctrecipe for this point
#   id          the run's name on the nodes
#   begin, end  nanoseconds
#   done        nothing is on the nodes any more, as far as they could be reached
#   commands    a line of JSON for each command that was run
#   nodes/NODE/ dir: its private directory; state; problems
#
# A run directory may come from anywhere. All of this is data: it is read a line
# at a time and checked for what it may be, and nothing of it is ever run.

complain()
{
	printf '%s: %s\n' "$program" "$(plain_text "$*")" >&2
}

talk()
{
	given quiet || plain_text "$*" >&2
}

# The plan of a point of the recipe: plan_of RECIPE POINT FILE [RUN]
plan_of()
{
	"$bin/ctrecipe" plan --point "$2" ${4:+--run "$4"} -- "$1" >"$3"
}

# What a plan says of one kind, the first word after it, of its last line: sets $answer.
plan_word()
{
	answer=
	each_line "$1" "$2" set_answer
}

set_answer()
{
	answer=${2:-}
}

# The point of a plan: sets point_count and suffix.
plan_point()
{
	each_line "$1" point set_point
}

set_point()
{
	point_count=${3:-1}
	suffix=${4:-}
}

# Sets nodes. They are used as words, and as names of files.
plan_nodes()
{
	nodes=
	plan_file=$1
	each_line "$1" node add_node
	[ -n "$nodes" ] || fail "$1: no nodes in it"
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
	nodes="$nodes $2"
}

new_id()
{
	id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
	[ ${#id} -eq 16 ] || fail 'no random numbers in /dev/urandom'
}

# make_run RECIPE POINT: a new run directory. Sets run_dir, state, id, nodes.
make_run()
{
	plan_of "$1" "$2" "$work/plan" || return 1
	plan_word "$work/plan" name
	plan_point "$work/plan"
	prefix=$answer
	plan_word "$work/plan" tracedir
	runs=$(option output "${answer:-.}")
	case $runs in
	/* | ./* | ../*) ;;
	*) runs=./$runs ;;
	esac
	mkdir -p "$runs" || fail "$runs: cannot be made"
	until new_directory; do
		# Two in one second: the later one waits for its own.
		sleep 1
	done
	state=$run_dir/.collect
	mkdir -m 700 "$state" && mkdir "$state/nodes" || fail "$state: cannot be made"
	new_id
	printf '%s\n' "$id" >"$state/id"
}

new_directory()
{
	run_name=$prefix-$(date +%Y%m%d-%H%M%S)${suffix:+-$suffix}
	run_dir=$runs/$run_name
	mkdir "$run_dir" 2>/dev/null && return
	[ -d "$run_dir" ] || fail "$run_dir: cannot be made"
	return 1
}

# fill_run RECIPE POINT: with the name known, the plan is final.
fill_run()
{
	plan_of "$1" "$2" "$state/plan" "$run_name" || return 1
	"$bin/ctrecipe" json --point "$2" --run "$run_name" -- "$1" >"$state/json" || return 1
	case $1 in
	/*) printf '%s\n' "$1" >"$state/recipe" ;;
	*) printf '%s\n' "$PWD/$1" >"$state/recipe" ;;
	esac
	plan_word "$state/plan" tmpdir
	tmpdir=$answer
	take_nodes "$state/plan"
}

# The nodes of the run, and the way to them, of which options for ssh by the plan OPTIONS.
take_nodes()
{
	plan_nodes "$state/plan"
	node_words "$state/plan" "$1"
	for node in $nodes; do
		mkdir -p "$state/nodes/$node" || fail "$state/nodes/$node: cannot be made"
	done
}

# An existing run, by its directory, or the last one of a recipe that is not
# fetched yet.
open_run()
{
	options_plan=$1/.collect/plan
	if [ -f "$1/.collect/plan" ] && [ -f "$1/.collect/id" ]; then
		run_dir=$1
		foreign=yes
	elif [ -f "$1" ]; then
		run_dir=$(last_run "$1") || exit 1
		options_plan=$work/plan
	else
		fail "$1: want a recipe, or a run directory that ctcollect made"
	fi
	case $run_dir in
	/* | ./* | ../*) ;;
	*) run_dir=./$run_dir ;;
	esac
	state=$run_dir/.collect
	# What is written there must stay there.
	odd_file=$(find "$state" ! -type d ! -type f 2>&1 | head -n 1)
	[ -z "$odd_file" ] || fail "$(plain_text "$odd_file"): neither a file nor a directory, it does not belong there"
	IFS= read -r id <"$state/id"
	case ${#id}$id in
	16*[!0-9a-f]*) ;;
	16*) id_is_one=yes ;;
	esac
	[ -n "${id_is_one:-}" ] || fail "$state/id: want 16 hexadecimal digits"
	run_name=${run_dir%/}
	run_name=${run_name##*/}
	take_nodes "$options_plan"
}

last_run()
{
	plan_of "$1" 1 "$work/plan" || exit 1
	plan_word "$work/plan" name
	last_name=$answer
	plan_word "$work/plan" tracedir
	runs=$(option output "${answer:-.}")
	last=
	for try in "$runs/$last_name"-[0-9]*; do
		[ -f "$try/.collect/id" ] && [ ! -f "$try/.collect/done" ] && last=$try
	done
	[ -n "$last" ] || fail "$1: no run of it in $runs that is not fetched yet"
	printf '%s\n' "$last"
}

# Of one node: set_state NODE WORD; in_state NODE WORD...
set_state()
{
	printf '%s\n' "$2" >"$state/nodes/$1/state"
}

get_state()
{
	node_state=
	read -r node_state 2>/dev/null <"$state/nodes/$1/state" || :
	case $node_state in
	absent | set-up | started | broken | stopped | lost | fetched | cleaned) ;;
	*) node_state=unknown ;;
	esac
}

# The private directory of a node, if it is one: sets node_dir.
take_dir()
{
	node_dir=$1
	case $node_dir in
	*[!A-Za-z0-9_./:=@%+,-]* | */../*) ;;
	/*/clustertrace-*/"$id") return 0 ;;
	esac
	node_dir=
	return 1
}

get_dir()
{
	node_dir=
	IFS= read -r node_dir 2>/dev/null <"$state/nodes/$1/dir" && take_dir "$node_dir"
}

in_state()
{
	get_state "$1"
	shift
	for word; do
		[ "$node_state" != "$word" ] || return 0
	done
	return 1
}

nodes_in()
{
	for node in $nodes; do
		in_state "$node" "$@" && printf '%s\n' "$node"
	done
}

# A problem of a node, told once and kept.
node_problem()
{
	problem_node=$1
	shift
	grep -q -x -F -e "$*" "$state/nodes/$problem_node/problems" 2>/dev/null && return
	printf '%s\n' "$*" >>"$state/nodes/$problem_node/problems"
	complain "$problem_node: $*"
}

# run.json, from what stands in .collect/.

# The recipe as ctrecipe printed it: the last member, and in no text are there quotes
# without a backslash.
recipe_json()
{
	IFS= read -r json_line 2>/dev/null <"$state/json" || :
	case $json_line in
	*',"recipe":'*'}')
		json_line=${json_line#*',"recipe":'}
		printf '%s\n' "${json_line%?}"
		;;
	*) echo null ;;
	esac
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
		printf ' "recipe": %s}\n' "$(recipe_json)"
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
