/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_PERFETTO_H
#define CT_TEST_PERFETTO_H

/* What the tests of traces share: a writer that keeps what it is told, as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "export/perfetto/perfetto.h"

struct told_writer {
	struct perfetto_writer base;
	FILE *told;
};

static inline FILE *told(struct perfetto_writer *writer)
{
	return ((struct told_writer *)writer)->told;
}

static inline void told_track(struct perfetto_writer *writer,
			      const struct perfetto_track *track)
{
	static const char *const kinds[] = {"node", "thread", "group",
					    "list", "row",    "counter"};

	fprintf(told(writer), "%s %u in %u: pid %d tid %d, %s, %s%s%s\n",
		kinds[track->kind], track->place.track, track->parent, track->place.pid,
		track->place.tid, track->name, track->full_name, track->unit ? ", " : "",
		track->unit ? track->unit : "");
}

static inline void told_event(struct perfetto_writer *writer,
			      const struct perfetto_event *event)
{
	fprintf(told(writer), "%s on %u: %lld to %lld", event->name, event->place.track,
		(long long)event->begin_ns, (long long)event->end_ns);
	if (event->end != PERFETTO_NO_END)
		fprintf(told(writer), ", %s arrow %llu",
			event->end == PERFETTO_FIRST_END ? "begins" : "ends",
			(unsigned long long)event->flow);
	for (size_t i = 0; i < event->values; i++) {
		const struct perfetto_value *value = &event->value[i];

		if (value->cell.type == CELL_INTEGER)
			fprintf(told(writer), ", %s %lld", value->name->text,
				(long long)value->cell.integer);
		else
			fprintf(told(writer), ", %s %s", value->name->text,
				value->cell.bytes);
	}
	fputc('\n', told(writer));
}

static inline void told_counter(struct perfetto_writer *writer,
				const struct perfetto_track *track, nsec_t at_ns,
				double value)
{
	fprintf(told(writer), "%g on %u: %lld\n", value, track->place.track,
		(long long)at_ns);
}

static inline void told_init(struct told_writer *writer, char **text, size_t *size)
{
	static const struct perfetto_form form = {
	    .track = told_track,
	    .event = told_event,
	    .counter = told_counter,
	    .end = "",
	};

	*writer = (struct told_writer){.base.form = &form};
	writer->told = open_memstream(text, size);
	assert_non_null(writer->told);
}

#endif
