/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/panel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * Tens of thousands of messages on few pixels: of the messages in one cell
 * only the first is drawn, and the cell's count chooses how dark. One path
 * holds all dots of a shade, in tenths of pixels and relative moves.
 */
#define DOT_CELL   2.0 /* pixels */
#define CROSS_CELL 4.0
#define CROSS_HALF 4.0  /* of a cross's width, pixels */
#define SPARSE     1000 /* up to so many messages density says nothing */

/* A mark ends where it began, so that the next relative move is right. */
#define DOT        "h0"
#define EDGE       "stroke-width=\"20\""
#define EDGE_ABOVE "v55v-55"
#define EDGE_BELOW "v-55v55"
#define CROSS      "m-40-40l80 80m0-80l-80 80m40-40"

struct shade {
	uint32_t least; /* messages in the cell; the next shade's is the limit */
	const char *opacity;
};

static const struct shade dense_shades[] = {
    {1, ".38"}, {2, ".62"}, {5, ".9"}, {UINT32_MAX, NULL}};
static const struct shade sparse_shades[] = {{1, ".75"}, {UINT32_MAX, NULL}};
static const struct shade cross_shades[] = {{1, "1"}, {UINT32_MAX, NULL}};

struct cell {
	uint32_t count;
	int x, y; /* of the first message, tenths of pixels */
};

struct cloud {
	double side; /* of a cell, pixels */
	size_t columns, rows;
	double width, height; /* pixels */
	struct cell *cell;    /* by column */
	struct cell *edge[2]; /* above, below; one a column */
	struct plot_cloud_count count;
};

static void cloud_init(struct cloud *cloud, const struct svg_box *frame, double side)
{
	*cloud =
	    (struct cloud){.side = side, .width = frame->width, .height = frame->height};
	cloud->columns = (size_t)(frame->width / side) + 1;
	cloud->rows = (size_t)(frame->height / side) + 1;
	cloud->cell = mem_zalloc(cloud->columns * cloud->rows * sizeof(struct cell));
	for (int i = 0; i < 2; i++)
		cloud->edge[i] = mem_zalloc(cloud->columns * sizeof(struct cell));
}

static void cloud_clear(struct cloud *cloud)
{
	free(cloud->cell);
	free(cloud->edge[0]);
	free(cloud->edge[1]);
}

static void cloud_add(struct cloud *cloud, double x, double y)
{
	const size_t column = (size_t)(fmin(fmax(x, 0), cloud->width) / cloud->side);
	struct cell *cell;

	if (y < 0) {
		cell = &cloud->edge[0][column];
		cloud->count.above++;
	} else if (y > cloud->height) {
		cell = &cloud->edge[1][column];
		cloud->count.below++;
	} else {
		cell = &cloud->cell[column * cloud->rows + (size_t)(y / cloud->side)];
	}
	if (cell->count++ > 0)
		return;
	cell->x = (int)lround(fmin(fmax(x, 0), cloud->width) * 10);
	cell->y = (int)lround(fmin(fmax(y, 0), cloud->height) * 10);
}

static bool has_shade(const struct cell *cell, const struct shade *shade)
{
	return cell->count >= shade[0].least && cell->count < shade[1].least;
}

/* Every cell of that shade as a move and what `mark` draws; nothing if there is none. */
static void draw_shade(FILE *file, const struct cell *cell, size_t count,
		       const struct shade *shade, const char *mark, const char *style)
{
	int x = 0, y = 0;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const bool is_absolute = !any;

		if (!has_shade(&cell[i], shade))
			continue;
		if (is_absolute)
			fputs("<path d=\"", file);
		fprintf(file, "%c%d%s%d%s", is_absolute ? 'M' : 'm', cell[i].x - x,
			cell[i].y < y ? "" : " ", cell[i].y - y, mark);
		x = cell[i].x;
		y = cell[i].y;
		any = true;
	}
	if (any)
		fprintf(file, "\" opacity=\"%s\" %s/>\n", shade->opacity, style);
}

static void cloud_fill(struct cloud *cloud, const struct plot_panel *panel,
		       const struct plot_series *series, double inset)
{
	const double bottom = cloud->height - inset;

	for (size_t i = 0; i < series->count; i++) {
		double y = plot_axis_at(&panel->y, series->point[i].y);

		if (inset > 0)
			y = fmin(fmax(y, inset), bottom);
		cloud_add(cloud, plot_axis_at(&panel->x, series->point[i].x), y);
	}
}

static void begin_marks(FILE *file, const char *color)
{
	fprintf(file, "<g transform=\"scale(.1)\" fill=\"none\" stroke=\"%s\">\n", color);
}

/* Few dots are larger; tenths of pixels. */
static double dot_width(size_t count)
{
	return fmax(60 - 10 * log10((double)(count + 1)), 22);
}

struct plot_cloud_count plot_panel_cloud(const struct plot_panel *panel, FILE *file,
					 const struct plot_series *series,
					 const char *color)
{
	const struct shade *shade = series->count > SPARSE ? dense_shades : sparse_shades;
	struct cloud cloud;
	char dot[64];

	snprintf(dot, sizeof(dot), "stroke-width=\"%.0f\" stroke-linecap=\"round\"",
		 dot_width(series->count));
	cloud_init(&cloud, &panel->frame, DOT_CELL);
	cloud_fill(&cloud, panel, series, 0);
	begin_marks(file, color);
	for (; shade->opacity; shade++) {
		draw_shade(file, cloud.cell, cloud.columns * cloud.rows, shade, DOT, dot);
		draw_shade(file, cloud.edge[0], cloud.columns, shade, EDGE_ABOVE, EDGE);
		draw_shade(file, cloud.edge[1], cloud.columns, shade, EDGE_BELOW, EDGE);
	}
	fputs("</g>\n", file);
	cloud_clear(&cloud);
	return cloud.count;
}

void plot_panel_crosses(const struct plot_panel *panel, FILE *file,
			const struct plot_series *series, const char *color)
{
	struct cloud cloud;

	if (series->count == 0)
		return;
	cloud_init(&cloud, &panel->frame, CROSS_CELL);
	cloud_fill(&cloud, panel, series, CROSS_HALF + 1);
	begin_marks(file, color);
	draw_shade(file, cloud.cell, cloud.columns * cloud.rows, cross_shades, CROSS,
		   "stroke-width=\"20\"");
	fputs("</g>\n", file);
	cloud_clear(&cloud);
}
