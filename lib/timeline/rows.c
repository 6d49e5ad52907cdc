/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "timeline/writer_private.h"

/* Where the value of a column stands in the caller's struct. */
struct field {
	size_t offset;
	enum cell_type type;
};

/* Columns of one table, in the table's order. */
struct fields {
	enum writer_table table;
	bool numbered; /* by us: the id is not among the fields */
	struct field field[24];
	unsigned count;
};

#define WHOLE(row, name)                                                                 \
	{                                                                                \
		offsetof(struct timeline_##row, name), CELL_INTEGER                      \
	}
#define REAL(row, name)                                                                  \
	{                                                                                \
		offsetof(struct timeline_##row, name), CELL_REAL                         \
	}
#define TEXT(row, name)                                                                  \
	{                                                                                \
		offsetof(struct timeline_##row, name), CELL_TEXT                         \
	}

/* A text as a cell; what is no UTF-8 is mended, and the copy left in `kept`. */
static struct cell text_cell(const char *text, char **kept)
{
	const char *end = text;
	size_t length;

	if (!text)
		return (struct cell){.type = CELL_NULL};
	while (*end && (length = utf8_length(end)) > 0)
		end += length;
	if (*end) {
		*kept = utf8_clean(text);
		text = *kept;
		end = text + strlen(text);
	}
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)(end - text), .bytes = text};
}

static struct cell field_cell(const struct field *field, const void *row, char **kept)
{
	const char *at = (const char *)row + field->offset;
	struct cell cell = {.type = field->type};

	if (field->type == CELL_TEXT)
		return text_cell(*(const char *const *)at, kept);
	if (field->type == CELL_REAL)
		cell.real = *(const double *)at;
	else
		cell.integer = *(const int64_t *)at;
	if (field->type == CELL_INTEGER && cell.integer == TIMELINE_NONE)
		cell.type = CELL_NULL;
	return cell;
}

static int add(struct timeline_writer *writer, const struct fields *fields,
	       const void *row, struct error *error)
{
	struct batch *batch = writer->table[fields->table];
	struct cell cells[1 + sizeof(fields->field) / sizeof(fields->field[0])];
	struct cell *cell = cells + 1;
	char *kept[sizeof(fields->field) / sizeof(fields->field[0])] = {NULL};
	int64_t number = ++writer->rows[fields->table];
	int status;

	cells[0] = writer_integer(number);
	for (unsigned i = 0; i < fields->count; i++)
		cell[i] = field_cell(&fields->field[i], row, &kept[i]);
	if (fields->table == TABLE_MESSAGE)
		status = writer_add_sorted(timeline_sorted(writer, "message", NULL, 0),
					   cells, error);
	else if (fields->numbered)
		status = batch_row_id(batch, number, cell, error);
	else
		status = batch_row(batch, cell, error);
	for (unsigned i = 0; i < fields->count; i++)
		free(kept[i]);
	return status;
}

int timeline_add_node(struct timeline_writer *writer, const struct timeline_node *row,
		      struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_NODE,
	    .field =
		{
		    WHOLE(node, id),
		    TEXT(node, name),
		    TEXT(node, hostname),
		    TEXT(node, kernel),
		    WHOLE(node, cpus),
		    REAL(node, cpu_mhz),
		    WHOLE(node, mem_kib),
		    TEXT(node, boot_id),
		},
	    .count = 8,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_source(struct timeline_writer *writer, const struct timeline_source *row,
			struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_SOURCE,
	    .field =
		{
		    WHOLE(source, id),
		    WHOLE(source, node),
		    TEXT(source, kind),
		    TEXT(source, path),
		    TEXT(source, clock_uuid),
		    WHOLE(source, begin_ns),
		    WHOLE(source, end_ns),
		    WHOLE(source, events),
		    WHOLE(source, discarded),
		    WHOLE(source, problems),
		    TEXT(source, name),
		    WHOLE(source, reference),
		    TEXT(source, quality),
		},
	    .count = 13,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_clock(struct timeline_writer *writer, const struct timeline_clock *row,
		       struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_CLOCK,
	    .field =
		{
		    WHOLE(clock, source),
		    WHOLE(clock, local_ns),
		    WHOLE(clock, ref_ns),
		    REAL(clock, rate_ppb),
		},
	    .count = 4,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_clock_bound(struct timeline_writer *writer,
			     const struct timeline_clock_bound *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_CLOCK_BOUND,
	    .field =
		{
		    WHOLE(clock_bound, source),
		    WHOLE(clock_bound, local_ns),
		    WHOLE(clock_bound, low_ns),
		    WHOLE(clock_bound, high_ns),
		},
	    .count = 4,
	};
	struct timeline_clock_bound shown = *row;

	if (shown.high_ns == NSEC_MAX)
		shown.high_ns = TIMELINE_NONE;
	return add(writer, &fields, &shown, error);
}

int timeline_add_clock_pair(struct timeline_writer *writer,
			    const struct timeline_clock_pair *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_CLOCK_PAIR,
	    .field =
		{
		    WHOLE(clock_pair, a),
		    WHOLE(clock_pair, b),
		    WHOLE(clock_pair, messages_ab),
		    WHOLE(clock_pair, messages_ba),
		    WHOLE(clock_pair, rejected),
		    TEXT(clock_pair, quality),
		    WHOLE(clock_pair, violations_before),
		    WHOLE(clock_pair, violations_after),
		    WHOLE(clock_pair, hull_ab),
		    WHOLE(clock_pair, hull_ba),
		    WHOLE(clock_pair, min_latency_ab_ns),
		    WHOLE(clock_pair, min_latency_ba_ns),
		},
	    .count = 12,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_message(struct timeline_writer *writer,
			 const struct timeline_message *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_MESSAGE,
	    .numbered = true,
	    .field =
		{
		    TEXT(message, protocol),
		    WHOLE(message, src_node),
		    WHOLE(message, dst_node),
		    WHOLE(message, send_event),
		    WHOLE(message, recv_event),
		    WHOLE(message, send_ns),
		    WHOLE(message, recv_ns),
		    WHOLE(message, latency_ns),
		    TEXT(message, src),
		    WHOLE(message, sport),
		    TEXT(message, dst),
		    WHOLE(message, dport),
		    WHOLE(message, seq),
		    WHOLE(message, bytes),
		    TEXT(message, send_by),
		    WHOLE(message, send_tid),
		    WHOLE(message, send_first_recv),
		    WHOLE(message, send_last_recv),
		    WHOLE(message, send_assumed),
		    WHOLE(message, recv_batch),
		    WHOLE(message, send_source),
		    WHOLE(message, recv_source),
		    WHOLE(message, low_ns),
		    WHOLE(message, high_ns),
		},
	    .count = 24,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_metric(struct timeline_writer *writer, const struct timeline_metric *row,
			struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_METRIC,
	    .field =
		{
		    WHOLE(metric, id),
		    TEXT(metric, name),
		    TEXT(metric, unit),
		    TEXT(metric, kind),
		    TEXT(metric, activity),
		},
	    .count = 5,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_item(struct timeline_writer *writer, const struct timeline_item *row,
		      struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_METRIC_ITEM,
	    .field =
		{
		    WHOLE(item, id),
		    TEXT(item, type),
		    TEXT(item, name),
		},
	    .count = 3,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_sample(struct timeline_writer *writer, const struct timeline_sample *row,
			struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_SAMPLE,
	    .field =
		{
		    WHOLE(sample, node),
		    WHOLE(sample, ts_ns),
		    WHOLE(sample, metric),
		    WHOLE(sample, item),
		    REAL(sample, value),
		    WHOLE(sample, interval_ns),
		},
	    .count = 6,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_process(struct timeline_writer *writer,
			 const struct timeline_process *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_PROCESS,
	    .field =
		{
		    WHOLE(process, id),
		    WHOLE(process, node),
		    WHOLE(process, pid),
		    WHOLE(process, ppid),
		    TEXT(process, comm),
		    TEXT(process, exe),
		    WHOLE(process, begin_ns),
		    WHOLE(process, end_ns),
		    WHOLE(process, exit_status),
		    TEXT(process, container),
		},
	    .count = 10,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_thread(struct timeline_writer *writer, const struct timeline_thread *row,
			struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_THREAD,
	    .field =
		{
		    WHOLE(thread, id),
		    WHOLE(thread, process),
		    WHOLE(thread, node),
		    WHOLE(thread, tid),
		    TEXT(thread, comm),
		    WHOLE(thread, begin_ns),
		    WHOLE(thread, end_ns),
		},
	    .count = 7,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_invocation(struct timeline_writer *writer,
			    const struct timeline_invocation *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_INVOCATION,
	    .numbered = true,
	    .field =
		{
		    WHOLE(invocation, node),
		    WHOLE(invocation, pid),
		    TEXT(invocation, name),
		    WHOLE(invocation, enqueue_ns),
		    WHOLE(invocation, begin_ns),
		    WHOLE(invocation, end_ns),
		    WHOLE(invocation, status),
		    WHOLE(invocation, process),
		    TEXT(invocation, data),
		},
	    .count = 9,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_recorded(struct timeline_writer *writer,
			  const struct timeline_recorded *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_RECORDED,
	    .field =
		{
		    WHOLE(recorded, node),
		    WHOLE(recorded, cpu),
		    TEXT(recorded, kind),
		    WHOLE(recorded, begin_ns),
		    WHOLE(recorded, end_ns),
		},
	    .count = 5,
	};

	return add(writer, &fields, row, error);
}

int timeline_add_problem(struct timeline_writer *writer,
			 const struct timeline_problem *row, struct error *error)
{
	static const struct fields fields = {
	    .table = TABLE_PROBLEM,
	    .numbered = true,
	    .field =
		{
		    WHOLE(problem, source),
		    TEXT(problem, kind),
		    WHOLE(problem, count),
		    TEXT(problem, text),
		    TEXT(problem, place),
		},
	    .count = 5,
	};

	return add(writer, &fields, row, error);
}
