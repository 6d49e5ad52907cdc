#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# asked.sh: ctanalyze --tables answers from tables of a whole run, and of its nodes, what
# it answers from the timeline. A script stands in for the program duckdb if there is none. With --all, by
# hand: each analysis with each group, of both; else each once.
set -eu
asked=${1:-}
. "$(dirname "$0")/scratch.sh"
run=$CT_SOURCE/datasets/sample
ctsync -q "$run" -o clocks.json --messages-out messages || [ $? -eq 3 ]
ctmerge -q "$run" --clocks clocks.json -o run.db || [ $? -eq 3 ]
ctexport parquet run.db -o "it's [a] *whole*?"
for directory in "$run"/*/; do
	node=$(basename "$directory")
	set --
	[ ! -e "messages/$node.messages" ] || set -- --messages "messages/$node.messages"
	ctmerge -q "$run" --node "$node" --clocks clocks.json "$@" --part "parts/$node" ||
		[ $? -eq 3 ]
done
ctmerge -q --join -o joined parts/*

# refuse STATUS WORDS ARGUMENT...: it ends so, and says so.
refuse()
{
	status=0
	want=$1
	words=$2
	shift 2
	ctanalyze -q "$@" >out 2>err || status=$?
	if [ $status -ne "$want" ] || [ -s out ] || ! grep -qF -- "$words" err; then
		echo "ctanalyze $*: status $status, want $want and '$words'"
		cat err
		exit 1
	fi
}
whole="it's [a] *whole*?"
mkdir none bin
ln -s "$(command -v ctanalyze)" none
path=$PATH
PATH=$PWD/none:/usr/bin:/bin
command -v duckdb >/dev/null ||
	refuse 1 "no program 'duckdb' in PATH; install it" --tables "$whole" cpu
PATH=$path
if command -v duckdb >/dev/null; then
	ln -s "$(command -v duckdb)" bin
else
	printf '#!/bin/sh\nexec node "%s" "$@"\n' "$scratch/duckdb.mjs" >bin/duckdb
	chmod +x bin/duckdb
fi
cp "$CT_SOURCE/tests/readers/duckdb.mjs" .
PATH=$PWD/bin:$PATH
refuse 2 'report is not in SQL' --tables "$whole" report
refuse 2 '--tables cannot be used with a timeline' --tables "$whole" cpu run.db
refuse 2 '--plot cannot be used with --tables' --tables "$whole" metrics --plot plots
refuse 1 "missing table 'node'" --tables parts cpu
refuse 1 'No such file' --tables nowhere cpu
mkdir odd
ln -s "$PWD/$whole"/*.parquet odd
echo no >broken
rm -f odd/thread_state.parquet
ln -s "$PWD/broken" odd/thread_state.parquet
refuse 1 'duckdb: ' --tables odd sched
node asked.mjs "$CT_SOURCE/analyze/queries" run.db "$whole" joined "$asked"
[ "$(ctanalyze -q --tables joined cpu --begin +0.2 --end +0.6 --node 'n*')" = \
	"$(ctanalyze -q cpu --begin +0.2 --end +0.6 --node 'n*' run.db)" ]
# A class of user space is a table whose file has another name.
cp "$whole/node.parquet" 'joined/app%3Awork.parquet'
printf '%s\n' '-- name: own' '-- summary: a class' '-- table rows: Rows' 'SELECT count(*) AS n FROM "app:work";' >own.sql
[ "$(ctanalyze -q --tables joined --sql own.sql --format csv | tr -d "\r")" = "$(printf 'n\n%s' "$(sqlite3 run.db 'SELECT count(*) FROM node')")" ]
# Files of SQL come from anybody: nothing in them runs, reads or writes anything but the tables.
sql()
{
	printf '%s\n' '-- table own: Own' "$1;" >odd.sql
}
sql "SELECT \$\$'\$\$ AS x;
.shell touch run
--' AS y"
refuse 1 'odd.sql:2: a character' --tables joined --sql odd.sql
sql "SELECT '
.shell touch run
' AS x"
ctanalyze -q --tables joined --sql odd.sql --format csv | grep -x '.shell touch run'
sql "SELECT * FROM read_text('$PWD/own.sql')"
refuse 1 'a function or a file cannot be used as a table' --tables joined --sql odd.sql
sql "SELECT * FROM \"$PWD/node.csv\""
echo 1 >node.csv
refuse 1 'a function or a file cannot be used as a table' --tables joined --sql odd.sql
sql "SELECT getenv('HOME')"
refuse 1 "cannot be used (expected a SELECT of tables)" --tables joined --sql odd.sql
for statement in "COPY node TO '$PWD/run'" "ATTACH '$PWD/run'" 'SET threads = 1' 'INSTALL httpfs' 'CREATE TABLE t AS SELECT 1 AS x'; do
	sql "$statement"
	refuse 1 "cannot be used (expected a SELECT of tables)" --tables joined --sql odd.sql
done
[ ! -e run ]
