#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016,SC2289,SC1010 # commands for nodes stay as they are
#
# ctcollect run on real nodes, and what the other programs make of it.
load common

setup_file()
{
	nodes_for_file alpha beta:/usr/bin/busybox gamma:/bin/bash
}

# Bytes in both directions: beta's and gamma's sshd greet, and are greeted.
talk_to()
{
	printf 'for i in 1 2 3 4 5 6 7 8; do bash -c '\''exec 3<>/dev/tcp/%s/%s && read -r line <&3 && echo x >&3'\''; sleep 0.05; done' \
		"$(cat "$cluster/$1/address")" "$(cat "$cluster/$1/port")"
}

@test 'a whole run: two points, three roles, everything recorded' {
	interface=lo
	[ "$namespaces" = no ] || interface=eth0
	capture="capture: {interfaces: [$interface], filter: tcp}"
	[ "$(id -u)" = 0 ] || capture=
	recipe whole alpha beta gamma <<-EOT
		    client: alpha
		    server: [beta]
		    worker: [gamma, beta]
		events: {userspace: ["*"]}
		sar: {interval: 1}
		$capture
		process: {interval_ms: 100, whitelist: true}
		sensors:
		    load: {command: "echo one \$(cut -d ' ' -f 1 /proc/loadavg)", interval: 1}
		parameters: {size: [10, 20]}
		execute:
		    - {command: "ctwrap --name 'the peer' -- sleep 1000", roles: server, method: background}
		    - {command: "$(talk_to beta | sed 's/"/\\"/g'); $(talk_to gamma | sed 's/"/\\"/g')", roles: client}
		    - {command: "$CT_BUILD/tests/collect/collect-traced; echo %(size)s >&2", roles: [client, worker]}
		    - {command: "echo %(size)s %(run)s; pwd", method: local}
		tasks:
		    name: sums
		    command: "sleep 0.3; echo %(input)s"
		    inputs: ["a b", "it's", "\$(nosuch)", "x\ny"]
		    roles: worker
		    interval: 0.05
	EOT
	collect 0 run whole.yaml
	[ "$(wc -l <"$scratch/out")" -eq 2 ]
	for size in 10 20; do
		run=$(echo runs/whole-*-size=$size)
		holds "$run/run.json" '"status": "ok", "problems": \[\]'
		holds "$run/run.json" "\"parameters\":{\"size\":$size}"
		holds "$run/commands/4.out" "^$size whole-"
		for node in alpha beta gamma; do
			holds "$run/$node/node.json" "\"kernel\": \"$(uname -r)\""
			holds "$run/$node/node.json" "\"cpus\": $(getconf _NPROCESSORS_ONLN), "
			holds "$run/$node/node.json" "\"mem_kib\": $(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo), "
			holds "$run/$node/node.json" "\"sysstat\": \"$(sar -V | sed -n 's/^sysstat version //p')\""
			holds "$run/$node/node.json" '{"name": "eth0", .*"addresses": \["'
			holds "$run/$node/clock.csv" '^[0-9]\{19\},[0-9]*,[0-9]*$'
			[ "$(wc -l <"$run/$node/clock.csv")" -ge 3 ]
			holds "$run/$node/sensors.csv" '^[0-9]\{19\},load,one,[0-9.]*$'
			holds "$run/$node/log/ctsample.log" 'samples, [0-9.]* % of a processor$'
			holds "$run/$node/sar.sadf" '%usr'
			holds "$run/$node/commands/3.out" done
			holds "$run/$node/commands/3.err" "^$size\$"
			[ -s "$(find "$run/$node/ust" -name metadata)" ]
		done
		cat "$run"/*/commands/task-*.out | sort >tasks
		printf '%s\n' '$(nosuch)' 'a b' "it's" x y | sort | diff - tasks
		check_timeline "$run" "$size"
	done
	for node in alpha beta gamma; do
		left_clean "$node"
	done
}

check_timeline()
{
	# Without kernel traces, user space traces have a clock that nothing ties to captures.
	ctmerge -q -o "$2.db" "$1" 2>merge.err || [ $? -eq 3 ]
	ask()
	{
		sqlite3 -readonly "$1.db" "$2"
	}
	[ "$(ask "$2" 'SELECT count(*) FROM node')" -eq 3 ]
	[ "$(ask "$2" "SELECT count(*) FROM problem WHERE kind NOT IN ('clock', 'identity')")" -eq 0 ] || {
		ask "$2" 'SELECT * FROM problem'
		return 1
	}
	[ "$(ask "$2" 'SELECT count(*) FROM "lttng_ust_tracef:event"')" -eq 600 ]
	# Tasks: each once, by ctwrap, enqueued one after the other.
	[ "$(ask "$2" "SELECT count(*) FROM invocation WHERE name = 'sums' AND status = 0")" -eq 4 ]
	[ "$(ask "$2" "SELECT count(*) FROM invocation WHERE name = 'sums' AND enqueue_ns > begin_ns")" -eq 0 ]
	[ "$(ask "$2" "SELECT count(DISTINCT enqueue_ns) FROM invocation WHERE name = 'sums'")" -eq 4 ]
	[ "$(ask "$2" "SELECT count(DISTINCT node) FROM invocation WHERE name = 'sums'")" -eq 2 ]
	# The sampler followed them.
	[ "$(ask "$2" "SELECT count(*) FROM sample JOIN metric ON metric.id = metric WHERE activity LIKE 'proc%'")" -gt 0 ]
	if [ "$namespaces" = yes ]; then
		# One clock: ctsync must find them to agree, whatever it says of bounds.
		ctsync --json "$1" >clocks.json 2>/dev/null || [ $? -eq 3 ]
		holds clocks.json '"quality": "accurate"'
		[ "$(ask "$2" 'SELECT count(*) FROM message')" -gt 16 ]
	fi
}

@test 'a recipe that leaves its data on the nodes ends in ctbatch' {
	[ "$namespaces" = yes ] || skip 'no networks of their own'
	[ "$(id -u)" = 0 ] || skip 'no right to capture'
	recipe batch alpha beta <<-EOT
		    client: alpha
		fetch: none
		sar: {interval: 1}
		capture: {interfaces: [eth0], filter: tcp}
		execute:
		    - {command: "$(talk_to beta | sed 's/"/\\"/g'); sleep 1", roles: client}
	EOT
	collect 0 run batch.yaml
	# Type the command that its last message names.
	sed -n 's/^.*`ctbatch -o OUT \(.*\)` works on it.*$/ctbatch -o tables \1/p' "$scratch/err" >typed
	status=0
	PATH=$CT_BUILD/bin:$PATH sh typed 2>said || status=$?
	[ "$status" -eq 0 ] || { cat typed said; return 1; }
	for table in node message sample; do
		find tables -path "*$table*" -name '*.parquet' -size +0 | grep -q . || { echo "no $table"; find tables; return 1; }
	done
	collect 0 clean batch.yaml
}
