/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_PACKET_H
#define CT_SIMULATE_CTF_WRITER_PACKET_H

#include <babeltrace2/babeltrace.h>

#include "simulate/writer_headers.h"

/*
 * The headers of a packet as lttng-modules 2.13 record them: the two fields
 * network_header_type and network_header of an event's payload.
 */
enum { SIM_CTF_PACKET_FIELDS = 2 };

void sim_ctf_packet_append(bt_trace_class *trace, bt_field_class *payload);

/*
 * Fill in those two, the first of which has this index. Without headers
 * (NULL) they say that the packet is of an unknown kind.
 */
void sim_ctf_packet_fill(bt_field *payload, uint64_t index,
			 const struct sim_headers *headers);

/* How many bytes those two take, written there; 0 if they are none or too long. */
size_t sim_ctf_packet_bytes(const uint8_t *at, size_t room);

#endif
