/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Whole runs, the recorded and simulated ones or those named as arguments: every
 * event with every field that babeltrace2's own program prints is in the
 * timeline once, in the order of its stream, where the clock table puts it.
 */
#include "../input/printed.h"
#include "merged.h"

/* A trace while its events are walked. */
struct walked {
	struct printed printed;
	int64_t seen, late; /* got the time of the event ahead */
	nsec_t ts_ns;       /* of its last event */
	int64_t *running;   /* by processor; -1: not known */
	size_t cpus;
};

struct row {
	int64_t id, ts_ns, cpu, tid, class, source, node;
};

struct walk {
	struct merged merged;
	struct walked *walked; /* one a source */
	struct row last;
	uint64_t fields;
};

static bool is_of_cpu(const char *line, const void *context)
{
	const char *found = strstr(line, "stream.packet.context = { cpu_id = ");

	return found && strtoll(found + strlen("stream.packet.context = { cpu_id = "),
				NULL, 10) == *(const int64_t *)context;
}

static nsec_t stamp_of(const char *line)
{
	long long seconds, rest;

	assert_int_equal(sscanf(line, "timestamp = %lld.%9lld,", &seconds, &rest), 2);
	return seconds * NSEC_PER_SEC + rest;
}

static void check_name(const char *line, const struct merged_class *class)
{
	char *wanted = mem_printf(", name = %s, stream.packet.context = ", class->name);

	if (!strstr(line, wanted))
		fail_msg("want an event of class %s, have %s", class->name, line);
	free(wanted);
}

/* A label is text; a number without one stands in a column of text as digits. */
static struct cell as_printed(const struct printed *printed, size_t leaf,
			      const struct cell *cell)
{
	const struct pretty *pretty = &printed->pretty;
	struct cell number = {.type = CELL_INTEGER};
	char *digits, *end;

	if (leaf >= pretty->leaves || pretty->leaf[leaf].is_array ||
	    cell->type != CELL_TEXT ||
	    pretty->token[pretty->leaf[leaf].first].kind != TOKEN_NUMBER)
		return *cell;
	digits = mem_strndup(cell->bytes, cell->size);
	number.integer = *digits == '-' ? strtoll(digits, &end, 10)
					: (int64_t)strtoull(digits, &end, 10);
	assert_true(*digits && !*end);
	free(digits);
	return number;
}

static void check_fields(struct walk *walk, const struct row *row, char *line)
{
	struct printed *printed = &walk->walked[row->source - 1].printed;
	struct merged_class *class = &walk->merged.class[row->class - 1];
	const struct cell *cell = merged_event(class, row->id);
	size_t next = 0;

	if (!printed_take_apart(printed, line))
		fail_msg("%s %" PRId64 ": cannot be taken apart at %s", class->name,
			 row->id, printed->pretty.at);
	for (size_t i = 0; i < class->columns; i++) {
		struct cell shown = as_printed(printed, next, &cell[i]);

		if (cell[i].type != CELL_NULL &&
		    !printed_is(&printed->pretty, &next, class->column[i].name, &shown))
			fail_msg("%s %" PRId64 ": %s is not as printed", class->name,
				 row->id, class->column[i].name);
	}
	if (next != printed->pretty.leaves)
		fail_msg("%s %" PRId64 ": %s is printed, and not there", class->name,
			 row->id, printed->pretty.leaf[next].path);
	walk->fields += next;
}

static void check_time(struct walk *walk, const struct row *row, nsec_t local_ns)
{
	struct walked *walked = &walk->walked[row->source - 1];
	const struct clock *clock = &walk->merged.source[row->source - 1].clock;
	nsec_t inverse = clock_invert(clock, row->ts_ns);

	if (clock_correct(clock, local_ns) != row->ts_ns) {
		assert_true(clock_correct(clock, local_ns) < row->ts_ns);
		assert_int_equal(row->ts_ns, walked->ts_ns);
		walked->late++;
	} else {
		/* Two neighbours may have one corrected stamp, and so may a time before a
		 * step forward and one behind it. */
		assert_true(clock->segments > 1 || llabs(inverse - local_ns) <= 1);
		assert_int_equal(clock_correct(clock, inverse), row->ts_ns);
	}
	walked->ts_ns = row->ts_ns;
}

static int64_t *running_at(struct walked *walked, int64_t cpu)
{
	while (cpu >= (int64_t)walked->cpus) {
		walked->running = mem_realloc(walked->running, walked->cpus + 1,
					      sizeof(*walked->running));
		walked->running[walked->cpus++] = -1;
	}
	return &walked->running[cpu];
}

