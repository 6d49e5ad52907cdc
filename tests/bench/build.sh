# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# What ./accuracy, ./merge, ./perfetto and the others share; to be sourced by
# them. Builds in $CT_BUILD, or in build-bench/ of the source tree.
source=$(cd "$(dirname "$0")/../.." && pwd)

build_bench()
{
	build=${CT_BUILD:-$source/build-bench}
	{
		cmake -S "$source" -B "$build" &&
			cmake --build "$build" --parallel "$(nproc)" --target ctanalyze \
				ctexport ctmerge ctsync ctsim bench-accuracy bench-analyze \
				bench-cluster \
				bench-merge bench-messages bench-opendc \
				bench-parquet bench-perfetto bench-scenarios bench-speed \
				bench-threads
	} >/dev/null
	PATH=$build/bin:$build/tests/bench:$PATH
}
