/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Every event of a trace with every field, against the text that babeltrace2 2.1 made of
 * it once, `babeltrace2 --clock-cycles --no-delta -f all`: it knows CTF 2. The traces of
 * tests/fixtures/ctf2, or those named as arguments, TRACE DUMP each.
 */
#include <dirent.h>

#include "printed.h"

#include "../select.h"

enum { PARTS = 6 };

struct comparison {
	struct trace_reader *source;
	struct printed printed;
	uint64_t events, fields;
	nsec_t offset_ns;
};

/* The parts of an event's line. */
struct expected_line {
	char stamp[64], name[300];
};

static bool is_expected(const char *line, const void *context)
{
	const struct expected_line *wanted = context;

	return strncmp(line, wanted->stamp, strlen(wanted->stamp)) == 0 &&
	       strstr(line, wanted->name);
}

/*
 * The parts of a line: the packet's context where it names the CPU, contexts from the
 * outer to the inner one, the payload. part[i] is the first leaf of each.
 */
static size_t take_apart(struct pretty *pretty, char *line, const char *name,
			 size_t part[PARTS + 1])
{
	size_t parts = 0;

	pretty->leaves = pretty->tokens = pretty->in_array = 0;
	pretty->is_broken = false;
	line[strcspn(line, "\n")] = '\0';
	pretty->at = strstr(line, name) + strlen(name);
	do {
		part[parts++] = pretty->leaves;
		pretty_structure(pretty, "");
	} while (pretty_skip(pretty, ", ") && parts < PARTS);
	part[parts] = pretty->leaves;
	return parts;
}

/* Columns are the payload's, then those of contexts from the inner to the outer one. */
static void compare_fields(struct comparison *comparison,
			   const struct trace_event *record, size_t *part, size_t parts)
{
	const struct trace_class *class =
	    trace_reader_class(comparison->source, record->class);
	const struct pretty *pretty = &comparison->printed.pretty;
	size_t column = 0;

	for (size_t i = parts; i-- > 0;)
		for (size_t next = part[i]; next < part[i + 1];) {
			while (column < class->columns &&
			       record->cell[column].type == CELL_NULL)
				column++;
			if (column == class->columns)
				fail_msg("%s at %" PRId64 ": %s is printed, and not read",
					 class->name, record->local_ns,
					 pretty->leaf[next].path);
			if (!printed_is(pretty, &next, class->column[column].name,
					&record->cell[column]))
				fail_msg("%s at %" PRId64 ": %s is not as printed",
					 class->name, record->local_ns,
					 class->column[column].name);
			comparison->fields++;
			column++;
		}
	for (; column < class->columns; column++)
		assert_int_equal(record->cell[column].type, CELL_NULL);
}

static void compare(void *context, const struct trace_event *record)
{
	struct comparison *comparison = context;
	const struct trace_class *class =
	    trace_reader_class(comparison->source, record->class);
	struct pretty *pretty = &comparison->printed.pretty;
	size_t part[PARTS + 1], parts;
	struct expected_line wanted;
	char *line;

	snprintf(wanted.stamp, sizeof(wanted.stamp), "[%020" PRId64 "] ",
		 record->local_ns - comparison->offset_ns);
	snprintf(wanted.name, sizeof(wanted.name), " %s: ", class->name);
	line = printed_find(&comparison->printed, is_expected, &wanted);
	if (!line)
		fail_msg("%s%s is not printed", wanted.stamp, wanted.name);
	parts = take_apart(pretty, line, wanted.name, part);
	if (pretty->is_broken)
		fail_msg("%s%s cannot be taken apart at %s", wanted.stamp, wanted.name,
			 pretty->at);
	if (record->cpu >= 0) {
		assert_string_equal(pretty->leaf[0].path, "cpu_id");
		assert_int_equal(strtol(pretty->token[0].text, NULL, 10), record->cpu);
		compare_fields(comparison, record, part + 1, parts - 1);
	} else {
		compare_fields(comparison, record, part, parts);
	}
	comparison->events++;
	free(line);
}

static void compare_trace(const char *path, const char *dump)
{
	struct comparison *comparison = mem_zalloc(sizeof(*comparison));
	struct error error = ERROR_INIT;

	comparison->printed.file = fopen(dump, "r");
	assert_non_null(comparison->printed.file);
	comparison->source = open_columns(path, &error);
	assert_string_equal(error_text(&error), "");
	comparison->offset_ns = trace_reader_facts(comparison->source)->clock_offset_ns;
	while (trace_reader_step(comparison->source, UINT64_MAX, compare, comparison))
		;
	assert_int_equal(comparison->printed.pendings, 0);
	assert_int_equal(getc(comparison->printed.file), EOF);
	assert_int_equal(trace_reader_problems(comparison->source)->count, 0);
	assert_true(comparison->events > 0);
	print_message("%s: %" PRIu64 " events, %" PRIu64 " fields\n", path,
		      comparison->events, comparison->fields);
	fclose(comparison->printed.file);
	trace_reader_free(comparison->source);
	free(comparison);
}

TEST(traces_are_as_dumped)
{
	char *folder = mem_printf("%s/tests/fixtures/ctf2", getenv("CT_SOURCE"));
	DIR *listing = opendir(folder);
	struct dirent *entry;
	int traces = 0;

	for (char **path = test_arguments; path[0] && path[1]; path += 2)
		compare_trace(path[0], path[1]);
	assert_non_null(listing);
	while (!*test_arguments && (entry = readdir(listing))) {
		char *trace = mem_printf("%s/%s", folder, entry->d_name);
		char *dump = mem_printf("%s.dump", trace);

		if (access(dump, R_OK) == 0) {
			compare_trace(trace, dump);
			traces++;
		}
		free(dump);
		free(trace);
	}
	closedir(listing);
	free(folder);
	assert_true(*test_arguments || traces >= 6);
}
