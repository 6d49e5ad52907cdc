/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/steering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* A change of rate below this shows no daemon at work. */
#define CHANGE_LEAST_PPB 100

/* The ends of an event are estimates. */
#define VAGUE_NS NSEC_PER_SEC

/* Something that a clock did from one local time to another. */
struct clock_event {
	const char *what;
	nsec_t begin_ns, end_ns;
	double gained_ns; /* 0 for a change of rate */
	double fast_ppb;  /* 0 for a step */
};

/* Return true if a change is most of what is needed, and not much more. */
static bool is_about(double change, double needed)
{
	return change * needed > 0 && fabs(change) >= fabs(needed) / 2 &&
	       fabs(change) <= fabs(needed) * 2;
}

/* Return true if a change of rate belongs to a step or a slew. */
static bool is_within_another(const struct clock *clock, const struct clock_event *event)
{
	bool is_within = false;

	for (size_t i = 0; i < clock->steps; i++)
		is_within |= clock->step[i].local_ns == event->begin_ns;
	for (size_t i = 0; i < clock->slews; i++)
		is_within |= clock->slew[i].begin_ns <= event->begin_ns &&
			     event->begin_ns <= clock->slew[i].end_ns;
	return is_within && event->gained_ns == 0;
}

static bool is_explained(const struct clock_map *map, const char *trace,
			 const struct clock_event *event)
{
	for (size_t i = 0; i < map->steerings; i++)
		if (strcmp(map->steering[i].trace, trace) == 0 &&
		    strcmp(map->steering[i].what, event->what) == 0 &&
		    map->steering[i].local_ns == event->begin_ns)
			return true;
	return false;
}

/* Find the change of the frequency or the offset that explains an event: from the last
 * row before it to any row up to the first one after it. */
static void add_explanation(struct clock_map *map, const char *trace, const char *by,
			    const struct clock_steering *row, size_t rows,
			    const struct clock_event *event)
{
	size_t from = 0, to;
	struct clock_explanation made = {.frequency_ppb = NSEC_MAX,
					 .offset_ns = NSEC_MAX};

	while (from + 1 < rows && row[from + 1].realtime_ns <= event->begin_ns - VAGUE_NS)
		from++;
	for (to = from; to + 1 < rows && row[to].realtime_ns < event->end_ns + VAGUE_NS;)
		to++;
	for (size_t i = from + 1; i <= to && i < rows; i++) {
		nsec_t faster = nsec_sub(row[from].frequency_ppb, row[i].frequency_ppb);
		nsec_t gained = nsec_sub(row[i].offset_ns, row[from].offset_ns);

		if (row[from].frequency_ppb != NSEC_MIN &&
		    row[i].frequency_ppb != NSEC_MIN &&
		    is_about((double)faster, event->fast_ppb))
			made.frequency_ppb = faster;
		/* A daemon removes an offset; one that appears has another cause.
		 */
		if (row[from].offset_ns != NSEC_MIN && row[i].offset_ns != NSEC_MIN &&
		    llabs(row[i].offset_ns) <= llabs(row[from].offset_ns) / 2 &&
		    is_about((double)gained, event->gained_ns))
			made.offset_ns = gained;
	}
	if (made.frequency_ppb == NSEC_MAX && made.offset_ns == NSEC_MAX)
		return;
	made.trace = mem_strdup(trace);
	made.by = mem_strdup(by);
	made.what = event->what;
	made.local_ns = event->begin_ns;
	*MEM_NEXT(map->steering, map->steerings, map->steering_capacity) = made;
}

/* Describe the k-th event of a clock: its steps, slews and changes of rate. Return false
 * if it has no more. */
static bool find_event(const struct clock *clock, size_t k, struct clock_event *event)
{
	if (k < clock->steps) {
		*event = (struct clock_event){"step", clock->step[k].local_ns,
					      clock->step[k].local_ns,
					      (double)clock->step[k].size_ns, 0};
		return true;
	}
	k -= clock->steps;
	if (k < clock->slews) {
		*event = (struct clock_event){
		    "slew", clock->slew[k].begin_ns, clock->slew[k].end_ns,
		    (double)clock->slew[k].size_ns, clock->slew[k].fast_ppb};
		return true;
	}
	k = k - clock->slews + 1;
	if (k >= clock->segments)
		return false;
	/* A clock that gains has a correction that loses. */
	*event = (struct clock_event){
	    "rate", clock->segment[k].local_ns, clock->segment[k].local_ns, 0,
	    clock->segment[k - 1].rate_ppb - clock->segment[k].rate_ppb};
	return true;
}

void steering_explain(struct clock_map *map, size_t index, const char *by,
		      const struct clock_steering *row, size_t rows)
{
	const struct clock *clock = &map->clock[index];
	struct clock_event event;

	for (size_t k = 0; find_event(clock, k, &event); k++)
		if ((event.gained_ns != 0 || fabs(event.fast_ppb) >= CHANGE_LEAST_PPB) &&
		    !is_within_another(clock, &event) &&
		    !is_explained(map, clock->trace, &event))
			add_explanation(map, clock->trace, by, row, rows, &event);
}

static void print_one(const struct clock_explanation *steering, FILE *file)
{
	char at[NSEC_TEXT], gained[NSEC_TEXT];

	utf8_print(file, steering->trace);
	fputs(strcmp(steering->what, "step") ? ": slewed by " : ": stepped by ", file);
	utf8_print(file, steering->by);
	fprintf(file, " at %s (", nsec_format_utc(at, steering->local_ns));
	if (steering->frequency_ppb != NSEC_MAX)
		fprintf(file, "frequency changed by %+.3f ppm",
			(double)steering->frequency_ppb / 1e3);
	else
		fprintf(file, "offset changed by %s",
			nsec_format_span(gained, (double)steering->offset_ns));
	fputs(")\n", file);
}

void steering_print(const struct clock_map *map, FILE *file)
{
	for (size_t i = 0; i < map->steerings; i++)
		if (strcmp(map->steering[i].what, "rate"))
			print_one(&map->steering[i], file);
	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];
		const char *by = NULL;
		size_t changes = 0;

		for (size_t k = 0; k < map->steerings; k++)
			if (!strcmp(map->steering[k].what, "rate") &&
			    !strcmp(map->steering[k].trace, clock->trace)) {
				by = map->steering[k].by;
				changes++;
			}
		if (!changes)
			continue;
		utf8_print(file, clock->trace);
		fprintf(file, ": %zu of %zu changes of its rate are by ", changes,
			clock->segments - 1);
		utf8_print(file, by);
		putc('\n', file);
	}
}
