/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/curvature.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/fit/fit.h"

enum {
	SPANS = 16,
	SPANS_OF_MANY = 4,
	MANY = 64,       /* clocks */
	LEAST_EACH = 16, /* messages a span each way, on average */
};

/*
 * Halving four times gives 16 spans, and none of that gains more by chance than
 * halving the last time does; twice that, and a hundredth of the room.
 */
#define BEYOND_CHANCE 8.0
#define WORTH         0.01

/* Hulls of a span: of all messages, and of every other one each way. */
enum part { ALL, EVEN, ODD, PARTS };

struct span {
	struct pair part[PARTS];
	uint64_t seen[2]; /* by direction */
};

struct cutting {
	const struct sync *sync;
	struct span **spans; /* by pair; NULL: not looked at */
	size_t count;        /* spans a pair */
};

static struct span *span_at(const struct cutting *cutting, uint32_t index, nsec_t x)
{
	const struct pair *pair = &cutting->sync->pairs.pair[index];
	const struct fit_clock *clock = &cutting->sync->clock[pair->a];
	double length = fmax(1, (double)(clock->end_ns - clock->begin_ns));
	double share = (double)(x - clock->begin_ns) / length;
	double at = floor(share * (double)cutting->count);

	return &cutting
		    ->spans[index][(size_t)fmin((double)cutting->count - 1, fmax(0, at))];
}

static int take(void *context, struct message *message)
{
	const struct cutting *cutting = context;
	struct hull_point point = pair_point(message);
	struct span *span;
	enum part half;

	if (message->rejected || !cutting->spans[message->pair])
		return 0;
	span = span_at(cutting, message->pair, point.x);
	half = span->seen[message->forward]++ % 2 ? ODD : EVEN;
	for (int k = 0; k < PARTS; k++) {
		struct pair *part = &span->part[k];

		if (k == ALL || k == (int)half)
			hull_add(message->forward ? &part->lower : &part->upper, point.x,
				 point.y);
	}
	return 0;
}

/* The room of a line of their own; NAN without messages both ways. */
static double room_of(struct pair *part, double limit)
{
	hull_settle(&part->lower);
	hull_settle(&part->upper);
	if (!part->lower.count || !part->upper.count)
		return NAN;
	part->origin = part->lower.point[0];
	fit_pair_margin(part, limit);
	return part->margin_ns;
}

static bool is_curved(const struct cutting *cutting, uint32_t index)
{
	double limit = 2e-6 * cutting->sync->options.drift_limit_ppm;
	double room = 0, halves = 0, whole = cutting->sync->pairs.pair[index].margin_ns;
	double spans = 0;

	for (size_t i = 0; i < cutting->count; i++) {
		struct span *span = &cutting->spans[index][i];
		double all = room_of(&span->part[ALL], limit);
		double half = (room_of(&span->part[EVEN], limit) +
			       room_of(&span->part[ODD], limit)) /
			      2;

		if (isnan(half))
			continue;
		room += all;
		halves += half;
		spans++;
	}
	/* Most of the time must have been looked at. */
	if (2 * spans < (double)cutting->count)
		return false;
	room /= spans;
	halves /= spans;
	return room - whole > BEYOND_CHANCE * fmax(0, halves - room) + WORTH * room;
}

static void add_pair(struct cutting *cutting, uint32_t index)
{
	const struct pair *pair = &cutting->sync->pairs.pair[index];
	uint64_t least =
	    pair->messages_ab < pair->messages_ba ? pair->messages_ab : pair->messages_ba;
	struct span *span;

	if (pair->margin_ns < 0 || pair->too_fast || least < cutting->count * LEAST_EACH)
		return;
	span = mem_zalloc(cutting->count * sizeof(*span));
	for (size_t i = 0; i < cutting->count; i++)
		for (int k = 0; k < PARTS; k++)
			span[i].part[k].upper.upper = true;
	cutting->spans[index] = span;
}

static void clear_pair(struct cutting *cutting, uint32_t index)
{
	for (size_t i = 0; i < cutting->count; i++)
		for (int k = 0; k < PARTS; k++) {
			hull_clear(&cutting->spans[index][i].part[k].lower);
			hull_clear(&cutting->spans[index][i].part[k].upper);
		}
	free(cutting->spans[index]);
}

int curvature_find(struct sync *sync, bool *curved, struct error *error)
{
	struct cutting cutting = {.sync = sync,
				  .count = sync->clocks > MANY ? SPANS_OF_MANY : SPANS};
	int status;

	cutting.spans = mem_zalloc((sync->pairs.count + 1) * sizeof(*cutting.spans));
	for (size_t i = 0; i < sync->clocks; i++)
		if (sync->graph.node[i].parent >= 0)
			add_pair(&cutting, (uint32_t)sync->graph.node[i].parent_pair);
	status = message_log_walk(&sync->log, false, take, &cutting, error);
	for (uint32_t i = 0; i < sync->pairs.count; i++) {
		if (!cutting.spans[i])
			continue;
		curved[i] = !status && is_curved(&cutting, i);
		clear_pair(&cutting, i);
	}
	free(cutting.spans);
	return status;
}
