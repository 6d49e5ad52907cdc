/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "sync/pair/line.h"

/* Tighter by less than this, on average, is not worth telling others. */
#define WORTH_NS   100.0
#define WORTH_LINE 10.0 /* the same for a line, which takes more rounds */
#define ENDLESS_NS 1e12 /* what no bound counts as, in that average */

void envelope_init(struct envelope *envelope, const struct clock *line,
		   const double rates[2], size_t cells)
{
	double rate = line->segment->rate_ppb * 1e-9;

	memset(envelope, 0, sizeof(*envelope));
	envelope->begin_ns = line->begin_ns;
	envelope->cells = cells;
	envelope->step_ns =
	    fmax(1, (double)(line->end_ns - line->begin_ns) / (double)cells);
	envelope->rate[true] = fmax(0, rates[1] - rate);
	envelope->rate[false] = fmax(0, rate - rates[0]);
	envelope->width_ns = 2 * ENDLESS_NS;
	for (int side = 0; side < 2; side++) {
		envelope->most[side] = mem_alloc((cells + 1) * sizeof(double));
		for (size_t i = 0; i <= cells; i++)
			envelope->most[side][i] = INFINITY;
	}
}

void envelope_doubt(struct envelope *envelope)
{
	for (int side = 0; side < 2; side++) {
		envelope->later[side] = mem_alloc((envelope->cells + 1) * sizeof(double));
		for (size_t i = 0; i <= envelope->cells; i++)
			envelope->later[side][i] = INFINITY;
	}
}

/* Return the bounds by later times, which are those by all times unless doubted. */
static double *later_of(const struct envelope *envelope, bool side)
{
	return envelope->later[side] ? envelope->later[side] : envelope->most[side];
}

double envelope_edge(const struct envelope *envelope, size_t cell)
{
	return envelope->edge ? envelope->edge[cell] : (double)cell * envelope->step_ns;
}

void envelope_follow(struct envelope *envelope, const bool *is_busy, size_t bins)
{
	double length = envelope->step_ns * (double)envelope->cells / (double)bins;
	size_t busy = 0, idle = 0, cell = 0, each, more;

	for (size_t k = 0; k < bins; k++) {
		busy += is_busy[k];
		idle += !is_busy[k] && (!k || is_busy[k - 1]);
	}
	if (!busy || envelope->cells < busy + idle)
		return;
	envelope->edge = mem_alloc((envelope->cells + 1) * sizeof(*envelope->edge));
	each = (envelope->cells - idle) / busy;
	more = (envelope->cells - idle) % busy;
	for (size_t k = 0; k < bins; k++) {
		size_t parts = is_busy[k] ? each + (more > 0) : !k || is_busy[k - 1];

		more -= is_busy[k] && more;
		for (size_t i = 0; i < parts; i++)
			envelope->edge[cell++] =
			    length * ((double)k + (double)i / (double)parts);
	}
	envelope->edge[cell] = envelope->step_ns * (double)envelope->cells;
}

void envelope_add_gap(struct envelope *envelope, nsec_t from, nsec_t to)
{
	if (envelope->gaps && from <= envelope->gap[envelope->gaps - 1].to_ns) {
		struct envelope_gap *last = &envelope->gap[envelope->gaps - 1];

		last->to_ns = to > last->to_ns ? to : last->to_ns;
		return;
	}
	envelope->gap =
	    mem_realloc(envelope->gap, envelope->gaps + 1, sizeof(*envelope->gap));
	envelope->gap[envelope->gaps++] =
	    (struct envelope_gap){.from_ns = from, .to_ns = to};
}

struct envelope_gap *envelope_gap_at(const struct envelope *envelope, nsec_t at)
{
	for (size_t i = 0; i < envelope->gaps; i++)
		if (at > envelope->gap[i].from_ns && at < envelope->gap[i].to_ns)
			return &envelope->gap[i];
	return NULL;
}

/* Return how fast the bounds on a side can grow within a cell, without unit. */
static double rate_in(const struct envelope *envelope, size_t cell, bool side)
{
	return envelope->slewed ? envelope->slewed[cell][side] : envelope->rate[side];
}

/* Return true if a gap overlaps the span between two times, ns since begin_ns. */
static bool has_gap(const struct envelope *envelope, double from, double to)
{
	for (size_t i = 0; i < envelope->gaps; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];

		if ((double)(gap->from_ns - envelope->begin_ns) < to &&
		    (double)(gap->to_ns - envelope->begin_ns) > from)
			return true;
	}
	return false;
}

