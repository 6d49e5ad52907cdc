/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_THRIFT_H
#define CT_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/*
 * Writing structs in Apache Thrift's compact protocol, as far as Parquet's
 * metadata needs it. Fields of a struct come by ascending id. Every struct,
 * also one in a list, ends with thrift_end.
 */
enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH = 8 };

struct thrift {
	struct bytes *out;
	int last; /* id of the field before, in this struct */
	int outer[THRIFT_DEPTH];
	unsigned depth;
};

/* Begin the outermost struct, behind what is in `out`, which it borrows. */
void thrift_begin(struct thrift *thrift, struct bytes *out);

void thrift_bool(struct thrift *thrift, int id, bool value);
void thrift_i32(struct thrift *thrift, int id, int32_t value);
void thrift_i64(struct thrift *thrift, int id, int64_t value);
void thrift_binary(struct thrift *thrift, int id, const void *data, size_t size);
void thrift_text(struct thrift *thrift, int id, const char *text);
void thrift_struct(struct thrift *thrift, int id);

/* A struct that was written before, whole. */
void thrift_copy(struct thrift *thrift, int id, const void *data, size_t size);

/* A list, of which `count` items are to follow. */
void thrift_list(struct thrift *thrift, int id, enum thrift_type item, size_t count);
void thrift_item_i32(struct thrift *thrift, int32_t value);
void thrift_item_i64(struct thrift *thrift, int64_t value);
void thrift_item_binary(struct thrift *thrift, const void *data, size_t size);
void thrift_item_text(struct thrift *thrift, const char *text);
void thrift_item_struct(struct thrift *thrift);

void thrift_end(struct thrift *thrift);

#endif
