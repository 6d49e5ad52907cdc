#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Claims of clock daemons, against the packets: simulated daemons, whose truth is known.
load common

# simulated SEED [LINE]...: a run of three nodes whose daemons claim 40 us, as traces.
simulated()
{
	local seed=$1
	shift
	printf '%s\n' 'nodes 3' 'seconds 60' 'topology ring' 'offset_s 0.01' 'drift_ppm 20' \
		'delay_us 20' 'jitter_us 30' 'interval_ms 50' 'claim_us 40' "$@" >daemons.scenario
	rm -rf run
	ctsim -q --seed "$seed" ${captures:+--captures} daemons.scenario -o run
}

@test "daemons that are right are never called contradicted" {
	for seed in 1 2 3; do
		simulated "$seed"
		ends_with 0 ctsync run
		[ "$(grep -c '^node[123]: chrony claims +-40.000 us to UTC; packets contradict none of 6 claims$' "$scratch/stdout")" -eq 3 ]
		[ ! -s "$scratch/stderr" ]
	done
}

@test "a daemon that lies is named, with the time, and the others are not" {
	for seed in 1 2 3; do
		simulated "$seed" 'lie 3 18 32 2000'
		ends_with 0 ctsync -q run -o map.json
		[ "$(grep -c . "$scratch/stderr")" -eq 1 ]
		grep -E '^ctsync: node3: chrony claims \+-40.000 us; packets prove that it is at least (1\.[89]|2\.0)[0-9]* ms off node[12] at 2026-01-01 00:00:([23]0\.0|[12]9\.9)[0-9]*, where both claim at most 80.000 us$' "$scratch/stderr"
		[ "$(grep -c '"contradicted": 0, "disputed": 0,' map.json)" -eq 2 ]
		[ "$(grep -c '"other": "", "at_ns": null, "apart_ns": null, "allowed_ns": null' map.json)" -eq 2 ]
		grep '"node": "node3", "source": "chrony", "claims": 6, .* "contradicted": 2, "disputed": 0,' map.json
	done
	ends_with 0 ctmerge -q -o run.db run
	[ "$(sqlite3 run.db "SELECT place, kind, count FROM problem WHERE kind = 'claim'")" = 'node3|claim|2' ]
	# The same by the map.
	ends_with 0 ctmerge -q --clocks map.json -o map.db run
	sqlite3 run.db "SELECT place, count, text FROM problem WHERE kind = 'claim'" >claim
	sqlite3 map.db "SELECT place, count, text FROM problem WHERE kind = 'claim'" | diff claim -
	# The same by a batch, whose map is made of extracts.
	ends_with 0 ctbatch -q -o tables run
	diff <(grep '"source": "chrony"' map.json) <(grep '"source": "chrony"' tables.work/clocks.json)
	for node in 1 2 3; do
		sqlite3 "tables.work/parts/node$node/part.db" "SELECT place, count, text FROM problem WHERE kind = 'claim'"
	done | diff claim -
	# Jumps, both ways, of a capture's clock.
	captures=yes simulated 4 'lie 2 8 12 1500' 'lie 2 28 32 -1500'
	ends_with 0 ctsync run
	grep -E '^node2: chrony claims .* and contradict 2 of 6 claims$' "$scratch/stdout"
}

