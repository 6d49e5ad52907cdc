# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086,SC2119,SC2120,SC2154
#
# The state of a run, in RUN/.collect/, so that `stop` and `fetch` can follow later, and again:
#
#   plan        all lines of ctrecipe for this point
#   json        its object for run.json
#   id          the run's name on the nodes
#   begin, end  nanoseconds
#   fetched     all of it is here
#   done        nothing is on the nodes any more
#   failed, interrupted
#   lock        held by the collector that fetches or cleans up, whose pid is in it
#   commands/   a line of JSON for each command that was run
#   nodes/NODE/ dir: its private directory, as long as that may be there, noted before anything
#               runs in it; state; problems; lock: held while it is fetched
#
# A run directory may come from anywhere. All of this is data: it is read a line
# at a time and checked for what it may be, and nothing of it is ever run.

complain()
{
	case $* in
	*[![:print:]]*) printf '%s: %s\n' "$program" "$(plain_text "$*")" >&2 ;;
	*) printf '%s: %s\n' "$program" "$*" >&2 ;;
	esac
}

talk()
{
	is_set quiet || plain_text "$*" >&2
}

# plan_of RECIPE POINT [RUN]: the plan of a point of the recipe, read.
plan_of()
{
	"$bin/ctrecipe" plan --point "$2" ${3:+--run "$3"} -- "$1" >"$work/plan" || exit 1
	read_plan
}

# Read what the plan says about the whole run: sets recipe_name, point_count, suffix, tracedir, tmpdir, fetch.
read_plan()
{
	recipe_name=
	point_count=1
	suffix=
	tracedir=runs
	tmpdir=
	fetch=all
	# A shell reads byte by byte, and a plan may be long: once, and few of its lines.
	grep -E '^(name|point|tracedir|tmpdir|fetch) ' "$work/plan" >"$work/plan.whole"
	while IFS= read -r plan_line; do
		with_words set_plan "$plan_line"
	done <"$work/plan.whole"
}

set_plan()
{
	case $1 in
	name) recipe_name=${2:-} ;;
	point)
		point_count=${3:-1}
		suffix=${4:-}
		;;
	tracedir) tracedir=${2:-} ;;
	tmpdir) tmpdir=${2:-} ;;
	fetch) fetch=${2:-} ;;
	esac
}

# Set runs to the directory for the plan's run directories.
find_runs()
{
	plain_path "$(option output "$tracedir")"
	runs=$plain_path
}

