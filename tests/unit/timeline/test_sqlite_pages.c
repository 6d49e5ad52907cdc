/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The pages that we write ourselves, read back by SQLite: rows around every size at
 * which they are laid out differently, and tables of every length up to several
 * levels. SQLite's own check of the file goes over each page and each key.
 */
#include "timeline/sqlite_pages.h"

#include "timeline.h"

static uint32_t add_class(struct timeline_writer *writer, const char *name,
			  enum cell_type type)
{
	struct timeline_column column = {"v", type, false};
	struct timeline_class class = {"user", name, &column, 1};
	struct error error = ERROR_INIT;
	uint32_t id;

	assert_int_equal(timeline_add_class(writer, &class, &id, &error), 0);
	return id;
}

static void add_event(struct timeline_writer *writer, nsec_t ts_ns, uint32_t class,
		      const struct cell *cell)
{
	struct timeline_event event = {.ts_ns = ts_ns,
				       .node = 1,
				       .cpu = -1,
				       .tid = -1,
				       .class = class,
				       .cell = cell};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
}

/* Sizes of a value, near those at which a row goes into a chain of pages, or the
 * chain has another one, and the part of it that stays in the table changes. */
static const struct {
	int from, to;
} sizes[] = {{0, 140},     {470, 510},   {4020, 4100},   {4560, 4620},
	     {8130, 8210}, {8640, 8720}, {16360, 16400}, {65500, 65560}};

static unsigned char letter(int size, int at)
{
	return (unsigned char)('a' + (size * 7 + at * 3 + at / 4092) % 26);
}

static void check_value(const struct cell *cell, int size)
{
	assert_int_equal(cell->type, CELL_BLOB);
	assert_int_equal(cell->size, size);
	for (int i = 0; i < size; i++)
		assert_int_equal(((const unsigned char *)cell->bytes)[i],
				 letter(size, i));
}

SCRATCH_TEST(rows_of_any_size_come_back)
{
	struct timeline_writer *writer = write_timeline("t", true);
	uint32_t class = add_class(writer, "c", CELL_BLOB);
	unsigned char *bytes = mem_alloc(1 << 17);
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct timeline_query *query;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int size = sizes[i].from; size < sizes[i].to; size++) {
			struct cell cell = {.type = CELL_BLOB,
					    .size = (uint32_t)size,
					    .bytes = (const char *)bytes};

			for (int k = 0; k < size; k++)
				bytes[k] = letter(size, k);
			add_event(writer, size, class, &cell);
		}
	finish_timeline(writer);
	free(bytes);
	assert_whole("t");
	reader = timeline_reader_open("t", &error);
	query = timeline_query_new(reader, "SELECT v FROM c ORDER BY id", &error);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int size = sizes[i].from; size < sizes[i].to; size++) {
			assert_int_equal(timeline_query_next(query, &error), 1);
			check_value(timeline_query_row(query), size);
		}
	assert_int_equal(timeline_query_next(query, &error), 0);
	timeline_query_free(query);
	timeline_reader_free(reader);
}

SCRATCH_TEST(numbers_of_any_size_come_back)
{
	struct timeline_writer *writer = write_timeline("t", true);
	uint32_t class = add_class(writer, "c", CELL_INTEGER);
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct timeline_query *query;

	for (int bit = 0; bit < 64; bit++)
		for (int more = -1; more <= 1; more++) {
			struct cell cell = {.type = CELL_INTEGER};

			cell.integer = (int64_t)((UINT64_C(1) << bit) + (uint64_t)more);
			add_event(writer, bit, class, &cell);
			cell.integer = (int64_t) - (uint64_t)cell.integer;
			add_event(writer, bit, class, &cell);
		}
	finish_timeline(writer);
	reader = timeline_reader_open("t", &error);
	query = timeline_query_new(reader, "SELECT v FROM c ORDER BY id", &error);
	for (int bit = 0; bit < 64; bit++)
		for (int more = -1; more <= 1; more++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)more;

			assert_int_equal(timeline_query_next(query, &error), 1);
			assert_int_equal(timeline_query_row(query)->integer,
					 (int64_t)value);
			assert_int_equal(timeline_query_next(query, &error), 1);
			assert_int_equal(timeline_query_row(query)->integer,
					 (int64_t)-value);
		}
	timeline_query_free(query);
	timeline_reader_free(reader);
	assert_whole("t");
}

