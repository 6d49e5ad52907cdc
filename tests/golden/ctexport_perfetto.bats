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
	fails_with 2 "ctexport: --tracks: unknown part '' (expected one of states, cpus, interrupts, syscalls, disks, messages, requests, paths, samples, clocks, tasks)" \
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
		'cat:clock cat:cpu cat:disk cat:irq cat:message cat:path cat:recorded cat:request cat:run cat:softirq cat:state cat:syscall' ]
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
	fails_with 2 "ctexport: --split: invalid value '5' (expected a size such as 50M, a time of at least 0.001s such as 10s, or request=ID)" \
		ctexport perfetto --split 5 "$CT_SIM" -o no
	[ ! -e no ]
}

@test "a piece of a request" {
	read -r id begin end <<-END
		$(sqlite3 -separator ' ' "$CT_SIM" 'SELECT id, coalesce(given_ns, begin_ns), end_ns FROM request
			WHERE end_ns IS NOT NULL ORDER BY end_ns - begin_ns DESC LIMIT 1')
	END
	ends_with 0 ctexport perfetto -q --split "request=$id" "$CT_SIM" -o piece
	ctexport perfetto -q --begin "$begin" --end "$end" "$CT_SIM" | cmp - piece/0001.pftrace
	[ "$(ls piece)" = 0001.pftrace ]
	# shellcheck disable=SC2016 # a command in backticks
	fails_with 1 'ctexport: --split: no request 999999999; `ctanalyze requests --top` lists them' \
		ctexport perfetto -q --split request=999999999 "$CT_SIM" -o no
	fails_with 1 "ctexport: --split: request $id is outside of the selected time" \
		ctexport perfetto -q --begin $((end + 1)) --split "request=$id" "$CT_SIM" -o no
	[ ! -e no ]
}

# The offset of node2's real-time clock in the middle of its capture, by the truth, which knows when
# the machine's own clock showed that and what node3's, the reference, showed then.
@test "a manifest aligns traces of others, as far as a constant can" {
	ctmerge -q fixtures/net3 -o net3.db
	ends_with 0 ctexport perfetto net3.db -o run.pftrace --manifest own.json
	grep -q 'node2.pftrace: in the middle of node2:node2.pcap, the offset is right within +-[0-9]* ns; the clock drifts from it by up to [0-9]* ns, which a manifest cannot express$' \
		"$scratch/stderr"
	[ "$(head -c 24 own.json | tr -d ' \n')" = '{"perfetto_manifest":' ]
	[ "$(sqlite3 net3.db <<-'END'
		CREATE TEMP TABLE truth (node TEXT, host_ns INTEGER, mono_ns INTEGER, real_ns INTEGER);
		.mode csv
		.import fixtures/net3/truth.csv truth
		.mode list
		DELETE FROM truth WHERE node = 'node';
		CREATE TEMP TABLE row AS SELECT node, host_ns AS h, real_ns AS r,
			lead(host_ns) OVER (PARTITION BY node ORDER BY host_ns) AS h2,
			lead(real_ns) OVER (PARTITION BY node ORDER BY host_ns) AS r2 FROM truth;
		WITH manifest AS (
			SELECT json_extract(readfile('own.json'), '$.perfetto_manifest') AS whole
		), told AS (
			SELECT json_extract(file.value, '$.clocks.offset_ns') AS offset_ns,
				json_extract(whole, '$.attributes."clustertrace.node2.bound_ns"') AS bound_ns,
				json_extract(whole, '$.attributes."clustertrace.node2.drift_ns"') AS drift_ns
			FROM manifest, json_each(json_extract(whole, '$.files')) AS file
			WHERE json_extract(file.value, '$.path') = 'node2.pftrace'
		), place AS (
			SELECT column1 AS place, begin_ns + (end_ns - begin_ns) * column1 / 2 - offset_ns AS own_ns
			FROM source, told, (VALUES (0), (1), (2)) WHERE name = 'node2:node2.pcap'
		), host AS (
			SELECT place, own_ns, h + (own_ns - r) * (h2 - h) / (r2 - r) AS host_ns
			FROM place JOIN row ON node = 'node2' AND own_ns BETWEEN r AND r2 - 1
		)
		SELECT group_concat(abs(r + (host_ns - h) * (r2 - r) / (h2 - h) - own_ns - offset_ns)
			<= bound_ns + (place <> 1) * drift_ns) || ' ' || (drift_ns > bound_ns)
		FROM host JOIN row ON node = 'node3' AND host_ns BETWEEN h AND h2 - 1, told;
	END
	)" = '1,1,1 1' ]
	fails_with 2 "ctexport: --manifest: only for a trace in Perfetto's own format with -o FILE, without --split" \
		ctexport perfetto --manifest own.json --split 10s net3.db -o pieces
	fails_with 2 'ctexport: --manifest: same.pftrace is the output itself' \
		ctexport perfetto --manifest same.pftrace net3.db -o same.pftrace
	[ ! -e same.pftrace ]
}
