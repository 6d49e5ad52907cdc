/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_THRIFT_READ_H
#define CT_EXPORT_PARQUET_THRIFT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/parquet/thrift.h"

/*
 * Reading structs in Apache Thrift's compact protocol, from bytes that nobody vouches
 * for. Once something is wrong `failed` is set, everything reads as 0, and loops over
 * fields and items end: one look at the end is enough.
 *
 *     while (thrift_next(&in, &field))
 *             switch (field.id) {
 *             case 1: x = thrift_read_i64(&in, &field); break;
 *             default: thrift_skip(&in, &field);
 *             }
 */
struct thrift_reader {
	const uint8_t *at, *end;
	bool failed;
	bool starved; /* it failed for want of bytes: with more of them it may go on */
	int last;     /* id of the field before, in this struct */
	int outer[THRIFT_DEPTH];
	unsigned depth;
};

struct thrift_field {
	int id;
	int type; /* enum thrift_type; of booleans also 2, which is false */
};

struct thrift_items {
	int type;
	size_t count;
};

/* Begin the outermost struct. Borrows the bytes. */
void thrift_read_begin(struct thrift_reader *in, const uint8_t *data, size_t size);

/* The next field of the struct at hand; false at its end. */
bool thrift_next(struct thrift_reader *in, struct thrift_field *field);

/* The value of a field; one of another type is an error. */
bool thrift_read_bool(struct thrift_reader *in, const struct thrift_field *field);
int32_t thrift_read_i32(struct thrift_reader *in, const struct thrift_field *field);
int64_t thrift_read_i64(struct thrift_reader *in, const struct thrift_field *field);
const uint8_t *thrift_read_binary(struct thrift_reader *in,
				  const struct thrift_field *field, size_t *size);
/* Its fields come from thrift_next, up to its end. */
void thrift_read_struct(struct thrift_reader *in, const struct thrift_field *field);

/* A list of this type of items, no longer than its bytes allow. */
size_t thrift_read_list(struct thrift_reader *in, const struct thrift_field *field,
			enum thrift_type item);
int32_t thrift_read_item_i32(struct thrift_reader *in);
const uint8_t *thrift_read_item_binary(struct thrift_reader *in, size_t *size);
void thrift_read_item_struct(struct thrift_reader *in);

/* Pass over a field that nobody wants. */
void thrift_skip(struct thrift_reader *in, const struct thrift_field *field);

#endif
