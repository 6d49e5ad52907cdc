/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/packet_source_private.h"

bool packet_source_same_clock(const struct packet_source_facts *a,
			      const struct packet_source_facts *b)
{
	return a->has_clock && b->has_clock && a->clock_frequency == b->clock_frequency &&
	       (!*a->clock_name || !*b->clock_name ||
		strcmp(a->clock_name, b->clock_name) == 0) &&
	       memcmp(a->clock_uuid, b->clock_uuid, sizeof(a->clock_uuid)) == 0;
}

void packet_source_init(struct packet_source *source, const struct packet_source_ops *ops,
			const char *path)
{
	memset(source, 0, sizeof(*source));
	source->ops = ops;
	source->path = mem_strdup(path);
}

void packet_source_release(struct packet_source *source)
{
	problem_clear(&source->problems);
	free(source->path);
}

enum step packet_source_step(struct packet_source *source, sighting_fn *give,
			     void *context)
{
	return source->ops->step(source, give, context);
}

const struct packet_source_facts *packet_source_facts(const struct packet_source *source)
{
	return &source->facts;
}

struct problem_list *packet_source_problems(struct packet_source *source)
{
	return &source->problems;
}

void packet_source_free(struct packet_source *source)
{
	if (source)
		source->ops->free(source);
}
