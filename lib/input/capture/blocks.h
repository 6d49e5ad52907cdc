/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_BLOCKS_H
#define CT_INPUT_CAPTURE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "input/capture/capture.h"

/*
 * A reader of the packets of a pcapng file (draft-ietf-opsawg-pcapng). Such a file
 * consists of sections of either byte order, whose interfaces may differ in link type,
 * length limit and clock. libpcap's API cannot express that.
 */
struct block_reader;

struct block_packet {
	const uint8_t *data;     /* valid until the next call */
	uint32_t captured, wire; /* bytes in the file; bytes when it was sent */
	uint32_t link;           /* link type as numbered in files (LINKTYPE_) */
	struct stamp_unit unit;  /* `unit.usable` is set if `ns` is valid */
	nsec_t ns;
};

/* Return true if these first 12 bytes of a file begin a section. */
bool block_reader_probe(const uint8_t begin[12]);

/* Create a reader. Borrows `stream`, which must be at its start. */
struct block_reader *block_reader_new(FILE *stream);

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
