/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/writer.h"

#include "timeline.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct timeline_column one[] = {{"x", CELL_INTEGER, false}};

static uint32_t add_class(struct timeline_writer *writer, const char *kind,
			  const char *name, const struct timeline_column *column,
			  size_t columns)
{
	const struct timeline_class class = {
	    .kind = kind, .name = name, .column = column, .columns = columns};
	struct error error = ERROR_INIT;
	uint32_t id = 0;

	assert_int_equal(timeline_add_class(writer, &class, &id, &error), 0);
	return id;
}

static void add_event(struct timeline_writer *writer, uint32_t class,
		      const struct cell *cell)
{
	static int64_t stamp = 1000; /* only ever forward */
	const struct timeline_event event = {.ts_ns = ++stamp,
					     .node = 1,
					     .source = 1,
					     .cpu = 0,
					     .tid = 7,
					     .class = class,
					     .cell = cell};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
}

/* Every name gets a table and a view in which its event is found. */
SCRATCH_TEST(any_name_gets_a_table)
{
	static const char *const name[][2] = {
	    {"plain", "plain"},
	    {"Plain", "Plain_2"},
	    {"select", "select"},
	    {"", "unnamed"},
	    {"event", "event_2"},
	    {"EVENT_CLASS", "EVENT_CLASS_2"},
	    {"timeline", "timeline_2"},
	    {"event_ts_ns", "event_ts_ns_2"},
	    {"sqlite_master", "event_sqlite_master"},
	    {"SQLITE_batch", "event_SQLITE_batch"},
	    {"plain_v", "plain_v_2"},
	    {"a\"b'c`d]e", "a\"b'c`d]e"},
	    {"x\"); DROP TABLE event; --", "x\"); DROP TABLE event; --"},
	    {"two words.and:more", "two words.and:more"},
	    {"\xe2\x82\xac", "\xe2\x82\xac"},
	    {"bad\xff", "bad\xef\xbf\xbd"},
	    {"pragma_table_info", "event_pragma_table_info"},
	    {"main.event", "main.event"},
	    {"new\nline", "new\nline"},
	};
	struct timeline_writer *writer = write_timeline("t", true);
	const struct cell row[] = {INTEGER(42)};

	for (size_t i = 0; i < COUNT(name); i++)
		add_event(writer, add_class(writer, "user", name[i][0], one, 1), row);
	finish_timeline(writer);
	for (size_t i = 0; i < COUNT(name); i++) {
		char *sql = mem_printf("SELECT table_name FROM event_class WHERE id = %zu"
				       " AND events = 1",
				       i + 1);

		assert_answer("t", sql, name[i][1]);
		free(sql);
	}
	assert_answer("t", "SELECT id, x FROM \"a\"\"b'c`d]e\"", "12|42");
	assert_answer("t", "SELECT id, node, x FROM \"event_sqlite_master_v\"",
		      "9|n1|42");
	assert_answer("t", "SELECT count(*) FROM \"two words.and:more_v\"", "1");
	assert_whole("t");
}

SCRATCH_TEST(columns_keep_their_names_where_they_can)
{
	static const struct timeline_column column[] = {
	    {"tid", CELL_INTEGER, true},     {"id", CELL_INTEGER, false},
	    {"tid", CELL_INTEGER, false},    {"TID", CELL_INTEGER, false},
	    {"rowid", CELL_INTEGER, false},  {"ts_ns", CELL_INTEGER, false},
	    {"", CELL_INTEGER, false},       {"a\"b", CELL_INTEGER, false},
	    {"select", CELL_INTEGER, false},
	};
	const struct cell row[] = {INTEGER(1), INTEGER(2), INTEGER(3),
				   INTEGER(4), INTEGER(5), INTEGER(6),
				   INTEGER(7), INTEGER(8), INTEGER(9)};
	struct timeline_writer *writer = write_timeline("t", true);

	add_event(writer, add_class(writer, "kernel", "c", column, COUNT(column)), row);
	finish_timeline(writer);
	assert_answer("t",
		      "SELECT group_concat(column_name) FROM event_column WHERE class=1",
		      "tid_3,id_2,tid,TID_2,rowid,ts_ns,unnamed,a\"b,select");
	assert_answer("t",
		      "SELECT id, tid_3, id_2, tid, TID_2, rowid, ts_ns, unnamed,"
		      " \"a\"\"b\", \"select\" FROM c",
		      "1|1|2|3|4|5|6|7|8|9");
	/* In the view the event's own names are the event's. */
	assert_answer("t", "SELECT tid, tid_2, tid_3, tid_2_2, ts_ns_2 FROM c_v",
		      "7|3|1|4|6");
	assert_answer("t", "SELECT name, context FROM event_column WHERE position < 3",
		      "tid|1\nid|0");
	assert_whole("t");
}

