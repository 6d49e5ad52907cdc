/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../test.h"
#include "base/mem.h"
#include "capture_read.h"
#include "input/capture/packets.h"

/* Captures of several interfaces and sections, of several files, and packed ones. */
enum { COOKED = 113, USB = 220 };

#define MICROS ((uint64_t)HOURS * 1000000)

static struct bytes cooked_segment(unsigned packet_type, unsigned from, unsigned to,
				   uint32_t seq)
{
	struct bytes bytes = {0};

	put_cooked(&bytes, packet_type, 1, IPV4);
	put_segment(&bytes, from, to, seq);
	return bytes;
}

CAPTURE_TEST(interfaces_differ_in_link_limit_and_clock)
{
	struct capture_file file = create(false);
	struct bytes in = segment(2, 1, 1), cooked = cooked_segment(4, 1, 2, 2),
		     usb = {0};

	put_zeros(&usb, 40);
	write_section(&file);
	write_interface(&file, USB, UNTOLD);
	write_interface(&file, ETHERNET, 9);
	write_other_interface(&file, COOKED, 60, -3600);
	write_block(&file, 0, MICROS, &usb);
	write_block(&file, 1, MICROS * 1000 + 5, &in);
	write_block(&file, 2, MICROS + (uint64_t)3600 * 1000000 + 7, &cooked);
	write_block(&file, 0, MICROS, &usb);
	read_all(&file);
	assert_int_equal(seen.count, 2);
	assert_received(&seen.item[0], AT(5), 1);
	assert_sent(&seen.item[1], AT(7000), 2);
	assert_int_equal(seen.item[1].whole_ns, AT(7999));
	assert_int_equal(seen.item[1].device, 2);
	assert_int_equal(opened->facts.events, 4);
	assert_problem("headerless", 2,
		       "2 packets of link type USB_LINUX_MMAPPED (220) are not decoded");
}

CAPTURE_TEST(sections_differ_in_byte_order)
{
	struct capture_file file = create(true);
	struct bytes in = segment(2, 1, 11), out = segment(1, 2, 12);

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_block(&file, 0, MICROS * 1000 + 1, &in);
	file.big = false;
	write_section(&file);
	write_other_interface(&file, COOKED, 0, 0);
	write_other_interface(&file, ETHERNET, 0, 0);
	write_block(&file, 1, MICROS + 2, &out);
	file.big = true;
	write_section(&file);
	write_other_interface(&file, ETHERNET, 0, 10);
	write_block(&file, 0, MICROS - 10 * 1000000 + 3, &out);
	read_whole(&file);
	assert_int_equal(seen.count, 3);
	assert_received(&seen.item[0], AT(1), 11);
	assert_sent(&seen.item[1], AT(2000), 12);
	assert_sent(&seen.item[2], AT(3000), 12);
}

/* Without cooked frames' own word and without addresses, Ethernet ones are by address. */
CAPTURE_TEST(mixed_frames_tell_their_side_by_themselves)
{
	struct capture_file file = create(false);
	struct bytes ethernet = {0}, cooked = cooked_segment(4, 1, 2, 22);
	struct error error = ERROR_INIT;

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_interface(&file, COOKED, 9);
	for (uint32_t i = 0; i < 12; i++) {
		ethernet = segment(i % 2 ? 1 : 3 + i % 4, i % 2 ? 3 + i % 3 : 1, i);
		write_block(&file, 0, MICROS * 1000 + i, &ethernet);
	}
	write_block(&file, 1, MICROS * 1000 + 20, &cooked);
	fclose(file.file);
	opened = capture_packets_open(&(struct capture_input){.path = path}, &error);
	assert_string_equal(error_text(&error), "");
	while (packet_source_step(opened, collect, NULL))
		;
	assert_int_equal(opened->counts.sent, 6 + 1);
	assert_int_equal(opened->counts.received, 6);
}

/* 32 bits of seconds have no sign. */
CAPTURE_TEST(seconds_last_until_2106)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 31);

	write_pcap(&file, NANO, ETHERNET);
	write_packet(&file, 0x80000000, 999999999, &out);
	write_packet(&file, 0xffffffff, 1, &out);
	read_whole(&file);
	assert_int_equal(seen.count, 2);
	assert_sent(&seen.item[0], 0x80000000 * NSEC_PER_SEC + 999999999, 31);
	assert_sent(&seen.item[1], 0xffffffff * NSEC_PER_SEC + 1, 31);
	file = create(false);
	write_section(&file);
	write_interface(&file, ETHERNET, 0x80 | 31);
	write_block(&file, 0, ((uint64_t)1 << 63) + ((uint64_t)1 << 30), &out);
	read_whole(&file);
	assert_sent(&seen.item[0], 0x100000000 * NSEC_PER_SEC + NSEC_PER_SEC / 2, 31);
}

