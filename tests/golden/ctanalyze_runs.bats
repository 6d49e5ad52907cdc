#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctanalyze over several runs, with analyses in SQL, and with pictures.
load common

# Four runs: two seeds of two settings.
setup_file()
{
	local seed us
	cd "$BATS_FILE_TMPDIR" || return
	for seed in 1 2; do
		for us in 300 2000; do
			ctsim -q --seed "$seed" --set seconds=2 --set service_us="$us" clients \
				-o "run-$seed-$us"
			ctmerge -q "run-$seed-$us" -o "run-$seed-$us.db" 2>/dev/null
		done
	done
}

runs()
{
	ln -s "$BATS_FILE_TMPDIR"/run-* .
}

@test "compare: settings and their repetitions" {
	runs
	golden analyze_compare ctanalyze compare messages --node node2 --measure '*p50_ns' run-*.db
	golden analyze_compare_two ctanalyze compare net --table pairs --measure 'bytes' \
		--format csv run-1-300.db run-2-300.db
}

# The mean and the difference are what awk makes of the runs themselves.
@test "compare: the numbers" {
	runs
	for run in run-*.db; do
		ctanalyze messages --table pairs --format csv "$run" | tr -d '\r' |
			awk -F, -v run="$run" '$1 == "node1" && $2 == "node3" { print run, $6 }'
	done >each
	ctanalyze compare messages --measure mean_ns --format csv run-*.db | tr -d '\r' |
		awk -F, '$1 == "node1" && $2 == "node3" { print $5, $6, $7, $11 }' >compared
	awk 'FNR == NR { split($1, part, "[-.]"); sum[part[3]] += $2; next }
	{
		mean = sum[$1] / 2
		if ($2 != 2 || ($3 - mean) ^ 2 > 1e-6) exit 1
		if ($1 == 300 && ($4 - (mean - sum[2000] / 2)) ^ 2 > 1e-6) exit 1
		seen++
	}
	END { exit seen != 2 }' each compared
}

@test "compare: runs of one name and one file name" {
	mkdir a b
	ctmerge -q --no-sync --events net_dev_queue fixtures/net3 -o a/run.db 2>/dev/null
	cp a/run.db b/run.db
	ctanalyze compare nodes --measure events --table nodes --format csv a/run.db b/run.db |
		tr -d '\r' | cut -d , -f 6 | sort -u >names
	diff -u names - <<-'END'
		a/run.db
		b/run.db
		run
	END
}

