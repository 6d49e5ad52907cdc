/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Records from some time on: what is left out before it, and that nothing else is, on
 * traces of random layouts. The same trace read whole says what is to come.
 */
#include "random_trace.h"
#include "record_compare.h"

enum { TRACES = 60, MOST_PACKETS = 12, MOST_STREAM = 8 };

/* The use of a class, by its name, so that it is the same whenever asked. */
struct uses {
	enum trace_use by_event[MOST_STREAMS][MOST_EVENTS];
	bool skips[MOST_STREAMS]; /* all are unused */
};

static enum trace_use *use_at(struct uses *uses, const char *name, unsigned *stream)
{
	unsigned event;

	assert_int_equal(sscanf(name, "e%u_%u", stream, &event), 2);
	assert_true(*stream < MOST_STREAMS && event < MOST_EVENTS);
	return &uses->by_event[*stream][event];
}

static void select_uses(struct trace_reader *reader, struct uses *uses)
{
	struct trace_selection selection = {.what = SELECT_COLUMNS};
	const struct trace_class *class;
	unsigned stream;

	for (uint32_t i = 0; (class = trace_reader_columns(reader, i)); i++) {
		selection.before = *use_at(uses, class->name, &stream);
		trace_reader_select(reader, i, &selection);
	}
}

static void draw_uses(struct uses *uses, const struct whole_trace *whole)
{
	for (unsigned i = 0; i < MOST_STREAMS; i++) {
		int64_t least = chance(40) ? TRACE_UNUSED : TRACE_NEEDED;

		uses->skips[i] = true;
		for (unsigned k = 0; k < MOST_EVENTS; k++) {
			uses->by_event[i][k] =
			    (enum trace_use)draw_between(least, TRACE_UNUSED);
			if (i < whole->streams && k < whole->stream[i].events)
				uses->skips[i] &= uses->by_event[i][k] == TRACE_UNUSED;
		}
	}
}

/* The events that are read: all from the start on, and before it those that are needed.
 */
struct reading {
	struct record_side side;
	struct uses *uses;
	nsec_t begin_ns;
	bool began[MOST_STREAM]; /* of each stream of the trace */
	bool is_filtered;        /* here, not by the source */
	uint64_t records;
};

static void take(void *context, const struct trace_event *record)
{
	struct reading *reading = context;
	const struct trace_class *class =
	    trace_reader_class(reading->side.source, record->class);
	struct trace_event copy = *record;
	unsigned stream;
	enum trace_use use = *use_at(reading->uses, class->name, &stream);

	assert_true(record->stream < MOST_STREAM);
	if (record->local_ns >= reading->begin_ns)
		reading->began[record->stream] = true;
	if (!reading->began[record->stream] && use != TRACE_NEEDED) {
		assert_true(reading->is_filtered);
		return;
	}
	/* Classes are numbered as they come, and here not all of them do. */
	copy.class = 0;
	if (reading->uses->skips[stream])
		copy.ordinal = 0;
	reading->records++;
	put(&reading->side.side, &record->local_ns, sizeof(record->local_ns));
	put(&reading->side.side, &copy.ordinal, sizeof(copy.ordinal));
	put(&reading->side.side, &record->stream, sizeof(record->stream));
	put(&reading->side.side, class->name, strlen(class->name) + 1);
	for (size_t i = 0; i < class->columns; i++)
		put_cell(&reading->side.side, &record->cell[i]);
}

/* Returns how many events the source went over. */
static uint64_t read_records(struct reading *reading)
{
	struct error error = ERROR_INIT;
	uint64_t events;

	reading->side.source = open_columns("t", &error);
	assert_string_equal(error_text(&error), "");
	if (!reading->is_filtered) {
		select_uses(reading->side.source, reading->uses);
		trace_reader_begin(reading->side.source, reading->begin_ns);
	}
	while (trace_reader_step(reading->side.source, UINT64_MAX, take, reading))
		;
	events = trace_reader_facts(reading->side.source)->events;
	trace_reader_free(reading->side.source);
	return events;
}

/* Returns how many events were in packets that were skipped. */
static uint64_t compare_begin(struct uses *uses, nsec_t begin_ns, uint64_t *records)
{
	struct reading whole = {.uses = uses, .begin_ns = begin_ns, .is_filtered = true};
	struct reading part = {.uses = uses, .begin_ns = begin_ns};
	uint64_t all = read_records(&whole), some = read_records(&part);

	assert_int_equal(part.records, whole.records);
	assert_int_equal(part.side.side.size, whole.side.side.size);
	if (part.side.side.size)
		assert_memory_equal(part.side.side.bytes, whole.side.side.bytes,
				    whole.side.side.size);
	assert_true(some <= all);
	*records += part.records;
	free(whole.side.side.bytes);
	free(part.side.side.bytes);
	return all - some;
}

static void put_instance(struct whole_trace *whole, unsigned stream, unsigned instance)
{
	char *path = mem_printf("t/ch%u_%u", stream, instance);
	struct bits bits = {.big = whole->say.big};
	uint64_t counter[2] = {0, 0};

	whole->clock = 1u << 30;
	for (int64_t n = draw_between(1, MOST_PACKETS); n > 0; n--) {
		if (bits.at && chance(10))
			whole->clock -= (uint64_t)draw_between(0, 5000);
		put_packet(whole, stream, instance, &bits, counter);
	}
	scratch_bytes(path, bits.byte, bits.at / 8);
	free(path);
	free(bits.byte);
}

static struct trace_facts facts_of(void)
{
	struct error error = ERROR_INIT;
	struct trace_reader *source = open_columns("t", &error);
	struct trace_facts facts;
	struct uses uses = {.by_event = {{TRACE_NEEDED}}};
	struct reading reading = {.uses = &uses, .side = {.source = source}};

	reading.begin_ns = NSEC_MIN;
	assert_string_equal(error_text(&error), "");
	while (trace_reader_step(source, UINT64_MAX, take, &reading))
		;
	facts = *trace_reader_facts(source);
	trace_reader_free(source);
	free(reading.side.side.bytes);
	return facts;
}

SCRATCH_TEST(records_from_a_time_on_are_those_of_the_whole)
{
	uint64_t records = 0, skipped = 0;

	for (int i = 0; i < TRACES; i++) {
		struct whole_trace whole = {.clock = 0};
		struct trace_facts facts;
		struct uses uses;

		say_trace(&whole);
		scratch_text("t/metadata", whole.say.text.text);
		for (unsigned k = 0; k < whole.streams; k++)
			for (int64_t n = draw_between(1, 3); n > 0; n--)
				put_instance(&whole, k, (unsigned)n);
		facts = facts_of();
		for (int k = 0; k < 5; k++) {
			draw_uses(&uses, &whole);
			skipped += compare_begin(
			    &uses, draw_between(facts.begin_ns - 10, facts.end_ns + 10),
			    &records);
		}
		compare_begin(&uses, NSEC_MIN, &records);
		compare_begin(&uses, NSEC_MAX, &records);
		whole_clear(&whole);
		assert_int_equal(nftw("t", scratch_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
	print_message("%" PRIu64 " records, %" PRIu64 " in packets left out\n", records,
		      skipped);
	assert_true(records > 0 && skipped > 0);
}