@test "what a daemon measured by its servers is tested, and neither votes nor is trusted" {
	simulated 1
	# node3's daemon is right by one server, and excludes another. node2 names no daemon, only servers.
	sed 's/,chrony,/,chrony:10.0.0.2,/; s/synchronized$/selected/' run/node2/clock_claims.csv >servers
	mv servers run/node2/clock_claims.csv
	awk -F , -v OFS=, 'NR > 1 {
		$3 = "chrony:10.0.0.1"; $8 = "selected"; print
		$3 = "chrony:10.0.0.9"; $4 += 20000000; $5 = 1000; $8 = "falseticker"; print
		$3 = "phc:ptp0"; $4 = -37000000412; $5 = ""; $8 = "measured"; print
	}' run/node3/clock_claims.csv >servers
	cat servers >>run/node3/clock_claims.csv
	ends_with 0 ctsync -o map.json run
	[ "$(grep -c '^node[13]: chrony claims +-40.000 us to UTC; packets contradict none of 6 claims$' "$scratch/stdout")" -eq 2 ]
	grep -E '^node3: chrony:10.0.0.9 claims \+-1.000 us to UTC; packets prove at least [12][0-9.]* ms off node1 at .* contradict 6 of 6 claims' "$scratch/stdout"
	[ "$(grep -c 'chrony:\|phc:' "$scratch/stdout")" -eq 1 ]
	[ ! -s "$scratch/stderr" ]
	[ "$(sqlite3 :memory: "SELECT value->>'source', value->>'tested', value->>'contradicted' + (value->>'disputed'), value->>'unbounded'
		FROM json_each(readfile('map.json'), '\$.claims') WHERE value->>'source' LIKE '%:%'")" = 'chrony:10.0.0.2|6|0|0
chrony:10.0.0.1|6|0|0
chrony:10.0.0.9|6|6|0
phc:ptp0|0|0|6' ]
	ends_with 0 ctsync -q --trust claims -o all.json run
	sed -i '/:/d' run/node[123]/clock_claims.csv
	ends_with 0 ctsync -q --trust claims -o daemons.json run
	diff <(sed '/"claims"/,$d' all.json) <(sed '/"claims"/,$d' daemons.json)
}

@test "less than packets prove is no contradiction, and of two nodes it is open who is wrong" {
	simulated 1 'lie 3 0 100 30'
	ends_with 0 ctsync -q run
	[ ! -s "$scratch/stderr" ]
	simulated 1 'lie 3 18 32 2000'
	rm run/node2/clock_claims.csv
	ends_with 0 ctsync -q run
	[ "$(grep -c '; which of them is wrong is open$' "$scratch/stderr")" -eq 2 ]
}

@test "a trace's clock without clock.csv is not guessed" {
	simulated 1 'lie 3 18 32 2000'
	rm run/node3/clock.csv
	ends_with 0 ctsync run
	grep '^node3: chrony claims .* not tested; nothing bounds the real-time clock of this node' "$scratch/stdout"
	[ "$(grep -c 'contradict none of 6 claims' "$scratch/stdout")" -eq 2 ]
	[ ! -s "$scratch/stderr" ]
}

@test "answers without a bound are counted, and a step of the clock is no lie" {
	simulated 1 'step 3 33 5000'
	header=$(head -n 1 run/node1/clock_claims.csv)
	printf '%s\n' "$header" 1767225610000000000,1000,ptp4l,-57,,,,synchronized >run/node1/clock_claims.csv
	ends_with 0 ctsync run
	grep '^node1: ptp4l states no bound, so it is not tested$' "$scratch/stdout"
	[ "$(grep -c '^node[23]: chrony .* contradict none' "$scratch/stdout")" -eq 2 ]
}

