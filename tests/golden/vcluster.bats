#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The programs of the virtual cluster's machines, on this one.
load common

# serve VERB: a server on a free port, which $port then holds.
serve()
{
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		port=$((20000 + RANDOM % 12000))
		vctraffic "$1" "$port" >"$scratch/served" 2>&1 3>&- &
		server=$!
		# It listens, or it ends because another program listens.
		while kill -0 "$server" 2>/dev/null; do
			! listens "$port" || return 0
			sleep 0.02
		done
	done
	echo "no free port"
	return 1
}

# Return true if our server listens on the port, by its sockets in /proc. 0A is a
# listener of TCP, 07 an open socket of UDP.
listens()
{
	local entry want
	want=$(printf ':%04X' "$1")
	entry=$(awk -v want="$want\$" '$2 ~ want && $4 ~ /0A|07/ { print $10 }' \
		/proc/net/tcp /proc/net/udp)
	[ -n "$entry" ] &&
		find "/proc/$server/fd" -lname "socket:\[$entry\]" 2>/dev/null | grep -q .
}

stop_server()
{
	kill "$server"
	wait "$server" || :
}

@test "messages come back" {
	serve echo
	ends_with 0 vctraffic ping 0.3 1000 200 "$port" 127.0.0.1 127.0.0.1
	stop_server
	grep -E '^[1-9][0-9]* rounds, least [0-9.]+ us, mean [0-9.]+ us$' "$scratch/stdout"
}

@test "a message as large as may be comes back" {
	serve echo
	ends_with 0 vctraffic ping 0.1 0 65536 "$port" 127.0.0.1
	stop_server
	grep -E '^[1-9][0-9]* rounds' "$scratch/stdout"
}

@test "bulk data is received before its end is told" {
	serve sink
	ends_with 0 vctraffic send 127.0.0.1 "$port" 3000001
	stop_server
	grep -E '^3000001 bytes in [0-9.]+ s$' "$scratch/stdout"
}

@test "datagrams come back" {
	serve echo-udp
	ends_with 0 vctraffic ping-udp 0.3 1000 200 "$port" 127.0.0.1 127.0.0.1
	stop_server
	grep -E '^[1-9][0-9]* rounds, 0 lost, least [0-9.]+ us, mean [0-9.]+ us$' "$scratch/stdout"
	# Nobody is there now: that is a loss, and no failure.
	ends_with 0 vctraffic ping-udp 0.2 50000 200 "$port" 127.0.0.1
	grep -E '^0 rounds, [1-9][0-9]* lost, ' "$scratch/stdout"
}

@test "a server that goes away fails the ping" {
	serve echo
	vctraffic ping 60 1000 200 "$port" 127.0.0.1 >"$scratch/pinged" 2>&1 3>&- &
	pinger=$!
	until pkill -P "$server" 2>/dev/null; do # the connection's own process
		sleep 0.02
	done
	status=0
	wait "$pinger" || status=$?
	stop_server
	[ "$status" -eq 1 ]
	grep -F 'vctraffic: 127.0.0.1: ' "$scratch/pinged"
}

@test "traffic that cannot be" {
	fails_with 2 'vctraffic: 70000: expected a number from 1 to 65535' vctraffic echo 70000
	fails_with 2 'vctraffic: 1x: expected a number from 0 to 1000000' \
		vctraffic ping 1x 0 1 1 127.0.0.1
	fails_with 2 'vctraffic: 65001: expected a number from 1 to 65000' \
		vctraffic ping-udp 1 0 65001 1 127.0.0.1
	fails_with 1 'vctraffic: nowhere: expected a dotted address' vctraffic send nowhere 1 1
	ends_with 2 vctraffic
	ends_with 2 vctraffic ping 1 1 1 1
	grep -F 'usage: vctraffic echo PORT' "$scratch/stderr"
}

@test "an agent that cannot be" {
	fails_with 2 'vcguest: 501: expected a number from -500 to 500' vcguest rate 501
	fails_with 2 'vcguest: one: expected a number from 0 to 65535' \
		vcguest agent port memory one
	fails_with 1 'vcguest: memory: No such file or directory' vcguest agent port memory 0
	ends_with 2 vcguest
}

@test "vctruth: what it is given" {
	head -c 4096 /dev/zero >memory
	fails_with 2 'vctruth: expected -m FILE -o FILE NODE=SOCKET...' vctruth -m memory -o truth.csv
	fails_with 1 'vctruth: memory: too small (expected 8192 bytes, a page per machine)' \
		vctruth -m memory -o truth.csv a=x b=y
	fails_with 1 'vctruth: a: expected NODE=SOCKET' vctruth -m memory -o truth.csv a
	fails_with 1 'vctruth: a"b: names must not contain commas or quotes' \
		vctruth -m memory -o truth.csv 'a"b=x'
	fails_with 1 'vctruth: x: No such file or directory' vctruth -m memory -o truth.csv a=x
	[ "$(echo *)" = 'datasets fixtures memory' ]
}

@test "vctruth: the rate of the counter" {
	[ "$(uname -m)" = x86_64 ] || skip "no time stamp counter"
	ends_with 0 vctruth --tick-rate
	grep -E -x '[1-9][0-9]{5,7}' "$scratch/stdout"
}

