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

# turn NAME ITEMS FILE COMMAND...: measure a command that reads ITEMS and may write FILE, and add a
# line to $scratch/turns
turn()
{
	turn_name=$1
	turn_items=$2
	turn_file=$3
	shift 3
	turn_costs=$(cost "$@") || [ $? -eq 3 ] || exit 1 # 3: some node is not tied
	echo "$turn_name,$turn_items,$turn_costs,$(stat -c %s "$turn_file")" >>"$scratch/turns"
}

# print_turns TITLE: the best time, the peak of memory and the last size of what turns of each name
# made; RATIO is that of the items per second to those of the first name
print_turns()
{
	awk -F, -v title="$1" '{
		split($3, cost, " ")
		if (!($1 in items)) { order[++names] = $1; wall[$1] = cpu[$1] = 1e9 }
		items[$1] = $2
		bytes[$1] = $4
		if (cost[1] < wall[$1]) wall[$1] = cost[1]
		if (cost[2] < cpu[$1]) cpu[$1] = cost[2]
		if (cost[3] > kib[$1]) kib[$1] = cost[3]
	} END {
		printf "%-21s %9s %6s %6s %10s %6s %5s %8s\n", "BY", title, "BEST/S", "CPU/S", title "/S",
			"RATIO", "BYTES", "PEAK/MIB"
		for (i = 1; i <= names; i++) {
			name = order[i]
			speed = items[name] / (wall[name] > 0 ? wall[name] : 0.005)
			if (i == 1) first = speed
			printf "%-21s %9d %6.2f %6.2f %10.0f %6.2f %5.1f %8.1f\n", name, items[name],
				wall[name], cpu[name], speed, speed / first, bytes[name] / items[name],
				kib[name] / 1024
		}
	}' "$scratch/turns"
}
