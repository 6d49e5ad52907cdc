/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/latencies.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	QUICK_MOST = 1024,        /* quickest messages of a pair in one direction */
	QUICK_LEAST = 16,         /* if there are many pairs */
	QUICK_TOGETHER = 1 << 21, /* quickest messages of all pairs */
};

static void latencies_init(struct latencies *latencies, const struct network *net)
{
	size_t pairs = net->pairs.count, most = QUICK_TOGETHER / (2 * pairs + 1);

	most = most < QUICK_LEAST ? QUICK_LEAST : most < QUICK_MOST ? most : QUICK_MOST;
	latencies->pair = mem_zalloc((pairs + 1) * sizeof(*latencies->pair));
	latencies->quick = mem_zalloc((pairs + 1) * sizeof(*latencies->quick));
	for (size_t i = 0; i < pairs; i++) {
		const struct pair *pair = &net->pairs.pair[i];

		latencies->pair[i] = (struct pair_latency){0, NSEC_MAX, NSEC_MAX};
		latencies->quick[i][0].each = 1 + pair->messages_ba / most;
		latencies->quick[i][1].each = 1 + pair->messages_ab / most;
	}
}

static void add_quick(struct quick_list *list, nsec_t at, nsec_t latency)
{
	struct quick *last;

	if (!list->left) {
		*MEM_NEXT(list->item, list->count, list->capacity) =
		    (struct quick){at, (double)latency};
		list->left = list->each;
	}
	list->left--;
	last = &list->item[list->count - 1];
	if ((double)latency < last->latency_ns)
		*last = (struct quick){at, (double)latency};
}

struct latency_walk {
	const struct network *net;
	const struct clock *clock;
	struct latencies *latencies;
};

static int add_message(void *context, const struct message *message)
{
	const struct latency_walk *walk = context;
	const struct pair *pair = &walk->net->pairs.pair[message->pair];
	struct pair_latency *found = &walk->latencies->pair[message->pair];
	struct hull_point point = pair_point(message);
	nsec_t *least =
	    message->forward ? &found->min_latency_ab_ns : &found->min_latency_ba_ns;
	nsec_t a, b, latency;

	if (message->rejected)
		return 0;
	a = clock_correct(&walk->clock[pair->a], point.x);
	b = clock_correct(&walk->clock[pair->b], point.y);
	latency = message->forward ? nsec_sub(b, a) : nsec_sub(a, b);
	if (latency < 0)
		found->violations++;
	if (latency < *least && !pair->contradictory)
		*least = latency;
	add_quick(&walk->latencies->quick[message->pair][message->forward], a, latency);
	return 0;
}

double pair_latency_trip(const struct pair_latency *latency)
{
	return (double)latency->min_latency_ab_ns + (double)latency->min_latency_ba_ns;
}

int latencies_find(const struct network *net, const struct curves *curves,
		   struct latencies *latencies, struct error *error)
{
	struct latency_walk walk = {net, curves->clock, latencies};

	latencies_init(latencies, net);
	return message_log_each(&net->log, add_message, &walk, error);
}

void latencies_clear(struct latencies *latencies, const struct network *net)
{
	for (size_t i = 0; latencies->quick && i < net->pairs.count; i++) {
		free(latencies->quick[i][0].item);
		free(latencies->quick[i][1].item);
	}
	free(latencies->pair);
	free(latencies->quick);
	*latencies = (struct latencies){.pair = NULL};
}
