#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsim: runs with known clocks, from the command line.
load common

# A tiny run: two nodes that exchange a few packets within a second.
tiny()
{
	ctsim -q --seed 7 --set seconds=1 --set interval_ms=100 "$@"
}

# Every file of a directory, and with what it is filled.
digest()
{
	(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

@test "help, version and lists" {
	golden ctsim_help ctsim --help
	ends_with 0 ctsim --version
	grep -q '^ctsim (clustertrace) [0-9]' "$scratch/stdout"
	golden ctsim_list ctsim --list
	golden ctsim_keys ctsim --keys
}

@test "each named scenario comes with a line that tells what it is" {
	ctsim --list | awk '{ print $1 }' >names
	(cd datasets/simulate/scenarios && ls ./*.scenario) |
		sed 's|.*/||; s/\.scenario$//' | diff names -
	ctsim --list | awk 'NF < 4 { print; bad = 1 } END { exit bad }'
}

@test "traces of a tiny run" {
	tiny -o run two
	golden ctsim_files sh -c 'cd run && find . -type f | sort'
	golden ctsim_truth head -n 4 run/truth.csv
	[ "$(grep -c -v '^node[12],[0-9]*,[0-9]*,[0-9]*$' run/truth.csv)" -eq 1 ]
	ends_with 0 ctsync -q run
}

@test "messages of a tiny run" {
	tiny --messages -o run two
	[ "$(cd run && echo ./*)" = './messages.csv ./run.json ./truth.csv' ]
	golden ctsim_messages head -n 6 run/messages.csv
	ends_with 0 ctsync -q --messages run/messages.csv
}

@test "captures of a tiny run" {
	tiny --captures -o run two
	[ "$(cd run && echo ./node1/*)" = './node1/node.json ./node1/node1.pcap' ]
	ends_with 0 ctsync -q run
}

@test "full activity adds what sar samples" {
	tiny --set activity=full --set sample_s=0.4 -o run two
	[ -s run/node2/sar.sadf ]
}

# By the truth, too, a node's clocks read what its clock.csv says.
@test "full activity adds the clocks' readings" {
	printf '%s\n' 'nodes 2' 'seconds 25' 'interval_ms 200' 'activity full' 'drift_ppm 40' \
		'step 2 12 700' >stepped
	ctsim -q -o run stepped
	head -n 1 run/node2/clock.csv | grep -x realtime_ns,monotonic_ns,boottime_ns
	sqlite3 :memory: >judged <<-'END'
		CREATE TABLE truth (node, host_ns INTEGER, mono_ns INTEGER, real_ns INTEGER);
		CREATE TABLE clock (node, real_ns INTEGER, mono_ns INTEGER, boot_ns INTEGER);
		.mode csv
		.import --skip 1 run/truth.csv truth
		.import --skip 1 "|sed s/^/node1,/ run/node1/clock.csv" clock
		.import --skip 1 "|sed s/^/node2,/ run/node2/clock.csv" clock
		CREATE INDEX truth_mono ON truth (node, mono_ns);
		.mode list
		SELECT c.node, count(*), max(abs(c.real_ns - a.real_ns - (c.mono_ns - a.mono_ns))) <= 1,
			max(c.boot_ns <> c.mono_ns)
			FROM clock AS c JOIN truth AS a ON a.node = c.node AND a.mono_ns =
				(SELECT max(mono_ns) FROM truth AS t
				 WHERE t.node = c.node AND t.mono_ns <= c.mono_ns)
			GROUP BY c.node;
	END
	diff -u judged - <<-'END'
		node1|4|1|0
		node2|4|1|0
	END
	ctmerge -q run -o run.db 2>told
	[ "$(grep -c 'no clock.csv' told)" = 0 ]
	grep 'node2/clock.csv: the real-time clock was stepped by 700.000 ms' told
}

# tests/golden/ctanalyze_spans.bats holds them against the traces.
@test "what threads and disks did" {
	tiny --spans --set activity=full -o run two
	[ "$(cut -d , -f 1 run/spans.csv | sort -u | tr '\n' ' ')" = \
		'call disk irq kind preempted run softirq wait ' ]
	tiny --set activity=full -o without two
	cmp run/node1/kernel/ch_0 without/node1/kernel/ch_0
}

# The item and metric of each row of a file's first sample.
first_sample()
{
	awk -F '\t' '!begin { begin = $3 } $3 == begin { print $4 "\t" $5 }' "$1"
}

@test "sar's text has the rows of a recorded one, in its order" {
	tiny --set activity=full --set seconds=3 --set cpus=1 -o run two
	first_sample run/node1/sar.sadf >ours
	first_sample fixtures/net3/node1/sar.sadf | grep -F -x -f ours >recorded
	[ "$(wc -l <ours)" -gt 60 ]
	diff recorded ours
}

@test "one seed is one run, to the byte" {
	for form in '' --messages --captures '--set activity=full'; do
		for name in mixed wrap27; do
			# shellcheck disable=SC2086 # no option, or some
			tiny $form -o one $name
			# shellcheck disable=SC2086
			tiny $form -o two $name
			diff <(digest one) <(digest two)
			# shellcheck disable=SC2086
			tiny $form --seed 8 -o three $name
			ends_with 1 cmp one/truth.csv three/truth.csv
			rm -r one two three
		done
	done
}

@test "the truth is the same in each form" {
	tiny -o traces two
	tiny --messages -o messages two
	tiny --captures -o captures two
	cmp traces/truth.csv messages/truth.csv
	cmp traces/truth.csv captures/truth.csv
}

@test "another reader finds the same stamps, however events begin" {
	local header
	for header in full compact large; do
		tiny --set event_header=$header --set seconds=4 --set interval_ms=5 \
			-o $header wrap27
		babeltrace2 --clock-cycles $header/node1/kernel >$header.text
	done
	[ "$(wc -l <full.text)" -gt 100 ]
	cmp full.text compact.text
	cmp full.text large.text
	grep -q 'size = 27;' compact/node1/kernel/metadata
}

@test "a scenario of one's own, and changes of it" {
	printf '%s\n' '# Three in a row' 'nodes 3' 'topology chain' 'seconds 1' \
		'interval_ms 100 # a few' >own.scenario
	ends_with 0 ctsim -q --messages -o own own.scenario
	grep -q '"summary": "Three in a row"' own/run.json
	[ "$(cut -d , -f 1 own/truth.csv | sort -u | wc -l)" -eq 4 ]
	ends_with 0 ctsim -q --messages --nodes 5 -o five own.scenario
	[ "$(cut -d , -f 1 five/truth.csv | sort -u | wc -l)" -eq 6 ]
}

@test "it says what it wrote, and nothing with -q" {
	ends_with 0 ctsim --set seconds=1 --messages -o said two
	grep -q '^ctsim: [0-9]* messages in [0-9.]* s, [0-9.]* million/s$' "$scratch/stderr"
	ends_with 0 tiny --messages -o quiet two
	[ ! -s "$scratch/stdout" ] && [ ! -s "$scratch/stderr" ]
}

@test "an empty directory is as good as none" {
	mkdir run
	ends_with 0 tiny --messages -o run two
}

@test "nothing to simulate, or nowhere to" {
	local want='ctsim: expected one SCENARIO, a name or a file (--list names them)'
	fails_with 2 "$want" ctsim
	fails_with 2 "$want" ctsim -o run
	fails_with 2 "$want" ctsim two mesh4 -o run
	fails_with 2 'ctsim: missing -o RUN, a directory to make' ctsim two
	fails_with 2 'ctsim: missing -o RUN, a directory to make' ctsim two -o ''
}

@test "options that do not go together" {
	fails_with 2 'ctsim: --messages and --captures cannot be used together' \
		ctsim --messages --captures two -o run
	fails_with 2 'ctsim: --spans cannot be used with --messages or --captures' \
		ctsim --messages --spans clients -o run
	fails_with 2 'ctsim: --spans requires activity full, which two does not have' ctsim --spans two -o run
	fails_with 2 'ctsim: --list and --keys cannot be used together' ctsim --list --keys
	for word in two --output=run --nodes=3 --set=loss=0 --messages --captures --spans; do
		fails_with 2 "ctsim: --list cannot be used with SCENARIO or the options of a run" \
			ctsim --list $word
	done
	[ ! -e run ]
}

@test "unknown options and values that are none" {
	fails_with 2 'ctsim: --nope: unknown option; did you mean --nodes?' ctsim --nope two -o run
	fails_with 2 'ctsim: --seed: missing argument' ctsim two -o run --seed
	fails_with 2 "ctsim: --seed: invalid value '1.5' (expected a whole number)" ctsim --seed 1.5 two -o run
	for word in -1 x '' nan 1e17; do
		fails_with 2 "ctsim: --seed: invalid value '$word' (expected a number from 0 to 9007199254740992)" \
			ctsim --seed="$word" two -o run
	done
	for word in 0 1 -2 1001 2.5 x ''; do
		fails_with 2 "ctsim: --nodes: invalid value '$word' (expected a whole number from 2 to 1000)" \
			ctsim --nodes="$word" two -o run
	done
	[ ! -e run ]
}

@test "an unknown scenario" {
	fails_with 2 "ctsim: unknown scenario 'nope' (expected a name that ctsim --list prints, or a file)" \
		ctsim nope -o run
	fails_with 2 'ctsim: ./nope: No such file or directory' ctsim ./nope -o run
	fails_with 2 'ctsim: .: Is a directory' ctsim . -o run
	printf '# a\nnodes 3\0\n' >zero.scenario
	printf '# a\n\033[2Jnodes 3\n' >escape.scenario
	fails_with 2 'ctsim: zero.scenario: not a scenario (expected a short text file)' ctsim zero.scenario -o run
	fails_with 2 "ctsim: escape.scenario:2: unknown key '\\x1b[2Jnodes' (ctsim --keys lists them)" \
		ctsim escape.scenario -o run
	[ ! -e run ]
}

@test "a broken scenario is told with its line" {
	local line
	while IFS='|' read -r line message; do
		printf '# It is broken\n\n%s\nnodes 2\n' "$line" >broken.scenario
		fails_with 2 "ctsim: broken.scenario:3: $message" \
			ctsim broken.scenario -o run
		fails_with 2 "ctsim: --set: $message" ctsim --set "$line" two -o run
	done <<-'END'
		speed 3|unknown key 'speed' (ctsim --keys lists them)
		nodes|nodes: expected one value
		nodes 0|nodes: invalid value '0' (expected a whole number from 2 to 1000)
		nodes 2 3|nodes: expected one value
		loss half|loss: invalid value 'half' (expected a number from 0 to 0.9)
		gso maybe|gso: invalid value 'maybe' (expected no or yes)
		family 5|family: invalid value '5' (expected 4, 6 or mixed)
		step 1 2|step: expected NODE SECOND MS
		pair 1 1 5|pair: 1 cannot talk to itself
		idle 5 4|idle: 5 is not before 4
		node 1 loss 0.1|node: 'loss' is not a key of a clock
	END
	[ ! -e run ]
}

@test "what contradicts itself is told with the scenario's name" {
	fails_with 2 'ctsim: two: node 3 is named, but there are 2 nodes' \
		ctsim --set 'step 3 1 1' two -o run
	fails_with 2 'ctsim: two: lone: 1 of 2 nodes (2 must exchange messages)' \
		ctsim --set lone=1 two -o run
	fails_with 2 'ctsim: two: pattern: icmp has requests and replies only' \
		ctsim --set protocol=icmp --set pattern=oneway two -o run
	fails_with 2 'ctsim: two: active_from_s: 5 is not before active_to_s 5' \
		ctsim --set active_from_s=5 --set active_to_s=5 two -o run
	fails_with 2 'ctsim: two: nat: all nodes are translated (one must not be)' \
		ctsim --set nat=2 two -o run
	fails_with 2 'ctsim: two: slew: two of node 2 overlap at 5 s' ctsim \
		--set 'slew 2 1 6 500' --set 'slew 1 1 6 500' --set 'slew 2 5 7 -500' two -o run
	fails_with 2 'ctsim: two: clocks may be off by 600000 ppm (limit 250000)' \
		ctsim --set drift_change_ppb_s=1e4 --set seconds=60000 --set drift_ppm=0 two -o run
	[ ! -e run ]
}

@test "where no run can be made" {
	mkdir full && : >full/kept
	fails_with 1 'ctsim: full: not empty; use a new directory' tiny two -o full
	[ "$(ls full)" = kept ]
	: >file
	fails_with 1 'ctsim: file: Not a directory' tiny two -o file
	fails_with 1 'ctsim: none/run: No such file or directory' tiny two -o none/run
	fails_with 1 'ctsim: file/run: Not a directory' tiny two -o file/run
}

@test "a directory that must not be written to" {
	mkdir shut && chmod a-w shut
	[ ! -w shut ] || skip 'who runs this may write anywhere'
	fails_with 1 'ctsim: shut/run: Permission denied' tiny two -o shut/run
	fails_with 1 'ctsim: shut/messages.csv: Permission denied' tiny --messages two -o shut
}

@test "files that cannot be written to their end" {
	# A limit tells a full disk's tale; its signal would end the program.
	cat >limited <<-'END'
		trap '' XFSZ
		ulimit -f 20
		exec ctsim -q two -o run "$@"
	END
	fails_with 1 'ctsim: run/messages.csv: File too large' bash limited --messages
	ends_with 1 bash limited --captures
	grep -x 'ctsim: run/node[12]/node[12].pcap: File too large' "$scratch/stderr"
	ends_with 1 bash limited
	grep -x 'ctsim: run/node[12]/kernel/ch_0: File too large' "$scratch/stderr"
	[ "$(echo *)" = 'datasets fixtures limited' ]
}

@test "a signal leaves no half of a run" {
	mkdir there
	for target in run there; do
		ctsim -q --set seconds=1000 -o $target mesh4 &
		pid=$!
		until [ -n "$(find . -name node4)" ]; do kill -0 "$pid"; done
		kill -TERM "$pid"
		status=0
		wait "$pid" || status=$?
		[ "$status" = 143 ]
	done
	[ "$(echo *)" = 'datasets fixtures there' ] && rmdir there
}

@test "standard output that is full" {
	[ -w /dev/full ] || skip 'there is no /dev/full'
	for option in --list --keys; do
		fails_with 1 'ctsim: standard output: No space left on device' \
			bash -c "ctsim $option >/dev/full"
	done
}
