/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_SOURCE_H
#define CT_INPUT_PACKET_SOURCE_H

#include <stddef.h>

#include "base/error.h"
#include "base/problem.h"
#include "ctf/reader.h"
#include "input/packet.h"

/*
 * Packets of one source in the order of its clock, whatever the source is:
 * a CTF trace or a capture. Reading goes in steps, so that many sources can
 * share few threads; one source is used by one thread at a time.
 */
struct packet_source;

/* What is known of a source; grows while it is read. */
struct packet_source_facts {
	uint64_t events;              /* events or captured packets, of any kind */
	uint64_t bytes, total_bytes;  /* read so far, and in all (0: unknown) */
	nsec_t begin_ns, end_ns;      /* stamps of the first and last; valid if events */
	uint64_t sent, received;      /* sightings */
	uint64_t network_events;      /* of any kind that could be a sighting */
	uint64_t headerless;          /* received without any recorded header */
	char hostname[65];            /* as recorded, or "" */
	unsigned char clock_uuid[16]; /* CTF: of the clock class, if has_clock */
	nsec_t clock_offset_ns;       /* CTF: epoch time at clock value 0 */
	uint64_t clock_frequency;     /* Hz */
	bool has_clock;
	char clock_name[65]; /* or "" */
};

/* Whether two sources have one clock: kernel and user space of one boot. */
bool packet_source_same_clock(const struct packet_source_facts *a,
			      const struct packet_source_facts *b);

typedef void sighting_fn(void *context, const struct sighting *sighting);

/* An address of the node that the source is from, in packet.src's form. */
struct node_address {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

/*
 * Open a capture. `local` are the node's own addresses; without any, sent and
 * received is told by the capture itself. NULL with error on failure.
 */
struct packet_source *capture_packets_open(const char *path,
					   const struct node_address *local,
					   size_t locals, struct error *error);

/* Open one CTF trace: a directory that holds a file named metadata. */
struct packet_source *trace_packets_open(const char *path, enum ctf_reader_kind reader,
					 struct error *error);

enum step { STEP_MORE, STEP_END };

/*
 * Read some more (milliseconds of work) and hand every packet found to `give`.
 * Input that breaks ends the source and becomes a problem; it never fails.
 */
enum step packet_source_step(struct packet_source *source, sighting_fn *give,
			     void *context);

const struct packet_source_facts *packet_source_facts(const struct packet_source *source);

/* What was odd; the list belongs to the source, its caller may move it away. */
struct problem_list *packet_source_problems(struct packet_source *source);

void packet_source_free(struct packet_source *source);

#endif
