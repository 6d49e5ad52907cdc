#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016,SC2289,SC1010 # commands for nodes stay as they are
#
# Failures on nodes and on the way to them, one of each kind.
load common

setup_file()
{
	nodes_for_file alpha beta
}

# Is a process of this run's on the node recorded, and running?
private_directory()
{
	find "$cluster/$1/temp" -path '*/clustertrace-*/*/node.sh' 2>/dev/null | sed 's|/node.sh$||'
}

is_started()
{
	[ -n "$(find "$cluster/$1/temp" -path '*/clustertrace-*/*/started' 2>/dev/null)" ]
}

# ctcollect in the background; its pid is in $collecting.
collect_behind()
{
	# Background commands ignore interrupts by default.
	bash -c 'env --default-signal=INT "$@" & echo $! >pid; wait $!; echo $? >status' - \
		ctcollect -F "$cluster/ssh_config" "$@" >"$scratch/out" 2>"$scratch/err" \
		</dev/null 3>&- &
	wait_for 'the collector to start' [ -s pid ]
	collecting=$(cat pid)
}

ends_behind()
{
	wait_for 'the collector to end' [ -s status ] && [ "$(cat status)" -eq "$1" ] && return
	printf 'exit status %s, want %s; it said:\n' "$(cat status 2>/dev/null)" "$1"
	cat "$scratch/err"
	return 1
}

@test 'a node that is not there does not keep the others' {
	mkdir -p "$cluster/ghost"
	if [ "$namespaces" = yes ]; then
		echo "$network.200" >"$cluster/ghost/address"
		echo 22 >"$cluster/ghost/port"
	else
		echo 127.0.0.1 >"$cluster/ghost/address"
		free_port >"$cluster/ghost/port"
	fi
	recipe down alpha ghost beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "sleep 1.2; echo %(node)s", roles: all}
		    - {command: "sleep 1000 & sleep 1000", roles: alpha, timeout: 1}
	EOT
	rm -r "$cluster/ghost"
	collect 3 -t 2 run down.yaml
	said 'ghost: not started: no connection: .*[^?]$'
	run=$(the_run)
	holds "$run/run.json" '"name": "ghost", .*"status": "not started", "problems": \["not started: no'
	holds "$run/run.json" '"node": "ghost", .*"status": "not run"'
	holds "$run/run.json" '"index": 2, .*"status": "timeout"'
	for node in alpha beta; do
		holds "$run/$node/commands/1.out" "^$node\$"
		holds "$run/$node/sar.sadf" idle
		left_clean "$node"
	done
	[ ! -e "$run/ghost" ]
}

@test 'a host key that is not known is refused' {
	recipe key alpha beta <<<'sar: {interval: 1}'
	grep -v "^$(known_as beta) " "$cluster/known_hosts" >known
	sed "s|$cluster/known_hosts|$PWD/known|" "$cluster/ssh_config" >config
	status=0
	ctcollect -F config check key.yaml >out 2>err </dev/null || status=$?
	[ "$status" -eq 3 ]
	holds out '^beta: missing: a connection (no connection: Host key verification failed'
	lacks out '^alpha: missing: a connection'
}

known_as()
{
	local port
	port=$(cat "$cluster/$1/port")
	[ "$port" = 22 ] && sed 's/[.]/[.]/g' "$cluster/$1/address" && return
	printf '\\[%s\\]:%s\n' "$(cat "$cluster/$1/address")" "$port"
}

@test 'an interrupt stops the collection on the nodes and fetches what there is' {
	recipe broken alpha beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "echo begun; sleep 1000", roles: alpha}
		    - {command: "echo never", roles: alpha}
	EOT
	collect_behind run broken.yaml
	wait_for 'the command' [ -n "$(find_begun)" ]
	kill -INT "$collecting"
	ends_behind 130
	said 'interrupted: stopping'
	run=$(the_run)
	holds "$run/run.json" '"interrupted": true'
	holds "$run/run.json" '"command": "echo begun; sleep 1000", .*"status": "interrupted"'
	lacks "$run/run.json" '"command": "echo never"'
	holds "$run/alpha/commands/1.out" '^begun$'
	[ -s "$run/beta/sar.sa" ]
	left_clean alpha
	left_clean beta
}

