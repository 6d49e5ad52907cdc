/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as JSON, an object a line, in the timeline's order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export/format.h"
#include "timeline/events.h"

static struct {
	struct text_list events;
} options;

static const struct option_row rows[] = {
    {0, "events", OPTION_LIST, &options.events, "GLOB",
     "only events of classes whose names match GLOB; may be repeated", 0, 0},
    {0},
};

/* Add a value. Bytes become hexadecimal digits, as in CSV. */
static void add_cell(struct bytes *out, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		bytes_add_text(out, "null");
		break;
	case CELL_INTEGER:
		bytes_print(out, "%" PRId64, cell->integer);
		break;
	case CELL_REAL:
		if (cell->real - cell->real == 0)
			json_add_real(out, cell->real);
		else /* JSON has no infinity */
			bytes_add_text(out, cell->real > 0 ? "\"inf\"" : "\"-inf\"");
		break;
	case CELL_TEXT:
		json_add_text(out, cell->bytes, cell->size);
		break;
	case CELL_BLOB:
		bytes_add_byte(out, '"');
		for (uint32_t i = 0; i < cell->size; i++)
			bytes_print(out, "%02x", (unsigned char)cell->bytes[i]);
		bytes_add_byte(out, '"');
	}
}

/* Add {"NAME":VALUE,...} with the known fields of the context or the payload. */
static void add_fields(struct bytes *out, const struct event_row *row, bool of_context)
{
	bool any = false;

	for (size_t i = 0; i < row->fields; i++) {
		if (row->field[i].of_context != of_context ||
		    row->cell[i].type == CELL_NULL)
			continue;
		bytes_add_text(out, any ? "," : of_context ? ",\"context\":{" : "{");
		json_add_word(out, row->field[i].name);
		bytes_add_byte(out, ':');
		add_cell(out, &row->cell[i]);
		any = true;
	}
	bytes_add_text(out, any ? "}" : of_context ? "" : "{}");
}

static void add_event(struct bytes *out, const struct export *export,
		      const struct event_row *row)
{
	const struct scope_node *node = scope_find(&export->scope, row->node);

	bytes_add_text(out, "{\"ts_ns\":");
	bytes_print(out, "%" PRId64, row->ts_ns);
	bytes_add_text(out, ",\"node\":");
	if (node)
		json_add_word(out, node->name);
	else
		bytes_add_text(out, "null");
	if (row->cpu >= 0) {
		bytes_add_text(out, ",\"cpu\":");
		bytes_print(out, "%" PRId64, row->cpu);
	}
	if (row->tid >= 0) {
		bytes_add_text(out, ",\"tid\":");
		bytes_print(out, "%" PRId64, row->tid);
	}
	bytes_add_text(out, ",\"class\":");
	json_add_word(out, row->class);
	add_fields(out, row, true);
	bytes_add_text(out, ",\"fields\":");
	add_fields(out, row, false);
	bytes_add_text(out, "}\n");
}

static int write_events(struct export *export, struct events *events, struct error *error)
{
	struct bytes out = {0};
	struct event_row row;
	uint64_t count = 0;
	int more;

	while ((more = events_next(events, &row, error)) > 0) {
		add_event(&out, export, &row);
		if (++count % 4096 == 0)
			progress_update(&export->progress, "events", count, 0, 0);
		if (export_write(export, &out, EXPORT_BUFFER, error)) {
			more = -1;
			break;
		}
	}
	if (!more)
		more = export_write(export, &out, 0, error);
	bytes_clear(&out);
	return more;
}

static int run_json_export(struct export *export, struct error *error)
{
	struct events *events =
	    events_new(export->timeline, &export->scope, &options.events, error);
	int status = events ? write_events(export, events, error) : -1;

	if (!events && !error->text)
		error_misuse(error, "--events: no matching event class; see ctanalyze "
				    "nodes --table classes");
	events_free(events);
	return status;
}

const struct export_format export_json = {
    .name = "json",
    .summary = "events as JSON, one object per line",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .rows = rows,
    .run = run_json_export,
};
