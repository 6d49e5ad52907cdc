#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Timelines with the least and the greatest numbers there are, where any trace may have put them:
# every analysis and every export ends, and in the build with sanitizers without a finding.
load common

setup_file()
{
	export CT_WHOLE=$BATS_FILE_TMPDIR/whole.db
	cd "$BATS_FILE_TMPDIR" || return
	ctsim -q --seed 3 --set seconds=1 clients -o run
	ctmerge -q run -o "$CT_WHOLE" 2>/dev/null
}

# survives TIMELINE: all of it is answered, or refused with a message.
survives()
{
	local name status
	for name in nodes clocks problems cpu 'cpu --interval 100ms' sched 'sched --log' syscalls irq io mem \
		messages 'messages --log' net requests why critical-path metrics proc report; do
		status=0
		# shellcheck disable=SC2086 # words
		timeout 60 ctanalyze $name "$1" -q -o answer.out 2>talk.txt || status=$?
		[ "$status" -le 1 ] || {
			echo "ctanalyze $name: $status"
			cat talk.txt
			return 1
		}
		rm -f answer.out
	done
	for name in opendc tracekit graphite perfetto; do
		status=0
		timeout 60 ctexport $name "$1" -o exported 2>talk.txt || status=$?
		[ "$status" -le 1 ] || {
			echo "ctexport $name: $status"
			cat talk.txt
			return 1
		}
		rm -rf exported
	done
}

# with SQL: a copy of the whole timeline, changed.
with()
{
	cp "$CT_WHOLE" odd.db
	chmod u+w odd.db
	sqlite3 odd.db "$1"
	survives odd.db
}

least=-9223372036854775808
most=9223372036854775807

@test "events at the ends of time" {
	with "UPDATE event SET ts_ns = $least WHERE id = 1;
		UPDATE event SET ts_ns = $most WHERE id = (SELECT max(id) FROM event);
		UPDATE source SET begin_ns = $least, end_ns = $most;"
}

@test "samples and tasks at the ends of time" {
	with "UPDATE sample SET ts_ns = $least WHERE rowid % 3 = 0; UPDATE sample SET ts_ns = $most WHERE rowid % 3 = 1;
		UPDATE sample SET interval_ns = $most WHERE rowid % 2;
		UPDATE invocation SET enqueue_ns = $least, end_ns = $most;
		INSERT INTO invocation (id, node, pid, name, enqueue_ns, begin_ns, end_ns, status)
			SELECT 900, 1, 900, 'a', $least, $least, $most, 0 UNION SELECT 901, 2, 900, 'b', $most, 0, $most, 0;
		UPDATE process SET begin_ns = $least WHERE id % 2; UPDATE process SET end_ns = $most WHERE id % 3 = 0;"
}

@test "messages and clocks at the ends of time" {
	with "UPDATE message SET send_ns = $least WHERE id % 5 = 0; UPDATE message SET recv_ns = $most WHERE id % 5 = 1;
		UPDATE message SET latency_ns = $most WHERE id % 7 = 0; UPDATE message SET bytes = $most WHERE id % 3 = 0;
		UPDATE clock_bound SET low_ns = $least + 1 WHERE rowid % 2; UPDATE clock_bound SET high_ns = $most - 1;
		UPDATE clock SET ref_ns = $most WHERE source = 2; UPDATE clock SET local_ns = $least WHERE source = 3;
		UPDATE source SET begin_ns = $least WHERE id = 2; UPDATE source SET end_ns = $most WHERE id = 3;"
}

@test "fields of events at the ends of numbers" {
	with "UPDATE block_rq_issue SET nr_sector = $most, sector = $most - 1; UPDATE block_rq_complete SET nr_sector = $most
			WHERE id % 2;
		UPDATE net_dev_queue SET len = $most; UPDATE net_if_receive_skb SET len = $most;
		UPDATE sched_switch SET next_prio = $least, prev_prio = $most, prev_state = $least;
		UPDATE irq_softirq_entry SET vec = $most WHERE id % 2; UPDATE irq_handler_entry SET irq = $least WHERE id % 2;"
}
