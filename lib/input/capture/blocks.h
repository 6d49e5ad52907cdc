/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_BLOCKS_H
#define CT_INPUT_CAPTURE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "input/capture/frames.h"

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_RESOLUTION = 9,
	OPTION_OFFSET = 14,
	LEAST_BLOCK = 12,     /* type, length, and the length again */
	MOST_BLOCK = 1 << 26, /* the limit of blocks that are parsed */
};

#define SECTION_ORDER   0x1a2b3c4du
#define PCAP_MAGIC_NANO 0xa1b23c4du

/* The head of a pcap file (draft-ietf-opsawg-pcap), and the lengths of its parts. */
enum {
	PCAP_HEAD = 24,
	RECORD_HEAD = 16,
	LONG_RECORD_HEAD = 24,
};

struct pcap_head {
	bool swapped;
	bool is_micro;        /* timestamps in microseconds, else in nanoseconds */
	uint16_t minor;       /* the version is 2.minor */
	uint32_t record_head; /* bytes before each packet */
	uint32_t link;        /* link type as numbered in files (LINKTYPE_) */
	uint32_t most;        /* no packet is longer than that */
	uint32_t snapshot;    /* captured bytes are cut to that; 0: no limit */
};

/* Parse the head. Return false if it is not that of a pcap file of version 2. */
bool pcap_head_parse(struct pcap_head *head, const uint8_t bytes[PCAP_HEAD]);

/* Numbers in a section's byte order; `swapped` if that is not ours. */
static inline uint32_t block_get32(const uint8_t *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

static inline uint16_t block_get16(const uint8_t *at, bool swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap16(value) : value;
}

/* Return a timestamp, of which the upper half comes first in either byte order. */
static inline uint64_t block_get_stamp(const uint8_t *at, bool swapped)
{
	return (uint64_t)block_get32(at, swapped) << 32 | block_get32(at + 4, swapped);
}

/* An option of a block; `at` is the next one's. */
struct block_option {
	const uint8_t *at, *end, *value;
	uint16_t code;
	size_t size;
	bool swapped;
};

/* Step to the next option. Return false after the last one. */
bool block_option_next(struct block_option *option);

/* The unit and origin of an interface's timestamps. */
struct block_unit {
	uint64_t units;   /* per second; 0 if unusable */
	int64_t offset_s; /* seconds added to timestamps */
};

/* Parse the options of an interface, from `option.at` on. */
struct block_unit block_unit_parse(struct block_option option);

/* Convert a timestamp, which counts units since the epoch. Return false if it is invalid.
 */
bool block_unit_instant(const struct block_unit *unit, uint64_t count, nsec_t *ns);

/*
 * A reader of the packets of a capture file. In a pcapng (draft-ietf-opsawg-pcapng) they
 * are blocks of sections of either byte order, whose interfaces may differ in link type,
 * length limit and clock. A pcap is read as a section of one interface.
 */
struct block_reader;

struct block_packet {
	const uint8_t *data;     /* valid until the next call */
	uint32_t captured, wire; /* bytes in the file; bytes when it was sent */
	uint32_t link;           /* link type as numbered in files (LINKTYPE_) */
	struct stamp_unit unit;  /* `unit.usable` is set if `ns` is valid */
	nsec_t ns;
};

/* Return true if these first 12 bytes of a file begin a section of a pcapng. */
bool block_section_probe(const uint8_t begin[12]);

/* Return true if these first 12 bytes begin a capture file. */
bool block_reader_probe(const uint8_t begin[12]);

/* Create a reader of a file that begins with these bytes. Borrows `stream`, which must be
 * at its start. */
struct block_reader *block_reader_new(FILE *stream, const uint8_t begin[12]);

/*
 * Read the next packet. Return 1, 0 at the end, or -1, after which nothing more can be
 * read.
 */
int block_reader_next(struct block_reader *reader, struct block_packet *packet);

/*
 * Return the error of the last block_reader_next(). Set `is_cut` if the file ends too
 * early.
 */
const char *block_reader_fault(const struct block_reader *reader, bool *is_cut);

/* Append the losses that were read since the last call. */
void block_reader_losses(struct block_reader *reader, struct capture_losses *losses);

/* Return the link type of an interface of the section, or -1 after the last one. */
int64_t block_reader_link(const struct block_reader *reader, size_t interface);

/* Return the least limit of captured bytes among the section's interfaces. */
uint32_t block_reader_limit(const struct block_reader *reader);

void block_reader_free(struct block_reader *reader);

#endif