# A load, twice, and with a disk that is slow for four seconds; once for all tests.
faulty_runs()
{
	local scenario=$CT_SOURCE/datasets/simulate/scenarios/faults/slow-disk.scenario seed
	if [ ! -e "$BATS_FILE_TMPDIR/faulty" ]; then
		mkdir "$BATS_FILE_TMPDIR/faulty"
		grep -v '^disk' "$scenario" >good.scenario
		for seed in 1 2; do
			ctsim -q --seed "$seed" good.scenario -o "good$seed"
			ctmerge -q "good$seed" -o "$BATS_FILE_TMPDIR/faulty/good$seed.db" 2>/dev/null
		done
		ctsim -q --seed 3 "$scenario" -o slow
		ctmerge -q slow -o "$BATS_FILE_TMPDIR/faulty/slow.db" 2>/dev/null
		ctmerge -q --no-spans slow -o "$BATS_FILE_TMPDIR/faulty/spanless.db" 2>/dev/null
	fi
	ln -s "$BATS_FILE_TMPDIR"/faulty/*.db .
}

@test "compare: what changed, and what is noise" {
	faulty_runs
	ctanalyze compare --table changes --format csv slow.db good1.db | tr -d '\r' | cut -d , -f 1-5 >found
	[ "$(sed -n 2p found)" = disks,node2,vda,mean,ns ]
	[ "$(grep -c ^disks found)" -ge 3 ]
	! grep -vE '^(kind|disks,node2|sar,node2)' found || return 1
	# The other way round it is the same, with the other sign.
	ctanalyze compare --table changes --format csv good1.db slow.db | tr -d '\r' | cut -d , -f 1-5 | diff found -
	# Another seed is no change.
	for pair in 'good1.db good2.db' 'good2.db good1.db'; do
		# shellcheck disable=SC2086
		ctanalyze compare $pair >same
		[ "$(grep -c "^nothing changed beyond the runs' own noise: 1[0-9][0-9] numbers were compared$" same)" = 1 ]
		! grep -q 'What changed' same || return 1
	done
	# Several runs of a kind; how much they differ is then known.
	ctanalyze compare slow.db --against good1.db --against good2.db >several
	[ "$(grep -c '^before' several)" = 2 ]
	grep -q 'disks.* vda' several
	! grep -q 'one run of each' several || return 1
}

@test "compare: what a run has not recorded is unknown" {
	faulty_runs
	ctanalyze compare slow.db spanless.db >unknown
	grep -x 'disks, interrupts, processes, processors, waiting: not recorded in spanless.db, so not compared' unknown
	! ctanalyze compare --table changes --format csv slow.db spanless.db | grep -E '^(processes|disks|waiting|processors)' || return 1
	fails_with 1 'ctanalyze: nothing.db: No such file or directory' ctanalyze compare slow.db --against nothing.db
	fails_with 1 'ctanalyze: nothing.db: No such file or directory' ctanalyze report slow.db --against nothing.db -o page.html
	[ ! -e page.html ]
	fails_with 2 'ctanalyze: --against does not apply to nodes; see ctanalyze nodes --help' ctanalyze nodes --against good1.db slow.db
}

@test "report --against: what changed, and the map before" {
	faulty_runs
	ctanalyze report -q slow.db --against good1.db -o page.html
	sed -n '/<section id="against">/,/<\/section>/p' page.html >section
	grep -q '<h2>Against good1.db</h2>' section
	grep -q '>disks</th>' section
	page_data page.html | sed -n 's/^"before"://p' | head -n 1 | grep -q '{"file":"good1.db","span":'
	ctanalyze report -q slow.db -o alone.html
	! grep -q 'id="against"' alone.html || return 1
	page_data alone.html | grep -qx '"before":null,'
}

@test "compare: what it cannot" {
	runs
	fails_with 1 'ctanalyze: expected ANALYSIS and two timelines or more' \
		ctanalyze compare nodes run-1-300.db
	fails_with 2 "ctanalyze: unknown analysis 'node'; did you mean 'nodes'?" \
		ctanalyze compare node run-1-300.db run-2-300.db
	fails_with 1 'ctanalyze: all cannot be compared' \
		ctanalyze compare all run-1-300.db run-2-300.db
	fails_with 2 "ctanalyze: --table: nodes has no table 'node'" \
		ctanalyze compare nodes --table node run-1-300.db run-2-300.db
	fails_with 1 'ctanalyze: nothing.db: No such file or directory' \
		ctanalyze compare nodes run-1-300.db nothing.db
	fails_with 2 'ctanalyze: --cpu does not apply to nodes' \
		ctanalyze compare nodes --cpu 1 run-1-300.db run-2-300.db
}

@test "all: runs are merged and analyzed, one that is broken is told" {
	cp -r "$BATS_FILE_TMPDIR/run-1-300" a
	cp -r "$BATS_FILE_TMPDIR/run-2-300" b
	cp "$BATS_FILE_TMPDIR/run-2-300.db" b/run.db
	mkdir -p broken
	ends_with 1 ctanalyze all a broken b --format csv
	tr -d '\r' <"$scratch/stdout" | cut -d, -f1-3 | diff - <(printf '%s\n' \
		run,timeline,merged a,a/run.db,yes broken,broken/run.db,no 'b,b/run.db,was there')
	tr -d '\r' <"$scratch/stdout" | grep -q '^broken,.*,not merged; see the messages above$'
	grep -q '^ctmerge: broken' "$scratch/stderr"
	[ ! -e broken/run.db ]
	ctanalyze messages a/run.db --format csv --table pairs | cmp - a/analysis/messages.pairs.csv
	[ -s b/analysis/nodes.nodes.csv ]
	[ ! -e broken/analysis ]
}

# The trace of one node is cut: the rest is analyzed, and the loss told again the next time.
@test "all: a run that was merged in part is told of each time" {
	cp -r "$BATS_FILE_TMPDIR/run-1-300" a
	rm -f a/run.db
	truncate -s 40 a/node1/kernel/metadata
	ends_with 1 ctanalyze all a --format csv
	tr -d '\r' <"$scratch/stdout" | grep -q '^a,a/run.db,yes,.*some input could not be read; see the messages above$'
	ends_with 1 ctanalyze all a --format csv
	tr -d '\r' <"$scratch/stdout" |
		grep -q '^a,a/run.db,was there,.*some input could not be read when it was merged; see ctanalyze problems$'
	[ -s a/analysis/nodes.nodes.csv ]
}

# As ctcollect writes it of a recipe, with a list of one pair each and of names alone.
@test "metrics: what a recipe calls an interface" {
	cp -r "$BATS_FILE_TMPDIR/run-1-300" a
	rm -f a/run.db
	cat >recipe.yaml <<-END
		name: aliases
		username: root
		hosts: [node1]
		net_interfaces: [eth0: wire, eth1]
		filesystem_names: [vda: system]
	END
	ctrecipe json recipe.yaml >a/run.json
	ctmerge -q a -o a.db 2>/dev/null || [ "$?" = 3 ]
	ctanalyze metrics --metric 'rxkB/s,wkB/s' --format csv a.db | tr -d '\r' >said
	grep -q ',wire,' said
	grep -q ',system,' said
	[ "$(grep -c 'eth0' said)" = 0 ]
	# Only what it names is drawn, as docs/recipe.md says.
	sed 's/eth0: wire, eth1/eth9/' recipe.yaml >other.yaml
	ctrecipe json other.yaml >a/run.json
	ctmerge -q a --force -o a.db 2>/dev/null || [ "$?" = 3 ]
	ctanalyze metrics --metric 'rxkB/s,wkB/s' a.db >said
	grep -q system said
	[ "$(grep -c eth0 said)" = 0 ]
	grep -qF "1 disks and interfaces that the recipe does not name are left out (--item '*' shows them)" said
	ctanalyze metrics --item '*' --metric 'rxkB/s' a.db | grep -q eth0
	ends_with 0 ctanalyze metrics --plot plots a.db
	[ -s plots/disk/system_read.svg ] && [ ! -e plots/network ]
}

@test "all: timelines, and a directory for what comes out" {
	runs
	ends_with 0 ctanalyze all -o out run-1-300.db --format json
	for name in nodes clocks problems messages net mem proc metrics; do
		node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' \
			"out/run-1-300/$name.json" || [ ! "$(command -v node)" ]
		[ -s "out/run-1-300/$name.json" ]
	done
	ends_with 1 ctanalyze all nothing
	grep -q 'No such file or directory' "$scratch/stdout"
	: >taken
	ends_with 1 ctanalyze all -o taken run-1-300.db
	grep -q 'taken/run-1-300: Not a directory' "$scratch/stdout"
}

# A file of the user's, from standard input.
sql()
{
	cat >"$1.sql"
}

@test "an analysis in SQL" {
	runs
	mkdir own
	sql own/busy <<-'END'
		-- A comment may say anything: even with a colon
		-- name: busy
		-- summary: which threads came in how often
		-- description: Counts what sched_switch brings in.
		--   Idle is left out.
		-- column comm: text, THREAD
		-- column share_percent: %, SHARE
		-- sort: -times
		-- limit: 3
		SELECT next_comm AS comm, count(*) AS times,
		       100.0 * count(*) / sum(count(*)) OVER () AS share_percent
		FROM sched_switch JOIN event USING (id)
		WHERE next_tid <> 0 AND ts_ns BETWEEN :begin_ns AND :end_ns
		      AND node IN (SELECT id FROM chosen_node)
		GROUP BY 1
	END
	golden analyze_sql ctanalyze --sql own busy --node node1 run-1-300.db
	golden analyze_sql ctanalyze --sql=own/busy.sql --node node1 run-1-300.db
	golden analyze_sql_help ctanalyze --sql own busy --help
	ends_with 0 ctanalyze --sql own --help
	grep -q '^  busy  *which threads' "$scratch/stdout"
	ends_with 0 ctanalyze compare busy --sql own run-1-300.db run-1-2000.db
	grep -q '^worker .*2000' "$scratch/stdout"
	fails_with 2 'ctanalyze: --min does not apply to busy; see ctanalyze busy --help' \
		ctanalyze busy --sql own --min 1 run-1-300.db
}

@test "SQL with a mistake" {
	runs
	sql a <<-'END'
		-- name: a
		SELECT 1
		FROM nowhere
	END
	fails_with 1 'ctanalyze: a.sql:3: no such table: nowhere' ctanalyze --sql a.sql run-1-300.db
	printf 'SELECT 1,\n\n  nowhat FROM node' >b.sql
	fails_with 1 'ctanalyze: b.sql:3: no such column: nowhat' ctanalyze --sql b.sql run-1-300.db
	printf 'SELECT 1;\nDROP TABLE node' >c.sql
	fails_with 1 "ctanalyze: c.sql:2: a second statement; add a line '-- table NAME: TITLE' before it" \
		ctanalyze --sql c.sql run-1-300.db
	printf 'DELETE FROM node' >d.sql
	fails_with 1 'ctanalyze: d.sql:1: the statement writes (expected a SELECT)' \
		ctanalyze --sql d.sql run-1-300.db
	printf '\n-- nmae: x\nSELECT 1' >e.sql
	fails_with 1 "ctanalyze: e.sql:2: unknown key 'nmae'; did you mean 'name'?" \
		ctanalyze --sql e.sql run-1-300.db
	printf -- '-- column x: furlong\nSELECT 1' >f.sql
	ends_with 1 ctanalyze --sql f.sql run-1-300.db
	grep -q "^ctanalyze: f.sql:1: unknown unit 'furlong' (expected text" "$scratch/stderr"
	printf 'SELECT :seconds' >g.sql
	ends_with 1 ctanalyze --sql g.sql run-1-300.db
	grep -q '^ctanalyze: g.sql: unknown parameter :seconds (expected :begin_ns' "$scratch/stderr"
	printf -- '-- name: nodes\nSELECT 1' >h.sql
	fails_with 1 "ctanalyze: h.sql: duplicate analysis 'nodes'; choose another name" \
		ctanalyze --sql h.sql run-1-300.db
	: >i.sql
	fails_with 1 'ctanalyze: i.sql: no statement (expected a SELECT)' \
		ctanalyze --sql i.sql run-1-300.db
	mkdir none
	fails_with 1 'ctanalyze: none: contains no file NAME.sql' ctanalyze --sql none nodes run-1-300.db
	fails_with 1 'ctanalyze: nowhere: No such file or directory' \
		ctanalyze --sql nowhere nodes run-1-300.db
	head -c 100 /dev/zero >j.sql
	fails_with 1 'ctanalyze: j.sql: contains a NUL byte (expected text)' ctanalyze --sql j.sql run-1-300.db
}

# The last test of tests/readers/asked.sh has the answers.
@test "one file of SQL, without a timeline" {
	printf -- '-- name: own\nSELECT count(*) AS n FROM node' >own.sql
	ends_with 0 ctanalyze --sql own.sql --print-sql=duckdb
	grep -q 'FROM node' "$scratch/stdout"
	fails_with 1 'ctanalyze: tables: No such file or directory' ctanalyze --tables tables --sql own.sql
	fails_with 1 'ctanalyze: tables: No such file or directory' ctanalyze --tables tables --sql own.sql own
	fails_with 2 'ctanalyze: missing ANALYSIS TIMELINE (see --help)' ctanalyze --sql own.sql
}

@test "pictures" {
	runs
	ends_with 0 ctanalyze metrics --plot plots --alias eth0=wire run-1-300.db
	find plots -type f | sort | diff - <(printf 'plots/%s.svg\n' cpu/iowait cpu/utilization \
		disk/vda_read disk/vda_utilization disk/vda_write memory/utilization network/wire_in \
		network/wire_out)
	grep -q '<title>node4</title>' plots/cpu/utilization.svg
	: >taken
	fails_with 1 'ctanalyze: taken: Not a directory' \
		ctanalyze metrics --plot taken run-1-300.db
	fails_with 2 "ctanalyze: --alias: invalid value 'eth0' (expected NAME=ALIAS)" \
		ctanalyze metrics --alias eth0 run-1-300.db
}

# Names from a trace must not get out of the directory.
@test "pictures of odd names" {
	runs
	cp -L run-1-300.db odd.db
	sqlite3 odd.db "UPDATE node SET name = 'a''; set output ''../away'; UPDATE metric_item
		SET name = '../\`touch away\`' WHERE name = 'eth0'"
	ends_with 0 ctanalyze metrics --plot plots odd.db
	[ "$(find plots -name '*.svg' -size +1k | wc -l)" = 8 ]
	[ -s plots/network/_.__touch_away__in.svg ]
	[ ! -e away ] && [ ! -e ../away ]
}

@test "pictures of the user's SQL" {
	runs
	local columns="'n' AS node, 5 AS ts_ns, 1 AS interval_ns, 2 AS value"
	columns="'a' AS title, 'u' AS unit, 1 AS top, '' AS item, '' AS alias, $columns FROM chosen_metric"
	printf '%s\n' '-- name: own' '-- table plots: P' '-- when: plot' "SELECT 'my/own' AS file, $columns;" \
		'-- table other: O' 'SELECT 1 AS one;' >own.sql
	ends_with 0 ctanalyze --sql own.sql own --plot plots run-1-300.db
	[ "$(find plots -type f)" = plots/my/own.svg ]
	sed -i "s,my/own,../own," own.sql
	fails_with 1 'ctanalyze: table plots: row 1: wrong type (expected FOLDER/NAME as file, an integer as ts_ns, and texts)' \
		ctanalyze --sql own.sql own --plot plots run-1-300.db
	sed -i 's/AS file, .* FROM/AS file FROM/' own.sql
	fails_with 1 'ctanalyze: table plots: columns are file (expected file title unit top item alias node ts_ns interval_ns value)' \
		ctanalyze --sql own.sql own --plot plots run-1-300.db
	sed -i 's/plots: P/shown: P/' own.sql
	fails_with 1 'ctanalyze: --plot: own has no table plots' \
		ctanalyze --sql own.sql own --plot plots run-1-300.db
	[ ! -e own.svg ] && [ "$(find plots -type f)" = plots/my/own.svg ]
}
