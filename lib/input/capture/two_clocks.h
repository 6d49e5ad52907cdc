/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_TWO_CLOCKS_H
#define CT_INPUT_CAPTURE_TWO_CLOCKS_H

#include "input/capture/capture.h"

/*
 * The second clock of a capture: a network card stamps received packets with its own
 * clock, which counts TAI or runs freely, and the system stamps sent ones. Packets are in
 * the order of capture, so a received one between two sent ones bounds the offset of the
 * clocks on both sides.
 */
struct second_clock {
	bool found;
	bool is_scale;   /* the offset is that of TAI or GPS time from UTC */
	nsec_t ahead_ns; /* lead of received timestamps; rough if not a scale */
};

struct clock_survey;

struct clock_survey *clock_survey_new(void);

/* Add the next packet that the node sent or received. */
void clock_survey_add(struct clock_survey *survey, bool received, nsec_t ns);

/* Return true if some packets are in an order that a single clock cannot explain. */
bool clock_survey_has_signs(const struct clock_survey *survey);

struct second_clock clock_survey_decide(const struct clock_survey *survey);
void clock_survey_free(struct clock_survey *survey);

/*
 * A conversion of received packets' timestamps to the clock of sent packets. If the exact
 * offset is unknown, a received packet is held until the next one is sent and gets that
 * one's time, by which it had certainly arrived. Zero-initialize before use.
 */
struct second_stamps {
	struct second_clock clock;
	struct packet_event *held;
	size_t count, capacity;
	bool begun;
	nsec_t begin_ns, end_ns; /* first and last delivered timestamp */
};

void second_stamps_add(struct second_stamps *stamps, struct packet_event *packet_event,
		       packet_event_fn *deliver, void *context);

/* Report the two clocks, and the received packets that are still held at the end. */
void second_stamps_report(const struct second_stamps *stamps, const char *path,
			  struct problem_list *problems);

#endif
