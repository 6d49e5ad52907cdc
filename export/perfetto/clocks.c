/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How sure the axis is: for each source two counters, between which the true reference
 * time lies around what is drawn; and an instant that says how its clock was found.
 * Between two stated times the truth lies within the wider of their two bounds, so
 * that is what is drawn from one to the next.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "export/perfetto/perfetto.h"
#include "timeline/query.h"

struct segment {
	nsec_t local_ns, ref_ns;
	double rate_ppb;
};

struct bound {
	nsec_t local_ns;
	bool is_known[2];
	nsec_t side_ns[2]; /* the earliest and the latest, relative */
};

struct clock {
	struct segment *segment;
	struct bound *bound;
	size_t segments, bounds, segment_room, bound_room;
};

static const char sources_sql[] =
    "SELECT s.id, s.node, coalesce(s.name, 'source ' || s.id), s.kind, s.quality,"
    " r.name, s.path, s.events, s.discarded FROM source AS s"
    " LEFT JOIN source AS r ON r.id = s.reference ORDER BY s.id";

enum source_column { ID, NODE, NAME, KIND, QUALITY, REFERENCE, PATH, EVENTS, DISCARDED };

static const char segments_sql[] =
    "SELECT local_ns, ref_ns, rate_ppb FROM clock WHERE source = ?1 ORDER BY local_ns";

static const char bounds_sql[] = "SELECT local_ns, low_ns, high_ns FROM clock_bound "
				 "WHERE source = ?1 ORDER BY local_ns";

static const char meta_sql[] =
    "SELECT key, value FROM meta WHERE key IN ('run', 'version', 'name') ORDER BY key";

static int add_segment(void *context, const struct cell *row, struct error *error)
{
	struct clock *clock = context;

	(void)error;
	clock->segment = mem_grow(clock->segment, clock->segments, &clock->segment_room,
				  sizeof(*clock->segment));
	clock->segment[clock->segments++] =
	    (struct segment){row[0].integer, row[1].integer, cell_number(&row[2])};
	return 0;
}

static int add_bound(void *context, const struct cell *row, struct error *error)
{
	struct clock *clock = context;
	struct bound bound = {0};

	(void)error;
	bound.local_ns = row[0].integer;
	for (int side = 0; side < 2; side++)
		if (row[1 + side].type == CELL_INTEGER) {
			bound.is_known[side] = true;
			bound.side_ns[side] = row[1 + side].integer;
		}
	clock->bound = mem_grow(clock->bound, clock->bounds, &clock->bound_room,
				sizeof(*clock->bound));
	clock->bound[clock->bounds++] = bound;
	return 0;
}

/* A time by the source's clock on the timeline's axis, as docs/schema.md has it. */
static nsec_t correct(const struct clock *clock, nsec_t local_ns)
{
	size_t at = 0;
	nsec_t since;

	if (!clock->segments)
		return local_ns;
	while (at + 1 < clock->segments && clock->segment[at + 1].local_ns <= local_ns)
		at++;
	since = nsec_sub(local_ns, clock->segment[at].local_ns);
	return nsec_add(nsec_add(clock->segment[at].ref_ns, since),
			nsec_round((double)since * clock->segment[at].rate_ppb * 1e-9));
}

/* The wider one of a bound and the next, on one side. */
static nsec_t wider(const struct clock *clock, size_t at, int side)
{
	nsec_t here = clock->bound[at].side_ns[side], next;

	if (at + 1 == clock->bounds)
		return here;
	next = clock->bound[at + 1].side_ns[side];
	return (side == 0) == (next < here) ? next : here;
}

static int draw_side(const struct perfetto *perfetto, const struct clock *clock, int side,
		     const struct perfetto_track *track)
{
	const struct scope *scope = perfetto->scope;

	for (size_t i = 0; i < clock->bounds; i++) {
		nsec_t from = correct(clock, clock->bound[i].local_ns);
		bool is_last = i + 1 == clock->bounds;
		nsec_t to =
		    is_last ? NSEC_MAX : correct(clock, clock->bound[i + 1].local_ns);

		if (to <= scope->begin_ns || from > scope->end_ns)
			continue;
		if (perfetto_write_counter(perfetto->writer, track,
					   from < scope->begin_ns ? scope->begin_ns
								  : from,
					   (double)wider(clock, i, side)))
			return -1;
	}
	return 0;
}

