/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random pcapng files, with sections of either byte order and interfaces that differ in
 * link type, length limit and clock: each packet has the timestamp and the lengths that
 * tshark gives.
 */
#include <unistd.h>

#include "../draw.h"
#include "base/mem.h"
#include "capture_read.h"
#include "input/capture/blocks.h"

enum { FILES = 8, SECTIONS = 3, INTERFACES = 4, PACKETS = 40 };

enum { UNKNOWN_BLOCK = 0x0bad1dea };

/* An interface with every option that changes how its packets are read. */
static void write_random_interface(struct capture_file *file, int resolution)
{
	static const uint16_t link[] = {1, 101, 113, 276};
	int64_t offset_s = draw_between(0, 1) ? draw_between(-86400, 86400) : 0;

	write32(file, BLOCK_INTERFACE);
	write32(file, 20 + 8 + 12 + 4);
	write16(file, link[draw_between(0, 3)]);
	write16(file, 0);
	write32(file, draw_between(0, 2) ? 262144 : (uint32_t)draw_between(1, 200));
	write16(file, OPTION_RESOLUTION);
	write16(file, 1);
	fputc(resolution, file->file);
	fwrite("\0\0\0", 1, 3, file->file);
	write16(file, OPTION_OFFSET);
	write16(file, 8);
	/* 64 bits in the section's order */
	write32(file, (uint32_t)(file->big ? offset_s >> 32 : offset_s));
	write32(file, (uint32_t)(file->big ? offset_s : offset_s >> 32));
	write32(file, OPTION_END);
	write32(file, 20 + 8 + 12 + 4);
}

static void write_random_packet(struct capture_file *file, const int *resolution,
				int64_t interfaces)
{
	static const uint64_t units[] = {1, 1000, 1000000, 1000000000};
	struct bytes frame = {.count = (size_t)draw_between(0, 300)};
	int64_t at = draw_between(0, interfaces - 1);
	uint64_t unit = units[resolution[at] / 3];

	for (size_t i = 0; i < frame.count; i++)
		frame.data[i] = (uint8_t)draw();
	switch (draw_between(0, 4)) {
	case 0:
		write32(file, UNKNOWN_BLOCK);
		write32(file, 16);
		write32(file, (uint32_t)draw());
		write32(file, 16);
		break;
	case 1:
		write_old_block(file, (unsigned)at,
				HOURS * unit + (uint64_t)draw_between(0, 100) * unit +
				    draw() % unit,
				&frame);
		break;
	default:
		write_block(file, (unsigned)at,
			    HOURS * unit + (uint64_t)draw_between(0, 100) * unit +
				draw() % unit,
			    &frame);
	}
}

static void write_random_file(void)
{
	struct capture_file file = create(false);
	int64_t sections = draw_between(1, SECTIONS);

	for (int64_t i = 0; i < sections; i++) {
		int64_t interfaces = draw_between(1, INTERFACES);
		int64_t packets = draw_between(0, PACKETS);
		int resolution[INTERFACES];

		file.big = draw_between(0, 1);
		write_section(&file);
		for (int64_t k = 0; k < interfaces; k++) {
			resolution[k] = 3 * (int)draw_between(0, 3);
			write_random_interface(&file, resolution[k]);
		}
		for (int64_t k = 0; k < packets; k++)
			write_random_packet(&file, resolution, interfaces);
	}
	fclose(file.file);
}

/* Compare the packets of the file with tshark's lines. */
static void compare_packets(FILE *lines)
{
	FILE *stream = fopen(path, "rb");
	struct block_packet packet;
	struct block_reader *reader;
	unsigned captured, wire;
	uint8_t begin[12];
	long long s, ns;

	assert_non_null(stream);
	assert_int_equal(fread(begin, 1, sizeof(begin), stream), sizeof(begin));
	rewind(stream);
	reader = block_reader_new(stream, begin);
	while (fscanf(lines, "%lld.%9lld %u %u", &s, &ns, &captured, &wire) == 4) {
		assert_int_equal(block_reader_next(reader, &packet), 1);
		assert_true(packet.unit.usable);
		assert_int_equal(packet.ns, s * NSEC_PER_SEC + ns);
		assert_int_equal(packet.captured, captured);
		assert_int_equal(packet.wire, wire);
	}
	assert_int_equal(block_reader_next(reader, &packet), 0);
	block_reader_free(reader);
	fclose(stream);
}

TEST(test_pcapng_as_tshark_reads_it)
{
	char *command =
	    mem_printf("tshark -n -r %s -T fields -E separator=/s -e frame.time_epoch "
		       "-e frame.cap_len -e frame.len 2>%s.err",
		       path, path);
	char *errors = mem_printf("%s.err", path);

	if (system("tshark --version >/dev/null 2>&1") != 0)
		skip();
	for (int i = 0; i < FILES; i++) {
		FILE *lines;

		write_random_file();
		lines = popen(command, "r");
		assert_non_null(lines);
		compare_packets(lines);
		assert_int_equal(pclose(lines), 0);
	}
	unlink(errors);
	free(errors);
	free(command);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