# make_run RECIPE POINT: a new run directory. Sets run_dir, state, id, nodes.
make_run()
{
	plan_of "$1" "$2"
	find_runs
	mkdir -p "$runs" || fail "$runs: cannot be made"
	until
		run_name=$recipe_name-$(date +%Y%m%d-%H%M%S)${suffix:+-$suffix}
		run_dir=$runs/$run_name
		mkdir "$run_dir" 2>/dev/null
	do
		[ -d "$run_dir" ] || fail "$run_dir: cannot be made"
		# Two in one second: the later one waits for its own.
		sleep 1
	done
	state=$run_dir/.collect
	mkdir -m 700 "$state" && mkdir "$state/nodes" "$state/commands" || fail "$state: cannot be made"
	id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
	[ ${#id} -eq 16 ] || fail 'no random numbers in /dev/urandom'
	printf '%s\n' "$id" >"$state/id"
	# With the name known, the plan is final.
	plan_of "$1" "$2" "$run_name"
	cp "$work/plan" "$state/plan" || exit 1
	"$bin/ctrecipe" json --point "$2" --run "$run_name" -- "$1" >"$state/json" || exit 1
	node_script >"$work/node.sh"
	reach_nodes
}

# reach_nodes [OPTIONS]: the nodes of the plan, and the way to each. Sets nodes and node_count; they
# are used as words, and as names of files. The words for ssh, -p PORT ... -- ADDRESS, are a line in
# $work/words/NODE; their options are those of the plan OPTIONS.
reach_nodes()
{
	nodes=
	node_count=0
	ssh_words=
	gateway=
	plan_file=$state/plan
	each_line "${1:-$work/plan}" ssh_option add_option
	each_line "$work/plan" ssh_gateway add_gateway
	each_line "$work/plan" node add_node
	[ -n "$nodes" ] || fail "$plan_file: no nodes in it"
	[ -z "$gateway" ] || open_gateway
	set --
	for node in $nodes; do
		[ -d "$state/nodes/$node" ] || set -- "$@" "$state/nodes/$node"
	done
	[ $# -eq 0 ] || mkdir -p "$@" || fail "$state/nodes: cannot be written"
}

# open_run RUN|RECIPE FILE: an existing run, by its directory, or the last one of a recipe that
# does not have this file of the state: `fetched` or `done`.
open_run()
{
	options_plan=$work/plan
	if [ -f "$1/.collect/plan" ] && [ -f "$1/.collect/id" ]; then
		run_dir=$1
		foreign=yes
	elif [ -f "$1" ]; then
		options_plan=$work/recipe.plan
		last_run "$1" "$2"
	else
		fail "$1: expected a recipe, or a run directory that ctcollect made"
	fi
	plain_path "$run_dir"
	run_dir=$plain_path
	state=$run_dir/.collect
	# Links could lead outside of the run.
	odd_file=$(find "$state" ! -type d ! -type f 2>&1 | head -n 1)
	[ -z "$odd_file" ] || fail "$(plain_text "$odd_file"): neither a file nor a directory, it does not belong there"
	IFS= read -r id <"$state/id"
	case ${#id}$id in
	16*[!0-9a-f]*) id= ;;
	esac
	[ ${#id} -eq 16 ] || fail "$state/id: expected 16 hexadecimal digits"
	run_name=${run_dir##*/}
	copy_plan
	node_script >"$work/node.sh"
	reach_nodes "$options_plan"
}

# Our copy of the plan of the run, if all of its lines are of words that run nothing (common.sh).
copy_plan()
{
	tr -d '\000' <"$state/plan" >"$work/plan"
	plan_word="([A-Za-z0-9_./:=@%+,-]|'[^']*'|\\\\'|\"\\\$NL\")+"
	odd_line=$(grep -v -x -m 1 -E "$plan_word( $plan_word)*" "$work/plan") &&
		fail "$state/plan: '$(plain_text "$odd_line")' is not a line of a plan"
	read_plan
}

last_run()
{
	plan_of "$1" 1
	mv "$work/plan" "$options_plan"
	find_runs
	run_dir=
	# The name of another recipe may begin with this one's.
	for try in "$runs/$recipe_name"-[0-9]*; do
		[ -f "$try/.collect/id" ] && [ ! -f "$try/.collect/$2" ] && [ ! -f "$try/.collect/done" ] &&
			grep -q -x -F "name $recipe_name" "$try/.collect/plan" 2>/dev/null && run_dir=$try
	done
	[ -n "$run_dir" ] || fail "$1: no run of it in ${runs#./} that is not $2 yet"
}

# The private directory of a node, while it may be there: sets node_dir.
id=
get_dir()
{
	node_dir=
	[ -n "$id" ] || return 1
	IFS= read -r node_dir 2>/dev/null <"$state/nodes/$1/dir" || :
	is_private_dir "$node_dir" && return
	node_dir=
	return 1
}

# is_private_dir PATH: .../clustertrace-UID/RUN of this run, without anything that leads elsewhere.
is_private_dir()
{
	dir_uid=${1%/"$id"}
	dir_uid=${dir_uid##*/clustertrace-}
	case $1 in
	*[!A-Za-z0-9_./:=@%+,-]* | */../* | */./* | *//*) return 1 ;;
	/*"clustertrace-$dir_uid/$id") ;;
	*) return 1 ;;
	esac
	case $dir_uid in
	'' | *[!0-9]*) return 1 ;;
	esac
}

# Forget a node's directory that no longer exists.
forget_dir()
{
	rm -f "$state/nodes/$1/dir"
}

# has_left: whether something of the run may be on a node.
has_left()
{
	for node in $nodes; do
		! get_dir "$node" || return 0
	done
	return 1
}

# Set the state of a node, in the words of run.json:
#   not started   nothing is there      not fetched, left   it has what it recorded
#   collecting                          ok                  all of it is here
#   not stopped   it did not answer     partial             some of it is here, and it has all
#                                       removed             it is there no more, nor here
set_state()
{
	printf '%s\n' "$2" >"$state/nodes/$1/state"
}

# Sets node_state. A collector that was killed may not have noted it.
get_state()
{
	node_state=
	IFS= read -r node_state 2>/dev/null <"$state/nodes/$1/state" || :
	case $node_state in
	'not started' | collecting | 'not stopped' | 'not fetched' | left | ok | partial | removed) ;;
	*)
		node_state='not started'
		! get_dir "$1" || node_state='not stopped'
		;;
	esac
}

# nodes_in STATE...: sets chosen, these nodes, and how many they are, chosen_count.
nodes_in()
{
	chosen=
	chosen_count=0
	for node in $nodes; do
		get_state "$node"
		for wanted_state; do
			[ "$node_state" = "$wanted_state" ] || continue
			chosen="$chosen $node"
			chosen_count=$((chosen_count + 1))
		done
	done
}

# on_nodes_in FUNCTION STATE...
on_nodes_in()
{
	in_function=$1
	shift
	nodes_in "$@"
	on_nodes "$in_function" $chosen
}

# A problem of a node: kept once, and told once by each command. Those that are there are read once
# a job: noted and told hold them, a line each, for the node known.
known=
node_problem()
{
	problem_node=$1
	shift
	if [ "$known" != "$problem_node" ]; then
		known=$problem_node
		noted=
		told=
		[ ! -s "$state/nodes/$known/problems" ] || noted=$(cat "$state/nodes/$known/problems")
		[ ! -s "$work/told.$known" ] || told=$(cat "$work/told.$known")
	fi
	case $NL$noted$NL in
	*"$NL$*$NL"*) ;;
	*)
		noted=$noted$NL$*
		printf '%s\n' "$*" >>"$state/nodes/$known/problems"
		;;
	esac
	case $NL$told$NL in
	*"$NL$*$NL"*) return ;;
	esac
	told=$told$NL$*
	printf '%s\n' "$*" >>"$work/told.$known"
	complain "$known: $*"
}

# run.json, from what stands in .collect/.

# node NAME ADDRESS USER PORT ROLE...: one of run.json.
node_json()
{
	node_name=$2
	get_state "$node_name"
	node_data=
	case $node_state in
	'not fetched' | left | partial) ! get_dir "$node_name" || node_data=$node_dir/data ;;
	esac
	# Straight to the output: a substitution costs a process.
	printf '%s\n  {"name": ' "$comma"
	json_strings "$2"
	printf ', "address": '
	json_strings "$3"
	comma=,
	shift 5
	printf ', "roles": ['
	json_strings "$@"
	printf '], "status": "%s"' "$node_state"
	[ -z "$node_data" ] || { printf ', "data": ' && json_strings "$node_data"; }
	printf ', "problems": ['
	[ ! -f "$state/nodes/$node_name/problems" ] ||
		LC_ALL=C awk -- "$escape_functions"'
		{ printf "%s\"%s\"", (NR > 1 ? ", " : ""), escaped($0, "\"\\") }' "$state/nodes/$node_name/problems"
	printf ']}'
}

# noted_time FILE: the nanoseconds that stand in it, or now.
noted_time()
{
	grep -x -m 1 '[1-9][0-9]*' "$1" 2>/dev/null || realtime_ns
}

# Strings in the state may come from elsewhere, so they are read as JSON first.
write_run_json()
{
	run_json=$run_dir/run.json.new.$$
	rm -f "$run_dir"/run.json.new*
	"$lib/objects" "$state/json" "$state/commands" >"$work/objects" || : >"$state/failed"
	{
		IFS= read -r point_json
		IFS= read -r recipe_json
		printf '%s,\n "collector_version": %s,\n' "$point_json" "$(json_strings "$version")"
		printf ' "begin_ns": %s, "end_ns": %s,\n' "$(noted_time "$state/begin")" \
			"$(noted_time "$state/end")"
		printf ' "interrupted": %s,\n' "$([ -f "$state/interrupted" ] && echo true || echo false)"
		comma=
		printf ' "nodes": ['
		each_line "$work/plan" node node_json
		printf '],\n "commands": ['
		# Each wrote its line to a file of its own, in the order of the recipe.
		cat
		printf '],\n "recipe": %s}\n' "$recipe_json"
	} <"$work/objects" >"$run_json" && mv -f "$run_json" "$run_dir/run.json" ||
		fail "$run_dir/run.json: cannot be written"
}
