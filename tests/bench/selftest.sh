#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# sh selftest.sh ACCURACY: the benches notice what is wrong.
set -eu
accuracy=$1
run=$CT_SOURCE/tests/fixtures/net3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die()
{
	printf '%s\n' "$*"
	exit 1
}

# A clock that is a millisecond off, which is more than the bounds allow.
for node in node1 node2; do
	mkdir "$scratch/$node"
	ln -s "$run/$node/kernel" "$scratch/$node/kernel"
done
awk -F, -v OFS=, '$1 == "node2" { $3 = sprintf("%.0f", $3 + 1000000) } { print }' \
	"$run/truth.csv" >"$scratch/truth.csv"
if "$accuracy" "$scratch" >"$scratch/out" 2>&1; then
	die 'a clock that is 1 ms off went unnoticed'
fi
grep -q ' 1003 of 1003$' "$scratch/out" || die "want 1003 misses: $(cat "$scratch/out")"

# Rows that go back in time have no line between them.
sed -n 5p "$run/truth.csv" >>"$scratch/truth.csv"
"$accuracy" "$scratch" 2>&1 | grep -q 'truth.csv:1[0-9]*: want node,host_ns' ||
	die 'a truth.csv that goes back in time went unnoticed'
