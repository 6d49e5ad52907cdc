/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/doubt.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/bounds/bounds_private.h"

/* Limits of how fast oscillators change their rates: a constant part, and one that grows
 * with the root of minutes, as a random walk does. */
#define WANDER      10e-6
#define WANDER_WALK 10e-6

enum { SLOW_TRIPS = 4 }; /* round trips; what moves a clock by more is not hidden */

/*
 * Return by how much a clock's rate may differ from its mean one. If the fit follows a
 * change of rate for so long that it must have been slow, the limit applies.
 */
double wander_of(const struct search *search, uint32_t index, double rate)
{
	const struct clock *fitted = &search->curves->clock[index];
	double trip = pair_latency_trip(
	    &search->latencies->pair[search->net->graph.node[index].parent_pair]);
	double minutes = (double)(fitted->end_ns - fitted->begin_ns) / 60e9;
	double moved = 0;

	for (size_t k = 0; k < fitted->segments; k++) {
		nsec_t from = fitted->segment[k].local_ns;
		nsec_t to = k + 1 < fitted->segments ? fitted->segment[k + 1].local_ns
						     : fitted->end_ns;
		double by =
		    (fitted->segment[k].rate_ppb * 1e-9 - rate) * (double)(to - from);

		if (fabs(fitted->segment[k].rate_ppb) * 1e-9 > search->net->limit)
			continue;
		moved = by * moved < 0 ? by : moved + by;
		if (fabs(moved) > SLOW_TRIPS * trip)
			return 2 * search->net->limit;
	}
	return WANDER + WANDER_WALK * sqrt(minutes);
}

/* Return the mean rate of a fit's segments within the limit, without unit. */
double usual_rate(const struct search *search, uint32_t index)
{
	const struct clock *fitted = &search->curves->clock[index];
	double passed = 0, gained = 0;

	for (size_t k = 0; k < fitted->segments; k++) {
		const struct clock_segment *segment = &fitted->segment[k];
		nsec_t from = k ? segment->local_ns : fitted->begin_ns;
		nsec_t to =
		    k + 1 < fitted->segments ? segment[1].local_ns : fitted->end_ns;

		if (fabs(segment->rate_ppb) * 1e-9 > search->net->limit || to < from)
			continue;
		passed += (double)(to - from);
		gained += (double)(to - from) * segment->rate_ppb * 1e-9;
	}
	return passed > 0 ? gained / passed : 0;
}

enum { TOGETHER = 16 }; /* consecutive messages, the fastest of which is doubted */

/* The quickest of some consecutive messages of a pair in one direction. */
struct quickest {
	double travel_ns; /* by the fit */
	uint64_t place;   /* among the pair's messages in that direction */
};

/* The messages of a pair in one direction. */
struct direction {
	uint64_t seen;
	struct quickest *item; /* one for each TOGETHER messages */
	size_t count, capacity;
};

struct doubting {
	const struct network *net;
	const struct clock *fitted;     /* by clock */
	bool *is_doubted;               /* by island: messages of it were rejected */
	struct direction (*by_pair)[2]; /* and by direction */
};

/* Return the direction of a message, or NULL if none of its kind are doubted. */
static struct direction *direction_of(const struct doubting *doubting,
				      const struct message *message)
{
	const struct pair *pair = &doubting->net->pairs.pair[message->pair];

	if (message->rejected || pair->contradictory ||
	    !doubting->is_doubted[doubting->net->graph.node[pair->a].island])
		return NULL;
	return &doubting->by_pair[message->pair][message->forward];
}

static int note_quickest(void *context, const struct message *message)
{
	const struct doubting *doubting = context;
	const struct pair *pair = &doubting->net->pairs.pair[message->pair];
	const struct clock *fitted = doubting->fitted;
	struct direction *direction = direction_of(doubting, message);
	double travel;

	if (!direction)
		return 0;
	travel =
	    (double)nsec_sub(clock_correct(&fitted[message->forward ? pair->b : pair->a],
					   message->recv_ns),
			     clock_correct(&fitted[message->forward ? pair->a : pair->b],
					   message->send_ns));
	if (direction->seen % TOGETHER == 0)
		*MEM_NEXT(direction->item, direction->count, direction->capacity) =
		    (struct quickest){travel, direction->seen};
	else if (travel < direction->item[direction->count - 1].travel_ns)
		direction->item[direction->count - 1] =
		    (struct quickest){travel, direction->seen};
	direction->seen++;
	return 0;
}

static int doubt_message(void *context, struct message *message)
{
	struct direction *direction = direction_of(context, message);

	if (direction) {
		message->doubted =
		    direction->count > 1 &&
		    direction->item[direction->seen / TOGETHER].place == direction->seen;
		direction->seen++;
	}
	return 0;
}

int doubt_quickest(struct network *net, const struct curves *curves, struct error *error)
{
	struct doubting doubting = {.net = net, .fitted = curves->clock};
	bool any = false;
	int status = 0;

	doubting.is_doubted = mem_zalloc(net->graph.islands * sizeof(bool) + 1);
	doubting.by_pair = mem_zalloc((net->pairs.count + 1) * sizeof(*doubting.by_pair));
	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];

		doubting.is_doubted[net->graph.node[pair->a].island] |=
		    pair->rejected > 0;
		any |= pair->rejected > 0;
	}
	if (any)
		status = message_log_each(&net->log, note_quickest, &doubting, error);
	for (size_t i = 0; i < 2 * net->pairs.count; i++)
		doubting.by_pair[i / 2][i % 2].seen = 0;
	if (any && !status)
		status = message_log_change(&net->log, doubt_message, &doubting, error);
	for (size_t i = 0; i < 2 * net->pairs.count; i++)
		free(doubting.by_pair[i / 2][i % 2].item);
	free(doubting.by_pair);
	free(doubting.is_doubted);
	return status;
}
