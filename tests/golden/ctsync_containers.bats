#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync on hosts of containers: packets pass many devices of both hosts, and each message
# must be of the packet's own sender and receiver.
load common

containers=fixtures/containers

# messages RUN PREFIX: how many there are between the nodes whose number follows the
# prefix in the addresses, and how many the other way.
messages()
{
	ctmerge -q "$1" -o run.db --force 2>"$scratch/stderr" || return
	sqlite3 run.db "
		WITH way AS (
			SELECT 'node' || substr(src, length('$2') + 1, 1) AS owner, n.name
			FROM message m JOIN node n ON n.id = m.src_node
			WHERE src LIKE '$2%' AND dst LIKE '$2%')
		SELECT sum(owner = name), sum(owner <> name) FROM way"
}

segments()
{
	ctsync --json "$1" 2>/dev/null | grep -c '"local_ns": [0-9]*, "ref_ns"'
}

@test "containers on bridges, routed" {
	[ "$(messages $containers/routed 10.9.)" = '189|0' ]
	[ "$(segments $containers/routed)" -eq 3 ]
}

@test "containers on a VXLAN overlay" {
	[ "$(messages $containers/vxlan 10.10.0.)" = '128|0' ]
	[ "$(segments $containers/vxlan)" -eq 3 ]
}

@test "macvlan and WireGuard" {
	[ "$(messages $containers/overlays 10.12.0.)" = '88|0' ]
	[ "$(messages $containers/overlays 10.13.0.)" = '65|0' ]
	[ "$(messages $containers/overlays 10.7.0.)" = '69|0' ]
	[ "$(segments $containers/overlays)" -eq 2 ]
}

# The two namespaces have one clock, so no message may be received before it was sent.
@test "captures of any device of routing hosts" {
	ctsync --json $containers/any >map.json
	grep -q '"violations_before": 0, "violations_after": 0' map.json
	grep -q '"matched": 236, "ambiguous": 0' map.json
	[ "$(segments $containers/any)" -eq 2 ]
}

@test "received packets without headers are told" {
	ctsync $containers/overlays >/dev/null 2>message
	grep -q 'node1/kernel: [0-9]* packets received carry no headers' message
	ctsync -q $containers/routed >/dev/null 2>message
	[ "$(grep -c headers message)" -eq 0 ]
}

# Threads read when they like; what comes out may not depend on it.
@test "the same bytes however threads are delayed" {
	for run in "$containers"/* fixtures/net3 datasets/sample; do
		ctsync --json -j 1 "$run" >alone.json 2>/dev/null
		for threads in 2 5; do
			seed=$RANDOM
			echo "CT_READ_DELAY=$seed ctsync --json -j $threads $run"
			CT_READ_DELAY=$seed ctsync --json -j $threads "$run" 2>/dev/null |
				cmp - alone.json
		done
	done
}
