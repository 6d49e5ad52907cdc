/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_PACKETS_H
#define CT_INPUT_CTF_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The packets of a stream file by their own heads, as lttng-modules and
 * lttng-ust since 2.8 lay them out: packet header, then packet context. Sizes
 * are in bits, and all is little-endian.
 */
struct packet_head {
	uint32_t magic;
	unsigned char uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin, timestamp_end, content_size, packet_size;
	uint64_t sequence, discarded;
} __attribute__((packed));

/* An index file: this head, then the entries; all big-endian. */
struct index_head {
	uint32_t magic, major, minor, entry_size;
};

struct index_entry {
	uint64_t offset, packet_size, content_size, timestamp_begin, timestamp_end;
	uint64_t discarded, stream_id, stream_instance_id, sequence;
};

#define INDEX_MAGIC 0xc1f1dcc1u

enum packet_found {
	PACKET_WHOLE,
	PACKET_CUT,     /* the file ends before the packet does */
	PACKET_GARBLED, /* no packet of this stream begins here */
	PACKET_NONE,    /* the file ends here */
};

struct packet_walk {
	FILE *file;    /* borrowed */
	uint64_t size; /* of the file */
	uint64_t at;   /* byte at which the packet found begins */
	uint64_t next; /* and the one after it; set to 0 to begin */
	struct packet_head head, first;
};

enum packet_found packet_walk_next(struct packet_walk *walk);

/* Whether the metadata lays packets out like that. Reads on from where it is. */
bool packets_are_known(FILE *metadata);

/*
 * Whether a stream file is a row of whole packets, and its index, where it has
 * one, says the same. Borrows both files; index may be NULL.
 */
bool packets_are_sound(FILE *stream, uint64_t size, FILE *index);

#endif
