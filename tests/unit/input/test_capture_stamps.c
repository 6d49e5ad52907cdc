/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../test.h"
#include "capture_read.h"

/* A receive stamped 3 units after the epoch. */
static void check_resolution(bool big, int resolution, nsec_t stamp, nsec_t slack)
{
	struct capture_file file = create(big);
	struct bytes in = segment(2, 1, 500), out = segment(1, 2, 501);

	write_section(&file);
	write_interface(&file, ETHERNET, resolution);
	write_block(&file, 0, 3, &in);
	write_block(&file, 0, 3, &out);
	read_whole(&file);
	assert_int_equal(seen.count, 2);
	assert_received(&seen.item[0], stamp + slack, 500);
	assert_sent(&seen.item[1], stamp, 501);
	assert_int_equal(seen.item[1].whole_ns, stamp + slack);
}

TEST(test_pcapng_resolutions)
{
	check_resolution(false, UNTOLD, 3000, 999);
	check_resolution(true, UNTOLD, 3000, 999);
	check_resolution(false, 6, 3000, 999);
	check_resolution(true, 9, 3, 0);
	check_resolution(false, 9, 3, 0);
	check_resolution(false, 3, 3000000, 999999);
	check_resolution(true, 0, 3 * NSEC_PER_SEC, NSEC_PER_SEC - 1);
	check_resolution(false, 12, 0, 0);
	/* 3/2^20 s is 2861.02 ns; it ends before 4/2^20 s, 3814.7 ns. */
	check_resolution(false, 0x80 | 20, 2861, 954);
	check_resolution(false, 0x80 | 34, 0, 1);
}

/* Interfaces of different units, and the packet block of old. */
CAPTURE_TEST(test_pcapng_interfaces)
{
	uint64_t micro = (uint64_t)HOURS * 1000000, nano = (uint64_t)HOURS * 1000000000;
	struct capture_file file = create(false);

	write_section(&file);
	write_interface(&file, ETHERNET, 6);
	write_interface(&file, ETHERNET, 9);
	for (uint32_t i = 0; i < 3; i++) {
		struct bytes first = segment(2, 1, 3 * i),
			     second = segment(2, 1, 3 * i + 1);
		struct bytes third = segment(2, 1, 3 * i + 2);

		write_block(&file, 0, micro + i, &first);
		write_block(&file, 1, nano + i * 1000 + 1, &second);
		write_old_block(&file, 1, nano + i * 1000 + 2, &third);
	}
	/* A section has interfaces of its own. */
	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	{
		struct bytes last = segment(2, 1, 9);

		write_block(&file, 0, nano + 3000, &last);
	}
	read_whole(&file);
	assert_int_equal(seen.count, 10);
	for (uint32_t i = 0; i < 3; i++) {
		assert_received(&seen.item[3 * i], AT(i * 1000 + 999), 3 * i);
		assert_received(&seen.item[3 * i + 1], AT(i * 1000 + 1), 3 * i + 1);
		assert_received(&seen.item[3 * i + 2], AT(i * 1000 + 2), 3 * i + 2);
		assert_int_equal(seen.item[3 * i].device, 0);
		assert_int_equal(seen.item[3 * i + 1].device, 1);
	}
	assert_received(&seen.item[9], AT(3000), 9);
}

/* More blocks than are looked at in one go, some of which are no packets. */
CAPTURE_TEST(test_pcapng_long)
{
	struct capture_file file = create(true);
	struct bytes comment = {0}, in = segment(2, 1, 600);

	put_zeros(&comment, 4000);
	write_section(&file);
	write_interface(&file, ETHERNET, 3);
	write_interface(&file, ETHERNET, 6);
	for (uint32_t i = 0; i < 5000; i++) {
		write_block(&file, i != 4999, 7, &in);
		if (i % 50)
			continue;
		write32(&file, 0xbad); /* a custom block */
		write32(&file, 12 + 4000);
		write_padded(&file, &comment, comment.count);
		write32(&file, 12 + 4000);
	}
	read_all(&file);
	assert_int_equal(seen.count, 5000);
	assert_received(&seen.item[15], 7999, 600);
	assert_int_equal(opened->facts.begin_ns, 7000);
	assert_int_equal(opened->facts.end_ns, 7000000);
}

CAPTURE_TEST(test_without_stamp)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 700), in = segment(2, 1, 701);

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_interface(&file, ETHERNET, 0x80 | 70); /* of no 64-bit unit */
	write_simple_block(&file, &out);
	write_block(&file, 1, (uint64_t)1 << 39, &in);
	write_block(&file, 0, (uint64_t)HOURS * 1000000000, &in);
	write_block(&file, 0, UINT64_MAX, &in); /* in the year 2554 */
	read_all(&file);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(0), 701);
	assert_int_equal(seen.item[0].ordinal, 2); /* those left out count */
	assert_int_equal(opened->facts.events, 1);
	assert_int_equal(opened->facts.begin_ns, AT(0));
	assert_problem("unstamped", 3,
		       "3 packets have no timestamp between 1967 and 2111; skipped, the "
		       "first is packet 1");
}

/* 32-bit seconds end in 2106. */
CAPTURE_TEST(test_after_2106)
{
	const nsec_t late = INT64_C(4400000000) * NSEC_PER_SEC; /* in 2109 */
	struct capture_file file = create(false);
	struct bytes in = segment(2, 1, 800);

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_interface(&file, ETHERNET, 6);
	write_block(&file, 0, (uint64_t)late + 123456789, &in);
	write_block(&file, 1, (uint64_t)late / 1000 + 123457, &in);
	read_all(&file);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.item[0].event_ns, late + 123456789);
	assert_int_equal(seen.item[1].event_ns, late + 123457000);
	assert_int_equal(opened->problems.count, 0);
}

CAPTURE_TEST(test_broken_file)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 1100);

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_block(&file, 0, 5, &out);
	write_block(&file, 1, 6, &out); /* there is no such interface */
	write_block(&file, 0, 7, &out);
	read_all(&file);
	assert_int_equal(seen.count, 1);
	assert_problem("broken", 1, "cannot be read on after 1 packets: ");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
