# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Functions of ./accuracy, ./merge, ./perfetto and the others, which source this file.
source=$(cd "$(dirname "$0")/../.." && pwd)

# build_bench TARGET...: build in $CT_BUILD, or in build-bench/ of the source tree
build_bench()
{
	build=${CT_BUILD:-$source/build-bench}
	{
		cmake -S "$source" -B "$build" &&
			cmake --build "$build" --parallel "$(nproc)" --target "$@"
	} >/dev/null
	PATH=$build/bin:$build/tests/bench:$PATH
}

# cost COMMAND...: discard its standard output, and print "SECONDS CPU_SECONDS KIB"
cost()
{
	cost_status=0
	/usr/bin/time -q -f '%e %U %S %M' -o "${scratch:?}/cost" "$@" >/dev/null || cost_status=$?
	awk '{ printf "%.2f %.2f %d\n", $1, $2 + $3, $4 }' "$scratch/cost"
	return $cost_status
}
