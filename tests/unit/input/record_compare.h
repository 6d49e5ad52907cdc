/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_RECORD_COMPARE_H
#define CT_TEST_RECORD_COMPARE_H

/* One trace as records, from both readers side by side: every column, every cell. */
#include "trace/reader.h"

#include "reader_compare.h"

struct record_side {
	struct trace_reader *source;
	struct side side; /* its bytes only */
	bool more;
};

/* With all names, so that the classes are compared, too. Their order is each reader's:
 * libbabeltrace2 2.1 has another one than 2.0. */
static inline void put_record(void *context, const struct trace_event *record)
{
	struct record_side *to = context;
	const struct trace_class *class = trace_reader_class(to->source, record->class);
	struct side *side = &to->side;

	put(side, class->name, strlen(class->name) + 1);
	put(side, &record->local_ns, sizeof(record->local_ns));
	put(side, &record->stream, sizeof(record->stream));
	put(side, &record->cpu, sizeof(record->cpu));
	put(side, &record->ordinal, sizeof(record->ordinal));
	for (size_t i = 0; i < class->columns; i++) {
		const struct trace_column *column = &class->column[i];

		put(side, column->name, strlen(column->name) + 1);
		put(side, &column->type, sizeof(column->type));
		put(side, &column->context, sizeof(column->context));
		put_cell(side, &record->cell[i]);
	}
}

static inline void record_step(struct record_side *side)
{
	if (side->more)
		side->more =
		    trace_reader_step(side->source, UINT64_MAX, put_record, side);
}

static inline size_t first_difference(const struct side *one, const struct side *other)
{
	size_t at = 0;

	while (at < one->size && at < other->size && one->bytes[at] == other->bytes[at])
		at++;
	return at;
}

/* Returns how many records there were. */
static inline uint64_t compare_records(const char *path)
{
	struct record_side one = {.more = true}, other = {.more = true};
	struct error error = ERROR_INIT;
	uint64_t events;

	one.source = open_columns(path, &error);
	assert_string_equal(error_text(&error), "");
	other.source = with_columns(babeltrace2_open(path, &error));
	assert_string_equal(error_text(&error), "");
	while (one.more || other.more) {
		size_t both;

		record_step(&one);
		record_step(&other);
		both = one.side.size < other.side.size ? one.side.size : other.side.size;
		if (both && memcmp(one.side.bytes, other.side.bytes, both) != 0)
			fail_msg("%s: records differ before: %s", path,
				 one.side.bytes +
				     first_difference(&one.side, &other.side));
		drop(&one.side, both);
		drop(&other.side, both);
	}
	assert_int_equal(one.side.size + other.side.size, 0);
	events = trace_reader_facts(one.source)->events;
	assert_int_equal(trace_reader_facts(other.source)->events, events);
	trace_reader_free(one.source);
	trace_reader_free(other.source);
	free(one.side.bytes);
	free(other.side.bytes);
	return events;
}

#endif
