/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_TWO_CLOCKS_H
#define CT_INPUT_CAPTURE_TWO_CLOCKS_H

#include "input/capture/survey.h"

/*
 * Received packets between two sent ones. They bound the clock of sent packets less that
 * of received ones: from below by the one sent before them, from above by the one sent
 * after them.
 */
struct turn {
	nsec_t first_ns, last_ns; /* times of the first and the last received packet */
	nsec_t low_ns, high_ns;   /* at the first and the last; NSEC_MIN if unknown */
	bool
	    is_apart; /* a clock may have been set or slewed near it or the turn before */
};

/*
 * The second clock of a capture: a network card stamps received packets with its own
 * clock, which counts TAI or runs freely, and the system stamps sent ones. Packets are in
 * the order of capture, so received ones between two sent ones bound the offset of the
 * clocks on both sides.
 */
struct second_clock {
	bool found;
	bool is_scale;     /* the offset is that of TAI or GPS time from UTC */
	nsec_t ahead_ns;   /* lead of received timestamps; rough if not a scale */
	double fast_ppb;   /* rate of received timestamps by sent ones */
	double rate, most; /* expected rate of the offset, and most deviation from it */
	struct turn *turn; /* in the order of the file; none for a scale */
	size_t turns, capacity;
	/* The place of second_clock_convert() in the capture. */
	size_t at;
	bool was_received;
	bool begun;
	nsec_t begin_ns, end_ns; /* first and last converted time, if begun */
};

/*
 * Read a capture and find whether a second clock stamps its received packets. `second` is
 * zero-initialized, and to be cleared.
 */
void second_clock_find(struct second_clock *second, const struct capture_input *input,
		       const struct sides *sides);

/*
 * Convert the timestamp of the capture's next packet that was sent or received to the
 * clock of sent packets. Without a scale a received packet gets the latest time that the
 * order of packets allows.
 */
nsec_t second_clock_convert(struct second_clock *second, bool received, nsec_t ns);

/* Describe how the clocks relate, at the middle of the received packets. */
struct trace_second_clock second_clock_describe(const struct second_clock *second);

/* Set when a capture with two clocks begins and ends, as far as it was converted. */
void second_clock_span(const struct second_clock *second, struct trace_facts *facts);

/* Report the two clocks, if there are two. */
void second_clock_report(const struct second_clock *second, const char *path,
			 struct problem_list *problems);

void second_clock_clear(struct second_clock *second);

#endif
