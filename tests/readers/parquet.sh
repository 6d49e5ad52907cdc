#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# parquet.sh PARQUET-RANDOM [SEED...]: random columns and rows, read back by two
# programs that others wrote. A seed that failed is given again to repeat it.
set -eu
random=$1
shift
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/scratch.sh"
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # words
	set -- $(seq 1 20) $(od -A n -t u4 -N 20 /dev/urandom)
fi
echo "seeds: $*"
for seed; do
	[ "$seed" -ne 0 ] || continue
	"$random" "$seed" "seed-$seed"
done
node parquet.mjs seed-*.parquet
