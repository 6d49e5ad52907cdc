/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PROTOBUF_H
#define CT_EXPORT_PERFETTO_PROTOBUF_H

#include <stdint.h>

#include "base/bytes.h"

/*
 * Writing messages in the encoding of Protocol Buffers
 * (protobuf.dev/programming-guides/encoding): fields in any order, each a tag and a
 * value. Field numbers are from 1 to 2^29 - 1.
 */

/* uint32, uint64, bool, enum. */
void protobuf_add_uint(struct bytes *out, unsigned field, uint64_t value);

/* int32, int64: a negative number takes ten bytes. */
void protobuf_add_int(struct bytes *out, unsigned field, int64_t value);

void protobuf_add_fixed64(struct bytes *out, unsigned field, uint64_t value);
void protobuf_add_double(struct bytes *out, unsigned field, double value);

/* string; what is no UTF-8 in it becomes U+FFFD, as readers refuse other bytes. */
void protobuf_add_text(struct bytes *out, unsigned field, const char *text);

/*
 * A message within a message: what is added between the two calls is its content.
 * They nest; `begun` is what protobuf_begin returned.
 */
size_t protobuf_begin(struct bytes *out, unsigned field);
void protobuf_end(struct bytes *out, size_t begun);

#endif
