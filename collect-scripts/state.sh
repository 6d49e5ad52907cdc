# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What is known of a run stands in RUN/.collect/, so that `stop` and `fetch` can
# come later, and again:
#
#   plan        all lines of ctrecipe for this point
#   id          the run's name on the nodes
#   begin, end  nanoseconds
#   commands    a line of JSON for each command that was run
#   nodes/NODE/ dir: its private directory; state; problems

complain()
{
	printf '%s: %s\n' "$program" "$*" >&2
}

talk()
{
	given quiet || printf '%s\n' "$*" >&2
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
	word_kind=$2
	while IFS= read -r plan_line; do
		case $plan_line in
		"$word_kind "*)
			eval "set -- $plan_line"
			answer=${2:-}
			;;
		esac
	done <"$1"
}

# The point of a plan: sets point_count and suffix.
plan_point()
{
	eval "set -- $(grep "^point " "$1")"
	point_count=${3:-1}
	suffix=${4:-}
}

# The names of a plan's nodes; they are fit for file names.
plan_nodes()
{
	sed -n 's/^node \([^ ]*\) .*/\1/p' "$1" | tr -d "'"
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
	mkdir "$state" "$state/nodes" || fail "$state: cannot be made"
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
	take_plan
	for node in $nodes; do
		mkdir "$state/nodes/$node" || fail "$state/nodes/$node: cannot be made"
	done
}

# What of the plan is needed all the time.
take_plan()
{
	nodes=$(plan_nodes "$state/plan")
	[ -n "$nodes" ] || fail "$state/plan: no nodes in it"
	plan_word "$state/plan" tmpdir
	tmpdir=$answer
	node_words "$state/plan"
}

# An existing run, by its directory, or the last one of a recipe that is not
# fetched yet.
open_run()
{
	if [ -f "$1/.collect/plan" ] && [ -f "$1/.collect/id" ]; then
		run_dir=$1
	elif [ -f "$1" ]; then
		run_dir=$(last_run "$1") || exit 1
	else
		fail "$1: want a recipe, or a run directory that ctcollect made"
	fi
	case $run_dir in
	/* | ./* | ../*) ;;
	*) run_dir=./$run_dir ;;
	esac
	state=$run_dir/.collect
	read -r id <"$state/id"
	run_name=${run_dir%/}
	run_name=${run_name##*/}
	take_plan
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
		[ -f "$try/.collect/id" ] && [ ! -f "$try/.collect/end" ] && last=$try
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
