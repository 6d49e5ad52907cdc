#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctexport perfetto: options, parts, messages. tests/readers/perfetto.sh holds what is
# written against the timeline.
load common

setup_file()
{
	CT_NET=$BATS_FILE_TMPDIR/net.db
	CT_SIM=$BATS_FILE_TMPDIR/sim.db
	export CT_NET CT_SIM
	ctmerge -q --no-sync --events net_dev_queue "$CT_SOURCE/tests/fixtures/net3" \
		-o "$CT_NET" 2>/dev/null
	ctsim --seed 3 --set seconds=2 clients -o "$BATS_FILE_TMPDIR/sim" 2>/dev/null
	ctmerge -q "$BATS_FILE_TMPDIR/sim" -o "$CT_SIM" 2>/dev/null
}

@test "what is not there is refused" {
	fails_with 2 "ctexport: --format: invalid value 'xml' (expected proto or json)" \
		ctexport perfetto --format xml "$CT_SIM"
	fails_with 2 "ctexport: --tracks: unknown part 'disk'; did you mean 'disks'?" \
		ctexport perfetto --tracks states,disk "$CT_SIM"
	fails_with 2 "ctexport: --tracks: unknown part '' (expected one of states, cpus, interrupts, syscalls, disks, messages, requests, samples, clocks, tasks)" \
		ctexport perfetto --tracks '' "$CT_SIM"
	ends_with 2 ctexport perfetto --begin +100 "$CT_SIM" -o out
	grep -q 'nothing between --begin and --end' "$scratch/stderr"
	[ ! -e out ]
}

@test "a timeline without scheduling is exported, and says so" {
	ends_with 0 ctexport perfetto --format json "$CT_NET" -o out.json
	grep -q 'no sched_switch was recorded: no states of threads' "$scratch/stderr"
	grep -q '"name":"cpu all %usr"' out.json
	ends_with 1 grep -q '"cat":"state"' out.json
	ends_with 0 ctexport perfetto --tracks samples "$CT_NET" -o out
	[ ! -s "$scratch/stderr" ]
}

# Idle is not drawn, so what was not recorded has to be.
@test "what was not recorded is said on each processor" {
	ctexport perfetto --format json --tracks cpus "$CT_SIM" -o out.json 2>/dev/null
	sqlite3 "$CT_SIM" "WITH whole AS (SELECT min(least) AS a, max(most) AS b FROM (
				SELECT min(ts_ns) AS least, max(ts_ns) AS most FROM event
				UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample
				UNION ALL SELECT min(send_ns), max(recv_ns) FROM message)),
			gap AS (SELECT n.cpus AS n, s.begin_ns - a AS ns FROM whole, source AS s JOIN node AS n ON n.id = s.node
				WHERE kind = 'kernel'
				UNION ALL SELECT n.cpus, b - s.end_ns FROM whole, source AS s JOIN node AS n ON n.id = s.node
				WHERE kind = 'kernel')
		SELECT sum(n), sum(n * ns) FROM gap WHERE ns > 0" >wanted
	sqlite3 :memory: "SELECT count(*), sum(CAST(round((v ->> 'dur') * 1000) AS INTEGER))
		FROM (SELECT value AS v FROM json_each(readfile('out.json'), '\$.traceEvents'))
		WHERE v ->> 'name' = 'not recorded'" | diff wanted -
	[ "$(cut -d '|' -f 2 wanted)" -gt 0 ]
}

@test "only the parts that were asked for" {
	ends_with 0 ctexport perfetto --format json --tracks cpus,disks "$CT_SIM" -o two.json
	[ "$(grep -o '"cat":"[a-z]*"' two.json | sort -u | xargs)" = 'cat:cpu cat:disk cat:recorded' ]
	ends_with 0 ctexport perfetto --format json --tracks messages --tracks tasks \
		"$CT_SIM" -o one.json
	[ "$(grep -o '"cat":"[a-z]*"' one.json | sort -u | xargs)" = 'cat:message' ]
	ends_with 0 ctexport perfetto --format json "$CT_SIM" -o all.json
	[ "$(grep -o '"cat":"[a-z]*"' all.json | sort -u | xargs)" = \
		'cat:clock cat:cpu cat:disk cat:irq cat:message cat:recorded cat:request cat:run cat:softirq cat:state cat:syscall' ]
}

@test "the same timeline gives the same file, on standard output, too" {
	ends_with 0 ctexport perfetto "$CT_SIM" -o one
	ctexport perfetto -q "$CT_SIM" >two
	cmp one two
	ctexport perfetto -q --format json --end +0.5 "$CT_SIM" | cmp -n 40 - \
		<(printf '{"displayTimeUnit":"ns","otherData":{"clock"')
}

@test "a message with one end here has no arrow, and says where the other is" {
	ends_with 0 ctexport perfetto --format json --tracks messages --node node1 \
		"$CT_SIM" -o one.json
	grep -q '"to":"node2","received":"at a node left out"' one.json
	grep -q '"from":"node2","sent":"at a node left out"' one.json
	ends_with 1 grep -q bind_id one.json
}

@test "a full disk and a closed pipe leave nothing" {
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 1 bash -c 'exec ctexport perfetto "$1" >/dev/full' - "$CT_SIM"
	grep -q '^ctexport: standard output: No space left on device$' "$scratch/stderr"
	# shellcheck disable=SC2016
	ends_with 1 bash -c 'ulimit -f 10; exec ctexport perfetto "$1" -o out' - "$CT_SIM"
	grep -q '^ctexport: out: File too large$' "$scratch/stderr"
	[ "$(find . -mindepth 1 | sort | xargs)" = "./datasets ./fixtures" ]
}

@test "pieces of a size, and of a time" {
	ctexport perfetto -q "$CT_SIM" -o whole
	size=$(($(stat -c %s whole) / 3 / 1024))
	ends_with 0 ctexport perfetto -q --split ${size}k "$CT_SIM" -o pieces
	set -- pieces/*
	[ $# -ge 3 ]
	[ $# -le 8 ]
	for piece; do
		[ "$(stat -c %s "$piece")" -le $((size * 1024)) ]
	done
	# By time: each piece is the export of that time.
	ends_with 0 ctexport perfetto -q --split 0.5s "$CT_SIM" -o times
	ctexport perfetto -q --begin +0.5 --end +0.999999999 "$CT_SIM" | cmp - times/0002.pftrace
	fails_with 2 "ctexport: --split: invalid value '5' (expected a size such as 50M, or a time of at least 0.001s such as 10s)" \
		ctexport perfetto --split 5 "$CT_SIM" -o no
	[ ! -e no ]
}
