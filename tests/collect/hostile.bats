#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # commands for nodes stay as they are
#
# Nodes that lie, and run directories from somebody else: what they cannot do to
# the machine that collects.
load common

shells=(dash 'bash --posix' 'busybox sh')

setup_file()
{
	cluster_begin
	export cluster namespaces bridge network
	mkdir -p "$cluster/liar"
	cat >"$cluster/liar/answer" <<-'EOT'
		here=${0%/*}
		cmd=$SSH_ORIGINAL_COMMAND
		frame=$(printf '%s\n' "$cmd" | grep -o 'frame[.][A-Za-z0-9]*')
		framed()
		{
			printf '\n%s\n' "$frame"
			cat
			printf '%s end\n' "$frame"
		}
		[ ! -f "$here/lie" ] || . "$here/lie"
		exec /bin/sh -c "$cmd"
	EOT
	node_up liar
}

setup()
{
	set +T # as in tests/golden/common.bash
	scratch=$(mktemp -d)
	cd "$scratch" || return
	rm -rf "$cluster/liar/lie" "$cluster"/liar/temp/*
}

# Set the script that answers for the node from now on; $cmd is the command it gets.
lies()
{
	cat >"$cluster/liar/lie"
}

# collect, by this shell: in_shell SHELL WANTED_STATUS ARGUMENT...
in_shell()
{
	local shell=$1 wanted=$2 status=0
	shift 2
	# shellcheck disable=SC2086 # words
	$shell "$(command -v ctcollect)" -F "$cluster/ssh_config" "$@" >"$scratch/out" 2>"$scratch/err" \
		</dev/null 3>&- || status=$?
	[ "$status" -eq "$wanted" ] && return
	printf '%s ctcollect %s: exit status %d, want %d; it said:\n' "$shell" "$*" "$status" "$wanted"
	cat "$scratch/out" "$scratch/err"
	return 1
}

# No control characters but the ends of lines in what people read.
is_plain()
{
	! LC_ALL=C grep -n -a -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@"
}

# Starting and stopping record nothing that takes its time.
quick_recipe()
{
	recipe lie liar <<<'process: {interval_ms: 1000, whitelist: true}'
}

@test 'problems are kept and told once, and what is a pattern in them is not one' {
	quick_recipe
	collect 0 start lie.yaml
	lies <<-'EOT'
		case $cmd in
		*" status")
			printf 'problem %s\n' 'file ab' 'file a*b' 'file a*b' 'ile a*b' '[f]ile ab' 'state x' | framed
			exit ;;
		esac
	EOT
	for shell in "${shells[@]}"; do
		in_shell "$shell" 0 status lie.yaml
		printf 'ctcollect: liar: %s\n' 'file ab' 'file a*b' 'ile a*b' '[f]ile ab' 'state x' | diff - "$scratch/err"
	done
	printf '%s\n' 'file ab' 'file a*b' 'ile a*b' '[f]ile ab' 'state x' |
		diff - "$(the_run)/.collect/nodes/liar/problems"
	rm "$cluster/liar/lie"
	collect 3 stop lie.yaml
}

@test 'what is fetched are plain files of ours, whatever the node makes of them' {
	quick_recipe
	umask 000
	in_shell "busybox sh" 0 start lie.yaml
	data=$(echo "$cluster"/liar/temp/clustertrace-*/*/data)
	mkdir -m 777 "$data/open"
	printf '#!/bin/sh\nid\n' >"$data/open/su"
	chmod 6777 "$data/open/su"
	ln -s /etc/passwd "$data/link"
	mkfifo "$data/fifo"
	# The node lists forbidden names, and sends more than it was asked for.
	lies <<-'EOT'
		case $cmd in
		*" list")
			/bin/sh -c "$cmd" | grep -v -x "$frame end"
			crc=$(printf x | cksum)
			for odd in ./../escaped ./open/../../../escaped /escaped ./a/./b ./a//b ./dir/ "./$(printf 'e\033[31m')"; do
				printf '%s %s\n' "$crc" "$odd"
			done
			echo "$frame end"
			exit ;;
		*" send")
			/bin/sh -c "$cmd"
			head -c 100000 /dev/zero
			exit ;;
		esac
	EOT
	in_shell "busybox sh" 0 stop "$(the_run)"
	in_shell "busybox sh" 3 fetch "$(the_run)"
	run=$(the_run)
	said 'liar: 7 files with odd names were not fetched'
	printf '#!/bin/sh\nid\n' | diff - "$run/liar/open/su"
	[ -z "$(find "$run/liar" ! -type f ! -type d)" ]
	[ -z "$(find "$run/liar" -type f ! -perm 600)" ]
	[ -z "$(find "$run/liar" -type d ! -perm 700)" ]
	[ -z "$(find "$run" -perm /022)" ]
	[ -z "$(find "$run" ! -user "$(id -u)")" ]
	[ -z "$(find . "$cluster" -name escaped)" ]
}

