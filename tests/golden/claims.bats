#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What clock daemons claim, against the packets: simulated daemons, whose truth is known.
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
		grep '"node": "node3", "source": "chrony", "claims": 6, .* "contradicted": 2, "disputed": 0,' map.json
	done
	ends_with 0 ctmerge -q -o run.db run
	[ "$(sqlite3 run.db "SELECT place, kind, count FROM problem WHERE kind = 'claim'")" = 'node3|claim|2' ]
	# Jumps, both ways, of a capture's clock.
	captures=yes simulated 4 'lie 2 8 12 1500' 'lie 2 28 32 -1500'
	ends_with 0 ctsync run
	grep -E '^node2: chrony claims .* and contradict 2 of 6 claims$' "$scratch/stdout"
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