/* A time's cell, how far it is into it, and which of the cell's ends it knows. */
struct place {
	size_t cell;
	double after, before; /* distance from the cell's begin and to its end */
	bool has_left, has_right;
};

static double since_begin(const struct envelope *envelope, nsec_t local)
{
	return (double)(local - envelope->begin_ns);
}

static struct place place_of(const struct envelope *envelope, double at)
{
	struct place place = {.has_left = true, .has_right = true};
	double left, right;

	if (envelope->edge) {
		place.cell =
		    PARTITION_POINT(envelope->cells - 1, i, envelope->edge[i + 1] <= at);
		left = envelope->edge[place.cell];
		right = envelope->edge[place.cell + 1];
	} else {
		double cell = at / envelope->step_ns;
		size_t last = envelope->cells - 1;

		/* A cast, because floor is a call. */
		place.cell = cell < 1 ? 0 : cell < (double)last ? (size_t)cell : last;
		left = (double)place.cell * envelope->step_ns;
		right = left + envelope->step_ns;
	}
	place.after = at - left;
	place.before = right - at;
	if (envelope->gaps) {
		place.has_left = !has_gap(envelope, left, at);
		place.has_right = !has_gap(envelope, at, right);
	}
	return place;
}

/*
 * Set a cell's rates to those of a slew. If the slew may not fill the cell, the rates
 * without it also remain possible.
 */
static void slew_cell(struct envelope *envelope, size_t cell, double rate,
		      const struct envelope_slew *slew, bool is_full)
{
	double *slewed = envelope->slewed[cell];
	const double most[2] = {rate - slew->rate[0], slew->rate[1] - rate};

	for (int side = 0; side < 2; side++)
		slewed[side] = is_full ? most[side] : fmax(slewed[side], most[side]);
}

void envelope_add_slew(struct envelope *envelope, const struct clock *line,
		       const struct envelope_slew *slew)
{
	double begin = (double)(slew->full_from_ns - envelope->begin_ns);
	double end = (double)(slew->full_to_ns - envelope->begin_ns);
	size_t first =
	    place_of(envelope, (double)(slew->from_ns - envelope->begin_ns)).cell;
	size_t last = place_of(envelope, (double)(slew->to_ns - envelope->begin_ns)).cell;

	if (!envelope->slewed) {
		envelope->slewed = mem_alloc(envelope->cells * sizeof(*envelope->slewed));
		for (size_t i = 0; i < envelope->cells; i++)
			for (int side = 0; side < 2; side++)
				envelope->slewed[i][side] = envelope->rate[side];
	}
	for (size_t i = first; i <= last; i++)
		slew_cell(envelope, i, line->segment->rate_ppb * 1e-9, slew,
			  envelope_edge(envelope, i) >= begin &&
			      envelope_edge(envelope, i + 1) <= end);
}

/* Used because fmin and fmax are calls, with more instructions to handle NaN. */
static double smaller_of(double a, double b)
{
	return a < b ? a : b;
}

static double larger_of(double a, double b)
{
	return a > b ? a : b;
}

static bool tighten_bound(double *bound, double value)
{
	bool is_tighter = value < *bound;

	if (is_tighter)
		*bound = value;
	return is_tighter;
}

/* A bound at the grid's times before and after it, where it has opened by the rate of its
 * side. */
struct opened {
	double *later, *most; /* the grid's bounds; NULL where a gap is between */
	double at_later, at_most;
};

static struct opened open_bound(const struct envelope *envelope, nsec_t at,
				double error_ns, bool high)
{
	struct place place = place_of(envelope, since_begin(envelope, at));
	double value = high ? error_ns : -error_ns;
	struct opened opened = {.later = NULL};

	if (place.has_left) {
		opened.later = &later_of(envelope, high)[place.cell];
		opened.at_later =
		    value + rate_in(envelope, place.cell, !high) * fabs(place.after);
	}
	if (place.has_right) {
		opened.most = &envelope->most[high][place.cell + 1];
		opened.at_most =
		    value + rate_in(envelope, place.cell, high) * fabs(place.before);
	}
	return opened;
}

bool envelope_is_tighter(const struct envelope *envelope, nsec_t at, double error_ns,
			 bool high)
{
	const struct opened opened = open_bound(envelope, at, error_ns, high);

	return (opened.later && opened.at_later < *opened.later) ||
	       (opened.most && opened.at_most < *opened.most);
}