static const struct timeline_column two[] = {{"x", CELL_INTEGER, false},
					     {"y", CELL_TEXT, false}};
static const struct timeline_column as_text[] = {{"x", CELL_TEXT, false}};
static const struct timeline_column context[] = {{"x", CELL_INTEGER, true}};

SCRATCH_TEST(classes_are_one_when_their_names_are)
{
	struct timeline_writer *writer = write_timeline("t", true);

	for (int trace = 0; trace < 3; trace++) {
		assert_int_equal(add_class(writer, "kernel", "a", one, 1), 1);
		assert_int_equal(add_class(writer, "kernel", "a", two, 2), 2);
		assert_int_equal(add_class(writer, "kernel", "a", as_text, 1), 3);
		assert_int_equal(add_class(writer, "kernel", "a", context, 1), 4);
		assert_int_equal(add_class(writer, "user", "a", one, 1), 5);
		assert_int_equal(add_class(writer, "kernel", "A", one, 1), 6);
		assert_int_equal(add_class(writer, "kernel", "none", NULL, 0), 7);
	}
	add_event(writer, 7, NULL);
	finish_timeline(writer);
	assert_answer("t", "SELECT group_concat(table_name) FROM event_class",
		      "a,a_2,A_3,none");
	assert_answer("t",
		      "SELECT group_concat(column_name), group_concat(type), "
		      "group_concat(context) FROM event_column WHERE class = 1",
		      "x,y,x_2|,TEXT,INTEGER|0,0,1");
	assert_answer("t", "SELECT count(*) FROM none", "0");
	assert_whole("t");
}

/* As of nodes with other kernels: each field comes to the column of its name. */
SCRATCH_TEST(layouts_of_a_class_share_its_table)
{
	static char large[300];
	static const struct timeline_column other[] = {{"c", CELL_REAL, true},
						       {"y", CELL_TEXT, false},
						       {"b", CELL_BLOB, false},
						       {"x", CELL_INTEGER, false},
						       {"y", CELL_TEXT, false}};
	const struct cell of_two[] = {INTEGER(-300), TEXT("\xe2\x82\xac")};
	const struct cell of_other[] = {{.type = CELL_REAL, .real = 2.5},
					TEXT("first"),
					BLOB(large),
					INTEGER(INT64_MIN),
					TEXT("second")};
	const struct cell nothing[COUNT(other)] = {{.type = CELL_NULL}};
	const struct cell of_text[] = {TEXT("ten")}, of_context[] = {INTEGER(1)};
	struct timeline_writer *writer = write_timeline("t", true);

	add_event(writer, add_class(writer, "kernel", "a", two, 2), of_two);
	add_event(writer, add_class(writer, "kernel", "a", other, 5), of_other);
	add_event(writer, add_class(writer, "kernel", "a", as_text, 1), of_text);
	add_event(writer, add_class(writer, "kernel", "a", context, 1), of_context);
	add_event(writer, add_class(writer, "kernel", "a", other, 5), nothing);
	add_event(writer, add_class(writer, "kernel", "a", two, 2), of_two);
	finish_timeline(writer);
	assert_answer("t", "SELECT name, table_name, events FROM event_class", "a|a|6");
	assert_answer(
	    "t", "SELECT id, x, typeof(x), y, c, length(b), y_2, x_2 FROM a ORDER BY id",
	    "1|-300|integer|\xe2\x82\xac||||\n"
	    "2|-9223372036854775808|integer|first|2.5|299|second|\n"
	    "3|ten|text|||||\n"
	    "4||null|||||1\n"
	    "5||null|||||\n"
	    "6|-300|integer|\xe2\x82\xac||||");
	assert_whole("t");
}

/* Their files come together by the name of the table, so each has one layout. */
SCRATCH_TEST(layouts_in_a_part_are_classes)
{
	struct timeline_writer *writer = write_timeline("t", true);
	const struct cell row[] = {INTEGER(1), TEXT("y")};

	timeline_writer_set_part(writer);
	add_event(writer, add_class(writer, "kernel", "a", two, 2), row);
	add_event(writer, add_class(writer, "kernel", "a", one, 1), row);
	finish_timeline(writer);
	assert_answer("t", "SELECT table_name, events FROM event_class ORDER BY 1",
		      "a|1\na_2|1");
	assert_whole("t");
}

