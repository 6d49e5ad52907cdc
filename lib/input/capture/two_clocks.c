/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/two_clocks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

#define DISORDER NSEC_PER_MSEC /* CPUs may deliver packets out of order by this */

enum {
	LEAST_SIGNS = 8,  /* fewest changes out of order with two clocks */
	SIGNS_SHARE = 50, /* inverse of their least share of all changes */
	MOST_HELD = 1 << 16,
};

/* The changes from a sent packet to a received one, or the other way around. */
struct changes {
	nsec_t *ns; /* timestamp of the received one less that of the sent one */
	size_t count, capacity;
};

struct clock_survey {
	struct changes to_received, to_sent;
	bool begun[2], last_received;
	nsec_t last_ns[2];     /* timestamp of the last sent, last received packet */
	uint64_t signs, falls; /* changes out of order; steps back in one direction */
};

struct clock_survey *clock_survey_new(void)
{
	return mem_zalloc(sizeof(struct clock_survey));
}

void clock_survey_add(struct clock_survey *survey, bool received, nsec_t ns)
{
	nsec_t ahead = nsec_sub(received ? ns : survey->last_ns[1],
				received ? survey->last_ns[0] : ns);
	struct changes *changes = received ? &survey->to_received : &survey->to_sent;

	if (survey->begun[received] && ns < survey->last_ns[received] - DISORDER)
		survey->falls++;
	if (survey->begun[!received] && survey->last_received != received) {
		*MEM_NEXT(changes->ns, changes->count, changes->capacity) = ahead;
		survey->signs += received ? ahead < -DISORDER : ahead > DISORDER;
	}
	survey->begun[received] = true;
	survey->last_received = received;
	survey->last_ns[received] = ns;
}

/* Return a percentile of the changes: unlike an extreme, it is robust to disorder. */
static nsec_t quantile(const struct changes *changes, size_t percent)
{
	nsec_t value, *sorted = mem_alloc(changes->count * sizeof(*sorted));

	for (size_t i = 0; i < changes->count; i++)
		sorted[i] = changes->ns[i];
	qsort(sorted, changes->count, sizeof(*sorted), nsec_compare);
	value = sorted[(changes->count - 1) * percent / 100];
	free(sorted);
	return value;
}

/*
 * Return the offset of TAI or GPS time, of either sign, that is within the bounds, or 0.
 */
static nsec_t find_scale(nsec_t low, nsec_t high)
{
	/* TAI and GPS time less UTC since 1999. */
	static const int seconds[] = {32, 33, 34, 35, 36, 37, 13, 14, 15, 16, 17, 18};
	nsec_t found = 0;

	if (high - low >= NSEC_PER_SEC)
		return 0;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		for (int sign = -1; sign <= 1; sign += 2) {
			nsec_t scale = sign * seconds[i] * NSEC_PER_SEC;

			if (low - DISORDER <= scale && scale <= high + DISORDER)
				found = scale;
		}
	return found;
}

bool clock_survey_has_signs(const struct clock_survey *survey)
{
	return survey->signs > 0;
}

struct second_clock clock_survey_decide(const struct clock_survey *survey)
{
	size_t changes = survey->to_received.count + survey->to_sent.count;
	struct second_clock second = {false, false, 0};
	nsec_t low, high;

	if (survey->signs < LEAST_SIGNS || survey->signs * SIGNS_SHARE < changes ||
	    survey->falls * LEAST_SIGNS > survey->signs || !survey->to_received.count ||
	    !survey->to_sent.count)
		return second;
	low = quantile(&survey->to_sent, 98);
	high = quantile(&survey->to_received, 2);
	second.found = true;
	second.ahead_ns = find_scale(low, high);
	second.is_scale = second.ahead_ns != 0;
	if (!second.is_scale)
		second.ahead_ns = low + nsec_sub(high, low) / 2;
	return second;
}

void clock_survey_free(struct clock_survey *survey)
{
	if (!survey)
		return;
	free(survey->to_received.ns);
	free(survey->to_sent.ns);
	free(survey);
}

static void deliver_one(struct second_stamps *stamps, struct packet_event *packet_event,
			packet_event_fn *deliver, void *context)
{
	nsec_t ns = packet_event->event_ns;

	if (!stamps->begun || ns < stamps->begin_ns)
		stamps->begin_ns = ns;
	if (!stamps->begun || ns > stamps->end_ns)
		stamps->end_ns = ns;
	stamps->begun = true;
	deliver(context, packet_event);
}

void second_stamps_add(struct second_stamps *stamps, struct packet_event *packet_event,
		       packet_event_fn *deliver, void *context)
{
	nsec_t ahead_ns = stamps->clock.ahead_ns;

	if (packet_event->received && !stamps->clock.is_scale) {
		if (stamps->count < MOST_HELD)
			*MEM_NEXT(stamps->held, stamps->count, stamps->capacity) =
			    *packet_event;
		return;
	}
	if (packet_event->received) {
		packet_event->ns = nsec_sub(packet_event->ns, ahead_ns);
		packet_event->whole_ns = nsec_sub(packet_event->whole_ns, ahead_ns);
		packet_event->event_ns = nsec_sub(packet_event->event_ns, ahead_ns);
	}
	for (size_t i = 0; i < stamps->count; i++) {
		struct packet_event *held = &stamps->held[i];

		held->ns = held->whole_ns = packet_event->whole_ns;
		held->event_ns = packet_event->event_ns;
		deliver_one(stamps, held, deliver, context);
	}
	stamps->count = 0;
	deliver_one(stamps, packet_event, deliver, context);
}

void second_stamps_report(const struct second_stamps *stamps, const char *path,
			  struct problem_list *problems)
{
	nsec_t ahead_ns = stamps->clock.ahead_ns;
	char span[NSEC_TEXT];

	if (!stamps->clock.found)
		return;
	nsec_format_span(span, (double)ahead_ns);
	if (stamps->clock.is_scale)
		problem_add(problems, path, PROBLEM_CLOCK, 1,
			    "two clocks in one capture: received packets are stamped "
			    "%" PRId64 " s ahead of sent ones, as %s is of UTC; that is "
			    "subtracted",
			    ahead_ns / NSEC_PER_SEC,
			    llabs(ahead_ns) > 30 * NSEC_PER_SEC ? "TAI" : "GPS time");
	else
		problem_add(problems, path, PROBLEM_CLOCK, 1,
			    "two clocks in one capture: received packets are stamped "
			    "some %s ahead of sent ones; their clock is left out, and "
			    "each counts as received by the time of the next one sent",
			    span);
	if (stamps->count)
		problem_add(problems, path, PROBLEM_CLOCK, stamps->count,
			    "%zu packets were received after the last one was sent, left "
			    "out",
			    stamps->count);
}
