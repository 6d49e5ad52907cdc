#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Numbers of ctanalyze from a kernel's events, against what that kernel itself counted in the
# same time: sar's samples, and the processor time of processes. docs/analyses.md tells where
# the differences come from.
load common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	ctsim -q --seed 5 --set seconds=8 clients -o simulated
	ctmerge -q simulated -o simulated.db 2>/dev/null
	recorded datasets/sample sample.db
}

# windows TIMELINE: "NODE BEGIN END", from the first to the last of sar's samples that lie
# within what was traced.
windows()
{
	sqlite3 -separator ' ' "$1" "WITH traced AS (SELECT node, max(end_ns) AS end_ns, min(begin_ns) AS begin_ns
			FROM source WHERE kind = 'kernel' GROUP BY node)
		SELECT n.name, min(s.ts_ns - s.interval_ns), max(s.ts_ns) FROM sample AS s
		JOIN metric AS m ON m.id = s.metric AND m.name = '%idle'
		JOIN node AS n ON n.id = s.node JOIN traced AS t ON t.node = s.node
		WHERE s.ts_ns <= t.end_ns AND s.ts_ns - s.interval_ns >= t.begin_ns GROUP BY n.id"
}

# sampled TIMELINE NODE BEGIN END ITEM METRIC...: means over the time there.
sampled()
{
	local metric names=
	for metric in "${@:6}"; do
		names="$names${names:+, }'$metric'"
	done
	sqlite3 "$1" "SELECT total(mean) FROM (SELECT sum(s.value * s.interval_ns) / sum(s.interval_ns) AS mean
		FROM sample AS s JOIN metric AS m ON m.id = s.metric JOIN metric_item AS i ON i.id = s.item
		JOIN node AS n ON n.id = s.node WHERE n.name = '$2' AND i.name = '$5' AND m.name IN ($names)
		AND s.ts_ns <= $4 AND s.ts_ns - s.interval_ns >= $3 GROUP BY m.id)"
}

# said TIMELINE NODE BEGIN END COLUMN WORD...: a column's sum over a table's rows.
said()
{
	ctanalyze "${@:6}" --node "$2" --begin "$3" --end "$4" --limit 0 --format csv "$1" |
		tr -d '\r' | awk -F, -v name="$5" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		NR > 1 { sum += $column }
		END { if (!column) exit 1; printf "%.6f\n", sum }'
}

# near WHAT A B LEAST MOST: A - B lies between the two.
near()
{
	echo "$1: $2, $3"
	awk -v a="$2" -v b="$3" -v least="$4" -v most="$5" 'BEGIN { exit !(a - b >= least && a - b <= most) }'
}

# rates WHAT A B SHARE: of two rates one is not more than SHARE off the other.
rates()
{
	echo "$1: $2, $3"
	awk -v a="$2" -v b="$3" -v share="$4" 'BEGIN { exit !(b > 0 && a >= b * (1 - share) && a <= b * (1 + share)) }'
}

@test "idle processors, disks and network of simulated kernels" {
	cd "$BATS_FILE_TMPDIR"
	[ "$(windows simulated.db | wc -l)" = 4 ]
	windows simulated.db | while read -r node begin end; do
		set -- simulated.db "$node" "$begin" "$end"
		idle=$(said "$@" idle_ns cpu --table nodes)
		near "$node idle %" "$(sampled "$@" all %idle %iowait)" \
			"$(awk -v ns="$idle" -v span=$((2 * (end - begin))) 'BEGIN { print 100 * ns / span }')" -2 2
		seconds=$(awk -v span=$((end - begin)) 'BEGIN { print span / 1e9 }')
		bytes=$(said "$@" bytes io --stats --table disks)
		rates "$node disk kB/s" "$(sampled "$@" vda rkB/s wkB/s)" \
			"$(awk -v bytes="$bytes" -v s="$seconds" 'BEGIN { print bytes / 1024 / s }')" 0.06
		bytes=$(said "$@" sent_bytes net --table interfaces)
		rates "$node sent kB/s" "$(sampled "$@" eth0 txkB/s)" \
			"$(awk -v bytes="$bytes" -v s="$seconds" 'BEGIN { print bytes / 1024 / s }')" 0.06
	done
}

# Interrupts of a busy host come late to its machines. There the kernel's ticks tell too
# little of what is busy.
@test "idle processors and network of recorded kernels" {
	cd "$BATS_FILE_TMPDIR"
	[ "$(windows sample.db | wc -l)" = 3 ]
	windows sample.db | while read -r node begin end; do
		set -- sample.db "$node" "$begin" "$end"
		near "$node idle %" "$(sampled "$@" all %idle %iowait)" \
			"$(awk -v ns="$(said "$@" idle_ns cpu --table nodes)" -v span=$((end - begin)) \
				'BEGIN { print 100 * ns / span }')" 0 10
		rates "$node sent kB/s" "$(sampled "$@" eth0 txkB/s)" \
			"$(awk -v bytes="$(said "$@" sent_bytes_per_second net --table interfaces)" \
				'BEGIN { print bytes / 1024 }')" 0.04
	done
}

# proc.csv has what the scheduler itself charged each process, in steps of 10 ms for both its
# user and its system time.
@test "processor time of recorded processes" {
	cd "$BATS_FILE_TMPDIR"
	sqlite3 -separator ' ' sample.db "WITH p AS (SELECT s.node, i.name, s.ts_ns, sum(s.value) AS ns
			FROM sample AS s JOIN metric AS m ON m.id = s.metric JOIN metric_item AS i ON i.id = s.item
			WHERE m.activity = 'process' AND m.name IN ('utime', 'stime') GROUP BY 1, 2, 3)
		SELECT n.name, substr(p.name, 1, instr(p.name, ' ') - 1), min(ts_ns), max(ts_ns),
			(max(ns) - min(ns)) / 1e6
		FROM p JOIN node AS n ON n.id = p.node GROUP BY p.node, p.name
		HAVING max(ns) - min(ns) >= 2e8" >charged
	[ "$(wc -l <charged)" -ge 3 ]
	ctanalyze metrics --table processes --format csv --limit 0 sample.db | tr -d '\r' >processes.csv
	while read -r node pid begin end ms; do
		[ "$(awk -F, -v ms="$ms" -v who="^$pid " -v node="$node" '$1 == node && $2 ~ who { print $5 == ms * 1e6 }' processes.csv)" = 1 ]
		ns=$(said sample.db "$node" "$begin" "$end" cpu_ns cpu --group process --table processes --pid "$pid")
		near "$node $pid ms" "$(awk -v ns="$ns" 'BEGIN { print ns / 1e6 }')" "$ms" \
			"$(awk -v ms="$ms" 'BEGIN { print -20 - ms * 0.08 }')" \
			"$(awk -v ms="$ms" 'BEGIN { print 20 + ms * 0.08 }')"
	done <charged
}
