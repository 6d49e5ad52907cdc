/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

void report_add(struct report *report, enum report_severity severity, const char *check,
		const char *format, ...)
{
	struct report_item *item = report->item, *end = item + report->items;
	va_list arguments;

	for (; item != end; item++)
		if (item->severity == severity && strcmp(item->check, check) == 0)
			break;
	if (item == end) {
		report->item = mem_grow(report->item, report->items, &report->room,
					sizeof(*report->item));
		item = &report->item[report->items++];
		*item = (struct report_item){.severity = severity, .check = check};
	}
	if (item->count++ >= REPORT_EXAMPLES)
		return;
	va_start(arguments, format);
	item->example[item->count - 1] = mem_vprintf(format, arguments);
	va_end(arguments);
}

uint64_t report_count(const struct report *report, enum report_severity severity)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->items; i++)
		if (report->item[i].severity == severity)
			count += report->item[i].count;
	return count;
}

/* What is quoted of a file must not reach a terminal as it is. */
static void put_clean(const char *text, FILE *out)
{
	char *clean = utf8_clean(text);

	for (char *at = clean; *at; at++)
		putc((unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at, out);
	free(clean);
}

static void print_items(const struct report *report, enum report_severity severity,
			FILE *out)
{
	for (size_t i = 0; i < report->items; i++) {
		const struct report_item *item = &report->item[i];

		if (item->severity != severity)
			continue;
		for (size_t j = 0; j < REPORT_EXAMPLES && item->example[j]; j++) {
			fprintf(out, "%s: %s: ",
				severity == REPORT_ERROR ? "error" : "warning",
				item->check);
			put_clean(item->example[j], out);
			putc('\n', out);
		}
		if (item->count > REPORT_EXAMPLES)
			fprintf(out, "%s: %s: and %" PRIu64 " more\n",
				severity == REPORT_ERROR ? "error" : "warning",
				item->check, item->count - REPORT_EXAMPLES);
	}
}

static json_t *items_of(const struct report *report, enum report_severity severity)
{
	json_t *items = json_array();

	for (size_t i = 0; i < report->items; i++) {
		const struct report_item *item = &report->item[i];
		json_t *examples = json_array();

		for (size_t j = 0; j < REPORT_EXAMPLES && item->example[j]; j++) {
			char *clean = utf8_clean(item->example[j]);

			json_array_append_new(examples, json_string(clean));
			free(clean);
		}
		if (item->severity == severity)
			json_array_append_new(items, json_pack("{s:s, s:I, s:O}", "check",
							       item->check, "count",
							       (json_int_t)item->count,
							       "examples", examples));
		json_decref(examples);
	}
	return items;
}

static void print_json(const struct report *report, FILE *out)
{
	char *directory = utf8_clean(report->directory);
	char *schema = report->schema ? mem_printf("v%d", report->schema) : NULL;
	json_t *all = json_pack(
	    "{s:s, s:s?, s:s?, s:I, s:I, s:o, s:o}", "directory", directory, "format",
	    report->format, "schema", schema, "tasks", (json_int_t)report->tasks,
	    "fragments", (json_int_t)report->fragments, "errors",
	    items_of(report, REPORT_ERROR), "warnings", items_of(report, REPORT_WARNING));

	json_dumpf(all, out, JSON_INDENT(2));
	putc('\n', out);
	json_decref(all);
	free(schema);
	free(directory);
}

void report_print(const struct report *report, bool json, FILE *out)
{
	if (json) {
		print_json(report, out);
		return;
	}
	print_items(report, REPORT_ERROR, out);
	print_items(report, REPORT_WARNING, out);
	put_clean(report->directory, out);
	if (report->schema)
		fprintf(out, ": schema v%d as %s", report->schema, report->format);
	fprintf(out,
		": tasks: %" PRIu64 ", fragments: %" PRIu64 ", errors: %" PRIu64
		", warnings: %" PRIu64 "\n",
		report->tasks, report->fragments, report_count(report, REPORT_ERROR),
		report_count(report, REPORT_WARNING));
}

void report_clear(struct report *report)
{
	for (size_t i = 0; i < report->items; i++)
		for (size_t j = 0; j < REPORT_EXAMPLES; j++)
			free(report->item[i].example[j]);
	free(report->item);
	*report = (struct report){0};
}