/* Times of every size, the same ones again and again, and both sides of 0. */
SCRATCH_TEST(stamps_of_any_size_are_found)
{
	struct timeline_writer *writer = write_timeline("t", true);
	uint32_t class = add_class(writer, "c", CELL_INTEGER);

	for (int bit = 62; bit >= 0; bit--)
		for (int i = 0; i < 40; i++)
			add_event(writer, -(INT64_C(1) << bit), class, NULL);
	for (int bit = 0; bit < 63; bit++)
		for (int i = 0; i < 40; i++)
			add_event(writer, INT64_C(1) << bit, class, NULL);
	finish_timeline(writer);
	assert_whole("t");
	assert_answer("t",
		      "SELECT count(*), min(id), max(id) FROM event INDEXED BY "
		      "event_ts_ns WHERE ts_ns = 1024",
		      "40|2921|2960");
	assert_answer("t", "SELECT count(*) FROM event WHERE ts_ns < 0", "2520");
}

/* Class by class one row more, about where the first page is full. */
SCRATCH_TEST(tables_of_any_length_are_whole)
{
	enum { LEAST = 380, CLASSES = 60 };
	struct timeline_writer *writer = write_timeline("t", true);
	uint32_t class[CLASSES];
	char name[32];
	nsec_t ns = 0;

	for (int i = 0; i < CLASSES; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		class[i] = add_class(writer, name, CELL_INTEGER);
	}
	for (int row = 0; row < LEAST + CLASSES; row++)
		for (int i = row > LEAST ? row - LEAST : 0; i < CLASSES; i++) {
			struct cell cell = {.type = CELL_INTEGER, .integer = row};

			add_event(writer, ns++ / 3, class[i], &cell);
		}
	finish_timeline(writer);
	assert_whole("t");
	for (int i = 0; i < CLASSES; i++) {
		char sql[64], wanted[32];

		snprintf(sql, sizeof(sql), "SELECT count(*), sum(v) FROM c%d", i);
		snprintf(wanted, sizeof(wanted), "%d|%d", LEAST + i + 1,
			 (LEAST + i + 1) * (LEAST + i) / 2);
		assert_answer("t", sql, wanted);
	}
}

/* So many that the first or second page of the table or of its index is full. */
SCRATCH_TEST(any_number_of_events_is_whole)
{
	static const struct {
		int from, to;
	} events[] = {{0, 3}, {388, 404}, {505, 535}, {777, 793}};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		for (int most = events[i].from; most < events[i].to; most++) {
			struct timeline_writer *writer = write_timeline("t", false);
			uint32_t class = add_class(writer, "c", CELL_INTEGER);
			char wanted[16];

			for (int k = 0; k < most; k++)
				add_event(writer, INT64_C(1795228737738293189) + k, class,
					  NULL);
			finish_timeline(writer);
			assert_answer("t", "PRAGMA integrity_check", "ok");
			snprintf(wanted, sizeof(wanted), "%d", most);
			assert_answer("t", "SELECT count(*) FROM event", wanted);
			unlink("t");
		}
}

/* At 1 GiB there is a page that SQLite never touches. */
SCRATCH_TEST(the_page_of_locks_is_left_out)
{
	assert_int_equal(sqlite_page_after(1), 2);
	assert_int_equal(sqlite_page_after(131071), 131072);
	assert_int_equal(sqlite_page_after(131072), 131074);
	assert_int_equal(sqlite_page_after(131074), 131075);
}
