/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_TWO_CLOCKS_H
#define CT_INPUT_CAPTURE_TWO_CLOCKS_H

#include "input/capture/capture.h"

/*
 * Two clocks in one capture: a network card stamps received packets by its own clock,
 * which counts TAI or runs freely, and the system stamps sent ones. The packets are in
 * the order in which they were captured, so a received one that lies between two sent
 * ones bounds the offset of the two clocks on both sides.
 */
struct second_clock {
	bool found;
	bool is_scale;   /* the offset is that of TAI or GPS time from UTC, in seconds */
	nsec_t ahead_ns; /* of timestamps of received packets; where not a scale, about */
};

struct clock_survey;

struct clock_survey *clock_survey_new(void);

/* The next packet that the node sent or received. */
void clock_survey_add(struct clock_survey *survey, bool received, nsec_t ns);

/* Whether some packets are in an order that one clock does not explain. */
bool clock_survey_has_signs(const struct clock_survey *survey);

struct second_clock clock_survey_decide(const struct clock_survey *survey);
void clock_survey_free(struct clock_survey *survey);

/*
 * The stamps of a capture with two clocks, brought to that of sent packets. Without an
 * exact offset, a received packet is held until the next one is sent, by whose time it
 * had certainly come. Zeroed is empty.
 */
struct second_stamps {
	struct second_clock clock;
	struct packet_event *held;
	size_t count, capacity;
	bool begun;
	nsec_t begin_ns, end_ns; /* of all that was delivered */
};

void second_stamps_add(struct second_stamps *stamps, struct packet_event *packet_event,
		       packet_event_fn *deliver, void *context);

/* Report the two clocks, at the end, and the received packets that are still held. */
void second_stamps_report(const struct second_stamps *stamps, const char *path,
			  struct problem_list *problems);

#endif
