/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_LANES_H
#define CT_ANALYZE_REPORT_LANES_H

#include "analyze/keys.h"
#include "analyze/report/private.h"

/*
 * The cluster's processors over time, a lane each, and who ran there. Of few spans each
 * is drawn. Of more, a lane is cut into cells, and of a cell only who ran longest is kept
 * and how much of it the processor was busy, in eighths: so memory and the page do not
 * grow with the run.
 */
enum { LANE_CELL_NAMES = 8, LANES_EXACT = 40000, LANES_CELLS = 120000 };

struct lane {
	int64_t node, cpu;
	nsec_t cell; /* the cell at hand; -1: none */
	struct lane_share {
		uint32_t name;
		nsec_t ns;
	} share[LANE_CELL_NAMES];
	size_t shares;
	size_t last; /* segment + 1; 0: none */
};

struct lane_segment {
	uint32_t lane, name;
	uint32_t begin, end; /* in TIME_UNITS */
	uint32_t eighths;
};

struct lanes {
	const struct report *report;
	struct keys names;
	nsec_t *name_ns; /* a name each */
	size_t name_room;
	struct lane *lane;
	size_t lanes, lane_room;
	struct lane_segment *segment;
	size_t segments, segment_room;
	nsec_t cell_ns; /* 0: every span is kept */
};

/* `spans`: how many there may be. */
void lanes_init(struct lanes *lanes, const struct report *report, uint64_t spans);

void lanes_add(struct lanes *lanes, int64_t node, int64_t cpu, const char *name,
	       nsec_t begin_ns, nsec_t end_ns);

/* The lane exists, also where nothing ran. */
size_t lanes_find(struct lanes *lanes, int64_t node, int64_t cpu);

bool lanes_has_node(const struct lanes *lanes, int64_t node);

/* After the last span. */
void lanes_finish(struct lanes *lanes);

/* Draw, with messages between the lanes: 0, or -1 with error. */
int lanes_draw(struct lanes *lanes, struct error *error);

void lanes_clear(struct lanes *lanes);

#endif
