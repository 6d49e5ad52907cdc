/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PROTO_H
#define CT_EXPORT_PERFETTO_PROTO_H

#include "export/perfetto/perfetto.h"

/* The encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding): fields in
 * any order, each a tag and a value. A begin and its end enclose a nested message or
 * string. */
void protobuf_add_uint(struct bytes *out, unsigned field, uint64_t value);
void protobuf_add_text(struct bytes *out, unsigned field, const char *text);
void protobuf_add_bytes(struct bytes *out, unsigned field, const struct bytes *bytes);
size_t protobuf_begin(struct bytes *out, unsigned field);
void protobuf_end(struct bytes *out, size_t begun);

/* Begin a packet of a node, which the caller ends; the second has a time. */
size_t proto_begin_packet(struct perfetto *perfetto, int32_t node, unsigned flags);
size_t proto_begin_packet_at(struct perfetto *perfetto, int32_t node, nsec_t at_ns);

#endif
