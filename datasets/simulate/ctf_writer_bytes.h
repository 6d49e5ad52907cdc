/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_BYTES_H
#define CT_SIMULATE_CTF_WRITER_BYTES_H

#include <stdint.h>

/*
 * How sink.ctf.fs lays out a packet of the streams that we give it, in this
 * machine's byte order: this, then events of a header and the payload.
 */
struct sim_ctf_packet_begin {
	uint32_t magic;
	unsigned char uuid[16];
	uint64_t stream_class, stream;
	uint64_t packet_bits, content_bits;
	uint64_t begin_stamp, end_stamp;
	uint64_t discarded, number;
	uint32_t cpu;
} __attribute__((packed));

struct sim_ctf_event_begin {
	uint64_t class_id, stamp;
} __attribute__((packed));

#define SIM_CTF_MAGIC 0xc1fc1fc1u

#endif