find_begun()
{
	wait_for 'the begin' begun_is_there
	find "$cluster/alpha/temp" -name 1.out
}

begun_is_there()
{
	grep -q begun "$cluster"/alpha/temp/clustertrace-*/*/data/commands/1.out 2>/dev/null
}

@test 'a second start is refused, and the first goes on' {
	recipe once alpha beta <<<'sar: {interval: 1}'
	collect 0 start once.yaml
	first=$(cat "$scratch/out")
	collect 1 -o others run once.yaml
	said 'alpha: not started: already collecting here: run [0-9a-f]\{16\}; run `ctcollect stop`'
	said 'no node was started, nothing was recorded'
	[ ! -s "$scratch/out" ]
	collect 1 -o others start once.yaml
	[ ! -s "$scratch/out" ]
	[ -z "$(ls -A others)" ]
	collect 0 status once.yaml
	holds "$scratch/out" '^alpha *running *2 '
	collect 0 stop "$first"
	collect 0 fetch once.yaml
	[ -s "$first/alpha/sar.sa" ]
	[ -s "$first/beta/sar.sa" ]
	holds "$first/run.json" '"end_ns": [0-9]\{19\}'
	left_clean alpha
	left_clean beta
}

@test 'a collector that was killed leaves a run that can be stopped and fetched' {
	recipe killed alpha beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "echo begun; sleep 1000", roles: alpha}
	EOT
	# It cannot remove its temporary files: they are removed with the test's.
	TMPDIR=$scratch collect_behind run killed.yaml
	wait_for 'the command' begun_is_there
	kill -KILL "$collecting"
	collect 0 stop "$(the_run)"
	# The record that its command was stopped may exist by now.
	collect 0 fetch "$(the_run)" || [ -e "$(the_run)/.collect/failed" ]
	[ -s "$(the_run)/beta/sar.sa" ]
	left_clean alpha
	left_clean beta
}

@test 'a run whose directory was removed on the node ends by itself' {
	recipe gone alpha beta <<-EOT
		sar: {interval: 1}
		process: {interval_ms: 200}
		sensors: {one: {command: "echo a 1", interval: 1}}
		events: {userspace: ["*"]}
		$([ "$(id -u)" != 0 ] || echo 'capture: {interfaces: lo}')
	EOT
	collect 0 start gone.yaml
	on_node alpha 'lttng --no-sessiond list' >list
	holds list clustertrace-
	[ "$(running_for alpha)" -ge 4 ]
	rm -r "$(private_directory alpha)"
	wait_for 'the end of what ran' is_left_clean alpha
	! on_node alpha 'lttng --no-sessiond list' >list 2>&1 || lacks list clustertrace-
	[ "$(running_for beta)" -ge 4 ]
	collect 3 stop "$(the_run)"
	said 'alpha: not stopped: '
	collect 3 fetch "$(the_run)"
	left_clean beta
}

running_for()
{
	runs_on "$1" | grep -c -E '/(sadc|ctsample|node.sh) '
}

is_left_clean()
{
	left_clean "$1" >/dev/null
}

@test 'a fetch that breaks off goes on where it was' {
	recipe big alpha beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "head -c 20000000 /dev/zero | tr '\\\\0' x >\$CLUSTERTRACE_DIR/data/big; cksum <\$CLUSTERTRACE_DIR/data/big", roles: alpha}
	EOT
	collect 0 --keep run big.yaml
	run=$(the_run)
	# As if the connection had been lost in the middle of it.
	kept=$run/.collect/nodes/alpha
	mv "$run/alpha" "$kept/data"
	echo 'not fetched' >"$kept/state"
	truncate -s 10000000 "$kept/data/big"
	rm "$kept/data/sar.sa"
	inode=$(stat -c %i "$kept/data/big")
	collect 0 --keep fetch "$run"
	[ "$(stat -c %i "$run/alpha/big")" = "$inode" ]
	cksum <"$run/alpha/big" | diff - "$run/alpha/commands/1.out"
	[ -s "$run/alpha/sar.sa" ]
	# And a part that is not what is on the node is noticed.
	mv "$run/alpha" "$kept/data"
	echo 'not fetched' >"$kept/state"
	head -c 1000000 /dev/zero >"$kept/data/big"
	collect 0 fetch "$run"
	cksum <"$run/alpha/big" | diff - "$run/alpha/commands/1.out"
	left_clean alpha
	on_node beta "rm -r $(private_directory beta)" && on_node beta "rmdir $cluster/beta/temp/clustertrace-*"
}

@test 'a connection lost while fetching is made again' {
	recipe cut alpha <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "head -c 200000000 /dev/zero >\$CLUSTERTRACE_DIR/data/big; cksum <\$CLUSTERTRACE_DIR/data/big", roles: alpha}
	EOT
	collect_behind run cut.yaml
	# The sessions of the node are cut as soon as something of it is here.
	until compgen -G 'runs/*/.collect/nodes/alpha/data/big' >/dev/null || [ -s status ]; do
		:
	done
	cut_sessions alpha
	ends_behind 0
	run=$(the_run)
	cksum <"$run/alpha/big" | diff - "$run/alpha/commands/1.out"
	left_clean alpha
}

