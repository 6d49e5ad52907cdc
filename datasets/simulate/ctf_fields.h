/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_FIELDS_H
#define CT_SIMULATE_CTF_FIELDS_H

#include "simulate/writer.h"

/*
 * How the fields of simulated events are laid out: one description, by which their bytes
 * are written (ctf_writer.c) and the metadata, in TSDL or JSON, says what they are
 * (ctf_metadata.c). All numbers are little-endian, on every machine.
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
	    *name; /* of the variant's option; its label begins with an underscore */
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

/* Bytes of a packet while it is written. Zeroed, it is empty; clear it in the end. */
struct sim_ctf_bytes {
	uint8_t *data;
	size_t used, capacity;
	unsigned bits; /* taken of the last byte, or 0 */
};

/* Append the lowest bits of a value, up to 64, the lowest first. */
void sim_ctf_put(struct sim_ctf_bytes *bytes, uint64_t value, unsigned bits);
/* LEB128 */
void sim_ctf_put_leb128(struct sim_ctf_bytes *bytes, uint64_t value);
/* Code points of a UTF-8 text, each in `bits` bits (32), or as UTF-16LE (16). */
void sim_ctf_put_wide(struct sim_ctf_bytes *bytes, const char *text, unsigned bits);
/* The payload of an event; headers are those of its packet, or NULL. */
void sim_ctf_put_payload(struct sim_ctf_bytes *bytes, const struct sim_event *event,
			 const struct sim_headers *headers, enum sim_trace_format format);
void sim_ctf_bytes_clear(struct sim_ctf_bytes *bytes);

#endif
