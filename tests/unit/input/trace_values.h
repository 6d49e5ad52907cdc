/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TRACE_VALUES_H
#define CT_TEST_TRACE_VALUES_H

/* Values of kernel events, set by the names of their fields. */
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "input/packet_source.h"
#include "input/trace_packets.h"

enum { MOST_FIELDS = 64 };

struct values {
	const struct packet_class *wanted;
	struct cell value[MOST_FIELDS];
	char bytes[MOST_FIELDS][16]; /* of arrays */
};

static inline void values_init(struct values *values, int wanted)
{
	memset(values, 0, sizeof(*values));
	values->wanted = &packet_classes[wanted];
	assert_true(values->wanted->fields <= MOST_FIELDS);
}

/* The value of the only field whose path ends so. */
static inline struct cell *field(struct values *values, const char *name)
{
	struct cell *found = NULL;

	for (size_t i = 0; i < values->wanted->fields; i++) {
		const char *path = values->wanted->field[i];
		size_t length = strlen(path), tail = strlen(name);

		if (length < tail || strcmp(path + length - tail, name) != 0)
			continue;
		assert_null(found);
		found = &values->value[i];
	}
	assert_non_null(found);
	return found;
}

static inline void put_number(struct values *values, const char *name, uint64_t number)
{
	struct cell *value = field(values, name);

	value->type = CELL_INTEGER;
	value->integer = (int64_t)number;
}

static inline void put_signed(struct values *values, const char *name, int64_t number)
{
	struct cell *value = field(values, name);

	value->type = CELL_INTEGER;
	value->integer = number;
}

static inline void put_text(struct values *values, const char *name, const char *text)
{
	struct cell *value = field(values, name);

	cell_set_text(value, text, strlen(text));
}

/* An array of so many integers of so many bytes. */
static inline void put_array_of(struct values *values, const char *name, unsigned size,
				const uint64_t *item, unsigned count)
{
	struct cell *value = field(values, name);
	char *bytes = values->bytes[value - values->value], *at = bytes;

	for (unsigned i = 0; i < count && at < bytes + 16; i++)
		for (unsigned k = size; k-- > 0;)
			*at++ = (char)(item[i] >> 8 * k);
	cell_set_bytes(value, CELL_BLOB, bytes, count * size);
}

static inline void put_array(struct values *values, const char *name,
			     const uint64_t *item, unsigned count)
{
	put_array_of(values, name, 1, item, count);
}

#define ARRAY(...)                                                                       \
	(const uint64_t[]){__VA_ARGS__},                                                 \
	    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* An IPv4 packet from 10.0.0.1 to 10.0.0.2, of 20 bytes of header. */
static inline void put_ipv4(struct values *values, uint64_t protocol, uint64_t length)
{
	put_array(values, "ipv4.saddr", ARRAY(10, 0, 0, 1));
	put_array(values, "ipv4.daddr", ARRAY(10, 0, 0, 2));
	put_number(values, "tot_len", length);
	put_number(values, "ipv4.id", 4711);
	put_number(values, "frag_off", 0x4000); /* not to be fragmented */
	put_number(values, "ipv4.protocol", protocol);
	put_number(values, "ihl", 5);
}

/* TCP of 32 bytes of header. */
static inline void put_tcp(struct values *values, const char *network, uint64_t seq)
{
	static const struct {
		const char *name;
		uint64_t number;
	} part[] = {
	    {"source_port", 39302}, {"dest_port", 7001}, {"ack_seq", 4000000000},
	    {"data_offset", 8},     {"flags", 0x118},    {"window_size", 501},
	};
	char name[80];

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
		snprintf(name, sizeof(name), "%s.transport_header.tcp.%s", network,
			 part[i].name);
		put_number(values, name, part[i].number);
	}
	snprintf(name, sizeof(name), "%s.transport_header.tcp.seq", network);
	put_number(values, name, seq);
}

#endif
