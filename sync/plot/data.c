/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/data.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FARTHEST 1e15   /* seconds, microseconds; beyond it a double is too coarse */
#define ROUNDING 0.0005 /* microseconds; a message on the fit does not break it */

static bool is_usable(const struct plot_point *point)
{
	return fabs(point->x) < FARTHEST && fabs(point->y) < FARTHEST;
}

static bool holds_ab(const struct plot_point *point)
{
	return is_usable(point) && point->y >= -ROUNDING;
}

static bool holds_ba(const struct plot_point *point)
{
	return is_usable(point) && point->y <= ROUNDING;
}

static bool breaks_ab(const struct plot_point *point)
{
	return is_usable(point) && !holds_ab(point);
}

static bool breaks_ba(const struct plot_point *point)
{
	return is_usable(point) && !holds_ba(point);
}

typedef bool point_filter(const struct plot_point *);

static struct plot_series copy_if(const struct plot_series *series, point_filter *keep)
{
	struct plot_point *point = mem_alloc(series->count * sizeof(*point));
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		if (keep(&series->point[i]))
			point[count++] = series->point[i];
	return (struct plot_series){point, count};
}

void plot_data_init(struct plot_data *data, const struct plot_pair *pair)
{
	data->series[PLOT_AB] = copy_if(&pair->ab, holds_ab);
	data->series[PLOT_BA] = copy_if(&pair->ba, holds_ba);
	data->series[PLOT_BROKEN_AB] = copy_if(&pair->ab, breaks_ab);
	data->series[PLOT_BROKEN_BA] = copy_if(&pair->ba, breaks_ba);
	data->series[PLOT_HULL_AB] = copy_if(&pair->hull_ab, is_usable);
	data->series[PLOT_HULL_BA] = copy_if(&pair->hull_ba, is_usable);
	data->series[PLOT_LOW] = copy_if(&pair->low, is_usable);
	data->series[PLOT_HIGH] = copy_if(&pair->high, is_usable);
}

void plot_data_clear(struct plot_data *data)
{
	for (int i = 0; i < PLOT_DATA_SERIES; i++)
		free((void *)data->series[i].point);
	memset(data, 0, sizeof(*data));
}
