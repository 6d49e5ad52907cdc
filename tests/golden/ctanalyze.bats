#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctanalyze from outside: its options, formats and bad input.
load common

setup_file()
{
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db
	recorded tests/fixtures/net3 "$CT_NET3"
}

# Outputs contain the path of the timeline, so link it here.
here()
{
	ln -s "$CT_NET3" net3.db
}

@test "help lists the analyses" {
	ends_with 0 ctanalyze --help
	grep -q '^  nodes ' "$scratch/stdout"
	ends_with 0 ctanalyze nodes --help
	grep -q '^ctanalyze nodes: the machines' "$scratch/stdout"
	ends_with 0 ctanalyze --version
}

@test "nodes" {
	here
	golden analyze_nodes ctanalyze nodes net3.db
}

@test "json" {
	here
	golden analyze_nodes.json ctanalyze nodes --format json net3.db
}

@test "csv has one table, and names the others" {
	here
	golden analyze_nodes.csv ctanalyze nodes --format csv --table sources net3.db
	ends_with 0 ctanalyze nodes --format csv net3.db
	[ "$(cat "$scratch/stderr")" = 'ctanalyze: the table nodes; there are also sources, classes, see --table' ]
}

@test "markdown" {
	here
	golden analyze_nodes.md ctanalyze nodes --format markdown --limit 3 net3.db
}

@test "what people read has nothing in it that moves a cursor" {
	cp "$CT_NET3" evil.db
	sqlite3 evil.db "UPDATE node SET hostname = 'a' || char(27) || '[2J' || char(155) || '1m' || char(127) || char(10) || 'b'"
	for format in table markdown; do
		for locale in C C.UTF-8; do
			LC_ALL=$locale ends_with 0 ctanalyze nodes --format $format evil.db
			grep -q 'x1b' "$scratch/stdout"
			if LC_ALL=C grep -a -P '[\x01-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$scratch/stdout"; then return 1; fi
		done
	done
}

@test "order, limit and nodes" {
	here
	golden analyze_nodes_sorted ctanalyze nodes --sort=-events --limit 2 --node 'node[12]' net3.db
}

@test "an output file appears whole" {
	here
	ends_with 0 ctanalyze nodes -o out.txt net3.db
	[ ! -s "$scratch/stdout" ]
	ctanalyze nodes net3.db | diff out.txt -
	fails_with 1 'ctanalyze: nowhere/out.txt: No such file or directory' \
		ctanalyze nodes -o nowhere/out.txt net3.db
}

@test "what cannot be written is a failure" {
	here
	[ -w /dev/full ] || skip 'no /dev/full'
	status=0
	ctanalyze nodes net3.db >/dev/full 2>"$scratch/stderr" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'No space left' "$scratch/stderr"
}

@test "misuse" {
	here
	fails_with 2 'ctanalyze: missing ANALYSIS TIMELINE (see --help)' ctanalyze
	fails_with 2 "ctanalyze: unknown analysis 'noeds'; did you mean 'nodes'?" ctanalyze noeds net3.db
	fails_with 2 'ctanalyze: expected one TIMELINE, got 0 (see --help)' ctanalyze nodes
	fails_with 2 'ctanalyze: --cpu does not apply to nodes; see ctanalyze nodes --help' \
		ctanalyze nodes --cpu 1 net3.db
	fails_with 2 "ctanalyze: --format: invalid value 'xml' (expected table, csv, json or markdown)" \
		ctanalyze nodes --format xml net3.db
	fails_with 2 "ctanalyze: --timerange: invalid value '+1' (expected BEGIN,END)" \
		ctanalyze nodes --timerange +1 net3.db
	fails_with 2 'ctanalyze: --timerange cannot be used with --begin or --end' \
		ctanalyze nodes --timerange +1,+2 --end +3 net3.db
}

@test "what is no timeline" {
	here
	fails_with 1 'ctanalyze: nothing.db: No such file or directory' ctanalyze nodes nothing.db
	: >empty.db
	fails_with 1 'ctanalyze: empty.db: not a timeline (expected a file made by ctmerge)' ctanalyze nodes empty.db
	echo 'not a database, whatever its name says, and long enough for a header of one hundred bytes....' >text.db
	fails_with 1 'ctanalyze: text.db: not a timeline (expected a file made by ctmerge)' ctanalyze nodes text.db
	sqlite3 other.db 'CREATE TABLE t (x)'
	fails_with 1 'ctanalyze: other.db: not a timeline (expected a file made by ctmerge)' ctanalyze nodes other.db
	cp -L net3.db old.db && sqlite3 old.db 'PRAGMA user_version = 99'
	fails_with 1 'ctanalyze: old.db: timeline of version 99 (expected version 3); make it again with ctmerge RUN -o old.db --force' ctanalyze nodes old.db
}

@test "a node, a time, a column that is not there" {
	here
	fails_with 2 "ctanalyze: --node: unknown node 'ndoe1'; did you mean 'node1'?" \
		ctanalyze nodes --node ndoe1 net3.db
	ends_with 2 ctanalyze nodes --begin +1000 net3.db
	grep -q 'nothing between --begin and --end' "$scratch/stderr"
	fails_with 2 "ctanalyze: --sort: unknown column 'evnts'; did you mean 'events'?" \
		ctanalyze nodes --sort evnts net3.db
	fails_with 2 "ctanalyze: --table: unknown table 'node'; did you mean 'nodes'?" \
		ctanalyze nodes --table node net3.db
}

@test "a timeline without anything in it" {
	sqlite3 empty.db <"$CT_SOURCE/lib/timeline/schema.sql"
	ends_with 0 ctanalyze nodes empty.db
	ends_with 0 ctanalyze events empty.db
}

@test "a reader that goes away ends it quietly" {
	here
	# shellcheck disable=SC2016
	ends_with 141 bash -c 'ctanalyze nodes "$1" | false; exit ${PIPESTATUS[0]}' - net3.db
	[ ! -s "$scratch/stderr" ]
}
