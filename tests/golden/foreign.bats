#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Timelines from somebody else: what ctmerge does not make is refused, by every program.
load common

setup_file()
{
	CT_TIMELINE=$BATS_FILE_TMPDIR/run.db
	export CT_TIMELINE
	ctmerge -q --begin +10 --end +10.5 "$CT_SOURCE/tests/fixtures/net3" -o "$CT_TIMELINE" 2>/dev/null
	ctsim -q --seed 7 clients --nodes 2 --set seconds=1 --set events=900 -o "$BATS_FILE_TMPDIR/spans"
	ctmerge -q "$BATS_FILE_TMPDIR/spans" -o "$CT_TIMELINE.spans" 2>/dev/null
}

changed()
{
	rm -f run.db
	cp "$CT_TIMELINE" run.db
	chmod u+w run.db
	sqlite3 run.db "$1"
}

# refused_by WHAT PROGRAM...
refused_by()
{
	what=$1
	shift
	for program; do
		# shellcheck disable=SC2086 # words
		ends_with 1 timeout 20 $program run.db
		[ ! -s "$scratch/stdout" ]
		grep -F "run.db: $what; make the timeline again" "$scratch/stderr" || {
			cat "$scratch/stderr"
			return 1
		}
	done
}

# refused WHAT SQL: a timeline that was changed so is refused by all, and at once.
refused()
{
	changed "$2"
	refused_by "$1" 'ctanalyze cpu' 'ctanalyze report' 'ctexport csv --table node' 'ctexport perfetto'
}

# refused_as_read COLUMN SQL PROGRAM...: refused by the programs that read the table, which is long.
refused_as_read()
{
	CT_TIMELINE=$BATS_FILE_TMPDIR/run.db.spans changed "$2"
	what="column '${1#*.}' of table '${1%.*}' has a value of a wrong type or an id that does not resolve"
	shift 2
	refused_by "$what" 'ctanalyze report' "$@"
	ends_with 0 ctanalyze problems run.db
}

@test "views, triggers and tables that ctmerge does not make" {
	refused "view 'node' is not as this version of ctmerge makes it" \
		"ALTER TABLE node RENAME TO n; CREATE VIEW node AS WITH RECURSIVE r (id) AS
		(SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT id, '' AS name FROM r"
	refused "trigger 't' is not one that ctmerge makes" \
		"CREATE TRIGGER t BEFORE INSERT ON node BEGIN SELECT 1; END"
	refused "view 'own' is not one that ctmerge makes" 'CREATE VIEW own AS SELECT 1'
	refused "table 'node' is not as this version of ctmerge makes it" \
		'ALTER TABLE node ADD COLUMN more'
	refused "table 'irq' is missing" 'DROP TABLE irq'
	refused "table 'own' is not one that ctmerge makes" \
		'CREATE TABLE own (size, bytes AS (zeroblob(size))); INSERT INTO own VALUES (1000000000)'
	refused "table 'json_each' is not one that ctmerge makes" 'CREATE TABLE json_each (value)'
	refused "table 'own' is not one that ctmerge makes" 'CREATE VIRTUAL TABLE own USING fts5 (text)'
	changed 'CREATE TABLE own (id INTEGER PRIMARY KEY AUTOINCREMENT, text); CREATE INDEX own_text ON own (text);
		CREATE TABLE keyed (key PRIMARY KEY) WITHOUT ROWID'
	ends_with 0 ctanalyze nodes run.db
	refused "view 'net_dev_queue_v' is not as this version of ctmerge makes it" \
		'DROP VIEW net_dev_queue_v; CREATE VIEW net_dev_queue_v AS SELECT 1 AS id'
}

@test "ids that do not resolve, and values of wrong types" {
	refused "table 'source' has an id that does not resolve" 'UPDATE source SET node = 99 WHERE id = 1'
	refused "table 'recorded' has an id that does not resolve" 'UPDATE recorded SET node = -1'
	refused "table 'recorded' has a value of a wrong type" "UPDATE recorded SET begin_ns = 'then'"
	refused "table 'node' has a value of a wrong type" "UPDATE node SET name = x'6e'"
	refused "table 'event_column' has an unknown type" "UPDATE event_column SET type = 'JSON'"
}

@test "the same in long tables, by the programs that read them" {
	for span in thread_state syscall irq; do
		case $span in
		thread_state) program='ctanalyze cpu' ;;
		syscall) program='ctanalyze syscalls' ;;
		irq) program='ctanalyze irq' ;;
		esac
		for node in 0 77 4294967296 -1 "'x'" 1.5; do
			refused_as_read "$span.node" "UPDATE $span SET node = $node WHERE id = (SELECT max(id) FROM $span)" \
				"$program" 'ctexport perfetto'
		done
		[ "$span" = irq ] || for column in tid begin_ns; do
			refused_as_read "$span.tid or begin_ns" \
				"UPDATE $span SET $column = 'x' WHERE id = (SELECT max(id) FROM $span)" "$program"
		done
	done
	for value in "'x'" "x'00'"; do
		changed "UPDATE event SET ts_ns = $value WHERE id = (SELECT max(id) FROM event)"
		refused_by "column 'ts_ns' of table 'event' has a value of a wrong type or an id that does not resolve" \
			'ctanalyze cpu' 'ctanalyze messages' 'ctanalyze report' 'ctexport perfetto' 'ctexport csv --output tables'
	done
	# Rows of event are too many to resolve their nodes beforehand.
	changed 'UPDATE event SET node = 77 WHERE id = (SELECT max(id) FROM event)'
	ends_with 0 ctexport json -q run.db -o events.json
	[ "$(grep -c '"node":null' events.json)" = 1 ]
	refused_as_read message.src_node 'UPDATE message SET src_node = 77 WHERE id % 3 = 0' \
		'ctanalyze messages' 'ctexport perfetto'
	refused_as_read message.dst_node "UPDATE message SET dst_node = 1.5 WHERE id % 3 = 0" 'ctanalyze messages'
	refused_as_read request.server 'UPDATE request SET server = 77' 'ctanalyze requests'
	refused_as_read request.begin_ns "UPDATE request SET begin_ns = ''" 'ctanalyze requests'
	# An analysis is named once, also by those that ask it.
	changed "UPDATE sample SET value = 'x'"
	ends_with 1 ctanalyze report run.db -o report.html
	grep -F "ctanalyze: report: run.db: column 'value'" "$scratch/stderr"
	# Not read is not refused.
	changed 'UPDATE irq SET node = 77'
	ends_with 0 ctanalyze cpu run.db
}

@test "an event of an unknown node is shown as such" {
	changed 'UPDATE event SET node = 77 WHERE id IN (SELECT id FROM net_dev_queue)'
	ends_with 0 ctanalyze net --format json run.db
	grep -q '"node": null' "$scratch/stdout"
	ends_with 0 ctanalyze periods --from net_dev_queue --to net_dev_queue --format json run.db
	grep -q '"from_node": null' "$scratch/stdout"
}

@test "indexes may be missing" {
	cp "$CT_TIMELINE" run.db
	chmod u+w run.db
	sqlite3 run.db 'DROP INDEX message_send_event'
	ends_with 0 ctanalyze nodes run.db
}