@test 'more than there is room for is not fetched' {
	quick_recipe
	collect 0 start lie.yaml
	lies <<<'case $cmd in *" list") echo 1 100000000000000 ./huge | framed; exit ;; esac'
	collect 0 stop lie.yaml
	collect 1 fetch lie.yaml
	said 'liar: not fetched: needs 97656250000 KiB, but only [0-9]* KiB are free here'
}

@test 'no answer of a node is run, or shown as it is' {
	quick_recipe
	lies <<-'EOT'
		case $cmd in
		*" check "*)
			cat >/dev/null
			{
			printf 'cell \033]0;PWNED\007root\ncell s\302\2331mh\ncell root\ncell 2\033]0;title\007\n'
			printf 'cell a[$(touch %s/pwned)]\nodd b[$(touch %s/pwned)] x\n' "$here" "$here"
			printf 'missing write access to \033[2J%%s%%n; fix: \033[1m\nremark \033[2Jzz\n'
			printf 'probe \033[2J a 200 1.5\nprobe a b $(touch %s/pwned) 1\n' "$here"
			} | framed
			exit ;;
		"date +%s%N") echo "c[\$(touch $here/pwned)]"; exit ;;
		esac
	EOT
	for shell in "${shells[@]}"; do
		in_shell "$shell" 3 check lie.yaml
		is_plain "$scratch/out" "$scratch/err"
		holds "$scratch/out" '^liar: missing: write access to \\u001b\[2J%s%n'
		holds "$scratch/out" '^liar *\\u001b\]0;PWNED\\u0007root '
		holds "$scratch/out" '^liar *\\u001b\[2J *a *1.5 *+-770$'
		# The node sent no time, so its clock is unknown.
		lacks "$scratch/out" 'its clock is'
		[ ! -e "$cluster/liar/pwned" ]
	done
	lies <<<'case $cmd in *"-s "*) cat >/dev/null; printf "done \033[2J\n" | framed; exit ;; esac'
	collect 0 sessiond status lie.yaml
	holds "$scratch/out" '^liar: \\u001b\[2J$'
	printf '%s\n' 'printf "a\033[2Jb\n"' >script
	rm "$cluster/liar/lie"
	collect 0 --script script install lie.yaml
	holds "$scratch/out" '^liar: a\\u001b\[2Jb$'
}

@test 'a status that is none does not spoil run.json' {
	recipe lie liar <<-'EOT'
		process: {interval_ms: 1000, whitelist: true}
		execute:
		    - {command: "true", roles: all}
		tasks: {command: "true", roles: all, inputs: [1]}
	EOT
	lies <<-'EOT'
		case $cmd in
		*" exec "* | *" task "*) cat >/dev/null; printf 'status 007\nstate done\nsaid \302\2331mhi\n' | framed; exit ;;
		*" start "*) /bin/sh -c "$cmd" | grep -v -x "$frame end"; printf 'problem \033[31m%s\n' 1 2; echo "$frame end"; exit ;;
		esac
	EOT
	in_shell 'bash --posix' 3 run lie.yaml
	said 'liar: it answers nonsense about its status'
	said 'liar: \\u001b\[31m1$'
	is_plain "$scratch/err"
	run=$(the_run)
	sqlite3 :memory: "SELECT json_extract(readfile('$run/run.json'), '\$.commands[0].status')" >status
	holds status '^lost: '
}

@test 'a node that never stops talking fills nothing' {
	quick_recipe
	export TMPDIR=$scratch/temp
	mkdir temp
	for what in ' start' ' list'; do
		lies <<-EOT
			case \$cmd in
			*"$what"*) [ "$what" = ' list' ] || yes >&2; yes 'problem of mine'; exit ;;
			esac
		EOT
		rm -rf runs
		collect 1 -t 1 run lie.yaml &
		while kill -0 $! 2>/dev/null; do
			[ "$(du -s -k temp runs 2>/dev/null | awk '{ sum += $1 } END { print sum }')" -lt 80000 ]
			sleep 0.1
		done
		wait $!
		said 'liar: not \(started: no connection\|fetched: it answers with more than [0-9]* bytes\)'
		[ "$(du -s -k runs | cut -f 1)" -lt 1000 ]
	done
}

