/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_PRIVATE_H
#define CT_SYNC_BOUNDS_PRIVATE_H

#include "sync/bounds/bounds.h"
#include "sync/bounds/envelope.h"

/* For the files of the search for bounds by the drift limit. */

/* What the rounding of corrections and of what is printed can take from a bound. */
#define ROUNDING_NS 2.0

/*
 * By clock, the error of a line that the clock is near: how far the true correction
 * is above it. No fit enters, however bent it is.
 */
struct search {
	struct sync *sync;
	struct clock *base;        /* the lines, of one segment each */
	struct envelope *envelope; /* without cells: it has none */
	bool *is_reference;        /* of the islands that are searched */
	bool *news;                /* tighter since it was last heard */
	unsigned rounds;
};

/* What is known of the error at a time; of the reference, that there is none. */
double search_low(const struct search *search, uint32_t clock, nsec_t at);
double search_high(const struct search *search, uint32_t clock, nsec_t at);

/* The gap that a time lies in; NULL: none. */
struct envelope_gap *search_gap(const struct search *search, uint32_t clock, nsec_t at);

/*
 * A message within a gap may tell of more than one step there; for
 * message_log_walk, the context is the search.
 */
int search_open_gap(void *context, struct message *message);

/* Extremes of a true correction, less a reference time. */
struct extremes {
	double low, high;
};

void extremes_include(struct extremes *extremes, double low, double high);

/* What a clock can be at a time within a gap, less `zero`. */
struct extremes search_within_gap(const struct search *search, uint32_t clock,
				  const struct envelope_gap *gap, nsec_t at, nsec_t zero);

/* State a clock's bounds at so many even times, and where its segments begin. */
void search_state(const struct search *search, uint32_t clock, size_t spans);

/* What the mean rate of the true correction can be, by its ends. */
void search_mean_rate(const struct search *search, uint32_t clock, double rates[2]);

#endif