SCRATCH_TEST(a_wide_class_fits_or_is_refused)
{
	enum { WIDE = 1000 };
	struct timeline_column *column =
	    mem_zalloc((TIMELINE_COLUMNS_MOST + 1) * sizeof(*column));
	struct cell *row = mem_zalloc(TIMELINE_COLUMNS_MOST * sizeof(*row));
	struct timeline_writer *writer = write_timeline("t", true);
	struct timeline_class class = {.kind = "user",
				       .name = "wide",
				       .column = column,
				       .columns = TIMELINE_COLUMNS_MOST + 1};
	struct error error = ERROR_INIT;
	uint32_t id;

	for (int i = 0; i <= TIMELINE_COLUMNS_MOST; i++)
		column[i] = (struct timeline_column){"f", CELL_INTEGER, false};
	for (int i = 0; i < TIMELINE_COLUMNS_MOST; i++)
		row[i] = (struct cell)INTEGER(i + 1);
	assert_int_equal(timeline_add_class(writer, &class, &id, &error), -1);
	assert_string_equal(error_text(&error),
			    "wide: too many fields: 1991 (limit 1990)");
	error_clear(&error);
	for (int i = 0; i < 9; i++) {
		add_event(writer, add_class(writer, "user", "k", column, WIDE), row);
		add_event(
		    writer,
		    add_class(writer, "user", "most", column, TIMELINE_COLUMNS_MOST),
		    row);
	}
	finish_timeline(writer);
	assert_answer("t", "SELECT count(*), min(f_1000), max(f_1000) FROM k",
		      "9|1000|1000");
	assert_answer("t", "SELECT sum(f_1990) FROM most_v", "17910");
	assert_whole("t");
	free(column);
	free(row);
}

/* More classes than statements and buffers are kept for. */
SCRATCH_TEST(many_classes_share_the_memory)
{
	enum { CLASSES = 2500 };
	static char block[3000];
	const struct timeline_column columns[] = {{"x", CELL_INTEGER, false},
						  {"b", CELL_BLOB, false}};
	const struct cell row[] = {INTEGER(1), BLOB(block)};
	struct timeline_writer *writer = write_timeline("t", true);

	for (int i = 0; i < 4 * CLASSES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "class%d", i % CLASSES);
		add_event(writer, add_class(writer, "user", name, columns, 2), row);
	}
	finish_timeline(writer);
	assert_answer("t", "SELECT count(*), sum(events), max(id) FROM event_class",
		      "2500|10000|2500");
	assert_answer("t", "SELECT count(*), sum(length(b)) FROM class2499_v", "4|11996");
	assert_whole("t");
}

SCRATCH_TEST(without_payload_only_events_remain)
{
	struct timeline_writer *writer = write_timeline("t", false);
	const struct cell row[] = {INTEGER(1)};

	add_event(writer, add_class(writer, "kernel", "a", one, 1), row);
	finish_timeline(writer);
	assert_answer("t", "SELECT node, cpu, tid, class FROM timeline", "n1|0|7|a");
	assert_answer("t", "SELECT name, table_name, events FROM event_class", "a||1");
	assert_answer("t", "SELECT count(*) FROM sqlite_master WHERE name LIKE 'a%'",
		      "0");
	assert_whole("t");
}

/* The plan has this in it; its other words differ from version to version. */
static void assert_plan(const char *sql, const char *wanted)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open("t", &error);
	char *question = mem_printf("EXPLAIN QUERY PLAN %s", sql), *text;
	struct timeline_query *query = timeline_query_new(reader, question, &error);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(query);
	while (timeline_query_next(query, &error) == 1)
		fprintf(out, "%s\n", timeline_query_row(query)[3].bytes);
	fclose(out);
	assert_non_null(strstr(text, wanted));
	timeline_query_free(query);
	timeline_reader_free(reader);
	free(question);
	free(text);
}

/* A span of time is found by the index; names that nobody asks for cost nothing. */
SCRATCH_TEST(views_are_planned_well)
{
	struct timeline_writer *writer = write_timeline("t", true);
	uint32_t often = add_class(writer, "kernel", "often", one, 1);
	uint32_t rare = add_class(writer, "kernel", "rare", one, 1);
	const struct cell row[] = {INTEGER(1)};

	for (int i = 0; i < 20000; i++)
		add_event(writer, i % 1000 ? often : rare, row);
	finish_timeline(writer);
	assert_plan("SELECT tid, x FROM often_v WHERE ts_ns BETWEEN 1 AND 9",
		    "INDEX event_ts_ns (ts_ns>? AND ts_ns<?)\n");
	assert_plan("SELECT x, ts_ns FROM rare_v", "SCAN c\n");
	assert_plan("SELECT id FROM timeline WHERE class <> 'rare' AND ts_ns < 7",
		    "INDEX event_ts_ns (ts_ns<?)\n");
	assert_plan("SELECT tid FROM timeline WHERE node = 'n1'", "SCAN event\n");
}
