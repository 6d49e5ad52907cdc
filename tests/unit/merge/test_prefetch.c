/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/prefetch.h"

#include <stdatomic.h>

#include "trace/reader_private.h"

#include "../scratch.h"

/*
 * Sources that are made up, in the place of traces: number n of `made_up` has
 * events at n, n + 10, n + 20, ... with a text, and each step gives seven.
 */
struct made_up {
	struct trace_reader base;
	nsec_t first_ns;
	int64_t next;
};

enum { STEP = 7, EVENTS = 8000, LARGE = 2000, LARGE_BYTES = 100000 };

static nsec_t back_ns; /* how far each hundredth event's stamp is before its time */
static atomic_int opened;

/* Some are longer than a block of rows. */
static char *made_text(int64_t number)
{
	return mem_printf("event %*d", number % LARGE == 7 ? LARGE_BYTES : 0,
			  (int)number);
}

static bool made_up_step(struct trace_reader *source, uint64_t most)
{
	struct made_up *made_up = (struct made_up *)source;

	(void)most;
	for (int i = 0; i < STEP && made_up->next < EVENTS; i++, made_up->next++) {
		int64_t number = made_up->next;
		char *text = made_text(number);
		struct cell cell[3] = {
		    {.type = CELL_INTEGER, .integer = number},
		    {.type = CELL_INTEGER, .integer = -number},
		    {.type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text}};
		struct trace_event record = {
		    .local_ns = made_up->first_ns + number * 10,
		    .class = (uint32_t)(number % 2),
		    .ordinal = (uint64_t)number,
		    .cell = cell,
		};

		if (number % 100 == 99)
			record.local_ns -= back_ns;
		source->facts.events++;
		source->facts.end_ns = record.local_ns;
		source->on_event(source->context, &record);
		memset(text, 'x', strlen(text));
		free(text);
	}
	return made_up->next < EVENTS;
}

static void made_up_free(struct trace_reader *source)
{
	(void)source;
	opened--;
}

struct trace_reader *ctf_trace_open(const char *path, struct error *error)
{
	struct made_up *made_up = mem_zalloc(sizeof(*made_up));

	if (strcmp(path, "broken") == 0) {
		free(made_up);
		error_set(error, "broken: is broken");
		return NULL;
	}
	trace_reader_init(&made_up->base, path, made_up_step, made_up_free);
	for (int i = 0; i < 2; i++) {
		struct trace_class *class =
		    &trace_reader_add_class(&made_up->base, i ? "odd" : "even")->known;

		trace_class_add_column(class, i ? "number" : "tid", CELL_INTEGER, i == 0);
		trace_class_add_column(class, "unread", CELL_INTEGER, false);
		trace_class_add_column(class, i ? "text" : "procname", CELL_TEXT, i == 0);
	}
	made_up->first_ns = strtol(path, NULL, 10);
	opened++;
	return &made_up->base;
}

/* A run of so many sources, two a node. */
static void make_run(struct merge_run *run, size_t count)
{
	memset(run, 0, sizeof(*run));
	run->count = run->sources.count = count;
	run->nodes = (count + 1) / 2;
	run->node = mem_zalloc(run->nodes * sizeof(*run->node));
	run->source = mem_zalloc(count * sizeof(*run->source));
	run->sources.item = mem_zalloc(count * sizeof(*run->sources.item));
	for (size_t i = 0; i < run->nodes; i++)
		run->node[i].name = mem_printf("node%zu", i);
	for (uint32_t i = 0; i < count; i++) {
		run->sources.item[i].path = mem_printf("%u", i % 10);
		run->source[i].kind = "kernel";
		run->source[i].node = i / 2;
		run->source[i].clock.segments = 1;
		run->source[i].clock.segment =
		    mem_zalloc(sizeof(*run->source[i].clock.segment));
	}
}

static struct prefetcher *start(struct merge_run *run, const struct selection *selection,
				int threads)
{
	const struct event_filter filter = {selection, .payload = true};
	struct recording *recording;
	struct prefetcher *prefetcher = prefetcher_new(run, &filter, threads, &recording);

	recording_free(recording);
	return prefetcher;
}

static const struct selection everything = {.begin_ns = NSEC_MIN, .end_ns = NSEC_MAX};

/* Only the timeline needs the fields; cells of the context are read, too. */
static void check_row(const struct row *row, int64_t number)
{
	static const enum cell_type type[3] = {CELL_INTEGER, CELL_INTEGER, CELL_TEXT};
	char *text = made_text(number);
	const struct cell cell[3] = {
	    {.type = CELL_INTEGER, .integer = number},
	    {.type = CELL_INTEGER, .integer = -number},
	    {.type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text}};
	struct row_bytes wanted = {0};

	assert_int_equal(row->event.ordinal, number);
	assert_string_equal(row->class->of->name, number % 2 ? "odd" : "even");
	row_bytes_make(&wanted, true, type, cell, 3);
	assert_int_equal(row->size, wanted.size);
	assert_memory_equal(row->bytes, wanted.bytes, wanted.size);
	if (number % 2) {
		assert_null(row->event.cell);
	} else {
		assert_int_equal(row->event.cell[0].integer, number);
		assert_int_equal(row->event.cell[1].size, strlen(text));
		assert_memory_equal(row->event.cell[1].bytes, text, strlen(text));
	}
	row_bytes_clear(&wanted);
	free(text);
}

