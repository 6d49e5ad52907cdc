/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_BUFFER_H
#define CT_SIMULATE_CTF_WRITER_BUFFER_H

#include "simulate/writer_headers.h"

/*
 * Some events of a node, copied. Writing a hundred events of one node and
 * then a hundred of the next is several times faster with 1,000 nodes than
 * going to another node with each event, as each has classes, fields and a
 * packet of its own to bring into the processor's cache.
 */
struct sim_ctf_record {
	struct sim_event event; /* whose values and texts are in the buffer */
	uint64_t class_id;
	const struct sim_headers *headers; /* of its packet; NULL: none */
};

struct sim_ctf_buffer { /* zeroed is empty */
	unsigned char *bytes;
	size_t size, used;
	size_t next; /* where the first record stands that was not taken */
};

/*
 * Copy an event, whose packet has these headers (or NULL). False where there
 * is no room before all records are taken.
 */
bool sim_ctf_buffer_add(struct sim_ctf_buffer *buffer, const struct sim_event *event,
			uint64_t class_id, const struct sim_headers *headers);

/* The first record that was not taken, or NULL; good until the next add. */
const struct sim_ctf_record *sim_ctf_buffer_first(const struct sim_ctf_buffer *buffer);
void sim_ctf_buffer_take(struct sim_ctf_buffer *buffer);

void sim_ctf_buffer_clear(struct sim_ctf_buffer *buffer);

#endif
