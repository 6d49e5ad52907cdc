#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# duckdb_parquet.sh PARQUET-DUMP [SEED...]: our reader of Parquet on what DuckDB wrote.
set -eu
dump=$1
shift
modules=$CT_SOURCE/build-node/node_modules
if [ ! -d "$modules" ] || ! command -v node >/dev/null; then
	echo "no DuckDB in $modules, want those that ./check installs"
	exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$CT_SOURCE/tests/readers/duckdb_parquet.mjs" "$scratch"
ln -s "$modules" "$scratch/node_modules"
[ $# -gt 0 ] || set -- 1 2 3 4 6 7 "$(od -A n -t u2 -N 2 /dev/urandom | tr -d ' ')"
echo "seeds: $*"
cd "$scratch"
node duckdb_parquet.mjs "$dump" "$@"
