/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told_spans.h"

/* As LTTng records them: RWBS_... of disks.c. */
enum { WRITES = 1, DISCARDS = 2, READS = 4, FLUSHES = 256, PREFLUSHES = 1024 };

SPAN_TEST(a_request_is_queued_issued_and_completed)
{
	disk_at(INSERT, 100, 64, 8, READS, 5);
	disk_at(ISSUE, 120, 64, 8, READS, 6); /* another thread may issue it */
	disk_at(COMPLETE, 200, 64, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 100-200 issued 120 by 5\n");
}

SPAN_TEST(operations_have_names)
{
	const struct cell cells[] = {INTEGER(8), INTEGER(64),
				     INTEGER(8), made_text("RWBS_FLAG_WRITE"),
				     INTEGER(6), INTEGER(0)};

	made_event(ISSUE, 120, 0, 9, cells);
	made_event(COMPLETE, 200, 0, 9, cells);
	assert_told(DISKS, "1/8 write 64+8 120-200 issued 120 by 6\n");
}

/* A device without a scheduler queues nothing. */
SPAN_TEST(a_request_may_be_issued_at_once)
{
	disk_at(ISSUE, 120, 64, 8, WRITES, 6);
	disk_at(ISSUE, 130, 72, 8, DISCARDS, 6);
	disk_at(COMPLETE, 200, 64, 8, WRITES, 0);
	disk_at(COMPLETE, 210, 72, 8, DISCARDS, 0);
	assert_told(DISKS, "1/8 write 64+8 120-200 issued 120 by 6\n"
			   "1/8 discard 72+8 130-210 issued 130 by 6\n");
}

SPAN_TEST(queued_requests_are_merged_into_one)
{
	disk_at(INSERT, 100, 72, 8, WRITES, 5);
	disk_at(INSERT, 110, 64, 8, WRITES, 6);
	disk_at(INSERT, 115, 80, 8, WRITES, 7);
	disk_at(INSERT, 117, 88, 8, READS, 8);  /* the other way */
	disk_at(INSERT, 118, 96, 8, WRITES, 9); /* elsewhere */
	disk_at(ISSUE, 120, 64, 24, WRITES, 6);
	disk_at(COMPLETE, 200, 64, 24, WRITES, 0);
	assert_told(DISKS, "1/8 write 64+24 100-200 issued 120 merged 2 by 5\n"
			   "1/8 read 88+8 117-1000... by 8\n"
			   "1/8 write 96+8 118-1000... by 9\n");
}

SPAN_TEST(a_request_may_be_completed_in_parts)
{
	disk_at(ISSUE, 100, 64, 24, READS, 5);
	disk_at(COMPLETE, 150, 64, 8, READS, 0);
	disk_at(COMPLETE, 200, 72, 16, READS, 0);
	assert_told(DISKS, "1/8 read 64+24 100-200 issued 100 by 5\n");
}

SPAN_TEST(a_requeued_request_is_issued_again)
{
	disk_at(INSERT, 100, 64, 8, READS, 5);
	disk_at(ISSUE, 110, 64, 8, READS, 5);
	disk_at(REQUEUE, 120, 64, 8, READS, 5);
	disk_at(ISSUE, 150, 64, 8, READS, 5);
	disk_at(COMPLETE, 200, 64, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 100-200 issued 150 by 5\n");
}

/* A flush has no sectors; one before a write ends for itself, and then with the write. */
SPAN_TEST(flushes_have_no_sectors)
{
	disk_at(INSERT, 100, 0, 0, FLUSHES, 5);
	disk_at(ISSUE, 110, 0, 0, FLUSHES, 5);
	disk_at(COMPLETE, 200, -1, 0, FLUSHES, 0);
	disk_at(ISSUE, 300, 64, 8, WRITES | PREFLUSHES, 6);
	disk_at(COMPLETE, 400, 64, 8, WRITES | PREFLUSHES, 0);
	disk_at(COMPLETE, 410, 64, 0, WRITES | PREFLUSHES, 0);
	assert_told(DISKS, "1/8 flush 0+0 100-200 issued 110 by 5\n"
			   "1/8 write 64+8 300-400 issued 300 by 6\n");
}

SPAN_TEST(a_completion_without_a_begin_is_cut)
{
	switch_at(40, 0, 0, 0, 5);
	disk_at(COMPLETE, 150, 64, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 ...40-150 by -1\n");
}

/* The same sectors twice: the end of the first was lost. */
SPAN_TEST(a_request_whose_end_was_lost_is_cut)
{
	disk_at(INSERT, 100, 64, 8, READS, 5);
	disk_at(INSERT, 300, 64, 8, READS, 6);
	disk_at(ISSUE, 310, 64, 8, READS, 6);
	disk_at(COMPLETE, 400, 64, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 100-300... by 5\n"
			   "1/8 read 64+8 300-400 issued 310 by 6\n");
}

/* The older one of two on their way with the same sector ends first. */
SPAN_TEST(two_requests_of_one_sector_end_in_their_order)
{
	disk_at(ISSUE, 100, 64, 8, READS, 5);
	disk_at(ISSUE, 110, 64, 8, READS, 6);
	disk_at(COMPLETE, 200, 64, 8, READS, 0);
	disk_at(COMPLETE, 210, 64, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 100-200 issued 100 by 5\n"
			   "1/8 read 64+8 110-210 issued 110 by 6\n");
}

/* Their completions stay with those that follow. */
SPAN_TEST(a_lost_completion_shifts_no_other)
{
	disk_at(ISSUE, 100, 64, 8, WRITES, 5);
	for (int i = 2; i <= 4; i++) {
		disk_at(ISSUE, 100 * i, 64, 8, WRITES, 5);
		disk_at(COMPLETE, 100 * i + 1, 64, 8, WRITES, 0);
	}
	assert_told(DISKS, "1/8 write 64+8 100-200... issued 100 by 5\n"
			   "1/8 write 64+8 200-201 issued 200 by 5\n"
			   "1/8 write 64+8 300-301 issued 300 by 5\n"
			   "1/8 write 64+8 400-401 issued 400 by 5\n");
}

SPAN_TEST(two_lost_completions_shift_no_other)
{
	disk_at(ISSUE, 100, 64, 8, WRITES, 5);
	disk_at(ISSUE, 150, 64, 8, WRITES, 6);
	disk_at(ISSUE, 200, 64, 8, WRITES, 7);
	disk_at(COMPLETE, 210, 64, 8, WRITES, 0);
	assert_told(DISKS, "1/8 write 64+8 100-150... issued 100 by 5\n"
			   "1/8 write 64+8 150-200... issued 150 by 6\n"
			   "1/8 write 64+8 200-210 issued 200 by 7\n");
}

/* It is in flight up to the next issue on its sector, or nobody knows how long. */
SPAN_TEST(another_operation_ends_a_lost_one)
{
	disk_at(ISSUE, 100, 64, 8, WRITES, 5);
	disk_at(ISSUE, 200, 64, 8, READS, 5);
	disk_at(COMPLETE, 201, 64, 8, READS, 0);
	disk_at(ISSUE, 300, 72, 8, WRITES, 5);
	disk_at(COMPLETE, 301, 72, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 200-201 issued 200 by 5\n"
			   "1/8 read 72+8 ...100-301 by -1\n"
			   "1/8 write 64+8 100-200... issued 100 by 5\n"
			   "1/8 write 72+8 300-1000... issued 300 by 5\n");
}

/* A read-ahead beside a write, and reads of two sizes: none of them is lost. */
SPAN_TEST(requests_of_two_kinds_on_one_sector_are_told_apart)
{
	disk_at(ISSUE, 100, 64, 8, WRITES, 5);
	disk_at(ISSUE, 110, 64, 8, READS, 6);
	disk_at(COMPLETE, 120, 64, 8, READS, 0);
	disk_at(COMPLETE, 150, 64, 8, WRITES, 0);
	disk_at(ISSUE, 200, 64, 24, READS, 5);
	disk_at(ISSUE, 210, 64, 8, READS, 6);
	disk_at(COMPLETE, 220, 64, 8, READS, 0);
	disk_at(COMPLETE, 250, 64, 24, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 110-120 issued 110 by 6\n"
			   "1/8 write 64+8 100-150 issued 100 by 5\n"
			   "1/8 read 64+8 210-220 issued 210 by 6\n"
			   "1/8 read 64+24 200-250 issued 200 by 5\n");
}

/* The completion of another operation is none of a flush, nor of a write. */
SPAN_TEST(a_flush_completes_with_its_own)
{
	disk_at(ISSUE, 100, 0, 0, FLUSHES | PREFLUSHES, 5);
	disk_at(COMPLETE, 110, 0, 0, WRITES,
		0); /* of a write that had nothing to write */
	disk_at(COMPLETE, 120, -1, 0, FLUSHES | PREFLUSHES, 0);
	disk_at(COMPLETE, 121, 0, 0, WRITES, 0);
	assert_told(DISKS, "1/8 flush 0+0 100-120 issued 100 by 5\n");
}

/* A completion that is larger than the issued request belongs to another one. */
SPAN_TEST(a_completion_of_another_size_ends_a_lost_one)
{
	disk_at(ISSUE, 100, 64, 8, WRITES, 5);
	disk_at(COMPLETE, 301, 64, 16, WRITES, 0);
	assert_told(DISKS, "1/8 write 64+8 100-301... issued 100 by 5\n"
			   "1/8 write 64+16 ...100-301 by -1\n");
}

SPAN_TEST(a_rest_that_is_lost_is_cut)
{
	disk_at(ISSUE, 100, 64, 24, READS, 5);
	disk_at(COMPLETE, 150, 64, 8, READS, 0);
	disk_at(ISSUE, 200, 64, 24, READS, 6);
	disk_at(COMPLETE, 250, 64, 24, READS, 0);
	assert_told(DISKS, "1/8 read 64+24 200-250 issued 200 by 6\n"
			   "1/8 read 64+24 100-200... issued 100 by 5\n");
}

SPAN_TEST(nodes_have_disks_of_their_own)
{
	disk_at(ISSUE, 100, 64, 8, READS, 5);
	made_node = 2;
	disk_at(ISSUE, 110, 64, 8, WRITES, 6);
	disk_at(COMPLETE, 200, 64, 8, WRITES, 0);
	made_node = 1;
	disk_at(COMPLETE, 210, 64, 8, READS, 0);
	assert_told(DISKS, "2/8 write 64+8 110-200 issued 110 by 6\n"
			   "1/8 read 64+8 100-210 issued 100 by 5\n");
}

SPAN_TEST(a_part_has_only_what_lies_in_it)
{
	made_select(150, 400);
	disk_at(ISSUE, 0, 8, 8, READS, 5);
	disk_at(COMPLETE, 50, 8, 8, READS, 0);
	disk_at(ISSUE, 100, 64, 8, READS, 5);
	disk_at(COMPLETE, 200, 64, 8, READS, 0);
	disk_at(ISSUE, 300, 72, 8, READS, 5);
	disk_at(COMPLETE, 500, 72, 8, READS, 0);
	assert_told(DISKS, "1/8 read 64+8 ...200-200 by -1\n"
			   "1/8 read 72+8 300-400... issued 300 by 5\n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
