/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "timeline/query.h"

/* A stamp that was corrected twice may be off by some. */
enum { ROUNDING_NS = 1000 };

static const struct bound open_bound = {NSEC_MIN, NSEC_MAX};

struct bounded_source {
	int64_t id, node;
	bool is_kernel;
	char *clock; /* its uuid, or "" */
	struct segment {
		nsec_t local_ns, ref_ns;
		double rate; /* of the reference to the source, less 1 */
	} * segment;
	size_t segments, segment_room;
	struct bound_step *step; /* by at_ns */
	size_t steps, step_room;
};

struct bounds {
	struct bounded_source *source; /* by id */
	size_t count, room;
};

typedef void take_row(struct bounds *bounds, const struct cell *row);

static struct bounded_source *find(const struct bounds *bounds, int64_t id)
{
	size_t at = FIRST_NOT(bounds->count, i, bounds->source[i].id < id);

	return at < bounds->count && bounds->source[at].id == id ? &bounds->source[at]
								 : NULL;
}

static void take_source(struct bounds *bounds, const struct cell *row)
{
	bounds->source = mem_grow(bounds->source, bounds->count, &bounds->room,
				  sizeof(*bounds->source));
	bounds->source[bounds->count++] = (struct bounded_source){
	    .id = cell_integer(&row[0], 0),
	    .node = cell_integer(&row[1], 0),
	    .is_kernel = cell_integer(&row[2], 0),
	    .clock = cell_text(&row[3]),
	};
}

static void take_segment(struct bounds *bounds, const struct cell *row)
{
	struct bounded_source *source = find(bounds, cell_integer(&row[0], -1));
	double rate =
	    row[3].type == CELL_REAL ? row[3].real : (double)cell_integer(&row[3], 0);

	if (!source)
		return;
	source->segment = mem_grow(source->segment, source->segments,
				   &source->segment_room, sizeof(*source->segment));
	source->segment[source->segments++] = (struct segment){
	    cell_integer(&row[1], 0), cell_integer(&row[2], 0), rate * 1e-9};
}

/* The correction: from a segment's begin up to the next one's, the first before it too.
 */
static nsec_t correct(const struct bounded_source *source, nsec_t local_ns)
{
	const struct segment *segment = source->segment;
	nsec_t since;

	if (!source->segments)
		return local_ns;
	for (size_t i = 1; i < source->segments; i++)
		if (source->segment[i].local_ns <= local_ns)
			segment = &source->segment[i];
	since = nsec_sub(local_ns, segment->local_ns);
	return nsec_add(nsec_add(segment->ref_ns, since),
			nsec_round((double)since * segment->rate));
}

static void take_bound(struct bounds *bounds, const struct cell *row)
{
	struct bounded_source *source = find(bounds, cell_integer(&row[0], -1));

	if (!source)
		return;
	source->step = mem_grow(source->step, source->steps, &source->step_room,
				sizeof(*source->step));
	source->step[source->steps++] = (struct bound_step){
	    .at_ns = correct(source, cell_integer(&row[1], 0)),
	    .bound = {cell_integer(&row[2], NSEC_MIN), cell_integer(&row[3], NSEC_MAX)},
	};
}

static int read_rows(struct bounds *bounds, struct timeline_reader *reader,
		     const char *sql, take_row *take, struct error *error)
{
	struct timeline_query *query = timeline_query_new(reader, sql, error);
	int more = -1;

	if (query && !timeline_query_ask(query, NULL, 0, error))
		while ((more = timeline_query_next(query, error)) > 0)
			take(bounds, timeline_query_row(query));
	timeline_query_free(query);
	return more;
}

static bool is_one_clock(const struct bounded_source *a, const struct bounded_source *b)
{
	return a == b || (*a->clock && !strcmp(a->clock, b->clock));
}

struct bounds *bounds_new(struct timeline_reader *reader, struct error *error)
{
	struct bounds *bounds = mem_zalloc(sizeof(*bounds));