# foreign: a run directory as somebody else might send it.
foreign()
{
	rm -rf ev
	mkdir -p ev/.collect/nodes/a
	echo 0123456789abcdef >ev/.collect/id
	cat >ev/.collect/plan <<-'EOT'
		name '$(touch pwned)'
		point 1 1 '' 'x=$(touch pwned)'
		tmpdir '$(touch pwned)'
		ssh_gateway ''
		node a 127.0.0.1 '' 1 all '$(touch pwned)'
	EOT
	printf '{"name":"$(touch pwned)","parameters":{"x":"\033]0;"},"nodes":[{"name":"a"}],"recipe":{"name":"x"}}\n' >ev/.collect/json
}

@test 'a run directory from somebody else is data' {
	for shell in "${shells[@]}"; do
		foreign
		in_shell "$shell" 0 -t 1 status ev
		holds "$scratch/out" '^a *not started'
		in_shell "$shell" 1 -t 1 fetch ev
		[ ! -e pwned ]
	done
	holds ev/run.json '"name":"$(touch pwned)"'
	is_plain ev/run.json
	# Answers that are not JSON, or several values, do not get into run.json.
	mkdir -p ev/.collect/commands
	printf '{"name":"x","nodes":[],"recipe":1,"begin_ns":5,"end_ns":6}\n' >ev/.collect/json
	printf '{"index": 1, "said": "a\302\233b"}\n' >ev/.collect/commands/1
	printf '{"index": 2}], "commands": [{"index": 3}\n' >ev/.collect/commands/2
	printf '{"index": 4\n' >ev/.collect/commands/3
	printf '{"index": 5}\n' >ev/.collect/commands/4
	collect 1 -t 1 fetch ev
	said 'ev/.collect/commands/2: invalid JSON'
	said 'ev/.collect/commands/3: invalid JSON'
	is_plain ev/run.json
	sqlite3 :memory: "SELECT group_concat(json_extract(value, '\$.index')) FROM json_each(readfile('ev/run.json'), '\$.commands')" >indexes
	echo 1,5 | diff - indexes
	[ "$(grep -o begin_ns ev/run.json | wc -l)" = 1 ]
	# Only the recipe sets options of ssh.
	echo 'ssh_option '\''ProxyCommand=touch pwned'\' >>ev/.collect/plan
	echo /var/clustertrace-1/0123456789abcdef >ev/.collect/nodes/a/dir
	collect 0 -t 1 status ev
	said 'option ProxyCommand of ssh is not taken from a run'
	holds "$scratch/out" '^a *unreachable'
	[ ! -e pwned ]
	# A directory on the node is one of ours.
	for dir in '/var;touch pwned/clustertrace-1/0123456789abcdef' /var/x /var/../clustertrace-1/0123456789abcdef \
		/var/clustertrace-1/x/0123456789abcdef /var/clustertrace-/0123456789abcdef //clustertrace-1/0123456789abcdef; do
		foreign
		printf '%s\n' "$dir" >ev/.collect/nodes/a/dir
		collect 0 -t 1 status ev
		holds "$scratch/out" '^a *not started'
	done
	for bad in 'node b' "node ../../up x '' ''" "node * x '' ''" "node b -oProxyCommand=x '' ''" \
		"node b x/y '' ''" "node b x -oA ''" "node b x '' 1;2" 'ssh_gateway -oA' "ssh_gateway 'a b'" \
		'tmpdir $(touch pwned)' 'tmpdir "$(touch pwned)"' "node b x '' '" "name 'a'\"\$(touch pwned)\"" "name \\"; do
		foreign
		printf '%s\n' "$bad" >>ev/.collect/plan
		collect 1 status ev
		said "^ctcollect: ./ev/.collect/plan: '.*' is not "
		[ ! -e pwned ]
	done
	foreign
	echo 'x; y' >ev/.collect/id
	collect 1 status ev
	said 'ev/.collect/id: expected 16 hexadecimal digits'
	foreign
	: >mine
	ln -s "$PWD/mine" ev/.collect/nodes/a/problems
	collect 1 status ev
	said 'nodes/a/problems: neither a file nor a directory'
	rm ev/.collect/nodes/a/problems
	ln -s "$PWD/mine" ev/run.json.new
	collect 1 fetch ev
	[ ! -s mine ]
}

