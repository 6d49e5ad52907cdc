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
		# It listens, or it ends as somebody else does.
		while kill -0 "$server" 2>/dev/null; do
			! listens "$port" || return 0
			sleep 0.02
		done
	done
	echo "no free port"
	return 1
}

# Whether this server of ours listens on the port, by its sockets in /proc.
listens()
{
	local entry want
	want=$(printf ':%04X' "$1")
	entry=$(awk -v want="$want\$" '$2 ~ want && $4 == "0A" { print $10 }' \
		/proc/net/tcp)
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
	fails_with 2 'vctraffic: 70000: want a number between 1 and 65535' vctraffic echo 70000
	fails_with 2 'vctraffic: 1x: want a number between 0 and 1000000' \
		vctraffic ping 1x 0 1 1 127.0.0.1
	fails_with 1 'vctraffic: nowhere: want a dotted address' vctraffic send nowhere 1 1
	ends_with 2 vctraffic
	ends_with 2 vctraffic ping 1 1 1 1
	grep -F 'usage: vctraffic echo PORT' "$scratch/stderr"
}

@test "an agent that cannot be" {
	fails_with 2 'vcguest: 501: want a number between -500 and 500' vcguest rate 501
	fails_with 2 'vcguest: one: want a number between 0 and 65535' \
		vcguest agent port memory one
	fails_with 1 'vcguest: memory: No such file or directory' vcguest agent port memory 0
	ends_with 2 vcguest
}

@test "vctruth: what it is given" {
	head -c 4096 /dev/zero >memory
	fails_with 2 'vctruth: want -m FILE -o FILE NODE=SOCKET...' vctruth -m memory -o truth.csv
	fails_with 1 'vctruth: memory: want at least 8192 bytes, a page a machine' \
		vctruth -m memory -o truth.csv a=x b=y
	fails_with 1 'vctruth: a: want NODE=SOCKET' vctruth -m memory -o truth.csv a
	fails_with 1 'vctruth: a"b: want a name without commas and quotes' \
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
		ends_with 0 datasets/vcluster/$script --help
		grep -F "Usage: $script" "$scratch/stdout"
		fails_with 2 $"$script: unknown: --no-such"$'\n'"$script: try --help" \
			datasets/vcluster/$script --no-such
	done
}

@test "record refuses what it cannot do" {
	fails_with 2 $'record: want -o RUN\nrecord: try --help' datasets/vcluster/record
	fails_with 2 $'record: -n 1: want a number from 2 to 200\nrecord: try --help' \
		datasets/vcluster/record -n 1 -o new
	fails_with 2 $'record: -s 08: want a number from 1 to 86400\nrecord: try --help' \
		datasets/vcluster/record -s 08 -o new
	fails_with 2 $'record: --rates 1,x: want numbers with commas\nrecord: try --help' \
		datasets/vcluster/record --rates 1,x -o new
	fails_with 2 $'record: -e a b: want names with commas\nrecord: try --help' \
		datasets/vcluster/record -e 'a b' -o new
	fails_with 2 $'record: --netem ;: want a rule as tc-netem(8) has it\nrecord: try --help' \
		datasets/vcluster/record --netem ';' -o new
	fails_with 1 'record: datasets is there already, want a new name' \
		datasets/vcluster/record -o datasets
	mkdir empty
	fails_with 1 'record: empty has no image, run build first' \
		datasets/vcluster/record -d empty -o new
	[ "$(echo *)" = 'datasets empty fixtures' ]
}

# The recipe as record makes it, of options as record has them.
recipe()
{
	sh -u -c 'here=$1; shift
		. "$here/recipe.sh"
		directory=/none port=22700 seconds=30 interval=20 size=200 bulk=4 sar=1
		nodes=3 events=network,sched capture=on
		for option; do
			eval "$option"
		done
		write_recipe' sh "$CT_SOURCE/datasets/vcluster" "$@"
}

@test "what record tells the collector is a recipe" {
	recipe >small.yaml
	ends_with 0 ctrecipe validate small.yaml
	recipe nodes=200 "events='net_*,full'" capture=off seconds=1 >large.yaml
	ends_with 0 ctrecipe plan large.yaml
	grep -c '^node ' "$scratch/stdout" | grep -x 200
	grep -F -x "event kernel 'net_*' required" "$scratch/stdout"
	[ "$(grep -c '^capture' "$scratch/stdout")" -eq 0 ]
}
