/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_METADATA_H
#define CT_SIMULATE_CTF_METADATA_H

#include "simulate/writer.h"

/*
 * How simulated events are laid out: one description, by which their bytes are written
 * (ctf_writer.c) and the metadata, in TSDL or JSON, says what they are. All numbers are
 * little-endian, on every machine.
 */
struct sim_ctf_shape {
	uint8_t bits; /* 0: no integer */
	bool is_signed, is_hex;
};

/* By enum sim_type. */
extern const struct sim_ctf_shape sim_ctf_shapes[];

enum { SIM_COMM_BYTES = 16 }; /* a zero at the end included */

/* A field of a packet's header, as lttng-modules 2.13 names it. */
struct sim_ctf_part {
	const char *name;
	uint8_t bits;
	uint8_t count; /* elements of an array, or 0 */
	enum { PART_DECIMAL, PART_HEX, PART_PROTOCOL } show;
};

struct sim_ctf_header {
	const char
	    *name; /* of the variant's option; its label has an underscore before */
	const struct sim_ctf_part *part;
	size_t parts;
};

enum { HEADER_UNKNOWN };
enum { HEADER_IPV4 = 1, HEADER_IPV6, NETWORK_HEADERS };
enum { HEADER_TCP = 1, HEADER_UDP, HEADER_ICMP, TRANSPORT_HEADERS };
extern const struct sim_ctf_header sim_ctf_network[NETWORK_HEADERS];
extern const struct sim_ctf_header sim_ctf_transport[TRANSPORT_HEADERS];

/* How LTTng shortens an event's header. */
struct sim_ctf_header_form {
	unsigned id_bits, stamp_bits; /* the id of all ones begins a whole header */
};

/* NULL where each header is whole. */
const struct sim_ctf_header_form *sim_ctf_header_form(enum sim_event_header header);

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

#endif