@test 'a recipe from somebody else moves no cursor' {
	cat >r.yaml <<-'EOT'
		name: x
		hosts: [a]
		sar: true
		execute: [{command: "echo \e[2J\u009b1m \u00e9 \u2066\u200e\u061c\ufeff\U000e0041\u3164\ufe0f\U000e0100\U0001d173"}]
	EOT
	collect 0 plan r.yaml
	is_plain "$scratch/out"
	holds "$scratch/out" 'echo \\u001b\[2J\\u009b1m é \\u2066\\u200e\\u061c\\ufeff\\udb40\\udc41\\u3164\\ufe0f\\udb40\\udd00\\ud834\\udd73$'
}

@test 'what is in a run directory already stays, and so does what is fetched' {
	quick_recipe
	collect 0 start lie.yaml
	run=$(the_run)
	mkdir "$run/liar"
	collect 0 stop "$run"
	collect 1 fetch "$run"
	said 'liar: not fetched: .*/liar exists already'
	[ -z "$(ls -A "$run/liar")" ]
	rmdir "$run/liar"
	collect 3 fetch "$run"
	[ -s "$run/liar/node.json" ]
	left_clean liar
}

@test 'one odd entry of a list costs that entry' {
	quick_recipe
	long=$(printf '%0300d' 0)
	deep=$(printf '%0.sd/' {1..60})
	collect 0 start lie.yaml
	data=$(echo "$cluster"/liar/temp/clustertrace-*/*/data)
	mkdir "$data/both"
	echo in >"$data/both/in"
	lies <<-EOT
		case \$cmd in
		*" list")
			/bin/sh -c "\$cmd" | grep -v -x "\$frame end"
			echo 1 08 ./octal
			echo 1 1 ./$long
			echo 1 1 ./$deep/x
			echo 1 1 ./both
			echo 1 1 ./clock.csv/in
			echo 1 5 ./absent
			echo "\$frame end"
			exit ;;
		esac
	EOT
	collect 0 stop lie.yaml
	collect 3 fetch lie.yaml
	run=$(the_run)
	said 'liar: 5 files with odd names were not fetched'
	said 'liar: 1 files arrived damaged 5 times, .*: ./absent'
	holds "$run/run.json" '"status": "partial"'
	holds "$run/liar/both/in" in
	[ -s "$run/liar/node.json" ]
	[ ! -e "$run/liar/absent" ]
	rm "$cluster/liar/lie"
	collect 3 fetch lie.yaml
	holds "$run/run.json" '"status": "ok"'
	left_clean liar
}

@test 'what a list costs is counted before anything is made' {
	quick_recipe
	collect 0 start lie.yaml
	collect 0 stop lie.yaml
	lies <<-'EOT'
		case $cmd in
		*" list")
			{
				/bin/sh -c "$cmd" | grep -v -x -e "$frame end" -e "$frame"
				awk 'BEGIN { for (i = 0; i < 50; i++) { p = "." ; for (j = 0; j < 490; j++) p = p "/" i; print 1, 0, p }
					for (i = 0; i < 30000; i++) print "4294967295", 0, "./" i "/x" }'
			} | framed
			exit ;;
		esac
	EOT
	collect 3 fetch lie.yaml
	run=$(the_run)
	[ "$(find "$run/liar" | wc -l)" -lt 20100 ]
	[ "$(find "$run/liar" -type d | wc -l)" -le 10003 ]
	said 'liar: 200[0-9][0-9] files with odd names were not fetched'
	[ -s "$run/liar/node.json" ]
	rm "$cluster/liar/lie"
	collect 0 clean lie.yaml
}

@test 'fetching from a node that sends slowly, or nothing, stops at Ctrl-C' {
	quick_recipe
	collect 0 start lie.yaml
	collect 0 stop lie.yaml
	for slow in 'sleep 1000' 'printf "\n%s\n" "$frame"; sleep 1000' 'printf "\n%s\n" "$frame"; while sleep 0.1; do printf x; done'; do
		lies <<<"case \$cmd in *' send') $slow; exit ;; esac"
		bash -c 'env --default-signal=INT "$@" & echo $! >pid; wait $!; echo $? >status' - \
			ctcollect -F "$cluster/ssh_config" fetch lie.yaml >out 2>err </dev/null 3>&- &
		wait_for 'the list' compgen -G 'runs/*/.collect/nodes/liar/data' >/dev/null
		sleep 2
		kill -INT "$(cat pid)"
		wait_for 'the end' [ -s status ]
		[ "$(cat status)" = 130 ]
		holds err 'liar: not fetched: interrupted'
		rm -f pid status
	done
	rm "$cluster/liar/lie"
	collect 3 fetch lie.yaml
	[ -s "$(the_run)/liar/node.json" ]
	left_clean liar
}
