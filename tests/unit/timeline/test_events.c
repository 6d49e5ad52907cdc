/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/events.h"

#include <inttypes.h>

#include "../draw.h"
#include "timeline.h"

/* Classes of one name with other fields, of the context, without any, of other names. */
static const struct timeline_column tick[] = {
    {"n", CELL_INTEGER, false}, {"what", CELL_TEXT, false}, {"n", CELL_INTEGER, true}};
static const struct timeline_column tick2[] = {{"what", CELL_TEXT, false},
					       {"size", CELL_INTEGER, false}};
static const struct timeline_column rare[] = {{"n", CELL_INTEGER, false}};
static const struct timeline_class classes[] = {
    {"kernel", "tick", tick, 3},       {"kernel", "tick", tick2, 2},
    {"kernel", "tock", NULL, 0},       {"kernel", "rare one", rare, 1},
    {"kernel", "rare other", rare, 1},
};
enum { CLASSES = 5, EVENTS = 3000 };

/* Every fiftieth event is a rare one. */
static void make(const char *path, bool payload)
{
	static const struct timeline_node other = {.id = 2, .name = "n2"};
	struct timeline_writer *writer = write_timeline(path, payload);
	struct error error = ERROR_INIT;
	uint32_t id[CLASSES];
	nsec_t now = 1000;

	assert_int_equal(timeline_add_node(writer, &other, &error), 0);
	for (size_t i = 0; i < CLASSES; i++)
		assert_int_equal(timeline_add_class(writer, &classes[i], &id[i], &error),
				 0);
	for (int64_t i = 0; i < EVENTS; i++) {
		int64_t class = i % 50 == 49 ? 3 + i / 50 % 2 : draw_between(0, 2);
		int64_t some = draw_between(0, 999);
		const struct cell cells[CLASSES][3] = {
		    {INTEGER(some), TEXT("a"), INTEGER(-some)},
		    {TEXT("b"), INTEGER(some)},
		    {{0}},
		    {INTEGER(some)},
		    {INTEGER(some)},
		};
		const struct timeline_event event = {
		    .ts_ns = now,
		    .node = 1 + draw_between(0, 1),
		    .cpu = draw_between(0, 4) == 0 ? -1 : 0,
		    .tid = draw_between(0, 4) == 0 ? -1 : some,
		    .class = id[class],
		    .cell = cells[class],
		};

		now += draw_between(0, 2);
		assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
	}
	finish_timeline(writer);
}

static void print_cell(FILE *out, const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		fprintf(out, "%" PRId64, cell->integer);
	else if (cell->type == CELL_TEXT)
		fwrite(cell->bytes, 1, cell->size, out);
}

/* As ask() prints rows: all events of such classes, with their fields. */
static char *walk(const char *path, const char *glob, const char *node,
		  const char *const span[2])
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open(path, &error);
	struct text_list nodes = {0}, globs = {0};
	struct scope scope;
	struct events *events;
	struct event_row row;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int more;

	if (node)
		text_list_add(&nodes, node);
	if (glob)
		text_list_add(&globs, glob);
	assert_int_equal(scope_init(&scope, reader, span[0], span[1], &nodes, &error), 0);
	events = events_new(reader, &scope, &globs, &error);
	assert_string_equal(error_text(&error), "");
	while ((more = events_next(events, &row, &error)) > 0) {
		fprintf(out, "%s%" PRId64 "|%" PRId64 "|%" PRId64 "|%s",
			ftell(out) > 0 ? "\n" : "", row.id, row.ts_ns, row.node,
			row.class);
		fprintf(out, "|%" PRId64 "|%" PRId64 "|", row.cpu, row.tid);
		for (size_t i = 0; i < row.fields; i++) {
			if (row.cell[i].type == CELL_NULL)
				continue;
			fprintf(out, " %s%s=", row.field[i].of_context ? "context:" : "",
				row.field[i].name);
			print_cell(out, &row.cell[i]);
		}
	}
	assert_string_equal(error_text(&error), "");
	assert_int_equal(more, 0);
	assert_int_equal(events_next(events, &row, &error), 0); /* stays at the end */
	fclose(out);
	events_free(events);
	scope_clear(&scope);
	text_list_clear(&nodes);
	text_list_clear(&globs);
	timeline_reader_free(reader);
	return text;
}

static const char *const all[2] = {NULL, NULL};

/* The rows with these words, of the events for which the term holds. */
static void same(const char *path, const char *glob, const char *fields,
		 const char *tables, const char *term)
{
	char *walked = walk(path, glob, NULL, all);
	char *sql =
	    mem_printf("SELECT e.id, e.ts_ns, e.node, k.name, coalesce(e.cpu, -1), "
		       "coalesce(e.tid, -1), %s FROM event e JOIN event_class k "
		       "ON k.id = e.class %s WHERE %s ORDER BY e.id",
		       fields, tables, term);

	assert_answer(path, sql, walked);
	assert_true(strlen(walked) > 100);
	free(walked);
	free(sql);
}

#define TICK                                                                             \
	"coalesce(' context:n=' || t.n_2, '') || coalesce(' n=' || t.n, '') || "         \
	"coalesce(' what=' || t.what, '') || coalesce(' size=' || t.size, '')"
#define RARE "coalesce(' n=' || r.n, ' n=' || o.n, '')"
#define TABLES                                                                           \
	"LEFT JOIN tick t ON t.id = e.id LEFT JOIN \"rare one\" r ON r.id = e.id "       \
	"LEFT JOIN \"rare other\" o ON o.id = e.id"

TEST(many_events_come_with_the_fields_of_their_class)
{
	same("t", "tick", TICK, TABLES, "k.name = 'tick'");
}

TEST(all_classes_come_in_one_order)
{
	same("t", NULL, TICK " || " RARE, TABLES, "1");
}

TEST(few_events_come_the_same_way)
{
	same("t", "rare*", RARE, TABLES, "k.name LIKE 'rare%'");
}

TEST(without_payload_there_are_no_fields)
{
	same("bare", "rare*", "''", "", "k.name LIKE 'rare%'");
}

TEST(scopes_are_kept)
{
	static const char *const span[2] = {"+0.0000005", "+0.000002"};
	static const char *const glob[] = {NULL, "rare*"};
	static const char *const term[] = {"1", "k.name LIKE 'rare%'"};

	for (int i = 0; i < 2; i++) {
		char *walked = walk("t", glob[i], "n2", span);
		char *sql = mem_printf(
		    "SELECT e.id, e.ts_ns, e.node, k.name, coalesce(e.cpu, -1), "
		    "coalesce(e.tid, -1), " TICK " || " RARE " FROM event e JOIN "
		    "event_class k ON k.id = e.class " TABLES " WHERE %s AND e.node = 2 "
		    "AND e.ts_ns BETWEEN 1500 AND 3000 ORDER BY e.id",
		    term[i]);

		assert_answer("t", sql, walked);
		free(walked);
		free(sql);
	}
}

TEST(a_class_that_is_not_there)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open("t", &error);
	struct text_list globs = {0};
	struct scope scope;

	text_list_add(&globs, "never");
	assert_int_equal(scope_init(&scope, reader, NULL, NULL, NULL, &error), 0);
	assert_null(events_new(reader, &scope, &globs, &error));
	assert_null(error.text);
	scope_clear(&scope);
	text_list_clear(&globs);
	timeline_reader_free(reader);
}

static int start(void **state)
{
	if (scratch_enter(state))
		return -1;
	make("t", true);
	make("bare", false);
	return 0;
}

GROUP_FIXTURE(start, scratch_leave)
