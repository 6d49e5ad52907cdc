#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# timelines.sh BUILD [COUNT [SEED [FINDINGS]]]: timelines from somebody else, by hand. BUILD is
# the build tree with sanitizers. COUNT (2000) times, a value or an object of a timeline is
# changed by SQL, and every analysis, the report or an export reads it, in turn several of them.
# A finding is an exit status above 3: a signal, a report of a sanitizer, or 60 s. The
# statement and the command are kept in FINDINGS.
set -eu
build=$(cd "$1" && pwd)
count=${2:-2000}
seed=${3:-1}
findings=${4:-$PWD/timelines-findings}
source=$(cd "$(dirname "$0")/../.." && pwd)
sample=$source/datasets/sample/node1
PATH=$build/bin:$PATH
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1:detect_leaks=0
export UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export LC_ALL=C TZ=UTC
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here"

ctsim -q --seed 7 clients --nodes 2 --set seconds=1 --set begin_s=1795333000 --set events=900 -o run
for file in proc.csv sensors.csv invocations.jsonl clock.csv; do
	head -n 40 "$sample/$file" >"run/node1/$file"
done
head -n 300 "$sample/sar.sadf" >run/node1/sar.sadf
ctmerge -q run -o run.db || :
# Tables of which the scenario has no rows.
sqlite3 run.db "INSERT INTO invocation SELECT 900 + id, node, pid, comm, begin_ns, begin_ns,
	end_ns, 0, id, NULL FROM process LIMIT 3"

sqlite3 run.db "SELECT m.name || ' ' || c.name FROM sqlite_schema AS m
	JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'
	AND m.name IN (SELECT name FROM sqlite_schema) ORDER BY m.rowid, c.cid" |
	while read -r table column; do
		[ "$(sqlite3 run.db "SELECT count(*) FROM \"$table\"")" -eq 0 ] || echo "$table $column"
	done >columns
ctanalyze --help | awk '/^Analyses/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }' |
	grep -vxE 'all|compare|report' >analyses
{
	while read -r name; do
		echo "ctanalyze -q $name m.db"
	done <analyses
	echo 'ctanalyze -q critical-path --request 1 m.db'
	echo 'ctanalyze -q metrics --plot pictures m.db'
	echo 'ctanalyze -q cpu --interval 100ms --node n* m.db'
	for format in graphite tracekit json parquet opendc; do
		echo "ctexport $format -q m.db -o out.$format"
	done
} >others

# statement NUMBER: a change, of those that the seed and the number give.
statement()
{
	awk -v seed="$seed" -v number="$1" '
	function pick(list,  item) { return item[1 + int(rand() * split(list, item, "|"))] }
	{ column[NR] = $0 }
	END {
		srand((seed * 1000003 + number * 7919) % 2147483647) # awk may take all larger ones for one
		for (i = 0; i < 20; i++)
			rand()
		values = "NULL|-1|0|1|2|99|4294967296|9223372036854775807|-9223372036854775808|" \
			"1e300|-0.5|\047x\047|\047\047|x\047ff00\047|" \
			"\047a\342\200\256b\033[2J\047|hex(zeroblob(35000))|random()"
		if (rand() < 0.06) {
			split(column[1 + int(rand() * NR)], c, " ")
			print pick("DROP TABLE \"" c[1] "\"|" \
				"CREATE TRIGGER t AFTER INSERT ON \"" c[1] "\" BEGIN SELECT 1; END|" \
				"ALTER TABLE \"" c[1] "\" RENAME TO was; CREATE VIEW \"" c[1] "\" AS WITH " \
				"RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT id FROM r|" \
				"DELETE FROM \"" c[1] "\"|ALTER TABLE \"" c[1] "\" ADD COLUMN more|" \
				"CREATE TABLE own (a)")
			exit
		}
		split(column[1 + int(rand() * NR)], c, " ")
		value = rand() < 0.1 ? "\"" c[2] "\" + 1000000000" : pick(values)
		some = pick("|| WHERE random() % 3 = 0| WHERE random() % 20 = 0")
		print "UPDATE OR IGNORE \"" c[1] "\" SET \"" c[2] "\" = " value some
	}' columns
}

# try COMMAND: a finding where it ends badly.
try()
{
	calls=$((calls + 1))
	status=0
	# shellcheck disable=SC2086 # words without quotes
	timeout -k 5 60 $1 >said 2>&1 </dev/null || status=$?
	[ "$status" -gt 3 ] || return 0
	found=$((found + 1))
	mkdir -p "$findings"
	{
		printf 'status %d of: %s\n%s\n' "$status" "$1" "$change"
		cat said
	} >"$findings/$number"
	printf '%d: status %d of %s: %s\n' "$number" "$status" "$1" "$change"
}

others=$(wc -l <others)
calls=0 found=0 number=0 refused=0
while [ "$number" -lt "$count" ]; do
	number=$((number + 1))
	change=$(statement "$number")
	cp run.db m.db
	sqlite3 m.db "PRAGMA ignore_check_constraints = ON; $change" 2>/dev/null || :
	ctanalyze -q nodes m.db >/dev/null 2>&1 || refused=$((refused + 1))
	try 'ctanalyze -q report m.db -o out.html'
	try 'ctexport perfetto -q m.db -o out.perfetto'
	try 'ctexport csv -q m.db -o out.csv'
	for step in 1 2 3; do
		try "$(sed -n "$(((number * 3 + step) % others + 1))p" others)"
	done
	rm -rf out.* pictures
done
left=$(find . -name '*.unfinished-*' | wc -l)
echo "$count timelines, $refused refused; $calls calls, $found findings, $left temporaries left"
[ "$found" -eq 0 ] && [ "$left" -eq 0 ]
