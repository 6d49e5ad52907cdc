#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016,SC1010 # commands for nodes stay as they are
#
# The meaning of runs, statuses, options and variables, whatever their names and sizes are.
load common

setup_file()
{
	nodes_for_file alpha
}

quick()
{
	recipe "$1" alpha <<<'process: {interval_ms: 100, whitelist: true}'
}

@test 'a recipe means its own runs, not those of another whose name begins like it' {
	quick ping
	quick ping-3
	collect 0 --keep run ping-3.yaml
	rm runs/*/.collect/fetched
	for command in status stop fetch clean; do
		collect 1 "$command" ping.yaml
		said 'ping.yaml: no run of it in runs that is not \(fetched\|done\) yet'
	done
	collect 0 clean ping-3.yaml
	left_clean alpha
}

@test 'a timeout is one, and a status is the own of the command' {
	# COMMAND|TIMEOUT|STATUS
	cat >commands <<-'EOT'
		sleep 0.5; exit 7|1|7
		sleep 0.9; exit 7|2|7
		exit 124|5|124
		sleep 1000|0.5|"timeout"
		trap 'exit 0' TERM; sleep 1000 & wait|1|"timeout"
		sleep 0.2|5|0
	EOT
	{
		printf 'process: {interval_ms: 100, whitelist: true}\nexecute:\n'
		for where in 'roles: alpha' 'method: local'; do
			while IFS='|' read -r command limit _; do
				printf '    - {command: "%s", timeout: %s, %s}\n' "$command" "$limit" "$where"
			done <commands
		done
	} | recipe time alpha
	collect 3 run time.yaml
	sed -n 's/^  {"index".*, "status": \(.*\)}.*/\1/p' "$(the_run)/run.json" >statuses
	cut -d '|' -f 3 commands commands | diff - statuses
}

@test 'a long command, and many problems, make a run.json that is whole' {
	long=$(head -c 200000 /dev/zero | tr '\0' a)
	# No loops: bats looks at each command.
	odd=$(printf '\\"\\\\ é%.0s' {1..20000})
	recipe long alpha <<-EOT
		process: {interval_ms: 100, whitelist: true}
		execute:
		    - {command: ": '$long'; echo \${#0} ran", roles: alpha}
		    - {command: ": '$odd' \\nexit 3", roles: alpha}
		    - {command: ": '$long'; echo here", method: local}
		tasks: {command: ": '$long'; echo %(input)s", inputs: [1], roles: all}
	EOT
	collect 3 --keep run long.yaml
	run=$(the_run)
	for i in 1 2 3; do
		sqlite3 :memory: "SELECT length(json_extract(readfile('$run/run.json'), '\$.commands[$((i - 1))].command'))"
	done >lengths
	printf '%s\n' 200020 80012 200015 | diff - lengths
	holds "$run/alpha/commands/1.out" ran
	holds "$run/alpha/commands/task-1-1.out" 1
	holds "$run/commands/3.out" here
	holds "$run/run.json" '"index": 2, .*"status": 3}'
	# Problems, of 200 kB in all.
	printf 'a problem "%d" of a node that has so many of them, one a line\t\n' {0..2999} >"$run/.collect/nodes/alpha/problems"
	collect 0 clean "$run"
	sqlite3 :memory: "SELECT count(*) FROM json_each(readfile('$run/run.json'), '\$.nodes[0].problems')" >count
	[ "$(cat count)" = 3000 ]
}

