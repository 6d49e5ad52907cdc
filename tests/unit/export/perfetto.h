/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_PERFETTO_H
#define CT_TEST_PERFETTO_H

/* What the tests of traces share: a form that keeps what it is told, as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "export/perfetto/perfetto.h"

struct told_trace {
	struct perfetto base;
	FILE *told;
};

static inline FILE *told(struct perfetto *perfetto)
{
	return ((struct told_trace *)perfetto)->told;
}

static inline void told_begin(struct perfetto *perfetto)
{
	(void)perfetto;
}

static inline void told_track(struct perfetto *perfetto,
			      const struct perfetto_track *track)
{
	static const char *const kinds[] = {"node", "thread", "group",
					    "list", "row",    "counter"};

	fprintf(told(perfetto), "%s %u in %u: pid %d tid %d, %s, %s%s%s\n",
		kinds[track->kind], track->number, track->parent, track->pid, track->tid,
		track->name, track->full_name, track->unit ? ", " : "",
		track->unit ? track->unit : "");
}

static inline void told_event(struct perfetto *perfetto,
			      const struct perfetto_event *event)
{
	FILE *file = told(perfetto);

	if (event->kind == PERFETTO_COUNT) {
		fprintf(file, "%g on %u: %lld\n", event->count, event->track->number,
			(long long)event->begin_ns);
		return;
	}
	fprintf(file, "%s on %u: %lld to %lld", event->name, event->track->number,
		(long long)event->begin_ns, (long long)event->end_ns);
	if (event->arrow)
		fprintf(file, ", %s arrow %lld", event->arrow > 0 ? "begins" : "ends",
			llabs(event->arrow));
	for (size_t i = 0; i < event->values; i++) {
		const struct perfetto_value *value = &event->value[i];

		if (value->cell.type == CELL_INTEGER)
			fprintf(file, ", %s %lld", value->name->text,
				(long long)value->cell.integer);
		else
			fprintf(file, ", %s %s", value->name->text, value->cell.bytes);
	}
	fputc('\n', file);
}

static inline void told_init(struct told_trace *trace, struct export *export, char **text,
			     size_t *size)
{
	static const struct perfetto_form form = {
	    .begin = told_begin,
	    .track = told_track,
	    .event = told_event,
	    .end = "",
	};

	*trace = (struct told_trace){.base = {.export = export, .form = &form}};
	trace->told = open_memstream(text, size);
	assert_non_null(trace->told);
}

#endif
