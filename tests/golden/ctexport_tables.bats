#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctexport csv and parquet: tables, questions, partitions, and what they refuse.
load common

setup_file()
{
	CT_TIMELINE=$BATS_FILE_TMPDIR/run.db
	CT_USER=$BATS_FILE_TMPDIR/user.db
	export CT_TIMELINE CT_USER
	ctmerge -q --events net_dev_queue --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" \
		-o "$CT_TIMELINE" 2>/dev/null
	ctmerge -q --no-sync "$CT_SOURCE/tests/fixtures/ust" -o "$CT_USER" 2>/dev/null
}

csv()
{
	ctexport csv "$CT_TIMELINE" "$@"
}

count()
{
	sqlite3 -readonly "$CT_TIMELINE" "SELECT count(*) FROM $1"
}

files()
{
	(cd "$1" && find . -type f | sort | xargs)
}

@test "every table has a file" {
	ends_with 0 csv -o out
	[ "$(files out | tr ' ' '\n' | sed 's|./\(.*\)\.csv|\1|' | grep -v ctexport)" = \
		"$(sqlite3 -readonly "$CT_TIMELINE" "SELECT name FROM sqlite_master
			WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")" ]
	[ "$(wc -l <out/event.csv)" = "$(($(count event) + 1))" ]
}

@test "one table, some tables, a view" {
	golden ctexport_node.csv csv --table node
	ends_with 0 csv --table node --table source -o out
	[ "$(files out)" = './.ctexport ./node.csv ./source.csv' ]
	golden ctexport_view.csv csv --table net_dev_queue_v --begin +0.5 --end +0.52 \
		--node 'node[23]' --timestamps iso
	golden ctexport_timeline.csv csv --table timeline --begin +0.5 --end +0.52
}

@test "a part of the timeline is a part of each table" {
	ends_with 0 csv --begin +0.5 --end +1 --node node2 -o out
	local range='ts_ns BETWEEN (SELECT min(ts_ns) + 500000000 FROM event)
		AND (SELECT min(ts_ns) + 1000000000 FROM event)'
	[ "$(wc -l <out/event.csv)" = "$(($(count "event WHERE node = 2 AND $range") + 1))" ]
	[ "$(wc -l <out/net_dev_queue.csv)" = "$(($(count "net_dev_queue_v WHERE node = 'node2'
		AND $range") + 1))" ]
	[ "$(wc -l <out/event.csv)" -gt 10 ]
	[ "$(sed 1d out/node.csv | cut -d , -f 2)" = node2 ]
	ends_with 2 csv --node nobody --table node
	fails_with 2 'ctexport: --query cannot be used with --begin, --end or --node' \
		csv --node node1 --query 'SELECT 1'
}

@test "questions" {
	ends_with 0 csv --query "SELECT 1 AS a, NULL, '', 'x,\"y\"', x'0aff', 0.1, 1e999, -1.0, ' '"
	printf 'a,NULL,%s\r\n1,,"","x,""y""",0aff,0.1,inf,-1.0," "\r\n' \
		"'',\"'x,\"\"y\"\"'\",x'0aff',0.1,1e999,-1.0,' '" | diff - "$scratch/stdout"
	ends_with 1 csv --query 'DELETE FROM event'
	grep -q '(expected a SELECT)$' "$scratch/stderr"
	ends_with 1 csv --query 'SELECT 1; SELECT 2'
	ends_with 1 csv --query 'SELECT * FROM nowhere'
	grep -q 'no such table: nowhere$' "$scratch/stderr"
	ends_with 2 csv --query 'SELECT ?1'
	grep -q 'cannot have parameters' "$scratch/stderr"
	ends_with 1 csv --query "ATTACH 'x.db' AS x"
	grep 'not a single statement (expected a SELECT)' "$scratch/stderr"
	[ ! -e x.db ]
}

@test "names of tables" {
	fails_with 2 "ctexport: --table: unknown table 'nod'; did you mean 'node'?" csv --table nod
	fails_with 2 "ctexport: --table: unknown table '\"; DROP TABLE node; --' (expected one of meta, node, source, clock, clock_bound, clock_pair, event_class, event_column, event, message, message_observation, thread_state, ...)" \
		csv --table '"; DROP TABLE node; --'
	ends_with 0 ctexport csv "$CT_USER" -o out
	[ -s out/app%3Awork.csv ]
}

