/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_FRAMES_H
#define CT_INPUT_CAPTURE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * Return true if a file starts like a capture: pcap or pcapng, compressed or not. Such a
 * file is a broken capture if it cannot be opened. Return false if the file is something
 * else, or with error if it cannot be read.
 */
bool capture_probe(const char *path, struct error *error);

/* Return the name of a link type, numbered as in files, or NULL. */
const char *capture_link_name(uint32_t type);

/* A reader of the frames of a capture, in the order of the file. */
struct capture_frames;

/* Packets that an interface did not get into the capture, according to a pcapng. */
struct capture_loss {
	nsec_t begin_ns, end_ns; /* NSEC_MIN, NSEC_MAX: from its start, to its end */
	uint64_t packets;
};

struct capture_losses {
	struct capture_loss *item;
	size_t count, capacity;
};

/* Return what was lost as far as the capture was read; borrowed until the next step. */
const struct capture_losses *capture_frames_losses(const struct capture_frames *frames);

struct stamp_unit {
	nsec_t slack_ns;    /* most time from the timestamp to the packet */
	uint32_t interface; /* interface of a pcapng section, from 0 */
	bool usable;        /* the timestamp is recorded and valid */
};

struct captured {
	struct frame frame;
	enum frame_status status;
	uint32_t captured, wire; /* bytes in the file, and as it was sent */
	uint64_t ordinal;        /* among all packets of the file, from 0 */
	nsec_t ns;
	struct stamp_unit unit;
};

/*
 * Open a capture. Borrows what `input` points to, and `facts`, in which it keeps
 * timestamps, events and bytes read up to date. A later part that cannot be opened
 * becomes a problem. Return NULL with error if the first file is not a capture.
 */
struct capture_frames *capture_frames_open(const struct capture_input *input,
					   struct trace_facts *facts,
					   struct error *error);

/* Return the limit of captured bytes that the file was made with. */
uint32_t capture_frames_limit(const struct capture_frames *frames);

typedef void captured_fn(void *context, struct captured *captured);

/*
 * Deliver up to `most` frames. Frames without a timestamp are counted but not delivered.
 * Return false at the end; problems of timestamps and of a premature end are then added.
 */
bool capture_frames_step(struct capture_frames *frames, uint64_t most,
			 captured_fn *on_captured, void *context,
			 struct problem_list *problems);

/* From now on, deliver timestamps as they are recorded, even if the clock was set
 * back.
 */
void capture_frames_keep_stamps(struct capture_frames *frames);

void capture_frames_free(struct capture_frames *frames);

#endif
