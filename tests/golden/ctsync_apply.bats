#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync --apply: the same traces on the reference clock, as another reader sees them. Captures
# are in ctsync_apply_captures.bats.
load common

net3=fixtures/net3

# Packets that were sent and received in these traces, and the early ones of them.
causality()
{
	babeltrace2 --clock-seconds "$@" | awk -f "$CT_SOURCE/tests/golden/causality.awk"
}

@test "no packet is received before it was sent" {
	[ "$(causality $net3/node1 $net3/node2 $net3/node3)" = \
		'15721 packets, 7247 received before they were sent' ]
	golden net3_apply ctsync $net3 --apply out
	[ ! -s "$scratch/stderr" ]
	[ "$(echo out/*)" = 'out/node1 out/node2 out/node2_node2.pcap out/node3 out/node3_node3.pcap' ]
	[ "$(causality out/node1 out/node2 out/node3)" = \
		'15721 packets, 0 received before they were sent' ]
}

@test "nor with another method and reference" {
	ctsync -q --method margin -r node3 $net3 --apply out
	[ "$(causality out/node[123])" = '15721 packets, 0 received before they were sent' ]
}

@test "every event is there, and the streams are not copied" {
	ctsync -q $net3 --apply out
	for node in node1 node2 node3; do
		babeltrace2 $net3/$node/kernel | cut -d ' ' -f 3- >before
		babeltrace2 out/$node | cut -d ' ' -f 3- | cmp - before
		if [ out/$node/ch_0 -ef $net3/$node/kernel/ch_0 ]; then
			[ ! out/$node/metadata -ef $net3/$node/kernel/metadata ]
		else
			cmp out/$node/ch_0 $net3/$node/kernel/ch_0
		fi
	done
}

@test "applied traces are tied to each other already" {
	ctsync -q $net3 --apply out
	ends_with 0 ctsync --stats -r node1 -t out/node1 -t out/node2 -t out/node3
	# VIOLATED is the column but two; none before, none after.
	grep -c ' 0>0 ' "$scratch/stdout"
	[ "$(grep -c ' 0>0 ' "$scratch/stdout")" -eq 3 ]
}

@test "what is there is not overwritten" {
	mkdir -p out/node2
	fails_with 1 'ctsync: out/node2: File exists' ctsync -q $net3 --apply out
	[ "$(ls -A out)" = node2 ]
	[ -z "$(ls out/node2)" ]
	echo >file
	fails_with 1 'ctsync: file: Not a directory' ctsync -q $net3 --apply file
	fails_with 1 'ctsync: none/out: No such file or directory' \
		ctsync -q $net3 --apply none/out
	[ "$(echo *)" = 'datasets file fixtures out' ]
}

@test "a signal leaves nothing" {
	mkdir -p run/node1 run/node2 there
	for node in node1 node2; do
		cp -r $net3/$node/kernel run/$node/kernel
		mkdir run/$node/kernel/notes
		(cd run/$node/kernel/notes && seq 2000 | xargs touch)
	done
	for target in out there; do
		ctsync -q --apply $target -o map.json run 2>/dev/null &
		pid=$!
		while [ -z "$(find .out.unf* there -name 'notes')" ] && kill -0 "$pid"; do :; done \
			2>/dev/null
		kill -TERM "$pid" || true
		wait "$pid" || true
		[ "$(echo .[!.]* there/.unf*)" = '.[!.]* there/.unf*' ]
		rm -f map.json
	done
	# Whole or not at all, in case it was done first.
	for target in out there; do
		case $(echo $target/node?) in
		"$target/node?" | "$target/node1 $target/node2") ;;
		*) false ;;
		esac
	done
}