/* A side that nothing bounds somewhere is left out: a gap cannot be drawn. */
static int draw_clock(const struct perfetto *perfetto, const struct clock *clock,
		      const struct cell *source)
{
	static const char *const names[] = {"earliest", "latest"};

	for (int side = 0; side < 2; side++) {
		struct perfetto_counter counter = {.kind = ROW_BOUND,
						   .node = source[NODE].integer,
						   .of = source[ID].integer,
						   .item = side};
		struct perfetto_label label = {.group = ROW_CLOCKS, .unit = "ns"};
		bool is_known = clock->bounds > 0;
		char *source_name, *name;
		int status;

		for (size_t i = 0; i < clock->bounds; i++)
			is_known &= clock->bound[i].is_known[side];
		if (!is_known)
			continue;
		source_name = cell_text(&source[NAME]);
		label.name = name =
		    mem_printf("%s true time, %s", source_name, names[side]);
		status = draw_side(
		    perfetto, clock, side,
		    perfetto_rows_new_counter(perfetto->rows, &counter, &label));
		free(source_name);
		free(name);
		if (status)
			return -1;
	}
	return 0;
}

static int say_clock(const struct perfetto *perfetto, const struct cell *source)
{
	char *name = cell_text(&source[NAME]), *kind = cell_text(&source[KIND]);
	char *quality = cell_text(&source[QUALITY]), *path = cell_text(&source[PATH]);
	char *reference = cell_text(&source[REFERENCE]);
	char *title = mem_printf("clock of %s", name);
	nsec_t at = perfetto->scope->begin_ns;
	struct perfetto_event event = {.instant = true,
				       .begin_ns = at,
				       .end_ns = at,
				       .category = "clock",
				       .name = title};
	int status;

	perfetto_add_text(&event, "quality", quality);
	perfetto_add_text(&event, "reference",
			  *reference ? reference : "none: left as it was");
	perfetto_add_text(&event, "kind", kind);
	perfetto_add_text(&event, "path", path);
	if (source[EVENTS].type == CELL_INTEGER)
		perfetto_add_integer(&event, "events", source[EVENTS].integer);
	if (source[DISCARDED].type == CELL_INTEGER)
		perfetto_add_integer(&event, "discarded", source[DISCARDED].integer);
	event.place = *perfetto_rows_lane(perfetto->rows, ROW_RUN, source[NODE].integer,
					  0, NSEC_MAX, NSEC_MIN);
	status = perfetto_write_event(perfetto->writer, &event);
	free(name);
	free(kind);
	free(quality);
	free(path);
	free(reference);
	free(title);
	return status;
}

static int add_source(void *context, const struct cell *source, struct error *error)
{
	const struct perfetto *perfetto = context;
	struct clock clock = {0};
	int status;

	if (!scope_has_node(perfetto->scope, cell_integer(&source[NODE], -1)))
		return 0;
	status = say_clock(perfetto, source) ||
		 query_rows(perfetto->timeline, segments_sql, &source[ID], add_segment,
			    &clock, error) ||
		 query_rows(perfetto->timeline, bounds_sql, &source[ID], add_bound,
			    &clock, error) ||
		 draw_clock(perfetto, &clock, source);
	free(clock.segment);
	free(clock.bound);
	return status ? -1 : 0;
}

/* Which run this is, once a node. */
static int add_run(const struct perfetto *perfetto, const struct scope_node *node,
		   const struct perfetto_event *event)
{
	struct perfetto_event run = *event;

	run.place =
	    *perfetto_rows_lane(perfetto->rows, ROW_RUN, node->id, 0, NSEC_MAX, NSEC_MIN);
	return perfetto_write_event(perfetto->writer, &run);
}

/* Facts of the run; the texts are its owner's. */
struct facts {
	struct perfetto_event event;
	char *text[6];
	size_t texts;
};

static int take_fact(void *context, const struct cell *row, struct error *error)
{
	struct facts *facts = context;
	char *key = cell_text(&row[0]), *value = cell_text(&row[1]);

	(void)error;
	facts->text[facts->texts++] = key;
	facts->text[facts->texts++] = value;
	perfetto_add_text(&facts->event, key, value);
	return 0;
}

static int add_runs(const struct perfetto *perfetto, struct error *error)
{
	const struct scope *scope = perfetto->scope;
	struct facts facts = {.event = {.instant = true,
					.begin_ns = scope->begin_ns,
					.end_ns = scope->begin_ns,
					.category = "run",
					.name = "run"}};
	int status =
	    query_rows(perfetto->timeline, meta_sql, NULL, take_fact, &facts, error);

	for (size_t i = 0; status == 0 && i < scope->nodes; i++)
		if (scope->node[i].chosen)
			status = add_run(perfetto, &scope->node[i], &facts.event);
	while (facts.texts)
		free(facts.text[--facts.texts]);
	return status;
}

int perfetto_add_clocks(struct perfetto *perfetto, struct error *error)
{
	return add_runs(perfetto, error) || query_rows(perfetto->timeline, sources_sql,
						       NULL, add_source, perfetto, error)
		   ? -1
		   : 0;
}