@test "logs of daemons of Debian 12 and 13" {
	simulated 1
	cp "$CT_SOURCE"/tests/fixtures/claims/debian12/*.log run/node1
	cp "$CT_SOURCE"/tests/fixtures/claims/debian13/*.log run/node2
	ends_with 0 ctsync run
	[ ! -s "$scratch/stderr" ]
	grep -x 'node1: ptp4l.log states no bound, so it is not tested' "$scratch/stdout"
	grep -x 'node2: ptp4l.log says that the clock is not synchronized' "$scratch/stdout"
	[ "$(grep -c '^node[12]: tracking.log claims +-[0-9.]* us to UTC; not tested' "$scratch/stdout")" -eq 2 ]
}

# kernel_says NODE FROM TO PPB: beside each claim, what adjtimex would say of a kernel whose frequency
# is PPB in these seconds
kernel_says()
{
	awk -F , -v from="$2" -v to="$3" -v ppb="$4" 'NR > 1 {
		second = substr($1, 1, 10) - 1767225600
		printf "%s,2000000,adjtimex,0,16000000,%d,500,synchronized\n", $1, (second >= from && second < to ? ppb : 20000)
	}' "run/$1/clock_claims.csv" >kernel
	cat kernel >>"run/$1/clock_claims.csv"
}

@test "a slew or a step that a daemon made says so, any other does not" {
	simulated 1 'slew 3 22 38 450'
	ends_with 0 ctsync -q -o map.json run
	[ "$(grep -c '"slews"' map.json) $(grep -c '"steering"' map.json)" = '1 0' ]
	kernel_says node3 22 38 -430000
	ends_with 0 ctsync run
	grep -E '^node3: slewed by chrony at 2026-01-01 00:00:2[12]\.[0-9]* \(frequency changed by \+450\.000 ppm\)$' "$scratch/stdout"
	ctsync -q -o map.json run
	grep -E '"trace": "node3", "what": "slew", "local_ns": [0-9]{19}, "by": "chrony", "frequency_ppb": 450000, "offset_ns": null}' map.json
	# In the other direction, and at another time.
	simulated 1 'slew 3 22 38 450'
	kernel_says node3 22 38 430000
	ctsync -q -o map.json run
	[ "$(grep -c '"steering"' map.json)" -eq 0 ]
	simulated 1 'slew 3 22 38 450'
	kernel_says node3 48 90 -430000
	ctsync -q -o map.json run
	[ "$(grep -c '"steering"' map.json)" -eq 0 ]
	# A clock that is far off, and is set right.
	captures=yes simulated 1 'node 2 offset_s 0.5' 'step 2 33 -500'
	ends_with 0 ctsync run
	grep -E '^node2: stepped by chrony at 2026-01-01 00:00:3[23]\.[0-9]* \(offset changed by -500\.[0-9]* ms\)$' "$scratch/stdout"
	ends_with 0 ctsync --trust claims run
	grep '^node2: stepped by chrony ' "$scratch/stdout"
	# One that was right, and is set wrong, was not set by its daemon.
	captures=yes simulated 1 'node 2 offset_s 0' 'step 2 33 -500'
	ctsync run >stdout
	[ "$(grep -c ' by chrony at ' stdout)" -eq 0 ]
}

# misses MAP: how often the true time, which is UTC, is outside of the bounds, of how many looks;
# the median half width of the bounds of clocks other than the axis, in microseconds
misses()
{
	sqlite3 :memory: <<-END
	CREATE TABLE truth(node TEXT, host INTEGER, mono INTEGER, real INTEGER);
	.mode csv
	.import --skip 1 run/truth.csv truth
	CREATE TABLE clock AS SELECT value AS text, value->>'trace' AS node FROM json_each(readfile('$1'), '\$.clocks');
	CREATE TABLE segment AS SELECT node, s.value->>'local_ns' AS at, s.value->>'ref_ns' AS ref, s.value->>'rate_ppb' AS rate
		FROM clock, json_each(text, '\$.segments') AS s;
	CREATE TABLE bound AS SELECT node, b.value->>'local_ns' AS at, b.value->>'low_ns' AS low, b.value->>'high_ns' AS high
		FROM clock, json_each(text, '\$.bounds') AS b;
	CREATE INDEX bound_at ON bound(node, at);
	CREATE TABLE look AS SELECT t.node, t.host - (ref + (real - s.at) + CAST(round((real - s.at) * rate * 1e-9) AS INTEGER)) AS error,
			(SELECT low FROM bound WHERE node = t.node AND at <= real ORDER BY at DESC LIMIT 1) AS low0,
			(SELECT low FROM bound WHERE node = t.node AND at >= real ORDER BY at LIMIT 1) AS low1,
			(SELECT high FROM bound WHERE node = t.node AND at <= real ORDER BY at DESC LIMIT 1) AS high0,
			(SELECT high FROM bound WHERE node = t.node AND at >= real ORDER BY at LIMIT 1) AS high1
		FROM truth AS t, segment AS s ON s.node = t.node AND s.at =
			coalesce((SELECT max(at) FROM segment WHERE node = t.node AND at <= real), (SELECT min(at) FROM segment WHERE node = t.node));
	.mode list
	.separator ' '
	SELECT count(*) FILTER (WHERE error < min(low0, low1) - 2 OR error > max(high0, high1) + 2), count(*) > 100,
		(SELECT (high - low) / 2000 FROM bound WHERE high > low ORDER BY high - low LIMIT 1
			OFFSET (SELECT count(*) / 2 FROM bound WHERE high > low))
		FROM look WHERE low0 IS NOT NULL AND low1 IS NOT NULL;
	END
}

# loaded SEED [LINE]...: four nodes whose packets are slow, and whose daemons steer them
loaded()
{
	captures=yes simulated "$@" 'nodes 4' 'offset_s 0.0002' 'drift_ppm 0.5' 'delay_us 800' 'jitter_us 3000'
}

@test "trusted claims put the axis on UTC, with a quarter of the bounds, and no miss" {
	for seed in 1 2 3 4 5; do
		loaded "$seed"
		ctsync -q -o packets.json run
		without=$(misses packets.json)
		ends_with 0 ctsync --trust claims -o map.json run
		grep -E '^the axis is UTC by trusted claims; every corrected time is within \+-[0-9.]+ ms of it, in the median \+-[0-9.]+ us$' "$scratch/stdout"
		[ "$(grep -c claim "$scratch/stderr")" -eq 0 ]
		grep -x '  "reference": "UTC",' map.json
		read -r missed looks width <<<"$(misses map.json)"
		[ "$missed $looks" = '0 1' ]
		[ $((4 * width)) -le "${without##* }" ]
	done
	# A batch has the same axis.
	ends_with 0 ctbatch -q --sync '--trust=claims' -o tables run
	sed 's/"path": "[^"]*"//' map.json >map
	sed 's/"path": "[^"]*"//' tables.work/clocks.json | diff map -
	# Claims of one node; packets tie the others.
	ends_with 0 ctsync -q --trust node2 -o map.json run
	read -r missed looks width <<<"$(misses map.json)"
	[ "$missed $looks" = '0 1' ]
	ends_with 0 ctmerge -q --trust claims -o run.db run
	[ "$(sqlite3 run.db "SELECT value FROM meta WHERE key = 'reference'")" = UTC ]
	[ "$(sqlite3 run.db "SELECT value > 0 FROM meta WHERE key LIKE 'utc_%bound_ns'")" = '1
1' ]
	ctsync -q --trust claims -o map.json run
	ends_with 0 ctmerge -q --clocks map.json -o again.db run
	[ "$(grep -c UTC "$scratch/stderr")" -eq 0 ]
	[ "$(sqlite3 again.db "SELECT value FROM meta WHERE key = 'reference'")" = UTC ]
	fails_with 2 "ctsync: --trust: unknown node 'node9'; did you mean 'node1'?" ctsync --trust node9 run
	# A node with a trace and a capture is named once.
	fails_with 2 "ctsync: --trust: unknown node 'nobody' (expected one of node1, node2, node3)" \
		ctsync --trust nobody "$CT_SOURCE/datasets/sample"
}

@test "a claim that packets contradict is never used" {
	for seed in {1..20}; do
		case $((seed % 3)) in
		0) lies=('lie 3 0 100 9000') ;;
		1) lies=('lie 3 18 32 -9000') ;;
		2) lies=('lie 2 8 12 9000' 'lie 2 28 32 -9000') ;;
		esac
		loaded "$seed" "${lies[@]}"
		ends_with 0 ctsync -q --trust claims -o map.json run
		[ "$(grep -c "^ctsync: node[23]: chrony claims .*; packets prove that it is at least .* at 2026-01-01 00:00:" "$scratch/stderr")" -eq 1 ]
		read -r missed looks width <<<"$(misses map.json)"
		[ "$missed $looks" = '0 1' ]
	done
}

@test "claims tie islands, and without any the clocks are as by packets" {
	loaded 1 'topology islands' 'islands 2'
	ends_with 0 ctsync -q --trust claims -o map.json run
	read -r missed looks width <<<"$(misses map.json)"
	[ "$missed $looks" = '0 1' ]
	rm run/*/clock_claims.csv
	ends_with 3 ctsync -q -o packets.json run
	ends_with 3 ctsync --trust claims -o none.json run
	grep '^ctsync: --trust: no claim can be used, so no clock is put on UTC$' "$scratch/stderr"
	cmp none.json packets.json
}

