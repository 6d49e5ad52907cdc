#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The timeline as text.
load common

setup_file()
{
	CT_SAMPLE=$BATS_FILE_TMPDIR/sample.db
	export CT_SAMPLE
	recorded datasets/sample "$CT_SAMPLE"
}

# Print the columns after the times.
behind_times()
{
	sed 's/^\[[^]]*\] ([^)]*) //'
}

@test "a node's events are what babeltrace2 prints" {
	babeltrace2 datasets/sample/node1/kernel | behind_times |
		grep -E '^node1 (sched_waking|sched_wakeup|sched_wakeup_new|sched_process_exit|irq_softirq_[a-z]*|irq_handler_exit):' >theirs
	ctanalyze events --node node1 --events 'sched_wak*,sched_process_exit,irq_softirq_*,irq_handler_exit' "$CT_SAMPLE" |
		behind_times >ours
	[ "$(wc -l <theirs)" -gt 10000 ]
	diff theirs ours
}

@test "every event is there, in order, with its time" {
	ctanalyze events "$CT_SAMPLE" -o all
	[ "$(wc -l <all)" -eq "$(sqlite3 "$CT_SAMPLE" 'SELECT count(*) FROM event')" ]
	sed 's/^\[\([^]]*\)\].*/\1/' all | sort -c
	# The steps between the lines add up.
	sed -n 's/^[^(]*(+\([0-9]*\)\.\([0-9]*\)).*/\1\2/p' all | awk '{ sum += $1 } END { printf "%.0f\n", sum }' >sum
	sqlite3 "$CT_SAMPLE" 'SELECT max(ts_ns) - min(ts_ns) FROM event' | diff - sum
}

@test "a timeline alone" {
	golden overview ctanalyze "$CT_SAMPLE"
	ctanalyze overview "$CT_SAMPLE" | diff - "$CT_EXPECT/overview"
	fails_with 2 "ctanalyze: unknown analysis 'cpuu'; did you mean 'cpu'?" ctanalyze cpuu
	fails_with 1 'ctanalyze: datasets: not a timeline (expected a file made by ctmerge)' ctanalyze datasets
}

@test "filters" {
	golden events_packets ctanalyze events --node 'node[23]' --events 'pack*' --limit 3 "$CT_SAMPLE"
	ctanalyze events --tid 176 --begin +50 --end +52 "$CT_SAMPLE" >part
	[ "$(wc -l <part)" -eq "$(sqlite3 "$CT_SAMPLE" "WITH o AS (SELECT min(least) AS t FROM (SELECT min(ts_ns) AS least FROM event
			UNION ALL SELECT min(ts_ns) FROM sample UNION ALL SELECT min(send_ns) FROM message
			UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)) FROM invocation))
		SELECT count(*) FROM event, o WHERE tid = 176 AND ts_ns BETWEEN t + 50000000000 AND t + 52000000000")" ]
	[ -s part ]
	fails_with 2 "ctanalyze: --events: unknown class 'nosuch'; see ctanalyze nodes --table classes" \
		ctanalyze events --events nosuch "$CT_SAMPLE"
	fails_with 2 'ctanalyze: expected one TIMELINE, got 0 (see --help)' ctanalyze events
}

# A name in a trace ends no line, and no text.
@test "what stands in a trace moves no cursor" {
	cp "$CT_SAMPLE" odd.db
	sqlite3 odd.db "UPDATE sched_waking SET comm = 'a\"b\\' || char(10) || char(27) || 'c' WHERE id = (SELECT min(id) FROM sched_waking)"
	ctanalyze events --events sched_waking --limit 1 odd.db >line
	grep -qF 'comm = "a\"b\\\x0a\x1bc", tid' line
	[ "$(wc -l <line)" -eq 1 ]
}
