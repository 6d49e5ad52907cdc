/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/stamps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Block and option types of pcapng (draft-ietf-opsawg-pcapng). */
enum {
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
	OPTION_END = 0,
	OPTION_RESOLUTION = 9,
};

#define SECTION_ORDER 0x1a2b3c4du
#define MICRO_UNITS   1000000u /* a second: pcapng's default */

enum { WINDOW = 65536 };

struct stamp_walk {
	int fd;
	enum capture_format format;
	bool swapped;            /* the section's byte order is not ours */
	off_t at;                /* of the next block */
	struct stamp_unit *unit; /* of the section's interfaces */
	size_t count, room;
	off_t window_at;
	size_t window_bytes;
	uint8_t window[WINDOW];
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

enum capture_format capture_format_of(int fd)
{
	static const struct {
		uint32_t magic;
		enum capture_format format;
	} known[] = {
	    {0xa1b2c3d4, CAPTURE_MICRO},
	    {0xa1b23c4d, CAPTURE_NANO},
	    {0xa1b2cd34, CAPTURE_MICRO}, /* with more in each packet's header */
	};
	uint8_t begin[12];
	ssize_t bytes = pread(fd, begin, sizeof(begin), 0);

	if (bytes < 4)
		return CAPTURE_NONE;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (word(begin) == known[i].magic ||
		    __builtin_bswap32(word(begin)) == known[i].magic)
			return known[i].format;
	/* A text may begin with the type of this block, which are line ends. */
	if (bytes < 12 || word(begin) != BLOCK_SECTION ||
	    (word(begin + 8) != SECTION_ORDER &&
	     __builtin_bswap32(word(begin + 8)) != SECTION_ORDER))
		return CAPTURE_NONE;
	return CAPTURE_BLOCKS;
}

struct stamp_walk *stamp_walk_new(int fd)
{
	struct stamp_walk *walk = mem_zalloc(sizeof(*walk));

	walk->fd = fd;
	walk->format = capture_format_of(fd);
	return walk;
}

/* Bytes of the file, or NULL where it ends before. */
static const uint8_t *bytes_at(struct stamp_walk *walk, off_t at, size_t bytes)
{
	off_t end = walk->window_at + (off_t)walk->window_bytes;
	ssize_t got;

	if (at < walk->window_at || at + (off_t)bytes > end) {
		got = pread(walk->fd, walk->window, WINDOW, at);
		walk->window_at = at;
		walk->window_bytes = got < 0 ? 0 : (size_t)got;
		if (walk->window_bytes < bytes)
			return NULL;
	}
	return walk->window + (at - walk->window_at);
}

static uint32_t get32(const struct stamp_walk *walk, const uint8_t *at)
{
	return walk->swapped ? __builtin_bswap32(word(at)) : word(at);
}

static uint16_t get16(const struct stamp_walk *walk, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return walk->swapped ? __builtin_bswap16(value) : value;
}

/*
 * The unit is one second over `units`. libpcap cuts it off again at whole
 * nanoseconds where it is none, hence one more for units that do not divide.
 */
static nsec_t slack(uint64_t units)
{
	uint64_t second = (uint64_t)NSEC_PER_SEC;

	if (second % units == 0)
		return (nsec_t)(second / units) - 1;
	return units % second == 0 ? 0 : (nsec_t)(second / units) + 1;
}

/* if_tsresol: a negative power of ten, or of two with the highest bit set. */
static void set_resolution(struct stamp_unit *unit, uint8_t resolution)
{
	uint64_t units = 1;

	if (resolution & 0x80) {
		resolution &= 0x7f;
		/* libpcap multiplies the part of a second by 1e9 in 64 bits. */
		unit->usable = resolution <= 34;
		units <<= unit->usable ? resolution : 0;
	} else {
		unit->usable = resolution <= 19;
		while (unit->usable && resolution-- > 0)
			units *= 10;
	}
	unit->slack_ns = slack(units);
}

static void add_interface(struct stamp_walk *walk, off_t at, off_t end)
{
	struct stamp_unit *unit;
	const uint8_t *option;

	walk->unit = mem_grow(walk->unit, walk->count, &walk->room, sizeof(*walk->unit));
	unit = &walk->unit[walk->count];
	*unit = (struct stamp_unit){slack(MICRO_UNITS), (uint32_t)walk->count, true};
	walk->count++;
	while (at + 8 <= end && (option = bytes_at(walk, at, 8)) != NULL) {
		uint16_t code = get16(walk, option);

		if (code == OPTION_END)
			break;
		if (code == OPTION_RESOLUTION)
			set_resolution(unit, option[4]);
		at += 4 + ((get16(walk, option + 2) + 3) & ~3);
	}
}

/* The interface that a block's packet came in by, or -1 for no packet. */
static int64_t packet_interface(const struct stamp_walk *walk, uint32_t type,
				const uint8_t *block)
{
	switch (type) {
	case BLOCK_PACKET:
		return get32(walk, block + 8);
	case BLOCK_OLD_PACKET:
		return get16(walk, block + 8);
	case BLOCK_SIMPLE_PACKET:
		return 0;
	default:
		return -1;
	}
}

static struct stamp_unit next_block_unit(struct stamp_walk *walk)
{
	static const struct stamp_unit none = {0, 0, false};
	const uint8_t *block;

	while ((block = bytes_at(walk, walk->at, 12)) != NULL) {
		off_t begin = walk->at;
		uint32_t type = get32(walk, block), length;
		int64_t interface;

		if (type == BLOCK_SECTION) {
			walk->swapped = word(block + 8) != SECTION_ORDER;
			walk->count = 0;
		}
		length = get32(walk, block + 4);
		interface = packet_interface(walk, type, block);
		if (length < 12)
			break;
		walk->at += length;
		if (type == BLOCK_INTERFACE)
			add_interface(walk, begin + 16, walk->at - 4);
		if (interface < 0)
			continue;
		if (type == BLOCK_SIMPLE_PACKET || (size_t)interface >= walk->count)
			return none;
		return walk->unit[interface];
	}
	return none;
}

struct stamp_unit stamp_walk_next(struct stamp_walk *walk)
{
	struct stamp_unit unit = {0, 0, true};

	if (walk->format == CAPTURE_BLOCKS)
		return next_block_unit(walk);
	if (walk->format != CAPTURE_NANO)
		unit.slack_ns = slack(MICRO_UNITS);
	return unit;
}

void stamp_walk_free(struct stamp_walk *walk)
{
	if (!walk)
		return;
	free(walk->unit);
	free(walk);
}
