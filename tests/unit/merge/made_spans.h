/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_SPANS_H
#define CT_TEST_MADE_SPANS_H

#include "made.h"

#include "merge/event_class.h"
#include "merge/processes.h"
#include "merge/spans/span_rows.h"
#include "merge/spans/spans.h"

/*
 * Timelines of events made by hand, as of made.h, with their spans and with messages that
 * know what sent them, as ctmerge makes them.
 */
enum { MADE_EVENTS = 2048, MADE_MESSAGES = 64 };

static struct merge_run made_run;
static struct spans *made_told;
static struct event_class made_known[KINDS]; /* of NULL: no event of it yet */
static struct span_cause made_cause[MADE_EVENTS];
static struct timeline_message made_message[MADE_MESSAGES];
static size_t made_messages;
static void (*made_before_end)(void); /* called when all but the end is written */

static inline void made_tell_spans(enum made_kind kind,
				   const struct timeline_event *event)
{
	const struct timeline_class *from = &made_class[kind];
	struct error error = ERROR_INIT;
	struct merged_event told = {.id = made_events,
				    .node = (uint32_t)event->node - 1,
				    .ts_ns = event->ts_ns,
				    .cpu = event->cpu,
				    .tid = event->tid,
				    .cell = event->cell};

	assert_true(made_events < MADE_EVENTS);
	if (!made_known[kind].of) {
		static const struct selection everything = {.begin_ns = NSEC_MIN,
							    .end_ns = NSEC_MAX};
		const struct event_filter filter = {&everything, .spans = true};
		struct trace_column column[8];
		struct trace_class class = {.name = (char *)from->name,
					    .column = column,
					    .columns = from->columns};

		for (size_t i = 0; i < from->columns; i++)
			column[i] = (struct trace_column){(char *)from->column[i].name,
							  from->column[i].type, false};
		event_class_init(&made_known[kind], &class, &filter);
		for (uint32_t node = 0; node < 2; node++)
			spans_class(made_told, node, &made_known[kind]);
	}
	told.class = &made_known[kind];
	made_cause[made_events] = (struct span_cause){.tid = -1};
	if (strcmp(from->kind, "kernel") == 0)
		assert_int_equal(
		    spans_event(made_told, &told, &made_cause[made_events], &error), 0);
}

static inline void made_begin_spans(void)
{
	static char names[2][3] = {"n1", "n2"};
	static struct merge_node nodes[2] = {{.id = 1, .name = names[0]},
					     {.id = 2, .name = names[1]}};

	made_begin();
	made_run = (struct merge_run){.node = nodes, .nodes = 2};
	made_told = spans_new(&made_run, 0);
	memset(made_known, 0, sizeof(made_known));
	made_messages = 0;
	made_also = made_tell_spans;
}

/* A message, which gets its row with the timeline's end; its texts stay. */
static inline void made_add_message(const struct timeline_message *row)
{
	assert_true(made_messages < MADE_MESSAGES);
	made_message[made_messages++] = *row;
}

static inline void made_write_message(struct timeline_message *row)
{
	struct span_cause cause = {.event = 0};
	struct error error = ERROR_INIT;

	row->send_tid = row->send_first_recv = row->send_last_recv = TIMELINE_NONE;
	row->recv_batch = TIMELINE_NONE;
	if (row->send_event > 0)
		cause = made_cause[row->send_event];
	if (cause.event) {
		row->send_by = span_wait_name(cause.wait);
		row->send_tid = cause.tid < 0 ? TIMELINE_NONE : cause.tid;
		row->send_first_recv =
		    cause.first_recv ? cause.first_recv : TIMELINE_NONE;
		row->send_last_recv = cause.last_recv ? cause.last_recv : TIMELINE_NONE;
	}
	if (row->recv_event > 0 && made_cause[row->recv_event].first_recv)
		row->recv_batch = made_cause[row->recv_event].first_recv;
	assert_int_equal(timeline_add_message(made_writer, row, &error), 0);
}

/* End the timeline "t" that was begun, if any. */
static inline void made_end(void)
{
	struct processes *processes = processes_new(4);
	struct error error = ERROR_INIT;

	if (made_writer) {
		made_event(MARK, MADE_END, -1, -1, NULL);
		assert_int_equal(spans_end(made_told, MADE_END, &error), 0);
		assert_int_equal(
		    spans_write(made_told,
				&(struct spans_write_config){.processes = processes,
							     .writer = made_writer,
							     .threads = 1},
				&error),
		    0);
		for (size_t i = 0; i < made_messages; i++)
			made_write_message(&made_message[i]);
		if (made_before_end)
			made_before_end();
		finish_timeline(made_writer);
		assert_string_equal(error_text(&error), "");
		spans_free(made_told);
		made_writer = NULL;
		made_also = NULL;
	}
	processes_free(processes);
}

#endif
