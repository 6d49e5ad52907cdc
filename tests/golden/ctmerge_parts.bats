#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmerge by node: what goes together, and what is refused. That parts have the rows of the
# whole run is for readers/parts.sh.
load common

# Two nodes, their clocks and messages.
two()
{
	ctsim -q --seed "${1:-1}" --set seconds=2 two -o run
	ctsync -q run -o clocks.json --messages-out messages
}

# part NODE [OPTION...]
part()
{
	local node=$1
	shift
	ctmerge -q run --node "$node" --clocks clocks.json \
		--messages "messages/$node.messages" "$@"
}

@test "a node by itself has the other's ends by their nodes and sources" {
	two
	part node1 -o node1.db
	ctmerge -q run -o run.db
	sum="SELECT count(*), sum(send_ns), sum(recv_ns), sum(src_node), sum(recv_source),
		sum(latency_ns + high_ns), sum(bytes) FROM message"
	[ "$(sqlite3 node1.db "$sum")" = "$(sqlite3 run.db "$sum")" ]
	[ "$(sqlite3 node1.db "SELECT count(*) FROM message
		WHERE iif(src_node = 1, recv_event, send_event) IS NOT NULL")" = 0 ]
	[ "$(sqlite3 node1.db "SELECT count(*) FROM message
		WHERE iif(src_node = 1, send_event, recv_event) IS NULL")" = 0 ]
	[ "$(sqlite3 node1.db 'SELECT id, name FROM node')" = '1|node1' ]
}

@test "a file of messages that does not belong" {
	two
	fails_with 1 "ctmerge: messages/node2.messages: of node node2, which is not node1" \
		ctmerge -q run --node node1 --clocks clocks.json \
		--messages messages/node2.messages --part part
	head -c 500 messages/node1.messages >cut.messages
	ends_with 1 ctmerge -q run --node node1 --clocks clocks.json \
		--messages cut.messages --part part
	grep -q '^ctmerge: cut.messages: ' "$scratch/stderr"
	echo nothing >none.messages
	ends_with 1 ctmerge -q run --node node1 --clocks clocks.json \
		--messages none.messages --part part
	grep -q '^ctmerge: none.messages: ' "$scratch/stderr"
	fails_with 1 "ctmerge: node1 is in the clock map, but its messages are missing; use --messages" \
		ctmerge -q run --node node1 --clocks clocks.json --part part
	ctsync -q -r node2 run -o clocks.json
	fails_with 1 "ctmerge: messages/node1.messages: of another run of ctsync than the clock map (expected both of one run)" \
		part node1 --part part
	[ ! -e part ]
}

@test "options that do not go together" {
	two
	for words in "--part p" "--messages m.messages --node node1" "--part p --node node1,node2 --node x" \
		"--part p --node node1 --clocks clocks.json -o x" \
		"--part p --node node1 --clocks clocks.json --begin +1" \
		"--messages m.messages --node node1 --clocks clocks.json --describe" \
		"--join" "--join -o out --clocks clocks.json"; do
		# shellcheck disable=SC2086 # words
		ends_with 2 ctmerge -q $words run
	done
	ends_with 2 ctmerge -q --join -o out
	fails_with 2 "ctmerge: --node: no node node3 in run" ctmerge -q run --node node3 \
		--clocks clocks.json --part p
	[ ! -e out ] && [ ! -e p ]
}

@test "a part is replaced, what is not ours is not" {
	two
	part node1 --part parts/1
	cp -r parts/1 before
	touch parts/1/tables/mine
	part node1 --no-payload --part parts/1
	[ -e parts/1/part.db ] && [ -e parts/1/tables/mine ]
	[ ! -e parts/1/tables/net_dev_queue.parquet ]
	part node1 --part parts/1
	rm parts/1/tables/mine
	diff -r -x part.db -x .ctmerge-part parts/1 before
	mkdir other && touch other/file
	fails_with 1 "ctmerge: other: not empty; use one that ctmerge made, an empty or a new directory" \
		part node1 --part other
	ends_with 1 part node1 --part run/node1/kernel
	[ "$(ls other)" = file ]
}

@test "what is joined" {
	two
	part node1 --part parts/1
	part node2 --part parts/2
	ends_with 0 ctmerge -q --join -o out parts/1 parts/2
	[ -e out/_SUCCESS ] && [ -e out/message.parquet ]
	[ out/event/part=node1/part-0.parquet -ef parts/1/tables/event.parquet ]
	# One alone; it replaces the tables of both.
	ends_with 0 ctmerge -q --join -o out parts/2
	[ -e out/_SUCCESS ] && [ ! -e out/event/part=node1 ] && [ -e out/event/part=node2 ]
	cp -r parts/2 again
	fails_with 1 "ctmerge: again: of node node2, as parts/2 is" \
		ctmerge -q --join -o new parts/1 parts/2 again
	rm -r run && two 2
	part node2 --part parts/3
	fails_with 1 "ctmerge: parts/3: of another clock map than parts/1 (expected parts of one run of ctsync)" \
		ctmerge -q --join -o new parts/1 parts/3
	rm again/part.db
	fails_with 1 "ctmerge: again/part.db: No such file or directory" \
		ctmerge -q --join -o new again
	ctmerge -q run -o again/part.db
	fails_with 1 "ctmerge: again: not a part (expected a directory that ctmerge --part wrote)" \
		ctmerge -q --join -o new again
	ends_with 1 ctmerge -q --join -o parts/1/out parts/1
	[ ! -e new ] && [ ! -e parts/1/out ]
}

@test "parts that recorded a class with different fields" {
	two
	LC_ALL=C sed -i 's/_skbaddr/_skbadds/g' run/node2/kernel/metadata
	part node1 --part parts/1
	part node2 --part parts/2
	ends_with 0 ctmerge -q --join -o out parts/1 parts/2
	[ -e out/net_dev_queue/part=node1 ] && [ ! -e out/net_dev_queue/part=node2 ]
	[ -e out/net_dev_queue_2/part=node2 ]
	grep -aq layouts out/problem.parquet
}

@test "many parts at once, below directories that are missing" {
	ctsim -q --seed 3 --nodes 8 --set seconds=1 two -o run
	ctsync -q run -o clocks.json --messages-out messages
	for round in 1 2; do
		made=()
		for node in run/*/; do
			node=$(basename "$node")
			part "$node" --part "out/$round/parts/$node" &
			made+=($!)
		done
		for pid in "${made[@]}"; do
			wait "$pid"
		done
		ctmerge -q --join -o "joined/$round" "out/$round"/parts/*
		[ "$(ls -A "out/$round/parts")" = "$(cd run && printf '%s\n' node*)" ]
	done
	[ "$(ls -A out)" = "$(printf '1\n2')" ]
}
