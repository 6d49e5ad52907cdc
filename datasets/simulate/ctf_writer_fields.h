/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_FIELDS_H
#define CT_SIMULATE_CTF_WRITER_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "simulate/writer_headers.h"

/*
 * Event classes and their payloads. The recorded types, but for text arrays:
 * libbabeltrace2 reads them as strings and can write them as strings only.
 */
bt_event_class *sim_ctf_class_new(bt_stream_class *stream, const struct sim_class *class,
				  uint64_t id);

/* Fill in an event's payload; its packet has these headers, or none (NULL). */
void sim_ctf_fill(bt_field *payload, const struct sim_event *event,
		  const struct sim_headers *headers);

/*
 * How many bytes a payload takes that stands written there, with so much room
 * behind it; false if it is not of the class.
 */
bool sim_ctf_payload_bytes(const struct sim_class *class, const uint8_t *at, size_t room,
			   size_t *bytes);

#endif
