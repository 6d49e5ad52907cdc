/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_CAPTURE_FILE_H
#define CT_TESTS_CAPTURE_FILE_H

#include <stdio.h>

#include "capture_build.h"

/* Captures written field by field, in either byte order. */
struct capture_file {
	FILE *file;
	bool big; /* the most significant byte first */
};

static inline void write16(struct capture_file *file, unsigned value)
{
	fputc((int)(file->big ? value >> 8 & 0xff : value & 0xff), file->file);
	fputc((int)(file->big ? value & 0xff : value >> 8 & 0xff), file->file);
}

static inline void write32(struct capture_file *file, uint32_t value)
{
	write16(file, file->big ? value >> 16 : value & 0xffff);
	write16(file, file->big ? value & 0xffff : value >> 16);
}

/* Data and zeros, up to a multiple of four. */
static inline void write_padded(struct capture_file *file, const struct bytes *bytes,
				size_t captured)
{
	fwrite(bytes->data, 1, captured, file->file);
	for (; captured % 4; captured++)
		fputc(0, file->file);
}

enum pcap_magic { MICRO = 0x2c3d4, NANO = 0x23c4d };

static inline void write_pcap(struct capture_file *file, enum pcap_magic magic,
			      uint32_t link)
{
	write32(file, 0xa1b00000u | (uint32_t)magic);
	write16(file, 2);
	write16(file, 4);
	write32(file, 0);
	write32(file, 0);
	write32(file, 65535);
	write32(file, link);
}

/* A packet of a pcap; `captured` bytes of it. */
static inline void write_cut_packet(struct capture_file *file, uint32_t seconds,
				    uint32_t fraction, const struct bytes *bytes,
				    size_t captured)
{
	write32(file, seconds);
	write32(file, fraction);
	write32(file, (uint32_t)captured);
	write32(file, (uint32_t)bytes->count);
	fwrite(bytes->data, 1, captured, file->file);
}

static inline void write_packet(struct capture_file *file, uint32_t seconds,
				uint32_t fraction, const struct bytes *bytes)
{
	write_cut_packet(file, seconds, fraction, bytes, bytes->count);
}

static inline void write_section(struct capture_file *file)
{
	write32(file, 0x0a0d0d0a);
	write32(file, 28);
	write32(file, 0x1a2b3c4d);
	write16(file, 1);
	write16(file, 0);
	write32(file, 0xffffffff);
	write32(file, 0xffffffff);
	write32(file, 28);
}

/* if_tsresol's value, or this for an interface that does not tell. */
enum { UNTOLD = -1 };

/* An interface of microseconds whose packets are cut, and whose clock is off. */
static inline void write_other_interface(struct capture_file *file, uint32_t link,
					 uint32_t most, int64_t offset_s)
{
	write32(file, 1);
	write32(file, 20 + 12 + 4);
	write16(file, link);
	write16(file, 0);
	write32(file, most);
	write16(file, 14);
	write16(file, 8);
	/* 64 bits in the section's order */
	write32(file, (uint32_t)(file->big ? offset_s >> 32 : offset_s));
	write32(file, (uint32_t)(file->big ? offset_s : offset_s >> 32));
	write32(file, 0);
	write32(file, 20 + 12 + 4);
}

/* The resolution stands behind a name, so that it has to be looked for. */
static inline void write_interface(struct capture_file *file, uint32_t link,
				   int resolution)
{
	uint32_t length = resolution == UNTOLD ? 20 : 20 + 12 + 8 + 4;

	write32(file, 1);
	write32(file, length);
	write16(file, link);
	write16(file, 0);
	write32(file, 65535);
	if (resolution != UNTOLD) {
		write16(file, 2);
		write16(file, 5);
		fwrite("lan12\0\0\0", 1, 8, file->file);
		write16(file, 9);
		write16(file, 1);
		fputc(resolution, file->file);
		fwrite("\0\0\0", 1, 3, file->file);
		write32(file, 0);
	}
	write32(file, length);
}

static inline void write_block(struct capture_file *file, unsigned interface,
			       uint64_t stamp, const struct bytes *bytes)
{
	uint32_t length = 32 + (uint32_t)((bytes->count + 3) & ~(size_t)3);

	write32(file, 6);
	write32(file, length);
	write32(file, interface);
	write32(file, (uint32_t)(stamp >> 32));
	write32(file, (uint32_t)stamp);
	write32(file, (uint32_t)bytes->count);
	write32(file, (uint32_t)bytes->count);
	write_padded(file, bytes, bytes->count);
	write32(file, length);
}

/* The obsolete kind of packet block. */
static inline void write_old_block(struct capture_file *file, unsigned interface,
				   uint64_t stamp, const struct bytes *bytes)
{
	uint32_t length = 32 + (uint32_t)((bytes->count + 3) & ~(size_t)3);

	write32(file, 2);
	write32(file, length);
	write16(file, interface);
	write16(file, 7);
	write32(file, (uint32_t)(stamp >> 32));
	write32(file, (uint32_t)stamp);
	write32(file, (uint32_t)bytes->count);
	write32(file, (uint32_t)bytes->count);
	write_padded(file, bytes, bytes->count);
	write32(file, length);
}

/* A packet without a stamp. */
static inline void write_simple_block(struct capture_file *file,
				      const struct bytes *bytes)
{
	uint32_t length = 16 + (uint32_t)((bytes->count + 3) & ~(size_t)3);

	write32(file, 3);
	write32(file, length);
	write32(file, (uint32_t)bytes->count);
	write_padded(file, bytes, bytes->count);
	write32(file, length);
}

#endif