# Every session of a node's sshd; the sshd itself stays.
cut_sessions()
{
	local top
	top=$(cat "$cluster/$1/init" 2>/dev/null || cat "$cluster/$1/pid")
	# shellcheck disable=SC2046
	kill -KILL $(pgrep -P "$top" -f '^sshd') 2>/dev/null || :
}

@test 'a node that dies during the run does not keep the others' {
	recipe dies alpha beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "echo begun; sleep 1000", roles: alpha}
		    - {command: "sleep 1.2; echo %(node)s", roles: beta}
	EOT
	# Gone without a word: ssh asks each second whether it is still there.
	{ printf 'ServerAliveInterval 1\nServerAliveCountMax 3\n' && cat "$cluster/ssh_config"; } >config
	collect_behind -F config -t 2 run dies.yaml
	wait_for 'the command' begun_is_there
	node_down alpha
	ends_behind 3
	run=$(the_run)
	holds "$run/run.json" '"name": "alpha", .*"status": "not stopped"'
	holds "$run/run.json" '"node": "alpha", .*"status": "lost: '
	holds "$run/beta/commands/2.out" '^beta$'
	left_clean beta
	# Back again, it is asked again.
	node_up alpha
	collect 3 fetch "$run"
	holds "$run/run.json" '"name": "alpha", .*"status": "ok"'
	[ -s "$run/alpha/sar.sa" ]
	[ "$namespaces" = no ] || holds "$run/run.json" 'the node was restarted during the run'
	left_clean alpha
}

@test 'a full disk ends the collection of that node in time' {
	need_namespaces
	node_up small '' 8192
	# A twentieth of it stays free, 409 KiB: with 400 left it is full at once.
	recipe full small beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "set -- \$(df -P -k \$TMPDIR | tail -n 1); head -c \$(((\$4 - 400) * 1024)) /dev/zero >\$TMPDIR/fill; while [ ! -e \$CLUSTERTRACE_DIR/stopped ]; do sleep 0.2; done; rm \$TMPDIR/fill", roles: small, timeout: 100}
		    - {command: "echo on", roles: beta}
	EOT
	collect 3 run full.yaml
	said 'small: disk full: [0-9]* KiB left at .*, stopped early'
	run=$(the_run)
	[ -s "$run/small/sar.sa" ]
	holds "$run/small/sar.sadf" idle
	holds "$run/beta/commands/2.out" '^on$'
	on_node small "rm -f $cluster/small/temp/fill"
	# And a disk that is full already is not begun with.
	on_node small "head -c 8000000 /dev/zero >$cluster/small/temp/fill; true" 2>/dev/null
	collect 1 -o others run full.yaml || collect 3 -o others2 run full.yaml
	said 'small: not started: '
	node_down small
}
