/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/follow.h"

#include <stdlib.h>

#include "base/mem.h"

/* More processors than Linux can have; a higher number is a broken stream. */
enum { CPUS_MOST = 65536 };

struct follow {
	struct processors {
		uint32_t with;    /* the source whose processors count */
		int64_t *current; /* thread by processor, -1: unknown */
		size_t count;
	} * source;
	size_t sources;
};

struct follow *follow_new(size_t sources)
{
	struct follow *follow = mem_zalloc(sizeof(*follow));

	follow->source = mem_zalloc(sources * sizeof(*follow->source));
	follow->sources = sources;
	for (uint32_t i = 0; i < sources; i++)
		follow->source[i].with = i;
	return follow;
}

void follow_share(struct follow *follow, uint32_t source, uint32_t with)
{
	follow->source[source].with = follow->source[with].with;
}

/* Where the thread of a processor is kept, or NULL. */
static int64_t *current_of(struct processors *of, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MOST)
		return NULL;
	if ((size_t)cpu >= of->count) {
		of->current =
		    mem_realloc(of->current, (size_t)cpu + 1, sizeof(*of->current));
		while (of->count <= (size_t)cpu)
			of->current[of->count++] = -1;
	}
	return &of->current[cpu];
}

static int64_t cell_tid(const struct ctf_event *record, int column)
{
	if (column < 0 || record->cell[column].type != CELL_INTEGER)
		return -1;
	return record->cell[column].integer;
}

int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct ctf_event *record)
{
	int64_t *current =
	    current_of(&follow->source[follow->source[source].with], record->cpu);
	int64_t tid = current ? *current : -1;

	if (class->next >= 0) { /* the thread that goes is the event's */
		tid = cell_tid(record, class->prev);
		if (current)
			*current = cell_tid(record, class->next);
	}
	return class->tid >= 0 ? cell_tid(record, class->tid) : tid;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->sources; i++)
		free(follow->source[i].current);
	free(follow->source);
	free(follow);
}