@test "what cannot be together" {
	fails_with 2 'ctexport: --query and --table cannot be used together' \
		csv --query 'SELECT 1' --table node
	fails_with 2 'ctexport: missing --output DIR' csv
	fails_with 2 'ctexport: --force applies only to output directories' \
		csv --table node --force
	fails_with 2 "ctexport: --timestamps: invalid value 'x' (expected ns or iso)" csv --timestamps x
	fails_with 2 "ctexport: --partition: invalid key of events 'cpu' (expected node or class)" \
		csv --partition cpu -o out
	fails_with 2 "ctexport: --partition: duplicate key 'node'" csv --partition node,node -o out
	fails_with 2 "ctexport: --codec: invalid value 'gzip' (expected zstd, snappy or none)" \
		ctexport parquet "$CT_TIMELINE" --codec gzip -o out
	fails_with 2 'ctexport: --level requires --codec zstd' \
		ctexport parquet "$CT_TIMELINE" --codec none --level 3 -o out
	# shellcheck disable=SC2016
	ends_with 2 script -qec "ctexport parquet $CT_TIMELINE --table node" /dev/null
	grep -q 'standard output is a terminal' "$scratch/stdout"
}

@test "events by node and class" {
	ends_with 0 csv --partition node,class -o out
	[ "$(files out)" = "./.ctexport ./node=node1/class=net_dev_queue/part-0.csv \
./node=node2/class=net_dev_queue/part-0.csv ./node=node3/class=net_dev_queue/part-0.csv" ]
	[ "$(cat out/*/*/* | wc -l)" = "$(($(count event) + 3))" ]
	[ "$(head -c 18 out/node=node1/class=net_dev_queue/part-0.csv)" = id,ts_ns,cpu,tid,s ]
	ends_with 0 csv --partition class -o other
	[ "$(files other)" = './.ctexport ./class=net_dev_queue/part-0.csv' ]
	[ "$(head -c 17 other/class=net_dev_queue/part-0.csv)" = id,ts_ns,node,cpu ]
	ends_with 0 ctexport csv "$CT_USER" --partition class -o user
	[ "$(files user)" = './.ctexport ./class=app%3Awork/part-0.csv' ]
}

@test "events without fields" {
	ends_with 0 ctmerge -q --no-payload --begin +10 --end +11 fixtures/net3 -o run.db
	ends_with 0 ctexport csv run.db --partition class,node -o out
	[ "$(find out -name '*.csv' | wc -l)" = "$(sqlite3 run.db \
		'SELECT count(*) FROM (SELECT DISTINCT node, class FROM event)')" ]
	[ "$(cat out/*/*/* | grep -vc ^id)" = "$(sqlite3 run.db 'SELECT count(*) FROM event')" ]
	[ "$(cat out/*/*/* | head -n 1)" = "$(printf 'id,ts_ns,cpu,tid\r')" ]
}

@test "any columns as keys" {
	ends_with 0 csv --partition k,j -o out --query "SELECT 'a/b' AS k, 1 AS j, 7 AS v
		UNION ALL SELECT NULL, 2, 8 UNION ALL SELECT '', 2.5, 9 UNION ALL SELECT '..', 3, 10
		UNION ALL SELECT 'a/b', 1, 11"
	[ "$(files out)" = "./.ctexport ./k=%2E./j=3/part-0.csv \
./k=__HIVE_DEFAULT_PARTITION__/j=2.5/part-0.csv ./k=__HIVE_DEFAULT_PARTITION__/j=2/part-0.csv \
./k=a%2Fb/j=1/part-0.csv" ]
	[ "$(tr -d '\r' <out/k=a%2Fb/j=1/part-0.csv | xargs)" = 'v 7 11' ]
	fails_with 2 "ctexport: --partition: unknown column 'z'" \
		csv --partition z --query 'SELECT 1 AS a' -o bad
	fails_with 2 'ctexport: --partition: all columns are keys; leave one for the files' \
		csv --partition a --query 'SELECT 1 AS a' -o bad
	# More keys than files may be open at a time: the files that had to be closed go on in
	# further parts, and no row is lost.
	ends_with 0 csv --partition k --query "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL
		SELECT i + 1 FROM n WHERE i < 999) SELECT i % 50 AS k, i FROM n" -o many
	[ "$(find many -name '*.csv' | wc -l)" = 1000 ]
	[ "$(cat many/*/* | grep -c '^[0-9]')" = 1000 ]
	ends_with 0 csv --partition k --query "SELECT 1 AS k, 2 AS v LIMIT 0" -o none
	grep -q '^ctexport: none: no row, so no file$' "$scratch/stderr"
}

