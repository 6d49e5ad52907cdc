/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/thrift.h"

#include <assert.h>
#include <string.h>

void thrift_begin(struct thrift *thrift, struct bytes *out)
{
	*thrift = (struct thrift){.out = out};
}

/* The type, and the id as a step from the last one where that is short. */
static void field(struct thrift *thrift, int id, unsigned type)
{
	int step = id - thrift->last;

	assert(step > 0);
	if (step <= 15) {
		bytes_add_byte(thrift->out, (uint8_t)((unsigned)step << 4 | type));
	} else {
		bytes_add_byte(thrift->out, (uint8_t)type);
		bytes_add_zigzag(thrift->out, id);
	}
	thrift->last = id;
}

void thrift_bool(struct thrift *thrift, int id, bool value)
{
	field(thrift, id, value ? 1 : 2); /* the type is the value */
}

void thrift_i32(struct thrift *thrift, int id, int32_t value)
{
	field(thrift, id, THRIFT_I32);
	thrift_item_i32(thrift, value);
}

void thrift_i64(struct thrift *thrift, int id, int64_t value)
{
	field(thrift, id, THRIFT_I64);
	thrift_item_i64(thrift, value);
}

void thrift_binary(struct thrift *thrift, int id, const void *data, size_t size)
{
	field(thrift, id, THRIFT_BINARY);
	thrift_item_binary(thrift, data, size);
}

void thrift_text(struct thrift *thrift, int id, const char *text)
{
	thrift_binary(thrift, id, text, strlen(text));
}

void thrift_struct(struct thrift *thrift, int id)
{
	field(thrift, id, THRIFT_STRUCT);
	thrift_item_struct(thrift);
}

void thrift_copy(struct thrift *thrift, int id, const void *data, size_t size)
{
	field(thrift, id, THRIFT_STRUCT);
	bytes_add(thrift->out, data, size);
}

void thrift_list(struct thrift *thrift, int id, enum thrift_type item, size_t count)
{
	field(thrift, id, THRIFT_LIST);
	if (count < 15) {
		bytes_add_byte(thrift->out, (uint8_t)(count << 4 | item));
	} else {
		bytes_add_byte(thrift->out, (uint8_t)(0xf0 | item));
		bytes_add_varint(thrift->out, count);
	}
}

void thrift_item_i32(struct thrift *thrift, int32_t value)
{
	bytes_add_zigzag(thrift->out, value);
}

void thrift_item_i64(struct thrift *thrift, int64_t value)
{
	bytes_add_zigzag(thrift->out, value);
}

void thrift_item_binary(struct thrift *thrift, const void *data, size_t size)
{
	bytes_add_varint(thrift->out, size);
	bytes_add(thrift->out, data, size);
}

void thrift_item_text(struct thrift *thrift, const char *text)
{
	thrift_item_binary(thrift, text, strlen(text));
}

void thrift_item_struct(struct thrift *thrift)
{
	assert(thrift->depth < THRIFT_DEPTH);
	thrift->outer[thrift->depth++] = thrift->last;
	thrift->last = 0;
}

void thrift_end(struct thrift *thrift)
{
	bytes_add_byte(thrift->out, 0);
	thrift->last = thrift->depth ? thrift->outer[--thrift->depth] : 0;
}
