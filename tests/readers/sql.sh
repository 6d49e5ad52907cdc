#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# sql.sh SQL-TEXTS [COUNT [SEED]]: texts of SQL that ctanalyze accepts are read as it reads them
# by SQLite and by DuckDB: one statement, with the same strings. COUNT is how many are drawn.
set -eu
texts=$(realpath "$1")
count=${2:-20000}
seed=${3:-1}
. "$(dirname "$0")/scratch.sh"
"$texts" "$count" "$seed" >texts.jsonl
node sql.mjs texts.jsonl "$count"