void envelope_add_bound(struct envelope *envelope, nsec_t at, double error_ns, bool high)
{
	const struct opened opened = open_bound(envelope, at, error_ns, high);

	if (opened.later)
		envelope->is_touched |= tighten_bound(opened.later, opened.at_later);
	if (opened.most)
		envelope->is_touched |= tighten_bound(opened.most, opened.at_most);
}

/* By cell: whether a gap reaches into it, so that its ends know nothing of each other. */
static bool *find_cut_cells(const struct envelope *envelope)
{
	bool *cut = mem_zalloc(envelope->cells * sizeof(*cut));

	for (size_t i = 0; i < envelope->gaps; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];
		size_t cell =
		    place_of(envelope, since_begin(envelope, gap->from_ns)).cell;
		size_t last = place_of(envelope, since_begin(envelope, gap->to_ns)).cell;

		while (cell <= last)
			cut[cell++] = true;
	}
	return cut;
}

static double mean_width(const struct envelope *envelope)
{
	double sum = 0;

	for (size_t i = 0; i <= envelope->cells; i++)
		for (int side = 0; side < 2; side++) {
			const double *later = envelope->later[side];
			double most = smaller_of(envelope->most[side][i], ENDLESS_NS);

			sum +=
			    later ? (most + smaller_of(later[i], ENDLESS_NS)) / 2 : most;
		}
	return sum / (double)(envelope->cells + 1);
}

static double cell_length(const struct envelope *envelope, size_t cell)
{
	return envelope->edge ? envelope->edge[cell + 1] - envelope->edge[cell]
			      : envelope->step_ns;
}

/* Return how much the bounds on a side can grow across a cell, ns. */
static double bound_growth(const struct envelope *envelope, size_t cell, bool side)
{
	return rate_in(envelope, cell, side) * cell_length(envelope, cell);
}

bool envelope_sweep(struct envelope *envelope)
{
	double before = envelope->width_ns;
	bool *cut = find_cut_cells(envelope);
	const bool is_even = !envelope->slewed && !envelope->edge;

	envelope->is_touched = false;
	for (int side = 0; side < 2; side++) {
		const double ahead = envelope->rate[side] * envelope->step_ns;
		const double back = envelope->rate[!side] * envelope->step_ns;
		double *most = envelope->most[side];
		double *later = later_of(envelope, side);

		for (size_t i = 0; i < envelope->cells; i++)
			if (!cut[i])
				tighten_bound(
				    &most[i + 1],
				    most[i] + (is_even
						   ? ahead
						   : bound_growth(envelope, i, side)));
		for (size_t i = envelope->cells; i-- > 0;)
			if (!cut[i])
				tighten_bound(
				    &later[i],
				    later[i + 1] +
					(is_even ? back
						 : bound_growth(envelope, i, !side)));
	}
	free(cut);
	envelope->width_ns = mean_width(envelope);
	return before - envelope->width_ns > WORTH_NS;
}

/* Represent the bounds as messages in the plane of the line and the truth, relative to
 * its start. */
static void make_hulls(const struct envelope *envelope, struct hulls *hulls)
{
	*hulls = (struct hulls){.upper = {.upper = true},
				.origin = {envelope->begin_ns, envelope->begin_ns}};
	for (size_t i = 0; i <= envelope->cells; i++) {
		nsec_t at =
		    envelope->begin_ns + nsec_round((double)i * envelope->step_ns);

		for (int side = 0; side < 2; side++) {
			nsec_t most = nsec_round(ceil(envelope->most[side][i]));

			if (!isinf(envelope->most[side][i]))
				hull_add(side ? &hulls->lower : &hulls->upper, at,
					 side ? at + most : at - most);
		}
	}
	hull_settle(&hulls->lower);
	hull_settle(&hulls->upper);
}

/*
 * Reduce bounds at even times to their lower convex hull: a line that is below all of
 * them is below that, too.
 */
static void make_convex(double *most, size_t count)
{
	AUTOFREE size_t *corner = mem_alloc(count * sizeof(*corner));
	size_t corners = 0;

	for (size_t i = 0; i < count; i++) {
		for (; corners >= 2; corners--) {
			size_t a = corner[corners - 2], b = corner[corners - 1];

			if ((most[b] - most[a]) * (double)(i - b) <
			    (most[i] - most[b]) * (double)(b - a))
				break;
		}
		corner[corners++] = i;
	}
	for (size_t k = 1; k < corners; k++) {
		size_t a = corner[k - 1], b = corner[k];
		double slope = (most[b] - most[a]) / (double)(b - a);

		for (size_t i = a + 1; i < b; i++)
			most[i] = most[a] + slope * (double)(i - a);
	}
}

