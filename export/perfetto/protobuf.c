/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void tag(struct bytes *out, unsigned field, enum wire_type type)
{
	bytes_add_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_add_uint(struct bytes *out, unsigned field, uint64_t value)
{
	tag(out, field, WIRE_VARINT);
	bytes_add_varint(out, value);
}

void protobuf_add_int(struct bytes *out, unsigned field, int64_t value)
{
	protobuf_add_uint(out, field, (uint64_t)value);
}

void protobuf_add_fixed64(struct bytes *out, unsigned field, uint64_t value)
{
	tag(out, field, WIRE_FIXED64);
	bytes_add_le(out, value, 8);
}

void protobuf_add_double(struct bytes *out, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_add_fixed64(out, field, bits);
}

void protobuf_add_text(struct bytes *out, unsigned field, const char *text)
{
	size_t size = strlen(text);
	char *clean = NULL;

	if (!utf8_is_valid(text, size)) {
		text = clean = utf8_clean(text);
		size = strlen(text);
	}
	tag(out, field, WIRE_BYTES);
	bytes_add_varint(out, size);
	bytes_add(out, text, size);
	free(clean);
}

/* Most messages are short, so one byte is left for the length. */
size_t protobuf_begin(struct bytes *out, unsigned field)
{
	tag(out, field, WIRE_BYTES);
	bytes_add_byte(out, 0);
	return out->size;
}

void protobuf_end(struct bytes *out, size_t begun)
{
	size_t size = out->size - begun, more = 0;

	for (size_t rest = size >> 7; rest; rest >>= 7)
		more++;
	if (more) {
		bytes_extend(out, more);
		memmove(out->data + begun + more, out->data + begun, size);
	}
	out->size = begun - 1;
	bytes_add_varint(out, size);
	out->size += size;
}
