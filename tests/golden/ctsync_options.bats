#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Options of ctsync: misuse ends with 2 and says why.
load common

net3=fixtures/net3

@test "nothing to read" {
	fails_with 2 'ctsync: missing RUN, -t TRACE or --messages FILE (see --help)' \
		ctsync
	fails_with 2 'ctsync: missing RUN, -t TRACE or --messages FILE (see --help)' \
		ctsync --json -q
}

@test "options that do not go together" {
	fails_with 2 'ctsync: --messages takes the place of traces' \
		ctsync --messages few.csv $net3
	fails_with 2 'ctsync: --messages takes the place of traces' \
		ctsync --messages few.csv -t $net3/node1
	fails_with 2 'ctsync: --apply cannot be used with --messages' \
		ctsync --messages few.csv --apply out
}

@test "unknown options and missing values" {
	fails_with 2 'ctsync: --nope: unknown option' ctsync --nope $net3
	fails_with 2 'ctsync: -x: unknown option' ctsync -x $net3
	fails_with 2 'ctsync: -t: missing argument' ctsync -t
	fails_with 2 'ctsync: --output: missing argument' ctsync $net3 --output
	fails_with 2 'ctsync: --json=3: option does not take an argument' \
		ctsync --json=3 $net3
}

@test "an unknown method" {
	fails_with 2 "ctsync: --method: invalid value 'lucky' (expected hull, margin, joint or regression)" \
		ctsync --method lucky $net3
	fails_with 2 "ctsync: --method: invalid value '' (expected hull, margin, joint or regression)" \
		ctsync --method= $net3
}

@test "numbers that are none, or out of range" {
	for word in 0 -1 1025 1.5 x '' 1e99; do
		fails_with 2 "ctsync: --jobs: invalid value '$word' (expected a whole number from 1 to 1024)" \
			ctsync --jobs="$word" $net3
	done
	for word in 0 -1 100001 nan inf x '' 1e999; do
		fails_with 2 "ctsync: --drift-limit: invalid value '$word' (expected a number from 0.001 to 100000)" \
			ctsync --drift-limit="$word" $net3
	done
	for word in -0.1 1.1 nan half; do
		fails_with 2 "ctsync: --max-rejected: invalid value '$word' (expected a number from 0 to 1)" \
			ctsync --max-rejected="$word" $net3
	done
	for word in 63 0 -64 9999999999; do
		fails_with 2 "ctsync: --in-flight: invalid value '$word' (expected a whole number from 64 to 1073741824)" \
			ctsync --in-flight="$word" $net3
	done
}

@test "an address that is none" {
	for word in 10.7.0 10.7.0.256 node1 '' fe80::x 10.7.0.1/24; do
		fails_with 2 "ctsync: --local: '$word' is neither an address nor a file" \
			ctsync --local "$word" $net3
		fails_with 2 "ctsync: --local: '$word' is neither an address nor a file" \
			ctsync --local "node2=$word" $net3
	done
	fails_with 2 "ctsync: --local: unknown capture 'nobody' (expected one of node2:node2.pcap, node3:node3.pcap)" \
		ctsync --local nobody=10.7.0.2 $net3
	fails_with 2 "ctsync: --local: unknown capture 'node2:node3.pcap'; did you mean 'node2:node2.pcap'?" \
		ctsync --local node2:node3.pcap=10.7.0.2 $net3
	fails_with 2 "ctsync: --local: unknown capture 'node1'" \
		ctsync --local node1=10.7.0.2 -t $net3/node1 -t $net3/node2/kernel
	echo '[{}]' >"$scratch/addr.json"
	fails_with 2 "ctsync: --local: $scratch/addr.json: no address in it" \
		ctsync --local "node2=$scratch/addr.json" $net3
	echo '[' >"$scratch/addr.json"
	fails_with 2 "ctsync: --local: $scratch/addr.json:2:0: invalid JSON: ']' expected near end of file" \
		ctsync --local "node2=$scratch/addr.json" $net3
}

@test "a reference that is not there" {
	fails_with 2 "ctsync: unknown trace 'nobody' (expected one of node1, node2, node2:node2.pcap, node3, node3:node3.pcap)" ctsync -r nobody $net3
	fails_with 2 "ctsync: unknown trace '' (expected one of node1, node2, node2:node2.pcap, node3, node3:node3.pcap)" ctsync -r '' $net3
}

