/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/lines.h"

struct csv {
	struct lines *lines;
	struct faults *faults;
	char *text; /* of one record, LINES_LONGEST + 1 bytes */
	size_t length;
	char **field;
	size_t fields, room;
};

struct csv *csv_open(const char *path, struct faults *faults)
{
	struct lines *lines = lines_open(path, faults);
	struct csv *csv;

	if (!lines)
		return NULL;
	csv = mem_zalloc(sizeof(*csv));
	csv->lines = lines;
	csv->faults = faults;
	csv->text = mem_alloc(LINES_LONGEST + 1);
	return csv;
}

/* Append a line; whether there is an odd number of quotes in it. -1: no room. */
static int append(struct csv *csv, const struct line *line)
{
	bool odd = false;

	if (csv->length + 1 + line->length > LINES_LONGEST)
		return -1;
	if (csv->length)
		csv->text[csv->length++] = '\n';
	memcpy(csv->text + csv->length, line->text, line->length + 1);
	csv->length += line->length;
	for (const char *at = line->text; (at = strchr(at, '"')); at++)
		odd = !odd;
	return odd;
}

/*
 * A quoted field from behind its first quote, unquoted in place. What follows
 * its last quote, or NULL where there is none.
 */
static char *unquote(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '"' && *++text != '"') {
			*to = '\0';
			return text;
		}
		*to++ = *text;
	}
	return NULL;
}

/* Cut the record's text into fields; -1 where quotes stand wrongly. */
static int split(struct csv *csv)
{
	char *at = csv->text;

	csv->fields = 0;
	for (;;) {
		char *end;

		csv->field =
		    mem_grow(csv->field, csv->fields, &csv->room, sizeof(*csv->field));
		if (*at == '"') {
			/* What it becomes is shorter, so that its end is free. */
			char *after = unquote(at + 1);
			char next = after ? *after : 'x';

			if (next && next != ',')
				return -1;
			csv->field[csv->fields++] = at + 1;
			if (!next)
				return 0;
			at = after + 1;
			continue;
		}
		end = at + strcspn(at, ",\"");
		csv->field[csv->fields++] = at;
		if (!*end)
			return 0;
		if (*end == '"')
			return -1;
		*end = '\0';
		at = end + 1;
	}
}

/*
 * Read the record that begins with this line. -1, and only this line is taken,
 * when it is none: one stray quote must not cost the lines after it.
 */
static int read_record(struct csv *csv, struct line *line)
{
	struct lines_mark mark = lines_tell(csv->lines);
	bool ended = line->ended;
	int odd, more;

	csv->length = 0;
	odd = append(csv, line);
	while (odd == 1 && ended && lines_next(csv->lines, line)) {
		more = append(csv, line);
		odd = more < 0 ? more : odd ^ more;
		ended = line->ended;
	}
	if (!odd && !ended) {
		faults_add(csv->faults, "truncated", mark.number,
			   "the file ends within this line, left out");
		return -1;
	}
	if (!odd && !split(csv))
		return 0;
	faults_add(csv->faults, "broken", mark.number,
		   "quotes that do not fit together, left out");
	lines_return(csv->lines, mark);
	return -1;
}

bool csv_next(struct csv *csv, struct csv_record *record)
{
	struct line line;

	while (lines_next(csv->lines, &line)) {
		uint64_t number = line.number;

		if (!line.length || read_record(csv, &line))
			continue;
		*record = (struct csv_record){csv->field, csv->fields, number};
		return true;
	}
	return false;
}

void csv_close(struct csv *csv)
{
	if (!csv)
		return;
	lines_close(csv->lines);
	free(csv->text);
	free(csv->field);
	free(csv);
}