	if (read_rows(bounds, reader,
		      "SELECT id, node, kind = 'kernel', clock_uuid FROM source "
		      "ORDER BY id",
		      take_source, error) ||
	    read_rows(bounds, reader,
		      "SELECT source, local_ns, ref_ns, rate_ppb FROM clock "
		      "ORDER BY source, local_ns",
		      take_segment, error) ||
	    read_rows(bounds, reader,
		      "SELECT source, local_ns, low_ns, high_ns FROM clock_bound "
		      "ORDER BY source, local_ns",
		      take_bound, error)) {
		bounds_free(bounds);
		return NULL;
	}
	return bounds;
}

static struct bound wider(struct bound a, struct bound b)
{
	return (struct bound){a.low_ns < b.low_ns ? a.low_ns : b.low_ns,
			      a.high_ns > b.high_ns ? a.high_ns : b.high_ns};
}

struct bound bounds_at(const struct bounds *bounds, int64_t id, nsec_t at_ns)
{
	const struct bounded_source *source = find(bounds, id);
	size_t low = 0, high;

	if (!source || !source->steps)
		return open_bound;
	high = source->steps;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->step[middle].at_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return nsec_sub(source->step[0].at_ns, at_ns) <= ROUNDING_NS
			   ? source->step[0].bound
			   : open_bound;
	if (low < source->steps && source->step[low - 1].at_ns < at_ns)
		return wider(source->step[low - 1].bound, source->step[low].bound);
	return nsec_sub(at_ns, source->step[low - 1].at_ns) <= ROUNDING_NS
		   ? source->step[low - 1].bound
		   : open_bound;
}

struct bound bounds_of_node(const struct bounds *bounds, int64_t node, nsec_t at_ns)
{
	struct bound found = bounds_at(bounds, bounds_source(bounds, node), at_ns);
	bool any = false;

	if (found.low_ns != NSEC_MIN || found.high_ns != NSEC_MAX)
		return found;
	for (size_t i = 0; i < bounds->count; i++) {
		struct bound other;

		if (bounds->source[i].node != node)
			continue;
		other = bounds_at(bounds, bounds->source[i].id, at_ns);
		if (other.low_ns == NSEC_MIN && other.high_ns == NSEC_MAX)
			continue;
		found = any ? wider(found, other) : other;
		any = true;
	}
	return found;
}

/* a - b of two sides, of which either may be open. */
static nsec_t side(nsec_t a, nsec_t b, nsec_t open)
{
	return a == NSEC_MIN || a == NSEC_MAX || b == NSEC_MIN || b == NSEC_MAX
		   ? open
		   : nsec_sub(a, b);
}

struct bound bounds_between(const struct bounds *bounds, int64_t from, nsec_t from_ns,
			    int64_t to, nsec_t to_ns)
{
	const struct bounded_source *a = find(bounds, from), *b = find(bounds, to);
	struct bound begin, end;

	if (a && b && is_one_clock(a, b))
		return (struct bound){0, 0};
	begin = bounds_at(bounds, from, from_ns);
	end = bounds_at(bounds, to, to_ns);
	return (struct bound){side(end.low_ns, begin.high_ns, NSEC_MIN),
			      side(end.high_ns, begin.low_ns, NSEC_MAX)};
}

nsec_t bound_width(struct bound bound)
{
	nsec_t below = nsec_sub(0, bound.low_ns);

	if (bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX)
		return NSEC_MAX;
	return below > bound.high_ns ? below : bound.high_ns;
}

int64_t bounds_source(const struct bounds *bounds, int64_t node)
{
	int64_t first = -1;

	for (size_t i = 0; i < bounds->count; i++) {
		if (bounds->source[i].node != node)
			continue;
		if (bounds->source[i].is_kernel)
			return bounds->source[i].id;
		if (first < 0)
			first = bounds->source[i].id;
	}
	return first;
}

const struct bound_step *bounds_steps(const struct bounds *bounds, int64_t id,
				      size_t *count)
{
	const struct bounded_source *source = find(bounds, id);

	*count = source ? source->steps : 0;
	return source ? source->step : NULL;
}

void bounds_free(struct bounds *bounds)
{
	if (!bounds)
		return;
	for (size_t i = 0; i < bounds->count; i++) {
		free(bounds->source[i].clock);
		free(bounds->source[i].segment);
		free(bounds->source[i].step);
	}
	free(bounds->source);
	free(bounds);
}