/* In turns, as a merge takes them: each source whole and in order. */
static void take_all(struct prefetcher *prefetcher, size_t sources)
{
	for (int64_t number = 0; number < EVENTS; number++)
		for (uint32_t i = 0; i < sources; i++) {
			const struct row *row = prefetcher_head(prefetcher, i);

			assert_non_null(row);
			check_row(row, number);
			assert_int_equal(row->ts_ns, i % 10 + number * 10);
			prefetcher_next(prefetcher, i);
		}
	for (uint32_t i = 0; i < sources; i++)
		assert_null(prefetcher_head(prefetcher, i));
}

TEST(every_event_comes_once)
{
	for (int threads = 1; threads <= 16; threads *= 4) {
		struct merge_run run;
		struct prefetcher *prefetcher;

		make_run(&run, 12);
		prefetcher = start(&run, &everything, threads);
		take_all(prefetcher, 12);
		prefetcher_free(prefetcher);
		assert_int_equal(opened, 0);
		for (size_t i = 0; i < run.count; i++)
			assert_int_equal(run.source[i].facts.events, EVENTS);
		assert_int_equal(run.problems.count, 0);
		merge_run_clear(&run);
	}
}

/* One after the other, which is the worst that an order can ask for. */
TEST(sources_may_be_taken_one_by_one)
{
	struct merge_run run;
	struct prefetcher *prefetcher;

	make_run(&run, 40);
	prefetcher = start(&run, &everything, 3);
	for (uint32_t i = 0; i < run.count; i++) {
		const struct row *row;
		int64_t number = 0;

		while ((row = prefetcher_head(prefetcher, i))) {
			check_row(row, number++);
			prefetcher_next(prefetcher, i);
		}
		assert_int_equal(number, EVENTS);
	}
	prefetcher_free(prefetcher);
	merge_run_clear(&run);
}

TEST(it_can_end_anywhere)
{
	for (int taken = 0; taken < 4000; taken += 1999) {
		struct merge_run run;
		struct prefetcher *prefetcher;

		make_run(&run, 5);
		prefetcher = start(&run, &everything, 4);
		for (int i = 0; i < taken; i++)
			if (prefetcher_head(prefetcher, 1))
				prefetcher_next(prefetcher, 1);
		prefetcher_free(prefetcher);
		assert_int_equal(opened, 0);
		merge_run_clear(&run);
	}
}

TEST(time_never_goes_back)
{
	nsec_t last = NSEC_MIN;
	const struct row *row;
	struct merge_run run;
	struct prefetcher *prefetcher;
	int64_t number = 0;

	back_ns = 55;
	make_run(&run, 1);
	prefetcher = start(&run, &everything, 2);
	while ((row = prefetcher_head(prefetcher, 0))) {
		check_row(row, number++);
		assert_true(row->ts_ns >= last);
		last = row->ts_ns;
		prefetcher_next(prefetcher, 0);
	}
	back_ns = 0;
	prefetcher_free(prefetcher);
	assert_int_equal(number, EVENTS);
	assert_int_equal(run.problems.count, 1);
	assert_int_equal(run.problems.item[0].kind, PROBLEM_BACKWARD);
	assert_int_equal(run.problems.item[0].count, EVENTS / 100);
	merge_run_clear(&run);
}

TEST(what_is_not_selected_is_not_read)
{
	struct selection selection = {.begin_ns = 1000, .end_ns = 2000};
	const struct row *row;
	struct merge_run run;
	struct prefetcher *prefetcher;
	int64_t count = 0;

	text_list_add(&selection.events, "odd");
	text_list_add(&selection.nodes, "node1");
	make_run(&run, 4);
	prefetcher = start(&run, &selection, 2);
	assert_null(prefetcher_head(prefetcher, 0));
	assert_null(prefetcher_head(prefetcher, 1));
	while ((row = prefetcher_head(prefetcher, 2))) {
		assert_string_equal(row->class->of->name, "odd");
		assert_true(row->ts_ns >= 1000 && row->ts_ns <= 2000);
		count++;
		prefetcher_next(prefetcher, 2);
	}
	assert_int_equal(count, 50);
	prefetcher_free(prefetcher);
	assert_true(run.source[2].facts.events < EVENTS / 10);
	assert_false(run.source[0].is_read);
	assert_true(run.source[2].is_read);
	text_list_clear(&selection.events);
	text_list_clear(&selection.nodes);
	text_list_clear(&selection.skip);
	merge_run_clear(&run);
}

TEST(a_broken_source_is_a_problem)
{
	struct merge_run run;
	struct prefetcher *prefetcher;

	make_run(&run, 2);
	free(run.sources.item[0].path);
	run.sources.item[0].path = mem_strdup("broken");
	prefetcher = start(&run, &everything, 2);
	assert_null(prefetcher_head(prefetcher, 0));
	assert_non_null(prefetcher_head(prefetcher, 1));
	prefetcher_free(prefetcher);
	assert_false(run.source[0].is_read);
	assert_int_equal(run.problems.count, 1);
	assert_int_equal(run.problems.item[0].kind, PROBLEM_UNREADABLE);
	assert_string_equal(run.problems.item[0].text, "broken: is broken");
	merge_run_clear(&run);
}
