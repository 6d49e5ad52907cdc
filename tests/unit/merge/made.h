/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_H
#define CT_TEST_MADE_H

/*
 * Timelines of a kernel's events, made by hand.
 * Node 1 has processors 0 and 1, node 2 has one; both end at MADE_END.
 */
#include "kernel_events.h"

static struct timeline_writer *made_writer;
static uint32_t made_id[KINDS]; /* 0: no event of it yet */
static int64_t made_node, made_events;
/* Called of each event, too; NULL. */
static void (*made_also)(enum made_kind kind, const struct timeline_event *event);

/* Begin a timeline "t" in the working directory. */
static inline void made_begin(void)
{
	struct error error = ERROR_INIT;

	unlink("t");
	made_writer = timeline_writer_new("t", NULL, true, &error);
	for (int64_t i = 1; i <= 2; i++) {
		const struct timeline_node node = {
		    .id = i, .name = i == 1 ? "n1" : "n2", .cpus = 3 - i};
		const struct timeline_source source = {.id = i,
						       .node = i,
						       .kind = "kernel",
						       .begin_ns = 0,
						       .end_ns = MADE_END};

		assert_int_equal(timeline_add_node(made_writer, &node, &error), 0);
		assert_int_equal(timeline_add_source(made_writer, &source, &error), 0);
	}
	memset(made_id, 0, sizeof(made_id));
	made_node = 1;
	made_events = 0;
}

static int64_t made_event(enum made_kind kind, nsec_t ts_ns, int32_t cpu, int64_t tid,
			  const struct cell *cell)
{
	struct error error = ERROR_INIT;
	struct timeline_event event = {
	    .ts_ns = ts_ns, .node = made_node, .cpu = cpu, .tid = tid, .cell = cell};

	if (!made_id[kind])
		assert_int_equal(timeline_add_class(made_writer, &made_class[kind],
						    &made_id[kind], &error),
				 0);
	event.class = made_id[kind];
	assert_int_equal(timeline_add_event(made_writer, &event, NULL, &error), 0);
	made_events++;
	if (made_also)
		made_also(kind, &event);
	return made_events;
}

#endif
