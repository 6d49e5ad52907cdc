#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# parquet.sh PARQUET-RANDOM [SEED...]: random columns and rows, read back by two
# programs that others wrote. A seed that failed is given again to repeat it.
set -eu
random=$1
shift
modules=$CT_SOURCE/build-node/node_modules
if [ ! -d "$modules" ] || ! command -v node >/dev/null; then
	echo "no readers in $modules, want those that ./check installs"
	exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The script looks for the readers beside itself.
cp "$CT_SOURCE/tests/readers/parquet.mjs" "$scratch"
ln -s "$modules" "$scratch/node_modules"
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # words
	set -- $(seq 1 20) $(od -A n -t u4 -N 20 /dev/urandom)
fi
echo "seeds: $*"
for seed; do
	[ "$seed" -ne 0 ] || continue
	"$random" "$seed" "$scratch/seed-$seed"
done
cd "$scratch"
node parquet.mjs seed-*.parquet