@test "help and version" {
	golden help ctsync --help
	ctsync -h | cmp - "$CT_EXPECT/help"
	ctsync --help --nope | cmp - "$CT_EXPECT/help"
	ends_with 0 ctsync --version
	grep -E -x 'ctsync \(clustertrace\) [0-9]+\.[0-9]+\.[0-9]+' "$scratch/stdout"
	grep -E 'with GLPK [0-9.]+' "$scratch/stdout"
	[ "$(ctsync -V)" = "$(cat "$scratch/stdout")" ]
}

@test "more threads than there is work" {
	ctsync -j 1 $net3 >one
	ctsync -j 64 $net3 | cmp - one
}

@test "few packets in flight" {
	fails_with 3 'ctsync: 22432 packets were given up before their other side was read (--in-flight)' \
		ctsync -j 1 --in-flight 64 -t $net3/node1 -t $net3/node2
}

# The table, what is said below it, and the map tell the same of a clock that was set while it was traced.
@test "the drift of a stepped clock" {
	ctsim -q --seed 1 step1s -o run
	ctsync -q run -o map.json 2>/dev/null
	ctsync run >text 2>/dev/null
	# The mean of its segments' rates, step left out, as printed; and the true rate is within the bound.
	sqlite3 :memory: "WITH clock AS (SELECT value AS c FROM json_each(readfile('map.json'), '\$.clocks') WHERE value ->> 'trace' = 'node2'),
			part AS (SELECT c, value ->> 'local_ns' AS a, value ->> 'rate_ppb' AS rate,
				lead(value ->> 'local_ns') OVER (ORDER BY key) AS b FROM clock, json_each(c, '\$.segments'))
		SELECT count(*), printf('%.3f', sum(rate * (ifnull(b, c ->> 'end_ns') - a)) / sum(ifnull(b, c ->> 'end_ns') - a) / 1e3) FROM part" >wanted
	awk '/^node2 / { print "2|" $2 }' text | diff wanted -
	sqlite3 :memory: '.mode csv' '.import run/truth.csv truth' "WITH step AS (
			SELECT host_ns - lag(host_ns) OVER (ORDER BY host_ns + 0) AS host, real_ns - lag(real_ns) OVER (ORDER BY host_ns + 0) AS own
			FROM truth WHERE node = 'node2')
		SELECT avg(1e6 * (host - own) / own) FROM step WHERE abs(host - own) < 1e8" >rate
	awk -v true="$(cat rate)" '/^node2 / { gsub("[+]-", "", $3); $3 += 0; d = $2 - true; if (d < 0) d = -d; exit !(true > 1 && $3 > 0 && $3 < 50 && d <= $3) }' text
	ends_with 1 grep 'do not tell' text
	ctmerge -q run --clocks map.json -o run.db 2>/dev/null
	ctanalyze clocks --table clocks --format json run.db >clocks.json
	sqlite3 :memory: "SELECT '2|' || printf('%.3f', value ->> 'drift_ppm') FROM json_each(readfile('clocks.json'), '\$.tables[0].rows')
		WHERE value ->> 'node' = 'node2'" | diff wanted -
}

# The fitted rate is beyond it: all outputs report that, and that nothing bounds the clock.
@test "a drift limit that the clocks do not keep" {
	cd "$CT_SOURCE"
	golden ctsync_beyond ctsync --drift-limit 1 datasets/sample
	ctsync -q --drift-limit 1 datasets/sample -o "$scratch/map.json" 2>"$scratch/talk"
	[ "$(grep -c 'beyond the limit of 1 ppm, so nothing bounds it; use --drift-limit [1-9]0$' "$scratch/talk")" = 2 ]
	sqlite3 :memory: "SELECT value ->> 'trace' || ' ' || printf('%.3f', value ->> '\$.segments[0].rate_ppb' / 1e3)
		FROM json_each(readfile('$scratch/map.json'), '\$.clocks') WHERE value ->> 'trace' <> 'node1'" >"$scratch/wanted"
	ctsync --drift-limit 1 datasets/sample 2>/dev/null | awk '/ none .* none / { print $1, $2 }' | diff "$scratch/wanted" -
}
