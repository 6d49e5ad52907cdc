/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/recorded.h"

#include <stdlib.h>

#include "base/mem.h"

static const char recorded_sql[] =
    "SELECT node, begin_ns, end_ns FROM source AS s "
    "WHERE typeof(begin_ns) = 'integer' AND typeof(end_ns) = 'integer'"
    " AND end_ns >= begin_ns AND kind <> 'capture' AND (kind = 'kernel' OR NOT EXISTS"
    " (SELECT 1 FROM source AS k WHERE k.node = s.node AND k.kind = 'kernel')) "
    "ORDER BY node, begin_ns, end_ns";

static void add(struct recorded *recorded, const struct recorded_span *span)
{
	struct recorded_span *last =
	    recorded->count ? &recorded->span[recorded->count - 1] : NULL;

	if (last && last->node == span->node && last->end_ns >= span->begin_ns) {
		if (last->end_ns < span->end_ns)
			last->end_ns = span->end_ns;
		return;
	}
	recorded->span = mem_grow(recorded->span, recorded->count, &recorded->room,
				  sizeof(*recorded->span));
	recorded->span[recorded->count++] = *span;
}

int recorded_read(struct recorded *recorded, struct timeline_reader *reader,
		  struct error *error)
{
	struct timeline_query *query = timeline_query_new(reader, recorded_sql, error);
	int more = -1;

	*recorded = (struct recorded){.span = NULL};
	if (query && !timeline_query_ask(query, NULL, 0, error))
		while ((more = timeline_query_next(query, error)) > 0) {
			const struct cell *row = timeline_query_row(query);

			if (row[0].type == CELL_INTEGER)
				add(recorded, &(struct recorded_span){row[0].integer,
								      row[1].integer,
								      row[2].integer});
		}
	timeline_query_free(query);
	if (more < 0)
		recorded_clear(recorded);
	return more < 0 ? -1 : 0;
}

nsec_t recorded_within(const struct recorded *recorded, int64_t node, nsec_t begin_ns,
		       nsec_t end_ns)
{
	nsec_t sum = 0;

	for (size_t i = 0; i < recorded->count; i++) {
		const struct recorded_span *span = &recorded->span[i];
		nsec_t from = span->begin_ns > begin_ns ? span->begin_ns : begin_ns;
		nsec_t to = span->end_ns < end_ns ? span->end_ns : end_ns;

		if (span->node == node && to > from)
			sum = nsec_add(sum, nsec_sub(to, from));
	}
	return sum;
}

bool recorded_gap(const struct recorded *recorded, int64_t node, nsec_t *at_ns,
		  nsec_t end_ns, nsec_t *until_ns)
{
	*until_ns = end_ns;
	for (size_t i = 0; i < recorded->count; i++) {
		const struct recorded_span *span = &recorded->span[i];

		if (span->node != node || span->end_ns <= *at_ns)
			continue;
		if (span->begin_ns > *at_ns) {
			if (span->begin_ns < end_ns)
				*until_ns = span->begin_ns;
			break;
		}
		*at_ns = span->end_ns;
	}
	return *at_ns < *until_ns;
}

void recorded_clear(struct recorded *recorded)
{
	free(recorded->span);
	*recorded = (struct recorded){.span = NULL};
}
