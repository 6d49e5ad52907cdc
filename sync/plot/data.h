/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_DATA_H
#define CT_SYNC_PLOT_DATA_H

#include "base/plot_axis.h"
#include "sync/plot/plot.h"

/*
 * What the picture of a pair shows: the pair's points but for those that no
 * axis can hold, and the ranges of the axes that show them best.
 */
enum plot_data_series {
	PLOT_AB,
	PLOT_BA,
	PLOT_BROKEN_AB, /* messages on the wrong side of the fit */
	PLOT_BROKEN_BA,
	PLOT_HULL_AB,
	PLOT_HULL_BA,
	PLOT_LOW,
	PLOT_HIGH,
	PLOT_DATA_SERIES,
};

struct plot_data {
	struct plot_series series[PLOT_DATA_SERIES];
};

/* Copies the points. */
void plot_data_init(struct plot_data *data, const struct plot_pair *pair);
void plot_data_clear(struct plot_data *data);

/* From the first message to the last, and some of the bound beyond them. */
struct plot_axis plot_data_time(const struct plot_data *data);

/* Every message: linear about the fastest ones, logarithmic beyond. */
struct plot_axis plot_data_whole(const struct plot_data *data);

/* The hulls and the bound, in most of the time that `time` shows. */
struct plot_axis plot_data_zoom(const struct plot_data *data,
				const struct plot_axis *time);

#endif