/* The thread's number in the context; the payload may have that name, too. -1: none. */
static int context_tid(const struct merged_class *class, const char *name)
{
	for (size_t i = 0; i < class->columns; i++)
		if (class->column[i].is_context &&
		    strcmp(class->column[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* By the context; else by the switches, one of which is of the thread that goes. */
static void check_thread(struct walk *walk, const struct row *row)
{
	struct merged_class *class = &walk->merged.class[row->class - 1];
	int64_t *running = running_at(&walk->walked[row->source - 1], row->cpu);
	int context = context_tid(class, "tid"), next = merged_column(class, "next_tid");
	const struct cell *cell = merged_event(class, row->id);
	bool is_switch = strcmp(class->name, "sched_switch") == 0;

	if (is_switch)
		*running = cell[merged_column(class, "prev_tid")].integer;
	if (context < 0) /* what user space has */
		context = context_tid(class, "vtid");
	if (context >= 0)
		assert_int_equal(row->tid, cell[context].integer);
	else
		assert_int_equal(row->tid, *running);
	if (is_switch)
		*running = cell[next].integer;
}

static void check_order(const struct row *last, const struct row *row)
{
	assert_int_equal(row->id, last->id + 1);
	assert_true(row->ts_ns >= last->ts_ns);
	if (row->ts_ns > last->ts_ns)
		return;
	assert_true(row->node >= last->node);
	assert_true(row->node > last->node || row->source >= last->source);
}

static void check_event(struct walk *walk, const struct row *row)
{
	struct merged_class *class = &walk->merged.class[row->class - 1];
	struct walked *walked = &walk->walked[row->source - 1];
	char *line;

	check_order(&walk->last, row);
	walk->last = *row;
	walked->seen++;
	class->seen++;
	assert_int_equal(row->node, walk->merged.source[row->source - 1].node);
	if (walk->merged.source[row->source - 1].is_capture) {
		merged_event(class, row->id);
		return;
	}
	line = printed_find(&walked->printed, is_of_cpu, &row->cpu);
	if (!line)
		fail_msg("%s %" PRId64 " is not printed", class->name, row->id);
	check_name(line, class);
	check_time(walk, row, stamp_of(line));
	check_fields(walk, row, line);
	check_thread(walk, row);
	free(line);
}

static int64_t number_of(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer : -1;
}

static void check_events(struct walk *walk)
{
	struct timeline_query *events =
	    merged_ask(&walk->merged,
		       "SELECT id, ts_ns, cpu, tid, class, source, node "
		       "FROM event ORDER BY id",
		       0);
	const struct cell *cell;

	walk->last.ts_ns = NSEC_MIN;
	while ((cell = merged_next(events))) {
		struct row row = {.id = number_of(&cell[0]),
				  .ts_ns = number_of(&cell[1]),
				  .cpu = number_of(&cell[2]),
				  .tid = number_of(&cell[3]),
				  .class = number_of(&cell[4]),
				  .source = number_of(&cell[5]),
				  .node = number_of(&cell[6])};

		check_event(walk, &row);
	}
	timeline_query_free(events);
}

/* No table of a class has a row beside those of its events. */
static void check_classes(const struct merged *merged)
{
	for (size_t i = 0; i < merged->classes; i++) {
		const struct merged_class *class = &merged->class[i];
		char *sql = mem_printf("SELECT count(*) FROM \"%s\"", class->table);

		assert_int_equal(class->events, class->seen);
		assert_int_equal(merged_number(merged, sql, 0), class->seen);
		free(sql);
	}
}

static void check_source(const struct merged *merged, int64_t id, struct walked *walked)
{
	const struct merged_source *source = &merged->source[id - 1];

	assert_int_equal(source->events, walked->seen);
	free(walked->running);
	if (source->is_capture)
		return;
	printed_end(&walked->printed);
	assert_int_equal(merged_number(merged,
				       "SELECT ifnull(sum(count), 0) FROM problem "
				       "WHERE kind = 'backward' AND source = ?",
				       id),
			 walked->late);
	if (walked->late)
		print_message("%s: %" PRId64 " events go back\n", source->name,
			      walked->late);
}

static void check_run(const char *run)
{
	struct walk *walk = mem_zalloc(sizeof(*walk));

	merged_open(&walk->merged, run);
	walk->walked = mem_zalloc(walk->merged.sources * sizeof(*walk->walked));
	for (size_t i = 0; i < walk->merged.sources; i++)
		if (!walk->merged.source[i].is_capture)
			printed_start(&walk->walked[i].printed,
				      walk->merged.source[i].path);
	check_events(walk);
	check_classes(&walk->merged);
	for (size_t i = 0; i < walk->merged.sources; i++)
		check_source(&walk->merged, (int64_t)i + 1, &walk->walked[i]);
	print_message("%s: %" PRId64 " events of %zu classes, %" PRIu64 " fields\n", run,
		      walk->last.id, walk->merged.classes, walk->fields);
	merged_close(&walk->merged);
	free(walk->walked);
	free(walk);
}

/* A trace of a program, with arrays, texts, reals and contexts of its own. */
static void check_user_space(void)
{
	char *run = mem_printf("%s/tests/fixtures/ust", getenv("CT_SOURCE"));

	check_run(run);
	free(run);
}

SCRATCH_TEST(every_event_is_there_with_every_field)
{
	static const char *const simulated[] = {
	    "--seed 3 --set seconds=2 clients",
	    "--seed 4 --set seconds=2 --set activity=full --set event_header=compact two",
	    "--seed 5 --set seconds=2 mixed",
	    "--set seconds=90 step1s",
	    "--seed 6 --set seconds=2 offload",
	    NULL};

	if (!*test_arguments)
		check_user_space();
	merged_check_each(simulated, check_run);
}
