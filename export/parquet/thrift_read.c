/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/thrift_read.h"

#include "export/parquet/varint.h"

/* Types that we never write but may have to pass over. */
enum { TYPE_STOP = 0, TYPE_FALSE = 2, TYPE_I16 = 4, TYPE_DOUBLE = 7, TYPE_SET = 10 };
enum { TYPE_MAP = 11, TYPE_UUID = 13 };

void thrift_read_begin(struct thrift_reader *in, const uint8_t *data, size_t size)
{
	*in = (struct thrift_reader){.at = data, .end = data + size};
}

static void fail(struct thrift_reader *in, bool starved)
{
	in->starved |= starved && !in->failed;
	in->failed = true;
	in->at = in->end;
}

static uint8_t read_byte(struct thrift_reader *in)
{
	if (in->at == in->end) {
		fail(in, true);
		return 0;
	}
	return *in->at++;
}

static uint64_t read_varint(struct thrift_reader *in)
{
	uint64_t number = 0;
	int status = varint_read(&in->at, in->end, &number);

	if (status == 0)
		return number;
	fail(in, status == VARINT_CUT);
	return 0;
}

static int64_t read_zigzag(struct thrift_reader *in)
{
	return varint_unzigzag(read_varint(in));
}

static const uint8_t *read_bytes(struct thrift_reader *in, size_t size)
{
	const uint8_t *bytes = in->at;

	if (size > (size_t)(in->end - in->at)) {
		fail(in, true);
		return NULL;
	}
	in->at += size;
	return bytes;
}

bool thrift_next(struct thrift_reader *in, struct thrift_field *field)
{
	uint8_t head = read_byte(in);
	int64_t id;

	field->type = head & 15;
	if (in->failed)
		return false;
	if (field->type == TYPE_STOP) {
		in->last = in->depth ? in->outer[--in->depth] : 0;
		return false;
	}
	id = head >> 4 ? in->last + (head >> 4) : read_zigzag(in);
	if (id < INT16_MIN || id > INT16_MAX)
		fail(in, false);
	if (in->failed)
		return false;
	field->id = in->last = (int)id;
	return true;
}

static bool is_of(struct thrift_reader *in, const struct thrift_field *field, int type)
{
	if (field->type != type)
		fail(in, false);
	return !in->failed;
}

bool thrift_read_bool(struct thrift_reader *in, const struct thrift_field *field)
{
	if (field->type != THRIFT_BOOL && field->type != TYPE_FALSE)
		fail(in, false);
	return field->type == THRIFT_BOOL;
}

int32_t thrift_read_i32(struct thrift_reader *in, const struct thrift_field *field)
{
	return is_of(in, field, THRIFT_I32) ? thrift_read_item_i32(in) : 0;
}

int64_t thrift_read_i64(struct thrift_reader *in, const struct thrift_field *field)
{
	return is_of(in, field, THRIFT_I64) ? read_zigzag(in) : 0;
}

const uint8_t *thrift_read_binary(struct thrift_reader *in,
				  const struct thrift_field *field, size_t *size)
{
	*size = 0;
	return is_of(in, field, THRIFT_BINARY) ? thrift_read_item_binary(in, size) : NULL;
}

void thrift_read_struct(struct thrift_reader *in, const struct thrift_field *field)
{
	if (is_of(in, field, THRIFT_STRUCT))
		thrift_read_item_struct(in);
}

/* Items of the least types have a byte each at least. */
static bool read_items(struct thrift_reader *in, struct thrift_items *items)
{
	uint8_t head = read_byte(in);
	uint64_t count = head >> 4 == 15 ? read_varint(in) : head >> 4;

	items->type = head & 15;
	if (count > (size_t)(in->end - in->at))
		fail(in, true);
	items->count = in->failed ? 0 : (size_t)count;
	return !in->failed;
}

size_t thrift_read_list(struct thrift_reader *in, const struct thrift_field *field,
			enum thrift_type item)
{
	struct thrift_items items;

	if (!is_of(in, field, THRIFT_LIST) || !read_items(in, &items))
		return 0;
	if (items.count && items.type != (int)item)
		fail(in, false);
	return in->failed ? 0 : items.count;
}

int32_t thrift_read_item_i32(struct thrift_reader *in)
{
	int64_t number = read_zigzag(in);

	if (number < INT32_MIN || number > INT32_MAX)
		fail(in, false);
	return in->failed ? 0 : (int32_t)number;
}

const uint8_t *thrift_read_item_binary(struct thrift_reader *in, size_t *size)
{
	uint64_t length = read_varint(in);
	const uint8_t *bytes = length > SIZE_MAX / 2 ? (fail(in, false), NULL)
						     : read_bytes(in, (size_t)length);

	*size = bytes ? (size_t)length : 0;
	return bytes;
}

void thrift_read_item_struct(struct thrift_reader *in)
{
	if (in->depth == THRIFT_DEPTH) {
		fail(in, false);
		return;
	}
	in->outer[in->depth++] = in->last;
	in->last = 0;
}

static void skip_value(struct thrift_reader *in, int type, bool in_list, unsigned depth);

static void skip_items(struct thrift_reader *in, unsigned depth)
{
	struct thrift_items items;

	if (read_items(in, &items))
		for (size_t i = 0; i < items.count && !in->failed; i++)
			skip_value(in, items.type, true, depth);
}

static void skip_map(struct thrift_reader *in, unsigned depth)
{
	uint64_t count = read_varint(in);
	uint8_t types = count ? read_byte(in) : 0;

	for (uint64_t i = 0; i < count && !in->failed; i++) {
		skip_value(in, types >> 4, true, depth);
		skip_value(in, types & 15, true, depth);
	}
}

static void skip_struct(struct thrift_reader *in, unsigned depth)
{
	struct thrift_field field;

	thrift_read_item_struct(in);
	while (thrift_next(in, &field))
		skip_value(in, field.type, false, depth);
}

/* Booleans have their value in the type of the field, in lists a byte. */
static void skip_value(struct thrift_reader *in, int type, bool in_list, unsigned depth)
{
	size_t size;

	if (depth == THRIFT_DEPTH) {
		fail(in, false);
		return;
	}
	switch (type) {
	case THRIFT_BOOL:
	case TYPE_FALSE:
		if (in_list)
			read_byte(in);
		break;
	case THRIFT_I8:
		read_byte(in);
		break;
	case TYPE_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		read_varint(in);
		break;
	case TYPE_DOUBLE:
		read_bytes(in, 8);
		break;
	case TYPE_UUID:
		read_bytes(in, 16);
		break;
	case THRIFT_BINARY:
		thrift_read_item_binary(in, &size);
		break;
	case THRIFT_LIST:
	case TYPE_SET:
		skip_items(in, depth + 1);
		break;
	case TYPE_MAP:
		skip_map(in, depth + 1);
		break;
	case THRIFT_STRUCT:
		skip_struct(in, depth + 1);
		break;
	default:
		fail(in, false);
	}
}

void thrift_skip(struct thrift_reader *in, const struct thrift_field *field)
{
	skip_value(in, field->type, false, 0);
}
