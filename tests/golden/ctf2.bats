#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Traces in CTF 2: everything is as in CTF 1.8.
load common

# A timeline as text, but for what was typed and where the traces lie
timeline() {
	ctmerge -q "$@" -o "$1.db"
	sqlite3 -readonly "$1.db" .dump | grep -v "^INSERT INTO \(meta\|source\|problem\) "
}

@test "a recorded run in both formats is one timeline" {
	mkdir one
	cp -R fixtures/net3/node2 fixtures/net3/node3 one
	cp -R one two
	cp fixtures/ctf2/json/metadata two/node3/kernel/metadata
	timeline one >one.sql
	timeline two >two.sql
	grep -c '^INSERT INTO event VALUES' one.sql
	cmp one.sql two.sql
}

# The scenario that follows, in the file `small`
small() {
	printf '%s\n' 'nodes 2' 'seconds 15' 'topology chain' 'activity full' 'interval_ms 150' \
		'delay_us 50' 'jitter_us 50' 'messages 100' 'events 4000' >small
}

@test "a simulated run in both formats is one timeline" {
	local seed=${CT_SEED:-$RANDOM}
	echo "seed: CT_SEED=$seed"
	small
	for format in ctf1.8 ctf2 ctf2-lttng; do
		ctsim -q --seed "$seed" --format $format small -o $format
		rm $format/*/sar.sadf # it has no sample in so short a time
		timeline $format >$format.sql
	done
	[ "$(grep -c '^INSERT INTO event VALUES' ctf1.8.sql)" -gt 100 ]
	cmp ctf1.8.sql ctf2-lttng.sql
	cmp ctf1.8.sql ctf2.sql
}

@test "a corrected trace is on the reference clock" {
	small
	ctsim -q --seed 7 --format ctf2-lttng small -o run
	ctsync -q run --apply out
	ends_with 0 ctsync --json out
	grep '"quality": "\(accurate\|exact\)"' "$scratch/stdout"
	for metadata in out/*/metadata; do
		grep -a '"accuracy": *[0-9]' "$metadata"
		grep -a '"precision": *[0-9]' "$metadata"
	done
}

@test "an extension is an error that names it" {
	cp -R fixtures/net3/node3/kernel bad
	printf '\036{"type": "preamble", "version": 2, "extensions": {"my.tracer": {"piano": {}}}}' >bad/metadata
	fails_with 1 'ctsync: bad/metadata: fragment 1: preamble: unknown extension piano of my.tracer' \
		ctsync -t bad -t fixtures/net3/node1 -t fixtures/net3/node2
}