CAPTURE_TEST(a_broken_block_ends_what_is_read)
{
	struct bytes out = segment(1, 2, 41);
	const struct {
		long from_end; /* where bytes are overwritten, or the file cut */
		int byte;      /* -1: cut */
		const char *kind, *text;
	} breaks[] = {
	    {4, 1, "broken",
	     "cannot be read on after 1 packets: a block of 88 bytes ends "},
	    {88 - 4, 1, "broken", "cannot be read on after 1 packets: "},
	    {88 - 8, 7, "broken",
	     "cannot be read on after 1 packets: a packet of interface "},
	    {88 - 21, 9, "broken", "cannot be read on after 1 packets: a packet of "},
	    {1, -1, "truncated", "cut in the middle of a packet after 1 packets: "},
	    {85, -1, "truncated", "cut in the middle of a packet after 1 packets: "},
	};

	for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
		struct capture_file file = create(false);
		long end;

		write_section(&file);
		write_interface(&file, ETHERNET, 9);
		write_block(&file, 0, MICROS * 1000, &out);
		write_block(&file, 0, MICROS * 1000 + 1, &out);
		end = ftell(file.file);
		if (breaks[i].byte < 0) {
			fflush(file.file);
			assert_int_equal(
			    ftruncate(fileno(file.file), end - breaks[i].from_end), 0);
		} else {
			fseek(file.file, end - breaks[i].from_end, SEEK_SET);
			fputc(breaks[i].byte, file.file);
		}
		read_all(&file);
		assert_int_equal(seen.count, 1);
		assert_sent(&seen.item[0], AT(0), 41);
		assert_problem(breaks[i].kind, 1, breaks[i].text);
	}
}

/* A pcap of some packets from `first` on, in memory. */
static struct bytes plain_pcap(uint32_t first, uint32_t packets)
{
	struct capture_file file = create(false);
	struct bytes all = {0};

	write_pcap(&file, NANO, ETHERNET);
	for (uint32_t i = first; i < first + packets; i++) {
		struct bytes out = segment(1, 2, i);

		write_packet(&file, HOURS, i, &out);
	}
	fclose(file.file);
	file.file = fopen(path, "rb");
	all.count = fread(all.data, 1, sizeof(all.data), file.file);
	fclose(file.file);
	return all;
}

static uint32_t crc32_of(const struct bytes *bytes)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < bytes->count; i++) {
		crc ^= bytes->data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* As gzip -0 and zstd would store it (RFC 1952, RFC 8878). */
static void write_packed(struct capture_file *file, const struct bytes *bytes, bool zstd)
{
	unsigned count = (unsigned)bytes->count;

	if (zstd) {
		write32(file, 0xfd2fb528);
		fputc(0xa0, file->file);
		write32(file, count);
		fputc((int)((count << 3 | 1) & 0xff), file->file);
		write16(file, (count << 3 | 1) >> 8);
		fwrite(bytes->data, 1, count, file->file);
		return;
	}
	fwrite("\x1f\x8b\x08\0\0\0\0\0\0\3\1", 1, 11, file->file);
	write16(file, count);
	write16(file, ~count);
	fwrite(bytes->data, 1, count, file->file);
	write32(file, crc32_of(bytes));
	write32(file, count);
}

/* Several members in one file are one after the other, as with cat a.gz b.gz. */
CAPTURE_TEST(packed_captures_are_read)
{
	for (int zstd = 0; zstd < 2; zstd++) {
		struct bytes all = plain_pcap(0, 12), first = all, last = {0};
		struct capture_file file = create(false);

		first.count = 300;
		put(&last, all.data + 300, all.count - 300);
		write_packed(&file, &first, zstd);
		write_packed(&file, &last, zstd);
		read_all(&file);
		assert_int_equal(opened->problems.count, 0);
		assert_int_equal(seen.count, 12);
		assert_sent(&seen.item[11], AT(11), 11);
		assert_int_equal(opened->facts.bytes, opened->facts.total_bytes);
	}
}

CAPTURE_TEST(a_packed_capture_that_breaks_off_is_used_up_to_there)
{
	for (int zstd = 0; zstd < 2; zstd++) {
		struct bytes all = plain_pcap(0, 12), first = all, last = {0};
		struct capture_file file = create(false);

		first.count = 24 + 3 * 70;
		put(&last, all.data + first.count, all.count - first.count);
		write_packed(&file, &first, zstd);
		write_packed(&file, &last, zstd);
		fflush(file.file);
		assert_int_equal(
		    ftruncate(fileno(file.file), ftell(file.file) - (zstd ? 1 : 9)), 0);
		read_all(&file);
		assert_in_range(seen.count, 3, 11);
		assert_problem("broken", 1, "cannot be read on after ");
	}
}

/* The files that rotation made of one capture are read as one. */
CAPTURE_TEST(parts_are_read_one_after_the_other)
{
	char *other = mem_printf("%s1", path), *gone = mem_printf("%s2", path);
	struct capture_part part[3] = {
	    {path, AT(0), AT(3)}, {gone, AT(4), AT(5)}, {other, AT(6), AT(9)}};
	struct bytes first = plain_pcap(0, 4), last = plain_pcap(6, 4);
	const struct bytes *of[] = {&last, &first};
	struct error error = ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(i ? path : other, "wb");

		assert_int_equal(fwrite(of[i]->data, 1, of[i]->count, file),
				 of[i]->count);
		fclose(file);
	}
	opened = capture_packets_open(
	    &(struct capture_input){
		.path = path, .part = part, .parts = 3, .local = host1, .locals = 2},
	    &error);
	assert_string_equal(error_text(&error), "");
	while (packet_source_step(opened, collect, NULL))
		;
	assert_int_equal(seen.count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_sent(&seen.item[i], AT(i < 4 ? i : i + 2), i < 4 ? i : i + 2);
		assert_int_equal(seen.item[i].ordinal, i);
	}
	assert_int_equal(opened->facts.bytes, first.count + last.count);
	assert_int_equal(opened->facts.total_bytes, first.count + last.count);
	assert_int_equal(opened->problems.count, 1);
	assert_non_null(strstr(opened->problems.item[0].text, ".pcap2: No such file"));
	unlink(other);
	free(other);
	free(gone);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
