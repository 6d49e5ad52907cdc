/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "message_file.h"

struct point {
	double x, y; /* child's clock, and parent's less child's, since the origin */
};

struct cloud {
	struct point *point;
	size_t count, capacity;
};

/* Messages between two clocks of the map, a < b. */
struct link {
	size_t a, b;
	nsec_t a_ns, b_ns;    /* origin: the first message */
	struct cloud side[2]; /* over and under the line from a's time to b's */
};

struct baseline {
	struct clock_map *map;
	struct link *link;
	size_t links, capacity, clock_room;
};

struct line {
	double rate, offset_ns; /* y = offset + rate * x */
};

static size_t clock_of(struct baseline *baseline, const char *name, nsec_t at)
{
	struct clock_map *map = baseline->map;
	struct clock *clock;
	size_t i;

	for (i = 0; i < map->clocks; i++)
		if (strcmp(map->clock[i].trace, name) == 0)
			break;
	if (i == map->clocks) {
		map->clock = mem_grow(map->clock, map->clocks++, &baseline->clock_room,
				      sizeof(*map->clock));
		map->clock[i] = (struct clock){.trace = mem_strdup(name),
					       .path = mem_strdup(""),
					       .begin_ns = at,
					       .end_ns = at};
	}
	clock = &map->clock[i];
	clock->begin_ns = at < clock->begin_ns ? at : clock->begin_ns;
	clock->end_ns = at > clock->end_ns ? at : clock->end_ns;
	return i;
}

static struct link *link_of(struct baseline *baseline, size_t a, size_t b)
{
	for (size_t i = 0; i < baseline->links; i++)
		if (baseline->link[i].a == a && baseline->link[i].b == b)
			return &baseline->link[i];
	return NULL;
}

static void take(void *own, const struct message_row *row)
{
	struct baseline *baseline = own;
	size_t from = clock_of(baseline, row->send_node, row->send_ns);
	size_t to = clock_of(baseline, row->recv_node, row->recv_ns);
	bool down = from > to; /* received by a */
	size_t a = down ? to : from, b = down ? from : to;
	nsec_t a_ns = down ? row->recv_ns : row->send_ns;
	nsec_t b_ns = down ? row->send_ns : row->recv_ns;
	struct link *link = link_of(baseline, a, b);
	struct cloud *cloud;
	nsec_t x, y;

	if (!link) {
		baseline->link = mem_grow(baseline->link, baseline->links,
					  &baseline->capacity, sizeof(*link));
		link = &baseline->link[baseline->links++];
		*link = (struct link){.a = a, .b = b, .a_ns = a_ns, .b_ns = b_ns};
	}
	x = a_ns - link->a_ns;
	y = b_ns - link->b_ns - x;
	cloud = &link->side[down];
	cloud->point =
	    mem_grow(cloud->point, cloud->count, &cloud->capacity, sizeof(struct point));
	cloud->point[cloud->count++] = (struct point){(double)x, (double)y};
}

static int by_x(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

/* Keep the half hull that faces the line: the lower one (1) or the upper (-1). */
static void keep_hull(struct cloud *cloud, double sign)
{
	struct point *p = cloud->point;
	size_t n = 0;

	qsort(p, cloud->count, sizeof(*p), by_x);
	for (size_t i = 0; i < cloud->count; i++) {
		while (n > 1 &&
		       sign * ((p[n - 1].x - p[n - 2].x) * (p[i].y - p[n - 2].y) -
			       (p[n - 1].y - p[n - 2].y) * (p[i].x - p[n - 2].x)) <=
			   0)
			n--;
		p[n++] = p[i];
	}
	cloud->count = n;
}

static struct line through(const struct point *p, const struct point *q)
{
	double rate = (q->y - p->y) / (q->x - p->x);

	return (struct line){rate, p->y - rate * p->x};
}

/* The lines of the extreme slopes between two half hulls; false: there is none. */
static bool tangents(const struct link *link, struct line line[2])
{
	const struct cloud *over = &link->side[0], *under = &link->side[1];

	line[0] = (struct line){-INFINITY, 0};
	line[1] = (struct line){INFINITY, 0};
	for (size_t i = 0; i < over->count; i++)
		for (size_t k = 0; k < under->count; k++) {
			const struct point *p = &over->point[i], *q = &under->point[k];
			struct line here = through(p, q);

			if (p->x == q->x)
				continue;
			if (p->x < q->x && here.rate > line[0].rate)
				line[0] = here;
			if (p->x > q->x && here.rate < line[1].rate)
				line[1] = here;
		}
	return isfinite(line[0].rate) && isfinite(line[1].rate) &&
	       line[0].rate <= line[1].rate;
}

static struct line least_squares(const struct link *link)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, spread, rate;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < link->side[side].count; i++) {
			const struct point *p = &link->side[side].point[i];

			n++;
			x += p->x;
			y += p->y;
			xx += p->x * p->x;
			xy += p->x * p->y;
		}
	spread = n * xx - x * x;
	rate = spread > 0 ? (n * xy - x * y) / spread : 0;
	return (struct line){rate, (y - rate * x) / n};
}

static struct line fit(struct link *link)
{
	struct line squares = least_squares(link), line[2];

	keep_hull(&link->side[0], 1);
	keep_hull(&link->side[1], -1);
	if (!tangents(link, line))
		return squares;
	return (struct line){(line[0].rate + line[1].rate) / 2,
			     (line[0].offset_ns + line[1].offset_ns) / 2};
}

static void put_line(struct clock *clock, const char *reference, nsec_t local_ns,
		     nsec_t ref_ns, double rate)
{
	clock->reference = mem_strdup(reference);
	clock->segment = mem_zalloc(sizeof(*clock->segment));
	clock->segments = 1;
	*clock->segment = (struct clock_segment){local_ns, ref_ns, rate * 1e9};
}

/* Put the clock at one end of a link on the axis of the one at its other end. */
static void extend(const struct baseline *baseline, struct link *link)
{
	struct clock *a = &baseline->map->clock[link->a];
	struct clock *b = &baseline->map->clock[link->b];
	struct line line = fit(link);
	nsec_t met = link->b_ns + nsec_round(line.offset_ns); /* b's clock at a_ns */

	if (b->segments)
		put_line(a, b->reference, link->a_ns, clock_correct(b, met),
			 (1 + line.rate) * (1 + b->segment->rate_ppb / 1e9) - 1);
	else
		put_line(b, a->reference, met, clock_correct(a, link->a_ns),
			 (1 + a->segment->rate_ppb / 1e9) / (1 + line.rate) - 1);
}

static bool grow(const struct baseline *baseline)
{
	for (size_t i = 0; i < baseline->links; i++) {
		struct link *link = &baseline->link[i];

		if (!baseline->map->clock[link->a].segments ==
		    !baseline->map->clock[link->b].segments)
			continue;
		extend(baseline, link);
		return true;
	}
	return false;
}

int baseline_fit(struct clock_map *map, const char *messages, struct error *error)
{
	struct baseline baseline = {.map = map};
	int status;

	memset(map, 0, sizeof(*map));
	status = message_file_read(messages, take, &baseline, error);
	for (size_t i = 0; !status && i < map->clocks; i++) {
		if (!map->clock[i].segments)
			put_line(&map->clock[i], map->clock[i].trace, 0, 0, 0);
		while (grow(&baseline))
			;
	}
	for (size_t i = 0; i < baseline.links; i++) {
		free(baseline.link[i].side[0].point);
		free(baseline.link[i].side[1].point);
	}
	free(baseline.link);
	return status;
}
