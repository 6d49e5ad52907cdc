/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/csv_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"

struct csv_reader {
	char *path;
	FILE *file;
	struct bytes text; /* of the record's fields, each with a 0 behind it */
	struct csv_field *field;
	size_t *begin; /* of each in the text, while that may still move */
	size_t fields, field_room, begin_room;
	uint64_t line, next_line;
};

struct csv_reader *csv_reader_open(const char *path, struct error *error)
{
	struct csv_reader *reader = mem_zalloc(sizeof(*reader));
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	reader->path = mem_strdup(path);
	reader->next_line = 1;
	if (fd < 0 || fstat(fd, &status))
		error_errno(error, path);
	else if (!S_ISREG(status.st_mode))
		error_set(error, "%s: no plain file", path);
	else
		reader->file = fdopen(fd, "rb");
	if (reader->file)
		return reader;
	if (fd >= 0)
		close(fd);
	csv_reader_free(reader);
	return NULL;
}

static void begin_field(struct csv_reader *reader)
{
	reader->field = mem_grow(reader->field, reader->fields, &reader->field_room,
				 sizeof(*reader->field));
	reader->begin = mem_grow(reader->begin, reader->fields, &reader->begin_room,
				 sizeof(*reader->begin));
	reader->begin[reader->fields] = reader->text.size;
	reader->field[reader->fields].quoted = false;
}

static void end_field(struct csv_reader *reader)
{
	bytes_add_byte(&reader->text, 0);
	reader->fields++;
}

/* Within quotes, up to the one that ends them; what comes behind it is returned. */
static int read_quoted(struct csv_reader *reader, struct error *error)
{
	for (;;) {
		int c = getc_unlocked(reader->file);

		if (c == '"') {
			c = getc_unlocked(reader->file);
			if (c != '"')
				return c;
		} else if (c == EOF) {
			error_set(error, "%s:%llu: the file ends within quotes",
				  reader->path, (unsigned long long)reader->line);
			return -2;
		}
		reader->next_line += c == '\n';
		bytes_add_byte(&reader->text, (uint8_t)c);
		if (reader->text.size > CSV_LONGEST_RECORD) {
			error_set(error, "%s:%llu: a record of more than %d bytes",
				  reader->path, (unsigned long long)reader->line,
				  CSV_LONGEST_RECORD);
			return -2;
		}
	}
}

/* One field and what ends it: a comma, a line's end, EOF; -2 with error. */
static int read_field(struct csv_reader *reader, int first, struct error *error)
{
	int c = first;

	begin_field(reader);
	if (c == '"') {
		reader->field[reader->fields].quoted = true;
		c = read_quoted(reader, error);
	}
	for (; c != ',' && c != '\n' && c >= 0; c = getc_unlocked(reader->file)) {
		if (c == '\r') {
			int next = getc_unlocked(reader->file);

			if (next == '\n' || next == EOF) {
				c = next;
				break;
			}
			ungetc(next, reader->file);
		}
		bytes_add_byte(&reader->text, (uint8_t)c);
		if (reader->text.size > CSV_LONGEST_RECORD) {
			error_set(error, "%s:%llu: a record of more than %d bytes",
				  reader->path, (unsigned long long)reader->line,
				  CSV_LONGEST_RECORD);
			return -2;
		}
	}
	end_field(reader);
	return c;
}

static int read_record(struct csv_reader *reader, int first, struct error *error)
{
	int c = read_field(reader, first, error);

	while (c == ',')
		c = read_field(reader, getc_unlocked(reader->file), error);
	if (c == -2)
		return -1;
	if (ferror(reader->file))
		return error_errno(error, reader->path);
	reader->next_line += c == '\n';
	for (size_t i = 0; i < reader->fields; i++) {
		size_t end =
		    i + 1 < reader->fields ? reader->begin[i + 1] : reader->text.size;

		reader->field[i].text =
		    (const char *)reader->text.data + reader->begin[i];
		reader->field[i].size = end - reader->begin[i] - 1;
	}
	return 1;
}

int csv_reader_next(struct csv_reader *reader, struct error *error)
{
	int c;

	reader->text.size = 0;
	reader->fields = 0;
	while ((c = getc_unlocked(reader->file)) == '\n' || c == '\r')
		reader->next_line += c == '\n';
	if (c == EOF)
		return ferror(reader->file) ? error_errno(error, reader->path) : 0;
	reader->line = reader->next_line;
	return read_record(reader, c, error);
}

size_t csv_reader_fields(const struct csv_reader *reader)
{
	return reader->fields;
}

const struct csv_field *csv_reader_field(const struct csv_reader *reader, size_t field)
{
	return &reader->field[field];
}

uint64_t csv_reader_line(const struct csv_reader *reader)
{
	return reader->line;
}

void csv_reader_free(struct csv_reader *reader)
{
	if (!reader)
		return;
	if (reader->file)
		fclose(reader->file);
	bytes_clear(&reader->text);
	free(reader->field);
	free(reader->begin);
	free(reader->path);
	free(reader);
}
