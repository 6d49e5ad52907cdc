/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/writer.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "timeline.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct timeline_column columns[] = {{"i", CELL_INTEGER, false},
						 {"r", CELL_REAL, false},
						 {"t", CELL_TEXT, false},
						 {"b", CELL_BLOB, false},
						 {"any", CELL_NULL, false}};
static const struct timeline_class class = {
    .kind = "user", .name = "c", .column = columns, .columns = COUNT(columns)};

static const struct cell values[][COUNT(columns)] = {
    {{.type = CELL_NULL},
     {.type = CELL_NULL},
     {.type = CELL_NULL},
     {.type = CELL_NULL},
     {.type = CELL_NULL}},
    {INTEGER(0), REAL(0), TEXT(""), BLOB(""), INTEGER(0)},
    {INTEGER(INT64_MIN), REAL(-INFINITY), TEXT("caf\xc3\xa9"), BLOB("\0\xff"), REAL(0.5)},
    {INTEGER(INT64_MAX), REAL(INFINITY), TEXT("a\0b"), BLOB("x\0"), TEXT("12")},
    {INTEGER(-1), REAL(0x1p-1074), TEXT("12"), BLOB("12"), BLOB("")},
    {INTEGER(1), REAL(1.7976931348623157e308), TEXT(" 12 "), BLOB("\0"), TEXT("")},
};

static void assert_same(const struct cell *have, const struct cell *want)
{
	assert_int_equal(have->type, want->type);
	switch (want->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		assert_int_equal(have->integer, want->integer);
		break;
	case CELL_REAL:
		assert_memory_equal(&have->real, &want->real, sizeof(want->real));
		break;
	case CELL_TEXT:
	case CELL_BLOB:
		assert_int_equal(have->size, want->size);
		if (want->size)
			assert_memory_equal(have->bytes, want->bytes, want->size);
		break;
	}
}

static void add_event(struct timeline_writer *writer, nsec_t ts_ns,
		      const struct cell *cell)
{
	struct timeline_event event = {
	    .ts_ns = ts_ns, .node = 1, .cpu = -1, .tid = -1, .cell = cell};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_class(writer, &class, &event.class, &error), 0);
	assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
}

SCRATCH_TEST(values_come_back)
{
	enum { ROWS = 5000 };
	struct timeline_writer *writer = write_timeline("t", true);
	struct timeline_reader *reader;
	struct timeline_query *query;
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < ROWS; i++)
		add_event(writer, (nsec_t)i, values[i * i % COUNT(values)]);
	finish_timeline(writer);
	assert_whole("t");
	reader = timeline_reader_open("t", &error);
	query = timeline_query_new(
	    reader, "SELECT i, r, t, b, \"any\" FROM c ORDER BY id", &error);
	assert_non_null(query);
	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(timeline_query_next(query, &error), 1);
		for (size_t k = 0; k < COUNT(columns); k++)
			assert_same(&timeline_query_row(query)[k],
				    &values[i * i % COUNT(values)][k]);
	}
	assert_int_equal(timeline_query_next(query, &error), 0);
	timeline_query_free(query);
	timeline_reader_free(reader);
}

/* SQLite has no NaN, and a column has one type; docs/schema.md says so. */
SCRATCH_TEST(what_sqlite_cannot_keep_is_converted)
{
	const struct cell odd[] = {REAL(2), REAL(NAN), INTEGER(42), INTEGER(7),
				   REAL(NAN)};
	struct timeline_writer *writer = write_timeline("t", true);

	add_event(writer, 1, odd);
	finish_timeline(writer);
	assert_answer("t",
		      "SELECT typeof(i), typeof(r), typeof(t), t, typeof(b),"
		      " typeof(\"any\") FROM c",
		      "integer|null|text|42|integer|null");
	assert_whole("t");
}

