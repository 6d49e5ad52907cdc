/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/sample.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"

struct choosing {
	struct pair_sample *samples;
	size_t most;
};

static uint64_t hash_point(struct hull_point point)
{
	return hash_mix((uint64_t)point.x * 0x9e3779b97f4a7c15u ^ (uint64_t)point.y);
}

static void halve_sample(struct sample_side *side)
{
	size_t kept = 0;

	side->every *= 2;
	for (size_t i = 0; i < side->count; i++)
		if (hash_point(side->point[i]) % side->every == 0)
			side->point[kept++] = side->point[i];
	side->count = kept;
}

static int sample_message(void *context, const struct message *message)
{
	struct choosing *choosing = context;
	struct pair_sample *sample = &choosing->samples[message->pair];
	struct sample_side *side = message->forward ? &sample->ab : &sample->ba;
	struct hull_point point = pair_point(message);

	if (message->rejected || hash_point(point) % side->every)
		return 0;
	*MEM_NEXT(side->point, side->count, side->capacity) = point;
	if (side->count > choosing->most)
		halve_sample(side);
	return 0;
}

static void sort_side(struct sample_side *side)
{
	SORT(side->point, side->count, hull_point_compare);
}

struct pair_sample *pair_samples_new(const struct message_log *log, size_t pairs,
				     size_t most, struct error *error)
{
	struct choosing choosing = {mem_zalloc(pairs * sizeof(struct pair_sample)), most};

	for (size_t i = 0; i < pairs; i++)
		choosing.samples[i].ab.every = choosing.samples[i].ba.every = 1;
	if (message_log_each(log, sample_message, &choosing, error)) {
		pair_samples_free(choosing.samples, pairs);
		return NULL;
	}
	for (size_t i = 0; i < pairs; i++) {
		sort_side(&choosing.samples[i].ab);
		sort_side(&choosing.samples[i].ba);
	}
	return choosing.samples;
}

void pair_samples_free(struct pair_sample *samples, size_t pairs)
{
	for (size_t i = 0; samples && i < pairs; i++) {
		free(samples[i].ab.point);
		free(samples[i].ba.point);
	}
	free(samples);
}
