/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "sync/plot/plot.h"

enum { POINTS = 20000 }; /* messages drawn each way */

struct drawing {
	const struct sync *sync;
	const struct pair *pair;
	const struct clock *a, *b;
	nsec_t begin; /* reference time at x = 0 */
};

/* How much later b's stamp is than a's, on the fitted clocks. */
static struct chart_point place(const struct drawing *drawing, struct hull_point point)
{
	nsec_t a = clock_correct(drawing->a, point.x);
	nsec_t b = clock_correct(drawing->b, point.y);

	return (struct chart_point){(double)nsec_sub(a, drawing->begin) / 1e9,
				    (double)nsec_sub(b, a) / 1e3};
}

static struct chart_series place_all(const struct drawing *drawing,
				     const struct hull_point *from, size_t count)
{
	struct chart_point *point = mem_realloc(NULL, count, sizeof(*point));

	for (size_t i = 0; i < count; i++)
		point[i] = place(drawing, from[i]);
	return (struct chart_series){point, count};
}

static int by_time(const void *a, const void *b)
{
	const struct chart_point *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

struct clock_bound plot_bound(const struct sync *sync, const struct clock *one,
			      const struct clock *other, nsec_t ref)
{
	double limit = sync->options.drift_limit_ppm * 1e3;
	struct clock_bound of_one = clock_bound_at(one, clock_invert(one, ref), limit);
	struct clock_bound of_other =
	    clock_bound_at(other, clock_invert(other, ref), limit);
	bool low = of_one.low_ns != NSEC_MIN && of_other.high_ns != NSEC_MAX;
	bool high = of_one.high_ns != NSEC_MAX && of_other.low_ns != NSEC_MIN;

	return (struct clock_bound){
	    .low_ns = low ? nsec_sub(of_one.low_ns, of_other.high_ns) : NSEC_MIN,
	    .high_ns = high ? nsec_sub(of_one.high_ns, of_other.low_ns) : NSEC_MAX};
}

/* At all times that either clock states; a step back puts them out of order. */
static struct chart_series place_bound(const struct drawing *drawing, bool high)
{
	const struct clock *clock[2] = {drawing->a, drawing->b};
	struct chart_point *point =
	    mem_alloc((clock[0]->bounds + clock[1]->bounds) * sizeof(*point) + 1);
	size_t count = 0;

	for (size_t i = 0; i < clock[0]->bounds + clock[1]->bounds; i++) {
		const struct clock *of = clock[i >= clock[0]->bounds];
		size_t at = i < clock[0]->bounds ? i : i - clock[0]->bounds;
		nsec_t ref = clock_correct(of, of->bound[at].local_ns);
		struct clock_bound bound =
		    plot_bound(drawing->sync, drawing->b, drawing->a, ref);
		nsec_t side = high ? bound.high_ns : bound.low_ns;

		if (side != NSEC_MAX && side != NSEC_MIN)
			point[count++] = (struct chart_point){
			    (double)nsec_sub(ref, drawing->begin) / 1e9,
			    (double)side / 1e3};
	}
	qsort(point, count, sizeof(*point), by_time);
	return (struct chart_series){point, count};
}

/* A margin is that of a line, and tells nothing of clocks that are none. */
static char *caption(const struct drawing *drawing)
{
	const struct sync *sync = drawing->sync;
	const struct pair *pair = drawing->pair;
	double rate = clock_mean_rate(drawing->b) - clock_mean_rate(drawing->a);
	nsec_t middle =
	    drawing->b->begin_ns + (drawing->b->end_ns - drawing->b->begin_ns) / 2;
	nsec_t ref = clock_correct(drawing->b, middle);
	nsec_t offset = nsec_sub(clock_invert(drawing->a, ref), middle);
	char offset_text[NSEC_TEXT], margin[NSEC_TEXT];

	nsec_format_span(offset_text, (double)offset);
	if (sync_is_bent(sync, pair->a) || sync_is_bent(sync, pair->b))
		return mem_printf(
		    "offset %s, mean drift %.4f ppm, %zu and %zu segments, %s",
		    offset_text, rate * 1e6, drawing->a->segments, drawing->b->segments,
		    clock_quality_name(pair->quality));
	nsec_format_span(margin, pair->margin_ns);
	return mem_printf("offset %s, drift %.4f ppm, margin %s, %s", offset_text,
			  rate * 1e6, margin, clock_quality_name(pair->quality));
}

static struct plot_side make_side(const struct drawing *drawing, bool forward,
				  const struct sample_side *sample)
{
	const struct pair *pair = drawing->pair;
	const struct hull *hull = forward ? &pair->lower : &pair->upper;

	return (struct plot_side){
	    .drawn = place_all(drawing, sample->point, sample->count),
	    .messages = forward ? pair->messages_ab : pair->messages_ba,
	    .hull = place_all(drawing, hull->point, hull->count),
	    .bound = place_bound(drawing, forward),
	};
}

static int draw_pair(struct sync *sync, size_t index, const struct pair_sample *sample,
		     const char *path, struct error *error)
{
	const struct pair *pair = &sync->pairs.pair[index];
	struct drawing drawing = {
	    .sync = sync,
	    .pair = pair,
	    .a = &sync->fitted[pair->a],
	    .b = &sync->fitted[pair->b],
	    .begin =
		clock_correct(&sync->fitted[pair->a], sync->fitted[pair->a].begin_ns),
	};
	AUTOFREE char *text = caption(&drawing);
	struct plot_pair plot = {
	    .a = sync_clock_name(sync, pair->a),
	    .b = sync_clock_name(sync, pair->b),
	    .caption = text,
	    .begin_ns = drawing.begin,
	    .side = {make_side(&drawing, true, &sample->ab),
		     make_side(&drawing, false, &sample->ba)},
	};
	int status = plot_pair_write(&plot, path, error);

	for (int k = 0; k < 2; k++) {
		free((void *)plot.side[k].drawn.point);
		free((void *)plot.side[k].hull.point);
		free((void *)plot.side[k].bound.point);
	}
	return status;
}

/* The names of the pairs' pictures, by their order, all different. For file_names_free().
 */
static char **name_pairs(const struct sync *sync, const uint32_t *order)
{
	size_t clocks = sync->clocks, pairs = sync->pairs.count;
	AUTOFREE const char **text = mem_zalloc((clocks + pairs) * sizeof(*text));
	char **clock, **both = mem_zalloc(pairs * sizeof(*both)), **name;

	for (uint32_t i = 0; i < clocks; i++)
		text[i] = sync_clock_name(sync, i);
	clock = file_names_of(text, clocks);
	for (size_t i = 0; i < pairs; i++) {
		const struct pair *pair = &sync->pairs.pair[order[i]];

		both[i] = mem_printf("%s--%s", clock[pair->a], clock[pair->b]);
	}
	name = file_names_of((const char *const *)both, pairs);
	file_names_free(clock, clocks);
	file_names_free(both, pairs);
	return name;
}

static int draw_all(struct sync *sync, const struct pair_sample *samples,
		    const char *directory, struct error *error)
{
	AUTOFREE uint32_t *order = pair_table_order(&sync->pairs);
	char **name = name_pairs(sync, order);
	int status = 0;

	for (size_t i = 0; !status && i < sync->pairs.count; i++) {
		AUTOFREE char *path = mem_printf("%s/%s.svg", directory, name[i]);

		status = draw_pair(sync, order[i], &samples[order[i]], path, error);
	}
	if (!status) {
		AUTOFREE char *path = mem_printf("%s/graph.svg", directory);

		status = plot_graph(sync, order, path, error);
	}
	file_names_free(name, sync->pairs.count);
	return status;
}

int plot_run(struct sync *sync, const char *directory, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE,
						.list = ".ctsync-plot"};
	struct output_directory pictures;
	struct pair_sample *samples;
	int status = -1;

	if (output_directory_open(&pictures, directory, &kind, error))
		return -1;
	samples = pair_samples_new(&sync->log, sync->pairs.count, POINTS, error);
	if (samples) {
		status = draw_all(sync, samples, pictures.temporary, error);
		pair_samples_free(samples, sync->pairs.count);
	}
	if (status)
		output_directory_explain(&pictures, error);
	else
		status = output_directory_commit(&pictures, error);
	output_directory_discard(&pictures);
	return status;
}
