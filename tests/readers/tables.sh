#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tables.sh: ctexport's parquet and csv of the recorded run, and what ctmerge --parquet
# writes of it, read back by programs that others wrote.
set -eu
. "$(dirname "$0")/scratch.sh"
ctmerge -q --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" -o run.db 2>/dev/null
ctmerge -q --begin +10 --end +15 "$CT_SOURCE/tests/fixtures/net3" --parquet events 2>/dev/null
ctexport parquet run.db -o parquet
ctexport parquet --timestamps utc --codec snappy --row-group 1000 -j 1 run.db -o utc
ctexport parquet --partition node,class --codec none run.db -o part
ctexport csv run.db -o csv

# Every type, and columns of several: what comes says what they are.
set -- --query "SELECT 1 AS i, 2 AS r, 'x' AS t, x'00ff' AS b, NULL AS n, 9007199254740993 AS i
	UNION ALL SELECT -9223372036854775808, 0.1, 5, 'text', NULL, 0.5
	UNION ALL SELECT NULL, NULL, 2.0, 7, NULL, NULL"
ctexport parquet "$@" run.db -o query.parquet
ctexport csv "$@" run.db >query.csv

# A query without rows: columns have the types with which they were declared, and expressions
# those that SQLite knows.
ctexport parquet --query "SELECT m.id, m.send_ns, t.node, c.rate_ppb, m.bytes / 2 AS half,
	CAST(m.bytes AS INTEGER) AS whole, m.src || ':' || m.sport AS text FROM message AS m
	JOIN timeline AS t ON t.id = m.send_event JOIN clock AS c ON c.source = m.send_source WHERE 0" run.db -o empty.parquet
node tables.mjs run.db .
