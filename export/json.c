/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as JSON, an object a line, in the timeline's order. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export/format.h"
#include "timeline/events.h"

enum { FLUSH_BYTES = 64 * 1024 };

struct json_options {
	struct text_list events;
};

static const struct export_option options[] = {
    {0, "events", OPTION_LIST, offsetof(struct json_options, events), "GLOB",
     "only events of classes with such a name", 0, 0, 0},
    {0},
};

static void add_word(struct bytes *out, const char *word)
{
	bytes_add(out, word, strlen(word));
}

static void add_integer(struct bytes *out, int64_t integer)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, integer);
	add_word(out, text);
}

static void add_name(struct bytes *out, const char *name)
{
	json_add_text(out, name, strlen(name));
	bytes_add_byte(out, ':');
}

/* Bytes are a text of hexadecimal digits, as in CSV. */
static void add_cell(struct bytes *out, const struct cell *cell)
{
	static const char digits[] = "0123456789abcdef";

	switch (cell->type) {
	case CELL_NULL:
		add_word(out, "null");
		break;
	case CELL_INTEGER:
		add_integer(out, cell->integer);
		break;
	case CELL_REAL:
		if (cell->real - cell->real == 0)
			json_add_real(out, cell->real);
		else /* JSON has no infinity */
			add_word(out, cell->real > 0 ? "\"inf\"" : "\"-inf\"");
		break;
	case CELL_TEXT:
		json_add_text(out, cell->bytes, cell->size);
		break;
	case CELL_BLOB:
		bytes_add_byte(out, '"');
		for (uint32_t i = 0; i < cell->size; i++) {
			unsigned char byte = (unsigned char)cell->bytes[i];

			bytes_add(out, &digits[byte >> 4], 1);
			bytes_add(out, &digits[byte & 15], 1);
		}
		bytes_add_byte(out, '"');
	}
}

/* {"NAME":VALUE,...} of the context or of the payload, as far as there are values. */
static void add_fields(struct bytes *out, const struct events_wish *wish,
		       const struct event_row *row, bool of_context)
{
	size_t prefix = strlen(EVENTS_CONTEXT);
	bool any = false;

	for (size_t i = 0; i < EVENTS_FIELDS && wish->field[i]; i++) {
		const char *name = wish->field[i];
		bool in_context = strncmp(name, EVENTS_CONTEXT, prefix) == 0;

		if (in_context != of_context || row->field[i].type == CELL_NULL)
			continue;
		add_word(out, any ? "," : of_context ? ",\"context\":{" : "{");
		add_name(out, name + in_context * prefix);
		add_cell(out, &row->field[i]);
		any = true;
	}
	add_word(out, any ? "}" : of_context ? "" : "{}");
}

static void add_event(struct bytes *out, const struct export *export,
		      const struct events_wish *wish, const struct event_row *row)
{
	const struct scope_node *node = scope_find(&export->scope, row->node);

	add_word(out, "{\"ts_ns\":");
	add_integer(out, row->ts_ns);
	add_word(out, ",\"node\":");
	json_add_text(out, node->name, strlen(node->name));
	if (row->cpu >= 0) {
		add_word(out, ",\"cpu\":");
		add_integer(out, row->cpu);
	}
	if (row->tid >= 0) {
		add_word(out, ",\"tid\":");
		add_integer(out, row->tid);
	}
	add_word(out, ",\"class\":");
	json_add_text(out, row->class, strlen(row->class));
	add_fields(out, wish, row, true);
	add_word(out, ",\"fields\":");
	add_fields(out, wish, row, false);
	add_word(out, "}\n");
}

static int flush(struct export *export, struct bytes *out, struct error *error)
{
	errno = 0;
	if (fwrite(out->data, 1, out->size, export->file) != out->size)
		return error_errno(error, export->file_name);
	bytes_empty(out, 2 * FLUSH_BYTES);
	return 0;
}

static int write_events(struct export *export, struct events *events,
			const struct events_wishes *wishes, struct error *error)
{
	struct bytes out = {0};
	struct event_row row;
	uint64_t count = 0;
	int more;

	while ((more = events_next(events, &row, error)) > 0) {
		add_event(&out, export, &wishes->item[row.tag], &row);
		if (++count % 4096 == 0)
			progress_update(&export->progress, "events", count, 0, 0);
		if (out.size >= FLUSH_BYTES && flush(export, &out, error)) {
			more = -1;
			break;
		}
	}
	if (!more && out.size)
		more = flush(export, &out, error);
	bytes_clear(&out);
	return more;
}

static int run(struct export *export, struct error *error)
{
	const struct json_options *json = export->options;
	struct events_wishes wishes = {0};
	struct events *events = NULL;
	int status = events_wish_all(&wishes, export->timeline, &json->events, error);

	if (!status && !wishes.count && json->events.count)
		status =
		    error_misuse(error, "--events: no class of events has such a name, "
					"see ctanalyze nodes --table classes");
	if (!status) {
		events = events_new(export->timeline, &export->scope, wishes.item,
				    wishes.count, error);
		status = events ? write_events(export, events, &wishes, error) : -1;
	}
	events_free(events);
	events_wishes_clear(&wishes);
	return status;
}

const struct export_format export_json = {
    .name = "json",
    .summary = "events as JSON, an object a line",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .option = options,
    .options_size = sizeof(struct json_options),
    .run = run,
};