@test "a source of any name moves no cursor, and a file of too many is told" {
	simulated 1
	printf 'realtime_ns,source,status,took_ns,offset_ns,bound_ns\n1767225601000000000,a\033[2J\342\200\256b,synchronized,1000,0,40000\n' \
		>run/node1/clock_claims.csv
	ends_with 0 ctsync run
	grep -F 'node1: a\x1b[2J\xe2\x80\xaeb claims +-40.000 us to UTC' "$scratch/stdout"
	awk 'BEGIN {
		print "realtime_ns,source,status,took_ns,offset_ns,bound_ns"
		for (i = 0; i < 30000; i++)
			printf "1767225601000000000,s%d,synchronized,1000,0,40000\n", i
	}' >run/node1/clock_claims.csv
	ends_with 1 ctsync -q --trust node2 run
	grep 'clock_claims[.]csv:66: line skipped (more than 64 sources)$' "$scratch/stderr"
}

# stamp FILE: that of its first packet, in nanoseconds
stamp()
{
	od -An -tu4 -j24 -N8 "$1" | awk '{ printf "%d%09d\n", $1, $2 }'
}

@test "trusted claims make straight clocks no steps, and a step leaves a time without a bound" {
	captures=yes
	for seed in {1..6}; do
		simulated "$seed"
		ends_with 0 ctsync --trust claims run
		[ "$(grep -c 'step\|segments' "$scratch/stdout" "$scratch/stderr")" = 0 ] || ! cat "$scratch/stderr"
	done
	for seed in 1 2 3 4 7 10 19; do
		simulated "$seed" 'step 3 33 5000'
		ends_with 0 ctsync -q --trust claims run
		[ "$(grep -c 'node3: its clock was stepped by [45].[09][0-9]* s at 2026-01-01 00:00:3[78]' "$scratch/stderr")" -eq 1 ]
		[ "$(grep -c 'stepped\|slewed' "$scratch/stderr")" -eq 1 ]
	done
	# Less than the clocks may drift from one claim to the next.
	for size in 0.3 -0.3; do
		for seed in 4 10; do
			simulated "$seed" "step 3 33 $size"
			ends_with 0 ctsync -q --trust claims -o map.json run
			[ "$(grep -c "node3: its clock was stepped by ${size%0.3}[23][0-9][0-9]\\.[0-9]* us" "$scratch/stderr")" -eq 1 ]
			[ "$(grep -c 'stepped\|slewed' "$scratch/stderr")" -eq 1 ]
			read -r missed looks _ <<<"$(misses map.json)"
			[ "$missed" -eq 0 ] && [ "$looks" -eq 1 ]
		done
	done
	simulated 1 'step 3 33 -500'
	ends_with 0 ctsync --trust claims -o map.json run
	grep -E '^the axis is UTC by trusted claims; some corrected times have no bound to it \(null in the map\), in the median \+-[0-9.]+ us$' "$scratch/stdout"
	grep -x '  "utc_bound_ns": null,' map.json
	ends_with 0 ctmerge -q --clocks map.json -o run.db run
	[ "$(sqlite3 run.db "SELECT typeof(value) FROM meta WHERE key LIKE 'utc_%bound_ns' ORDER BY key")" = 'null
integer' ]
	ends_with 0 ctmerge -q --trust claims -o again.db run
	[ "$(sqlite3 again.db "SELECT typeof(value) FROM meta WHERE key LIKE 'utc_%bound_ns' ORDER BY key")" = 'null
integer' ]
}

@test "captures, messages and pictures are on the axis of trusted claims" {
	loaded 3
	ctsync -q --trust claims -o map.json run
	ends_with 0 ctsync -q --trust claims --apply synced run
	grep -E '^synced/node1.pcap: on the clock of UTC, off by at most [0-9.]+ ms \(accurate\)$' "$scratch/stdout" "$scratch/stderr"
	for node in 1 2 3 4; do
		local=$(stamp "run/node$node/node$node.pcap")
		off=$(sqlite3 :memory: "SELECT s.value->>'ref_ns' - s.value->>'local_ns'
			FROM json_each(readfile('map.json'), '\$.clocks') AS c, json_each(c.value, '\$.segments') AS s
			WHERE c.value->>'trace' = 'node$node' ORDER BY s.value->>'local_ns' LIMIT 1")
		apart=$(($(stamp "synced/node$node.pcap") - local - off))
		[ "$apart" -ge -1000 ] && [ "$apart" -le 1000 ] || { echo "node$node: $apart ns"; return 1; }
	done
	ends_with 0 ctsync -q --trust claims --messages-out messages run
	[ "$(ls messages)" = 'node1.messages
node2.messages
node3.messages
node4.messages' ]
	ends_with 0 ctsync -q --trust claims --plot plots run
	grep -q '</svg>' plots/node1--UTC.svg
	grep -q '</svg>' plots/node1--node2.svg
}

@test "the limits of a node without packets have no time" {
	loaded 1
	head -c 24 run/node4/node4.pcap >empty
	mv empty run/node4/node4.pcap
	ends_with 3 ctsync --stats --json run
	grep '{"trace": "node4", "at_ns": null,' "$scratch/stdout"
}
