/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_ROWS_H
#define CT_INPUT_PACKET_ROWS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "input/packet.h"

/*
 * Packet events as bytes (docs/formats.md, Packet files). Of a packet only that is
 * written which the one before it of its flow does not let expect: the events of one
 * flow have the same addresses, ports, device, stream and side.
 */
struct packet_key { /* as it stands in the file, little endian */
	uint8_t known, family, protocol, received, hops, zero[3];
	uint8_t src[16], dst[16];
	uint16_t sport, dport, fragment;
	uint32_t device, stream;
} __attribute__((packed));

struct packet_flow {
	struct packet_key key;
	struct packet packet; /* the last one; and what the next one should be like */
	uint32_t id_step;
	int64_t lead_ns; /* the stamp less the event's time */
	uint64_t whole;  /* how much later it was whole, as it is written */
	uint64_t ordinal;
};

struct packet_flows {
	struct packet_flow *item;
	size_t count, capacity;
};

struct packet_encoder {
	struct bytes rows;
	uint32_t count;
	nsec_t event_ns; /* of the last one */
	struct packet_flows flows;
	struct intmap index;    /* hash of a key -> flow */
	uint64_t other_ordinal; /* of a message, see messages_file.h */
};

/* All zero is an empty encoder. */
void packet_encoder_add(struct packet_encoder *encoder,
			const struct packet_event *packet_event);

/* Begin anew, with nothing expected. */
void packet_encoder_reset(struct packet_encoder *encoder);
void packet_encoder_clear(struct packet_encoder *encoder);

struct packet_decoder {
	struct bytes_cursor cursor; /* of the rows, which its owner keeps */
	nsec_t event_ns;
	struct packet_flows flows;
	uint64_t other_ordinal;
};

void packet_decoder_begin(struct packet_decoder *decoder, const uint8_t *rows,
			  size_t size);

/* The next row. False where the bytes are none: then nothing is to be had any more. */
bool packet_decoder_next(struct packet_decoder *decoder,
			 struct packet_event *packet_event);
void packet_decoder_clear(struct packet_decoder *decoder);

#endif
