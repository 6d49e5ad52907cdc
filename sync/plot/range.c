/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/data.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

#define SAMPLES       200  /* instants at which the lines are looked at */
#define LINE_QUANTILE 0.75 /* of a line's heights; a hull's ends fly high */
#define FAST_QUANTILE 0.02 /* of the delays, where the logarithm begins */
#define NEAR_QUANTILE 0.1  /* of the delays, where there is no hull to look at */
#define BAND_HEIGHTS  4.0  /* a bound wider than so many hulls is cut off */
#define DECADES       1e6

/* The least box round points; low > high while there are none. */
struct extent {
	struct plot_point low, high;
};

#define EXTENT_NONE                                                                      \
	{                                                                                \
		{INFINITY, INFINITY},                                                    \
		{                                                                        \
			-INFINITY, -INFINITY                                             \
		}                                                                        \
	}

static void extent_add(struct extent *extent, const struct plot_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct plot_point *point = &series->point[i];

		extent->low.x = fmin(extent->low.x, point->x);
		extent->low.y = fmin(extent->low.y, point->y);
		extent->high.x = fmax(extent->high.x, point->x);
		extent->high.y = fmax(extent->high.y, point->y);
	}
}

static struct extent extent_of(const struct plot_data *data, enum plot_data_series first,
			       enum plot_data_series last)
{
	struct extent extent = EXTENT_NONE;

	for (enum plot_data_series i = first; i <= last; i++)
		extent_add(&extent, &data->series[i]);
	return extent;
}

struct plot_axis plot_data_time(const struct plot_data *data)
{
	const struct extent seen = extent_of(data, PLOT_AB, PLOT_HULL_BA);
	const struct extent bound = extent_of(data, PLOT_LOW, PLOT_HIGH);
	double low = fmin(seen.low.x, bound.low.x);
	double high = fmax(seen.high.x, bound.high.x);
	const double span = seen.high.x - seen.low.x;
	struct plot_axis axis;

	if (!(low <= high))
		low = high = 0;
	if (span > 0) {
		low = fmax(low, seen.low.x - 0.15 * span);
		high = fmin(high, seen.high.x + 0.15 * span);
	}
	plot_axis_open(&axis, low - 0.01 * (high - low), high + 0.01 * (high - low));
	return axis;
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* 0 when there are no values; sorts them. */
static double quantile(double *value, size_t count, double q)
{
	if (count == 0)
		return 0;
	qsort(value, count, sizeof(*value), by_value);
	return value[(size_t)(q * (double)(count - 1))];
}

/* Of the heights above or below zero of two series; the second may be NULL. */
static double height_quantile(const struct plot_series *one,
			      const struct plot_series *two, double q)
{
	const size_t others = two ? two->count : 0;
	double *height = mem_alloc((one->count + others) * sizeof(*height));
	double result;

	for (size_t i = 0; i < one->count; i++)
		height[i] = fabs(one->point[i].y);
	for (size_t i = 0; i < others; i++)
		height[one->count + i] = fabs(two->point[i].y);
	result = quantile(height, one->count + others, q);
	free(height);
	return result;
}

struct plot_axis plot_data_whole(const struct plot_data *data)
{
	struct extent extent = extent_of(data, PLOT_AB, PLOT_HULL_BA);
	double fast = height_quantile(&data->series[PLOT_AB], &data->series[PLOT_BA],
				      FAST_QUANTILE);
	struct plot_axis axis;
	double reach;

	if (!(extent.low.y <= extent.high.y))
		extent = extent_of(data, PLOT_LOW, PLOT_HIGH);
	reach = fmax(fabs(extent.low.y), fabs(extent.high.y));
	if (!(reach > 0 && reach < INFINITY)) {
		plot_axis_open(&axis, -1, 1);
		return axis;
	}
	fast = fmax(fast > 0 ? fast : reach, reach / DECADES);
	fast = pow(10, floor(log10(fast)));
	plot_axis_open(&axis, fmin(1.4 * extent.low.y, -fast),
		       fmax(1.4 * extent.high.y, fast));
	axis.threshold = fast;
	return axis;
}

/* The line's height at x; false where it does not reach. */
static bool height_at(const struct plot_series *line, double x, double *height)
{
	size_t low = 0, high = line->count;
	const struct plot_point *a, *b;

	while (low < high) { /* the first point not before x */
		const size_t middle = low + (high - low) / 2;

		if (line->point[middle].x < x)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == line->count)
		return false;
	a = &line->point[low - 1];
	b = &line->point[low];
	if (!(a->x < x && x <= b->x))
		return false;
	*height = fabs(a->y + (b->y - a->y) * ((x - a->x) / (b->x - a->x)));
	return true;
}

/* How high the line is in most of the time. */
static double line_height(const struct plot_series *line, const struct plot_axis *time)
{
	double sample[SAMPLES];
	size_t count = 0;

	for (int i = 0; i < SAMPLES; i++) {
		const double part = (i + 0.5) / SAMPLES;
		const double x = time->low + part * (time->high - time->low);

		if (height_at(line, x, &sample[count]))
			count++;
	}
	if (count == 0)
		return height_quantile(line, NULL, LINE_QUANTILE);
	return quantile(sample, count, LINE_QUANTILE);
}

/* How far the close-up reaches to one side; 0 when nothing is there. */
static double side_height(const struct plot_data *data, const struct plot_axis *time,
			  enum plot_data_series messages, enum plot_data_series hull,
			  enum plot_data_series bound)
{
	double height = line_height(&data->series[hull], time);
	double band = line_height(&data->series[bound], time);

	if (!(height > 0))
		height = height_quantile(&data->series[messages], NULL, NEAR_QUANTILE);
	if (height > 0)
		band = fmin(band, BAND_HEIGHTS * height);
	return 1.4 * fmax(height, band);
}

struct plot_axis plot_data_zoom(const struct plot_data *data,
				const struct plot_axis *time)
{
	double up = side_height(data, time, PLOT_AB, PLOT_HULL_AB, PLOT_HIGH);
	double down = side_height(data, time, PLOT_BA, PLOT_HULL_BA, PLOT_LOW);
	struct plot_axis axis;

	if (!(up > 0) && !(down > 0))
		up = down = 1;
	up = fmax(up, down / 2);
	down = fmax(down, up / 2);
	plot_axis_open(&axis, -down, up);
	return axis;
}