@test "the scripts say how they are called" {
	for script in build record; do
		ends_with 0 "$CT_SOURCE/tests/vcluster/$script" --help
		grep -F "Usage: $script" "$scratch/stdout"
		fails_with 2 "$script: --no-such: unknown option"$'\n'"Try \"$script --help\"" \
			"$CT_SOURCE/tests/vcluster/$script" --no-such
	done
}

@test "record refuses what it cannot do" {
	fails_with 2 $'record: expected -o RUN\nTry "record --help"' "$CT_SOURCE/tests/vcluster/record"
	fails_with 2 $'record: --nodes 1: expected a number from 2 to 200\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" -n 1 -o new
	fails_with 2 $'record: --seconds 08: expected a number from 1 to 86400\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" -s 08 -o new
	fails_with 2 $'record: --rates 1,x: expected numbers with commas\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" --rates 1,x -o new
	fails_with 2 $'record: --events a b: expected names with commas\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" -e 'a b' -o new
	fails_with 2 $'record: --netem ;: expected a rule as tc-netem(8) has it\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" --netem ';' -o new
	fails_with 2 $'record: --processors 0: expected a number from 1 to 64\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" --processors 0 -o new
	fails_with 2 $'record: --network lan: expected one of plain, routed, node-container, nat, vxlan, macvlan, vlan, wireguard, bond\nTry "record --help"' \
		"$CT_SOURCE/tests/vcluster/record" --network lan -o new
	fails_with 2 $'build: --suite sid: expected bookworm or trixie\nTry "build --help"' \
		"$CT_SOURCE/tests/vcluster/build" -s sid
	fails_with 1 'record: datasets exists; give a new name' \
		"$CT_SOURCE/tests/vcluster/record" -o datasets
	mkdir empty
	fails_with 1 'record: empty has no image, run build first' \
		"$CT_SOURCE/tests/vcluster/record" -d empty -o new
	[ "$(echo *)" = 'datasets empty fixtures' ]
}

# The recipe as record makes it, of options as record has them.
recipe()
{
	sh -u -c 'here=$1; shift
		. "$here/recipe.sh"
		directory=/none port=22700 seconds=30 interval=20 size=200 bulk=4 sar=1
		nodes=3 events=network,sched tracer=lttng slew= capture=on network=plain
		for option; do
			eval "$option"
		done
		write_recipe' sh "$CT_SOURCE/tests/vcluster" "$@"
}

@test "what record tells the collector is a recipe" {
	recipe >small.yaml
	ends_with 0 ctrecipe validate small.yaml
	recipe tracer=both events=network,syscalls >both.yaml
	ends_with 0 ctrecipe plan both.yaml
	grep -x 'tracer both' "$scratch/stdout"
	grep -F -x "event syscall '*' required" "$scratch/stdout"
	recipe nodes=200 "events='net_*,full'" capture=off seconds=1 >large.yaml
	ends_with 0 ctrecipe plan large.yaml
	grep -c '^node ' "$scratch/stdout" | grep -x 200
	grep -F -x "event kernel 'net_*' required" "$scratch/stdout"
	[ "$(grep -c '^capture' "$scratch/stdout")" -eq 0 ]
}

@test "what each network is loaded with" {
	local kind
	for kind in routed node-container nat vxlan macvlan vlan wireguard bond; do
		recipe network=$kind >$kind.yaml
		ends_with 0 ctrecipe plan $kind.yaml
		# Each set-up that the recipe names is defined for the machines.
		grep -E "^(set_up_$kind\(\)|routed \| $kind\))|^$kind \|" "$CT_SOURCE/tests/vcluster/network"
	done
	grep -F 'ip netns exec c1 vctraffic echo 7001 & ip netns exec c1 vctraffic sink 7002' nat.yaml
	grep -F 'ctwrap --name ping-udp -- ip netns exec c2 vctraffic ping-udp 30 20000 200 7003 ' nat.yaml
	# Both ways: from a node to containers, and from a container to nodes.
	grep -F 'ctwrap --name ping -- vctraffic ping 30 20000 200 7001 ' node-container.yaml | grep -F 10.9.N.11
	grep -F 'ctwrap --name ping -- ip netns exec c2 vctraffic ping ' node-container.yaml | grep -F 10.7.0.N
	grep -F -x 'contexts: [tid, net_ns]' vxlan.yaml
}

@test "a node knows the addresses of the others" {
	mkdir bin
	printf '#!/bin/sh\necho node2\n' >bin/hostname
	chmod +x bin/hostname
	printf '127.0.0.1 localhost\n10.7.0.1 node1\n10.7.0.2 node2\n10.7.0.13 node13\n' >hosts
	words=$(sh -u -c '. "$1/recipe.sh"; other_nodes 10.9.N.11' sh "$CT_SOURCE/tests/vcluster" |
		sed 's,/etc/hosts,hosts,')
	[ "$(PATH=$PWD/bin:$PATH sh -c "echo $words")" = '10.9.1.11 10.9.13.11' ]
}
