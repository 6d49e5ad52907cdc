/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_CAPTURE_H
#define CT_INPUT_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * Return true if a file begins as a capture does, pcap or pcapng, compressed or not. What
 * does and still cannot be opened is a broken capture; what does not is something else,
 * or cannot be read, which sets the error.
 */
bool capture_probe(const char *path, struct error *error);

/* The name and version of the library that reads captures. */
const char *capture_library_version(void);

/* Return the name of a link type, as files number them, or NULL. */
const char *capture_link_name(uint32_t type);

/* The frames of a capture, one after the other, whatever becomes of them. */
struct capture_frames;

struct stamp_unit {
	nsec_t slack_ns;    /* the packet came at most this after its stamp */
	uint32_t interface; /* of a pcapng section, from 0 */
	bool usable;        /* the stamp is there, and is an instant that can be */
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
 * Open a capture, whose input is borrowed. Return NULL with error if it is not one, or
 * only of unknown link types. The facts are kept up to date: timestamps, events and how
 * far the files are read. A later part that cannot be opened becomes a problem.
 */
struct capture_frames *capture_frames_open(const struct capture_input *input,
					   struct ctf_facts *facts, struct error *error);

/* Return the limit of captured bytes that the file was made with. */
uint32_t capture_frames_limit(const struct capture_frames *frames);

typedef void captured_fn(void *context, struct captured *captured);

/*
 * The next frames, so many; those without a stamp are counted and not given. False at
 * the end, which is told as a problem, if it was none, with what was odd in stamps.
 */
bool capture_frames_step(struct capture_frames *frames, uint64_t most, captured_fn *give,
			 void *context, struct problem_list *problems);

void capture_frames_free(struct capture_frames *frames);

/*
 * Whether the node of a capture sent or received a packet: by the node's IP addresses or
 * by the link layer, which is the node's Ethernet address or, of a cooked frame, what it
 * says itself.
 */
enum sides_rule { SIDES_BY_LINK, SIDES_BY_ADDRESS };

struct sides {
	enum sides_rule rule;
	const struct node_address *local; /* ours, the caller's */
	size_t locals;
	uint8_t ethernet[6];
};

enum side {
	SIDE_SENT,
	SIDE_RECEIVED,
	SIDE_FOREIGN, /* neither from nor to the node */
	SIDE_INSIDE,  /* it never left the node */
};

enum side sides_tell(const struct sides *sides, const struct frame *frame);

/*
 * Which node a capture was made on, where nobody says: the Ethernet address whose packets
 * leave with their checksums still open, while those of others do not; or the one that
 * takes part in nearly every frame between two hosts, if a single one does.
 */
struct survey;

struct survey *survey_new(void);

/* Look at one frame, whose status is FRAME_PACKET or FRAME_OTHER. */
void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status);

/*
 * Set the rule by what was seen so far. -1 with error when it is not enough: that names
 * the addresses that were seen, and the option for the capture of that name.
 */
int survey_decide(struct survey *survey, const char *name, struct sides *sides,
		  struct error *error);

void survey_free(struct survey *survey);

#endif
