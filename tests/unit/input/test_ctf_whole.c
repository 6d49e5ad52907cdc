/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Every event of a trace with every field, against what babeltrace2's own
 * program prints: the traces of tests/fixtures/net3, or those named as arguments.
 */
#include "each_trace.h"
#include "printed.h"

#include "../select.h"

struct comparison {
	struct trace_reader *source;
	struct printed printed;
	uint64_t events, fields;
};

/* How the line of an event begins, and how it goes on after the host. */
struct expected_line {
	char stamp[64], rest[300];
};

static bool is_expected(const char *line, const void *context)
{
	const struct expected_line *wanted = context;
	const char *name = strstr(line, ", name = ");

	return strncmp(line, wanted->stamp, strlen(wanted->stamp)) == 0 && name &&
	       strncmp(name, wanted->rest, strlen(wanted->rest)) == 0;
}

static void compare_fields(struct comparison *comparison,
			   const struct trace_event *record)
{
	const struct trace_class *class =
	    trace_reader_class(comparison->source, record->class);
	const struct pretty *pretty = &comparison->printed.pretty;
	size_t next = 0;

	for (size_t i = 0; i < class->columns; i++) {
		const char *name = class->column[i].name;

		if (record->cell[i].type != CELL_NULL &&
		    !printed_is(pretty, &next, name, &record->cell[i]))
			fail_msg("%s at %" PRId64 ": %s is not as printed", class->name,
				 record->local_ns, name);
	}
	if (next != pretty->leaves)
		fail_msg("%s at %" PRId64 ": %s is printed, and not read", class->name,
			 record->local_ns, pretty->leaf[next].path);
	comparison->fields += next;
}

static void compare(void *context, const struct trace_event *record)
{
	struct comparison *comparison = context;
	const struct trace_class *class =
	    trace_reader_class(comparison->source, record->class);
	struct expected_line wanted;
	char *line;

	snprintf(wanted.stamp, sizeof(wanted.stamp),
		 "timestamp = %" PRId64 ".%09" PRId64 ", ",
		 record->local_ns / NSEC_PER_SEC, record->local_ns % NSEC_PER_SEC);
	snprintf(wanted.rest, sizeof(wanted.rest),
		 ", name = %s, stream.packet.context = { cpu_id = %d }", class->name,
		 (int)record->cpu);
	line = printed_find(&comparison->printed, is_expected, &wanted);
	if (!line)
		fail_msg("%s%s is not printed", wanted.stamp, wanted.rest);
	if (!printed_take_apart(&comparison->printed, line))
		fail_msg("%s at %" PRId64 ": cannot be taken apart at %s", class->name,
			 record->local_ns, comparison->printed.pretty.at);
	compare_fields(comparison, record);
	comparison->events++;
	free(line);
}

static void compare_trace(const char *path)
{
	struct comparison *comparison = mem_zalloc(sizeof(*comparison));
	struct error error = ERROR_INIT;

	printed_start(&comparison->printed, path);
	comparison->source = open_columns(path, &error);
	assert_string_equal(error_text(&error), "");
	while (trace_reader_step(comparison->source, UINT64_MAX, compare, comparison))
		;
	printed_end(&comparison->printed);
	assert_true(comparison->events > 0);
	assert_int_equal(trace_reader_facts(comparison->source)->events,
			 comparison->events);
	print_message("%s: %" PRIu64 " events, %" PRIu64 " fields\n", path,
		      comparison->events, comparison->fields);
	trace_reader_free(comparison->source);
	free(comparison);
}

int main(int arguments, char **argument)
{
	return each_trace(arguments, argument, compare_trace);
}
