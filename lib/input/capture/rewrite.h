/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_REWRITE_H
#define CT_INPUT_CAPTURE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "input/packet_source.h"

/*
 * The local times of a capture's packets, in the order of the capture. With two clocks
 * those of received packets are on the clock of sent ones.
 */
struct packet_times;

/* Return NULL with error if it is not a capture. Borrows what `input` points to. */
struct packet_times *packet_times_open(const struct capture_input *input,
				       struct error *error);
void packet_times_free(struct packet_times *times);

/*
 * A copy of a capture with other timestamps, in nanoseconds. Everything else is kept:
 * the order of packets, byte order, interfaces, comments, and blocks of unknown types.
 */
struct capture_rewrite {
	nsec_t (*correct)(const void *context, nsec_t local_ns);
	const void *context;
	const char *comment;        /* to add to each section of a pcapng */
	struct packet_times *times; /* for a capture with two clocks, otherwise NULL */
	const struct trace_set_back *set_back; /* the whole capture's */
	size_t set_backs;
	nsec_t begin_ns, end_ns; /* local times of the first and last packet in use */

	uint64_t packets; /* number in the files written so far, for set_back */
	uint64_t kept;    /* packets whose time is absurd, invalid, or would become so */
	bool is_cut;      /* what follows a broken record or block was left out */
};

/*
 * Write one file of a capture, unpacked, to `to`, a new file. Set a member of a capture
 * of several files first, and call it for each in turn. Return 0, or with error 1 if the
 * file cannot be read, or is of a kind that has no nanoseconds, or -1 if it cannot be
 * written.
 */
int capture_rewrite_file(struct capture_rewrite *rewrite, const char *from,
			 const char *to, struct error *error);

#endif
