/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "input/reader_private.h"

size_t reader_most_fields(const struct reader_wishes *wishes)
{
	size_t most = 1;

	for (size_t i = 0; i < wishes->count; i++)
		if (wishes->wish[i].fields > most)
			most = wishes->wish[i].fields;
	return most;
}

struct reader *reader_open(const char *path, enum reader_kind kind,
			   const struct reader_wishes *wishes, struct error *error)
{
	struct error why = ERROR_INIT;
	struct reader *reader;

	if (kind == READER_NATIVE)
		return native_reader_open(path, wishes, error);
	if (kind == READER_BABELTRACE2)
		return babeltrace2_reader_open(path, wishes, error);
	reader = native_reader_open(path, wishes, &why);
	if (!reader) {
		reader = babeltrace2_reader_open(path, wishes, error);
		if (reader)
			reader->why = mem_strdup(error_text(&why));
	}
	error_clear(&why);
	return reader;
}

struct reader *ctf_reader_open(const char *path, const struct event_wish *wishes,
			       size_t count, struct error *error)
{
	const struct reader_wishes wanted = {wishes, count};

	return reader_open(path, READER_AUTO, &wanted, error);
}

const char *reader_why(const struct reader *reader)
{
	return reader->why;
}

int reader_step(struct reader *reader, event_fn *give, void *context)
{
	return reader->ops->step(reader, give, context);
}

bool reader_help(struct reader *reader)
{
	return reader->ops->help && reader->ops->help(reader);
}

const struct reader_facts *reader_facts(const struct reader *reader)
{
	return reader->ops->facts(reader);
}

struct problem_list *reader_problems(struct reader *reader)
{
	return reader->ops->problems(reader);
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	free(reader->why);
	reader->ops->free(reader);
}