@test 'what is in the environment is not what the programs have in mind' {
	recipe env alpha <<-'EOT'
		process: {interval_ms: 100, match: ['sleep*']}
		sensors: {one: {command: "echo a 1", interval: 0.1}}
		execute: [{command: "sleep 0.4; echo $HOME", roles: alpha, timeout: 9}, {command: "echo $PATH", method: local}]
		tasks: {command: "echo %(input)s", inputs: [1, 2], roles: all}
	EOT
	printf 'touch %s/pwned\n' "$PWD" >evil
	# Every name that the scripts give a value to, and those of options.
	scripts=("$CT_SOURCE"/collect-scripts/*.sh "$CT_SOURCE"/collect-scripts/node/*.sh
		"$CT_SOURCE"/collect-scripts/ct{collect,sample,wrap})
	{
		grep -h -o -E '\b[a-z][a-z_]*=' "${scripts[@]}" | tr -d =
		grep -h -o -E '\$\{?[a-z][a-z_]*' "${scripts[@]}" | tr -d '${'
		grep -h -o -E '^[a-zA-Z-] [a-z-]+ [A-Z-]+ ' "${scripts[@]}" | awk '{ sub(/-/, "_", $2); print "opt_" $2 }'
		printf '%s\n' looks_1 found_1 BASE RUN NODE WANTS HERE
	} | sort -u >names
	[ "$(wc -l <names)" -gt 300 ]
	poison=(env POSIXLY_CORRECT=1)
	while read -r name; do
		poison+=("$name=$PWD/evil")
	done <names
	"${poison[@]}" bash -c '. "$0/common.bash"; cd "$1"; scratch=$1 cluster=$2; collect 0 run env.yaml && collect 0 --keep run env.yaml &&
		collect 0 clean env.yaml && collect 0 check env.yaml && collect 0 plan env.yaml && collect 0 init && collect 0 validate env.yaml' \
		"$BATS_TEST_DIRNAME" "$scratch" "$cluster"
	[ ! -e pwned ]
	[ "$(find runs -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
	for run in runs/*; do
		holds "$run/alpha/proc.csv" ',sleep,'
		[ "$(wc -l <"$run/alpha/invocations.jsonl")" = 2 ]
	done
	"${poison[@]}" ctsample --all -n 2 >all.csv
	holds all.csv '^[0-9]\{19\},'
	"${poison[@]}" ctwrap --dir . true
	[ ! -e pwned ]
	left_clean alpha
}

@test 'an option that a command does not know is refused' {
	quick opts
	for words in '--with-report stop' '--with-merge stop' '--keep clean' '--duration 3 start' '--point 1 fetch' \
		'--script opts.yaml check'; do
		# shellcheck disable=SC2086 # words
		collect 2 $words opts.yaml
		said ' does not apply to '
	done
	status=0
	ctwrap --dir . --enqueue-ns 0123 true 2>err || status=$?
	[ "$status" -eq 2 ]
	holds err 'enqueue-ns 0123: '
}

@test 'a configuration of ssh with any name, and plan shows every option' {
	cat >>opts.yaml <<-'EOT'
		ssh_options: {Compression: "no", ServerAliveInterval: 7}
	EOT
	recipe conf alpha <<<"$(cat opts.yaml)
process: {interval_ms: 100, whitelist: true}"
	for name in 'a[b]' 'a\b' 'a"b' 'a*?' "it's" '-F x'; do
		cp -- "$cluster/ssh_config" "$name"
		ctcollect -F "$name" run conf.yaml </dev/null 3>&-
		rm -r runs
	done
	status=0
	ctcollect -F nosuch run conf.yaml 2>err || status=$?
	[ "$status" -eq 1 ]
	holds err 'nosuch: cannot be read'
	collect 0 plan conf.yaml
	for option in Compression=no ServerAliveInterval=7 BatchMode=yes ForwardAgent=no ClearAllForwardings=yes "of $cluster/ssh_config"; do
		holds "$scratch/out" "^  ssh options\? $option"
	done
}

@test 'nothing is forwarded, whatever the configuration says' {
	quick forward
	{ printf 'ForwardAgent yes\nForwardX11 yes\nRemoteForward %s/socket %s/other\nClearAllForwardings no\n' "$PWD" "$PWD" && cat "$cluster/ssh_config"; } >config
	printf 'execute: [{command: "echo ${SSH_AUTH_SOCK:-none} ${DISPLAY:-none}; ls %s/socket", roles: all}]\n' "$PWD" >>forward.yaml
	eval "$(ssh-agent)" >/dev/null
	DISPLAY=:7 ctcollect -F config run forward.yaml </dev/null 3>&- || [ $? -eq 3 ]
	kill "$SSH_AGENT_PID"
	holds "$(the_run)/alpha/commands/1.out" '^none none$'
	holds "$(the_run)/alpha/commands/1.err" 'socket'
}
