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
    {"kernel", "tick", tick, 3},
    {"kernel", "tick", tick2, 2},
    {"kernel", "tock", NULL, 0},
    {"kernel", "rare one", rare, 1},
};
enum { CLASSES = 4, EVENTS = 3000 };

/* Every hundredth event is a rare one. */
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
		int64_t class = i % 100 == 99 ? 3 : draw_between(0, 2);
		int64_t some = draw_between(0, 999);
		const struct cell cells[CLASSES][3] = {
		    {INTEGER(some), TEXT("a"), INTEGER(-some)},
		    {TEXT("b"), INTEGER(some)},
		    {{0}},
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
	fputc('|', out);
	if (cell->type == CELL_INTEGER)
		fprintf(out, "%" PRId64, cell->integer);
	else if (cell->type == CELL_TEXT)
		fwrite(cell->bytes, 1, cell->size, out);
}

/* As ask() prints rows: all that the wishes bring, with this many fields. */
static char *walk(const char *path, const struct events_wish *wish, size_t wishes,
		  const char *node, const char *span[2])
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open(path, &error);
	struct text_list nodes = {0};
	struct scope scope;
	struct events *events;
	struct event_row row;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int more;

	if (node)
		text_list_add(&nodes, node);
	assert_int_equal(scope_init(&scope, reader, span[0], span[1], &nodes, &error), 0);
	events = events_new(reader, &scope, wish, wishes, &error);
	assert_string_equal(error_text(&error), "");
	while ((more = events_next(events, &row, &error)) > 0) {
		fprintf(out, "%s%" PRId64 "|%" PRId64 "|%" PRId64 "|%s|%d",
			ftell(out) > 0 ? "\n" : "", row.id, row.ts_ns, row.node,
			row.class, row.tag);
		fprintf(out, "|%" PRId64 "|%" PRId64, row.cpu, row.tid);
		for (size_t i = 0; wish[row.tag].field[i]; i++)
			print_cell(out, &row.field[i]);
	}
	assert_string_equal(error_text(&error), "");
	assert_int_equal(more, 0);
	assert_int_equal(events_next(events, &row, &error), 0); /* stays at the end */
	fclose(out);
	events_free(events);
	scope_clear(&scope);
	text_list_clear(&nodes);
	timeline_reader_free(reader);
	return text;
}

static const char *const all[2] = {NULL, NULL};

static void same(const char *path, const struct events_wish *wish, size_t wishes,
		 const char *sql)
{
	char *walked = walk(path, wish, wishes, NULL, (const char **)all);

	assert_answer(path, sql, walked);
	assert_true(strlen(walked) > 100);
	free(walked);
}

#define EVENT_COLUMNS "coalesce(e.cpu, -1), coalesce(e.tid, -1)"

static void many_events_come_with_the_fields_of_their_class(void **state)
{
	static const struct events_wish wish[] = {
	    {"tick", {"n", "size", "what", "context:n", "no such", NULL}, 0},
	};

	(void)state;
	same("t", wish, 1,
	     "SELECT e.id, e.ts_ns, e.node, k.name, 0, " EVENT_COLUMNS
	     ", a.n, a.size, a.what, a.n_2, NULL "
	     "FROM event e JOIN event_class k ON k.id = e.class "
	     "LEFT JOIN tick a ON a.id = e.id "
	     "WHERE k.name = 'tick' ORDER BY e.id");
}

static void all_classes_come_in_one_order(void **state)
{
	static const struct events_wish wish[] = {{"*", {NULL}, 0}};

	(void)state;
	same("t", wish, 1,
	     "SELECT e.id, e.ts_ns, e.node, k.name, 0, " EVENT_COLUMNS
	     " FROM event e JOIN event_class k ON k.id = e.class ORDER BY e.id");
}

static void few_events_come_the_same_way(void **state)
{
	static const struct events_wish wish[] = {{"rare*", {"n", NULL}, 0}};

	(void)state;
	same("t", wish, 1,
	     "SELECT e.id, e.ts_ns, e.node, 'rare one', 0, " EVENT_COLUMNS ", c.n "
	     "FROM \"rare one\" c JOIN event e ON e.id = c.id ORDER BY e.id");
}

static void without_payload_fields_are_null(void **state)
{
	static const struct events_wish wish[] = {{"rare*", {"n", NULL}, 0}};

	(void)state;
	same("bare", wish, 1,
	     "SELECT e.id, e.ts_ns, e.node, k.name, 0, " EVENT_COLUMNS ", NULL "
	     "FROM event e JOIN event_class k ON k.id = e.class "
	     "WHERE k.name = 'rare one' ORDER BY e.id");
}

static void scopes_are_kept(void **state)
{
	static const struct events_wish wish[] = {{"*", {"n", NULL}, 0}};
	static const struct events_wish few[] = {{"rare*", {"n", NULL}, 0}};
	static const char *const span[2] = {"+0.0000005", "+0.000002"};
	char *walked;

	(void)state;
	walked = walk("t", wish, 1, "n2", (const char **)span);
	assert_answer("t",
		      "SELECT e.id, e.ts_ns, e.node, k.name, 0, " EVENT_COLUMNS
		      ", coalesce(a.n, c.n) FROM event e JOIN event_class k "
		      "ON k.id = e.class LEFT JOIN tick a ON a.id = e.id "
		      "LEFT JOIN \"rare one\" c ON c.id = e.id "
		      "WHERE e.node = 2 AND e.ts_ns BETWEEN 1500 AND 3000 ORDER BY e.id",
		      walked);
	free(walked);
	walked = walk("t", few, 1, "n2", (const char **)span);
	assert_answer("t",
		      "SELECT e.id, e.ts_ns, e.node, 'rare one', 0, " EVENT_COLUMNS
		      ", c.n FROM event e JOIN \"rare one\" c ON c.id = e.id "
		      "WHERE e.node = 2 AND e.ts_ns BETWEEN 1500 AND 3000 ORDER BY e.id",
		      walked);
	free(walked);
}

static void what_is_recorded_is_known(void **state)
{
	static const struct events_wish wish[] = {{"rare*", {"n", "m", NULL}, 0},
						  {"never", {"n", NULL}, 0}};
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open("t", &error);
	struct scope scope;
	struct events *events;

	(void)state;
	assert_int_equal(scope_init(&scope, reader, NULL, NULL, NULL, &error), 0);
	events = events_new(reader, &scope, wish, 2, &error);
	assert_true(events_has_field(events, 0, 0));
	assert_false(events_has_field(events, 0, 1) || events_has_field(events, 1, 0));
	events_free(events);
	scope_clear(&scope);
	timeline_reader_free(reader);
}

static int start(void **state)
{
	scratch_enter(state);
	if (draw_take_seed(state) || draw_restart(state))
		return -1;
	make("t", true);
	make("bare", false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(many_events_come_with_the_fields_of_their_class),
	    cmocka_unit_test(all_classes_come_in_one_order),
	    cmocka_unit_test(few_events_come_the_same_way),
	    cmocka_unit_test(without_payload_fields_are_null),
	    cmocka_unit_test(scopes_are_kept),
	    cmocka_unit_test(what_is_recorded_is_known),
	};

	return cmocka_run_group_tests(tests, start, scratch_leave);
}
