/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_METADATA_H
#define CT_SIMULATE_CTF_METADATA_H

#include <stdio.h>

#include "simulate/writer.h"

/* What the metadata of one node's trace tells of. */
struct sim_ctf_trace {
	const struct sim_node *node; /* its format and event header count */
	const struct sim_class *const *class;
	const bool *used; /* one a class: those that had an event are declared */
	size_t classes;
	unsigned char uuid[16];
};

/* Write the file, in the node's format. 0, or -1 with error. */
int sim_ctf_metadata_write(const struct sim_ctf_trace *trace, const char *path,
			   struct error *error);

void sim_ctf_write_json(const struct sim_ctf_trace *trace, FILE *file);

/* What both say of the environment; the hostname, which stands first, is NULL here. */
struct sim_ctf_text {
	const char *name, *value;
};
struct sim_ctf_number {
	const char *name;
	int value;
};

/* Protocols of an IP header that the tracer has a label for; all others are unknown. */
struct sim_ctf_protocol {
	const char *label;
	unsigned first, last;
};

/* A number in a packet's context, of 64 bits, behind all of which stands the processor's.
 */
struct sim_ctf_context {
	const char *name, *role;
	bool is_stamp;
};

/* Each ends with an element without a name. */
extern const struct sim_ctf_text sim_ctf_texts[];
extern const struct sim_ctf_number sim_ctf_numbers[];
extern const struct sim_ctf_protocol sim_ctf_protocols[];
extern const struct sim_ctf_context sim_ctf_contexts[];

enum { UUID_TEXT = 37 };

void sim_ctf_format_uuid(char text[UUID_TEXT], const unsigned char uuid[16]);

/* The clock's offset in seconds; the rest is 0 to 999,999,999 ns. */
int64_t sim_ctf_clock_offset(const struct sim_node *node, int64_t *rest);

/* Of a field of so many bits. */
unsigned sim_ctf_alignment(unsigned bits);

#endif
