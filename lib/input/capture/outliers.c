/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/outliers.h"

#include <stdlib.h>
#include <string.h>

#define HOUR (3600 * NSEC_PER_SEC)

enum {
	FOLLOWERS = 8,   /* packets that make a change of the time real */
	PATIENCE = 4096, /* packets near the old time until held ones are dropped */
	IDLE_GAPS = 16,  /* gaps up to this many times the median are normal */
	LAST_HOURS = 48, /* most distance of the last packets from the others */
};

static nsec_t time_distance(nsec_t a, nsec_t b)
{
	return a > b ? nsec_sub(a, b) : nsec_sub(b, a);
}

static void leave_out(struct outliers *outliers, size_t first, size_t count)
{
	const struct captured *captured = &outliers->held[first];

	if (!count)
		return;
	if (!outliers->left_out) {
		outliers->first_index = captured->ordinal;
		outliers->first_ns = captured->ns;
	}
	outliers->left_out += count;
	outliers->count -= count;
	memmove(outliers->held + first, outliers->held + first + count,
		(outliers->count - first) * sizeof(*outliers->held));
}

static void release_held(struct outliers *outliers, captured_fn *deliver, void *context)
{
	for (size_t i = 0; i < outliers->count; i++)
		deliver(context, &outliers->held[i]);
	outliers->count = 0;
}

/*
 * Return true if the last held packets follow each other like those of a running clock.
 */
static bool is_series(const struct outliers *outliers)
{
	const struct captured *last = &outliers->held[outliers->count - 1];

	if (outliers->count < FOLLOWERS || last[1 - FOLLOWERS].ns == last->ns)
		return false;
	for (int i = 1; i < FOLLOWERS; i++)
		if (last[1 - i].ns < last[-i].ns ||
		    time_distance(last[1 - i].ns, last[-i].ns) > outliers->reach_ns)
			return false;
	return true;
}

static void add_far(struct outliers *outliers, const struct captured *captured,
		    captured_fn *deliver, void *context)
{
	if (outliers->count == OUTLIERS_HELD)
		leave_out(outliers, 0, 1);
	if (!outliers->count) {
		outliers->returned = false;
		outliers->since = 0;
	}
	outliers->held[outliers->count++] = *captured;
	if (!outliers->returned && outliers->count == FOLLOWERS) {
		outliers->near_ns = captured->ns;
		release_held(outliers, deliver, context);
	} else if (outliers->returned && is_series(outliers)) {
		outliers->has_other = true;
		outliers->other_ns = captured->ns;
		release_held(outliers, deliver, context);
	}
}

/*
 * Return true if a packet is near the accepted packets and not nearer to the last held
 * one.
 */
static bool is_near(const struct outliers *outliers, nsec_t ns)
{
	nsec_t far = time_distance(ns, outliers->near_ns);

	return far <= outliers->reach_ns &&
	       (!outliers->count ||
		far <= time_distance(ns, outliers->held[outliers->count - 1].ns));
}

static void add_captured(struct outliers *outliers, struct captured *captured,
			 captured_fn *deliver, void *context)
{
	if (is_near(outliers, captured->ns)) {
		outliers->near_ns = captured->ns;
		outliers->returned = true;
		if (outliers->count && ++outliers->since == PATIENCE)
			leave_out(outliers, 0, outliers->count);
	} else if (outliers->has_other &&
		   time_distance(captured->ns, outliers->other_ns) <=
		       outliers->reach_ns) {
		outliers->other_ns = captured->ns;
	} else {
		add_far(outliers, captured, deliver, context);
		return;
	}
	deliver(context, captured);
}

/* Set near_ns and reach_ns from the first packets, then process these. */
static void begin_outliers(struct outliers *outliers, captured_fn *deliver, void *context)
{
	struct captured first[OUTLIERS_HELD];
	nsec_t stamp[OUTLIERS_HELD], gap[OUTLIERS_HELD];
	size_t count = outliers->count;

	memcpy(first, outliers->held, count * sizeof(*first));
	for (size_t i = 0; i < count; i++)
		stamp[i] = first[i].ns;
	qsort(stamp, count, sizeof(*stamp), nsec_compare);
	for (size_t i = 0; i < count; i++)
		gap[i] = i ? time_distance(stamp[i], stamp[i - 1]) : 0;
	qsort(gap, count, sizeof(*gap), nsec_compare);
	outliers->near_ns = stamp[count / 2];
	outliers->reach_ns = HOUR;
	if (gap[count / 2] > HOUR / IDLE_GAPS)
		outliers->reach_ns = gap[count / 2] > NSEC_MAX / IDLE_GAPS
					 ? NSEC_MAX
					 : IDLE_GAPS * gap[count / 2];
	outliers->begun = true;
	outliers->count = 0;
	for (size_t i = 0; i < count; i++)
		add_captured(outliers, &first[i], deliver, context);
}

void outliers_add(struct outliers *outliers, struct captured *captured,
		  captured_fn *deliver, void *context)
{
	if (outliers->begun) {
		add_captured(outliers, captured, deliver, context);
		return;
	}
	outliers->held[outliers->count++] = *captured;
	if (outliers->count == OUTLIERS_HELD)
		begin_outliers(outliers, deliver, context);
}

void outliers_end(struct outliers *outliers, captured_fn *deliver, void *context)
{
	size_t i = 0;

	if (!outliers->begun && outliers->count)
		begin_outliers(outliers, deliver, context);
	/* The last packets may follow a long idle time: keep those within LAST_HOURS. */
	while (i < outliers->count)
		if (outliers->returned ||
		    time_distance(outliers->held[i].ns, outliers->near_ns) >
			LAST_HOURS * HOUR)
			leave_out(outliers, i, 1);
		else
			i++;
	release_held(outliers, deliver, context);
}