@test "a directory that is not empty" {
	mkdir out
	echo mine >out/mine
	fails_with 1 'ctexport: out: not empty; use an empty directory or --force' csv -o out
	ends_with 0 csv --table node --table source -o out --force
	[ "$(files out)" = './.ctexport ./mine ./node.csv ./source.csv' ]
	ends_with 0 csv --table node --table clock -o out --force
	[ "$(files out)" = './.ctexport ./clock.csv ./mine ./node.csv' ]
	[ "$(cat out/mine)" = mine ]
	fails_with 1 'ctexport: out/mine: Not a directory' \
		csv -o out/mine
}

@test "a full disk leaves a directory as it was" {
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 1 bash -c 'ulimit -f 20; exec ctexport csv "$1" -o out' - "$CT_TIMELINE"
	grep -q '^ctexport: [a-z_]*.csv: File too large$' "$scratch/stderr"
	[ ! -e out ]
	ends_with 0 csv --table node --table clock -o out
	# shellcheck disable=SC2016
	ends_with 1 bash -c 'ulimit -f 20; exec ctexport parquet --codec none "$1" -o out --force' \
		- "$CT_TIMELINE"
	[ "$(files out)" = './.ctexport ./clock.csv ./node.csv' ]
	[ "$(find . -name '*ctexport.*' | wc -l)" = 0 ]
}

@test "texts that are no UTF-8 are told" {
	cp "$CT_TIMELINE" bad.db
	chmod u+w bad.db
	sqlite3 bad.db "UPDATE node SET hostname = CAST(x'61ff62' AS TEXT)"
	ends_with 0 ctexport parquet bad.db --table node -o node.parquet
	grep -q '^ctexport: bad.db: 3 texts are not UTF-8' "$scratch/stderr"
}

@test "a value that fits no number's column is told" {
	cp "$CT_TIMELINE" bad.db
	chmod u+w bad.db
	sqlite3 bad.db "UPDATE sample SET value = 'text' WHERE rowid = 5"
	fails_with 1 "ctexport: bad.db: column 'value' of table 'sample' has a value of a wrong type or an id that does not resolve; make the timeline again with ctmerge RUN -o FILE --force" \
		ctexport parquet bad.db --table sample -o s.parquet
	[ ! -e s.parquet ]
}

@test "a signal leaves nothing" {
	local endless='WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)'
	for signal in INT TERM HUP; do
		for delay in 0.05 0.5; do
			# A shell lets what it starts behind & ignore SIGINT. Without -k a test
			# that fails would not end.
			if timeout -k 60 -s $signal $delay ctexport csv "$CT_TIMELINE" -o new \
				--partition k --query "$endless SELECT i % 9 AS k, i FROM n"; then
				return 1
			fi
			[ "$(find . -mindepth 1 | sort | xargs)" = './datasets ./fixtures' ]
		done
	done
	if timeout -k 60 -s TERM 0.5 ctexport csv "$CT_TIMELINE" \
		--query "$endless SELECT i FROM n" >file; then
		return 1
	fi
	[ -f file ] && [ ! -s file ]
}

@test "values of a column that are not of one type" {
	rows="SELECT 'a' AS t, 1 AS n, 0.5 AS r UNION ALL SELECT x'ff00fe', 2, NULL
		UNION ALL SELECT 'b', 'two', 1.5"
	for format in parquet csv; do
		ends_with 0 ctexport $format "$CT_TIMELINE" --query "$rows" -o mixed.$format
		[ ! -s "$scratch/stderr" ]
	done
	tail -n 2 mixed.csv | tr -d '\r' | xargs | grep -x 'ff00fe,2, b,two,1.5'
	# Rows of it, not only the file.
	[ "$(grep -a -c two mixed.parquet)" -gt 0 ]
}
