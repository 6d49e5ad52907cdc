/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* More processors than Linux can have; a higher number is a broken stream. */
enum { CPUS_MOST = 65536 };

/* Where a class has what tells the thread; columns, -1: nowhere. */
struct plan {
	const struct ctf_class *class; /* NULL: not looked at yet */
	int tid;                       /* of the context */
	int prev, next;                /* of sched_switch */
};

struct follow_source {
	struct plan *plan; /* by the index of the class in its source */
	size_t plans;
	bool is_shared; /* the processors are those of `with` */
	uint32_t with;
	int64_t *current; /* thread by processor, -1: unknown */
	size_t cpus;
};

struct follow {
	struct follow_source *source;
	size_t sources;
};

struct follow *follow_new(void)
{
	return mem_zalloc(sizeof(struct follow));
}

static struct follow_source *source_at(struct follow *follow, uint32_t source)
{
	if (source >= follow->sources) {
		size_t count = (size_t)source + 1;

		follow->source =
		    mem_realloc(follow->source, count, sizeof(*follow->source));
		memset(follow->source + follow->sources, 0,
		       (count - follow->sources) * sizeof(*follow->source));
		follow->sources = count;
	}
	return &follow->source[source];
}

static struct plan make_plan(const struct ctf_class *class)
{
	struct plan plan = {.class = class, .tid = -1, .prev = -1, .next = -1};
	bool is_switch = strcmp(class->name, "sched_switch") == 0;

	for (size_t i = 0; i < class->columns; i++) {
		const struct ctf_column *column = &class->column[i];

		if (column->context && strcmp(column->name, "tid") == 0)
			plan.tid = (int)i;
		else if (column->context && plan.tid < 0 &&
			 strcmp(column->name, "vtid") == 0)
			plan.tid = (int)i;
		else if (is_switch && strcmp(column->name, "prev_tid") == 0)
			plan.prev = (int)i;
		else if (is_switch && strcmp(column->name, "next_tid") == 0)
			plan.next = (int)i;
	}
	return plan;
}

static const struct plan *plan_of(struct follow_source *source,
				  const struct ctf_class *class, uint32_t index)
{
	if (index >= source->plans) {
		size_t count = 2 * (size_t)index + 16;

		source->plan = mem_realloc(source->plan, count, sizeof(*source->plan));
		memset(source->plan + source->plans, 0,
		       (count - source->plans) * sizeof(*source->plan));
		source->plans = count;
	}
	if (source->plan[index].class != class)
		source->plan[index] = make_plan(class);
	return &source->plan[index];
}

/* Where the thread of a processor is kept, or NULL. */
static int64_t *current_of(struct follow_source *source, int32_t cpu)
{
	size_t count = source->cpus;

	if (cpu < 0 || cpu >= CPUS_MOST)
		return NULL;
	if ((size_t)cpu >= count) {
		source->cpus = (size_t)cpu + 1;
		source->current =
		    mem_realloc(source->current, source->cpus, sizeof(*source->current));
		while (count < source->cpus)
			source->current[count++] = -1;
	}
	return &source->current[cpu];
}

static int64_t cell_tid(const struct ctf_event *record, int column)
{
	if (column < 0 || record->cell[column].type != CELL_INTEGER)
		return -1;
	return record->cell[column].integer;
}

void follow_share(struct follow *follow, uint32_t source, uint32_t with)
{
	struct follow_source *at = source_at(follow, source > with ? source : with);

	at = &follow->source[source];
	at->is_shared = true;
	at->with = follow->source[with].is_shared ? follow->source[with].with : with;
}

int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct ctf_class *class, const struct ctf_event *record)
{
	struct follow_source *at = source_at(follow, source);
	const struct plan *plan = plan_of(at, class, record->class);
	int64_t *current =
	    current_of(at->is_shared ? &follow->source[at->with] : at, record->cpu);
	int64_t tid = current ? *current : -1;

	if (plan->next >= 0) { /* the thread that goes is the event's */
		tid = cell_tid(record, plan->prev);
		if (current)
			*current = cell_tid(record, plan->next);
	}
	return plan->tid >= 0 ? cell_tid(record, plan->tid) : tid;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->sources; i++) {
		free(follow->source[i].plan);
		free(follow->source[i].current);
	}
	free(follow->source);
	free(follow);
}