bool envelope_straighten(struct envelope *envelope)
{
	double limit = fmax(envelope->rate[true], envelope->rate[false]);
	double before = envelope->width_ns;
	struct hulls hulls;
	struct pair_line fit;

	envelope->is_touched = false;
	make_hulls(envelope, &hulls);
	if (hulls.lower.count && hulls.upper.count) {
		fit = pair_line_fit(&hulls, limit);
		envelope->is_broken = fit.margin_ns < 0;
		envelope->rate[true] = fmin(envelope->rate[true],
					    pair_line_extreme(&hulls, &fit, limit).rate);
		envelope->rate[false] = fmin(
		    envelope->rate[false], -pair_line_extreme(&hulls, &fit, -limit).rate);
	}
	hull_clear(&hulls.lower);
	hull_clear(&hulls.upper);
	envelope->is_broken |= envelope->rate[true] + envelope->rate[false] < 0;
	if (envelope->is_broken)
		return false;
	envelope_sweep(envelope);
	for (int side = 0; side < 2; side++)
		if (!isinf(envelope->most[side][0]))
			make_convex(envelope->most[side], envelope->cells + 1);
	envelope->width_ns = mean_width(envelope);
	return before - envelope->width_ns > WORTH_LINE;
}

/* Return the upper bound on the error (`high`) or on its negative, ns. */
static double known_at(const struct envelope *envelope, struct place place, bool high)
{
	double known = INFINITY, later = INFINITY;

	if (place.has_left)
		known = envelope->most[high][place.cell] +
			rate_in(envelope, place.cell, high) * fabs(place.after);
	if (place.has_right)
		later = later_of(envelope, high)[place.cell + 1] +
			rate_in(envelope, place.cell, !high) * fabs(place.before);
	if (envelope->later[high] && !isinf(known) && !isinf(later))
		return larger_of(known, later);
	return smaller_of(known, later);
}

double envelope_at(const struct envelope *envelope, nsec_t at, bool high)
{
	double known =
	    known_at(envelope, place_of(envelope, since_begin(envelope, at)), high);

	return high ? known : -known;
}

/* The place of a cell's begin, where no gap is. */
static struct place edge_place(const struct envelope *envelope, size_t cell)
{
	return (struct place){cell, 0, cell_length(envelope, cell), true, true};
}

/* Check each cell of the grid: the extreme is at an end, or where the bounds that widen
 * from both ends meet. */
double envelope_extreme(const struct envelope *envelope, const struct envelope_span *span,
			bool high)
{
	const double first = since_begin(envelope, span->from), sign = high ? 1 : -1;
	const double length = (double)(span->to - span->from);
	const double slope =
	    length > 0 ? sign * (span->added[1] - span->added[0]) / length : 0;
	const struct place begin = place_of(envelope, first);
	size_t cell = begin.cell;
	double left = known_at(envelope, begin, high), most = left, next;

	for (double at = 0; at < length; at = next) {
		const double up = rate_in(envelope, cell, high);
		const double down = rate_in(envelope, cell, !high);
		double right, passed, meet = 0, peak;

		next = length;
		if (++cell < envelope->cells)
			next = smaller_of(length, envelope_edge(envelope, cell) - first);
		passed = next - at;
		right = next < length && !envelope->gaps
			    ? known_at(envelope, edge_place(envelope, cell), high)
			    : known_at(envelope, place_of(envelope, first + next), high);
		peak = larger_of(left, right);
		if (envelope->later[high]) {
			/* Either may hold up to a message that is anywhere in the cell.
			 */
			most = larger_of(most, left + up * passed + slope * next);
			most = larger_of(most, right + down * passed + slope * at);
		} else if (!isinf(peak) && up + down > 0) {
			meet = (right - left + down * passed) / (up + down);
			meet = smaller_of(passed, larger_of(0, meet));
			peak =
			    smaller_of(left + up * meet, right + down * (passed - meet));
		}
		most = larger_of(
		    most, larger_of(right + slope * next, peak + slope * (at + meet)));
		left = right;
	}
	return sign * most + span->added[0];
}

void envelope_clear(struct envelope *envelope)
{
	free(envelope->most[true]);
	free(envelope->most[false]);
	free(envelope->later[true]);
	free(envelope->later[false]);
	free(envelope->gap);
	free(envelope->slewed);
	free(envelope->edge);
	memset(envelope, 0, sizeof(*envelope));
}
