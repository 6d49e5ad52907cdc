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
}

# refused WHAT SQL: a timeline that was changed so is refused by all, and at once.
refused()
{
	rm -f run.db
	cp "$CT_TIMELINE" run.db
	chmod u+w run.db
	sqlite3 run.db "$2"
	for program in 'ctanalyze cpu' 'ctanalyze report' 'ctexport csv --table node' \
		'ctexport perfetto'; do
		# shellcheck disable=SC2086 # words
		ends_with 1 timeout 20 $program run.db
		[ ! -s "$scratch/stdout" ]
		grep -F "run.db: $1; make the timeline again" "$scratch/stderr" || {
			cat "$scratch/stderr"
			return 1
		}
	done
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

@test "indexes may be missing" {
	cp "$CT_TIMELINE" run.db
	chmod u+w run.db
	sqlite3 run.db 'DROP INDEX message_send_event'
	ends_with 0 ctanalyze nodes run.db
}