SCRATCH_TEST(long_values_are_kept)
{
	enum { LONG = 20 << 20 };
	char *bytes = mem_zalloc(LONG);
	struct timeline_writer *writer = write_timeline("t", true);
	struct cell row[COUNT(columns)] = {{.type = CELL_NULL}};

	row[3] = (struct cell){.type = CELL_BLOB, .size = LONG, .bytes = bytes};
	for (int i = 0; i < 3; i++) {
		add_event(writer, 2 * i, row);
		add_event(writer, 2 * i + 1, values[1]);
	}
	finish_timeline(writer);
	assert_answer("t", "SELECT count(*), sum(length(b)) FROM c", "6|62914560");
	free(bytes);
}

SCRATCH_TEST(ids_count_from_one)
{
	struct timeline_writer *writer = write_timeline("t", true);
	struct timeline_event event = {
	    .ts_ns = -5, .node = 1, .source = 1, .cpu = 3, .tid = 0};
	struct error error = ERROR_INIT;
	int64_t id = 0;

	assert_int_equal(timeline_add_class(writer, &class, &event.class, &error), 0);
	for (int64_t i = 1; i <= 1500; i++) {
		assert_int_equal(timeline_add_event(writer, &event, &id, &error), 0);
		assert_int_equal(id, i);
		event.ts_ns++;
	}
	event.cpu = -1;
	event.tid = -1;
	assert_int_equal(timeline_add_event(writer, &event, &id, &error), 0);
	finish_timeline(writer);
	assert_answer("t", "SELECT * FROM event WHERE id IN (1, 1501)",
		      "1|-5|1|3|0|1|1\n1501|1495|1|||1|1");
	/* By the index, and told how long the table is. */
	assert_answer("t", "SELECT stat FROM sqlite_stat1 WHERE idx = 'event_ts_ns'",
		      "1501 1");
	assert_answer("t", "SELECT id FROM event WHERE ts_ns = 0", "6");
	assert_whole("t");
}

SCRATCH_TEST(an_empty_timeline_is_one)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t", NULL, true, &error);

	finish_timeline(writer);
	assert_answer("t", "SELECT count(*) FROM timeline", "0");
	assert_answer("t", "PRAGMA application_id", "1129600076");
	assert_whole("t");
}

SCRATCH_TEST(later_facts_count)
{
	const struct cell first = TEXT("0.1"), later = TEXT("0.2"), number = INTEGER(7);
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t", NULL, true, &error);

	assert_int_equal(timeline_add_meta(writer, "version", &first, &error), 0);
	assert_int_equal(timeline_add_meta(writer, "version", &later, &error), 0);
	assert_int_equal(timeline_add_meta(writer, "seed", &number, &error), 0);
	finish_timeline(writer);
	assert_answer("t", "SELECT * FROM meta", "seed|7\nversion|0.2");
	assert_whole("t");
}

SCRATCH_TEST(a_directory_that_is_not_there_is_named)
{
	struct error error = ERROR_INIT;

	assert_null(timeline_writer_new("none/t", NULL, true, &error));
	assert_string_equal(error_text(&error), "none/t: No such file or directory");
	error_clear(&error);
}

/* Write until it fails, at the latest at the end of 100,000 events (7 MB); what was the
 * error? */
static char *write_until_full(rlim_t bytes)
{
	struct error error = ERROR_INIT;
	struct rlimit before, tight;
	struct timeline_writer *writer;
	struct timeline_event event = {.node = 1, .cell = values[3]};
	int status = -1;

	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &tight);
	writer = timeline_writer_new("t", NULL, true, &error);
	if (writer && timeline_add_class(writer, &class, &event.class, &error) == 0) {
		status = 0;
		while (status == 0 && event.ts_ns++ < 100000)
			status = timeline_add_event(writer, &event, NULL, &error);
		if (status) /* and so it remains */
			assert_int_equal(timeline_add_event(writer, &event, NULL, &error),
					 -1);
		assert_int_equal(timeline_writer_finish(writer, &error), -1);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	timeline_writer_free(writer);
	unlink("t");
	return error.text;
}

SCRATCH_TEST(a_full_disk_is_an_error)
{
	fflush(NULL);
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t bytes = 4096; bytes < 6 << 20; bytes += 1000003) {
		char *text = write_until_full(bytes);

		assert_string_equal(text, "t: File too large");
		free(text);
	}
	signal(SIGXFSZ, SIG_DFL);
}
