/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"

#define PROBLEM_LOG_SHOWN 4 /* kept problems of one format with different texts */
#define PROBLEM_LOG_LONGEST                                                              \
	400 /* bytes of a problem's text, which can quote up to a megabyte */

void problem_log_init(struct problem_log *log, const char *path,
		      struct problem_list *problems)
{
	memset(log, 0, sizeof(*log));
	log->problems = problems;
	log->path = path;
}

/*
 * Return the problem with which a new one is counted, or NULL if it is kept separately.
 */
static struct problem *find_counting_problem(const struct problem_log *log,
					     const char *format, const char *text,
					     size_t most)
{
	const size_t capacity = sizeof(log->seen) / sizeof(*log->seen);
	struct problem *last = NULL;
	size_t told = 0;

	for (size_t i = 0; i < log->seens; i++) {
		if (log->seen[i].format != format)
			continue;
		last = &log->problems->item[log->seen[i].problem];
		if (strcmp(last->text, text) == 0)
			return last;
		told++;
	}
	if (told < most && log->seens < capacity)
		return NULL;
	return last ? last : &log->problems->item[log->seen[capacity - 1].problem];
}

/* Limit the length of a text that quotes a file. */
static void limit_problem_text(char *text)
{
	size_t length = PROBLEM_LOG_LONGEST;

	if (strlen(text) < PROBLEM_LOG_LONGEST + 3)
		return;
	/* Do not cut within a UTF-8 character. */
	while (length && (text[length] & 0xc0) == 0x80)
		length--;
	strcpy(text + length, "...");
}

void problem_log_add(struct problem_log *log, enum problem_kind kind, uint64_t line,
		     const char *format, ...)
{
	AUTOFREE char *text = MEM_VPRINTF(format);
	struct problem *with;

	limit_problem_text(text);
	/* The number of problems of a whole file is limited anyway. */
	with =
	    find_counting_problem(log, format, text, line ? PROBLEM_LOG_SHOWN : SIZE_MAX);
	if (with) {
		with->count++;
	} else {
		AUTOFREE char *place = line ? mem_printf("%s:%" PRIu64, log->path, line)
					    : mem_strdup(log->path);

		log->seen[log->seens++] =
		    (struct problem_log_seen){format, log->problems->count};
		problem_add(log->problems, place, kind, 1, "%s", text);
	}
}

enum { READ_AT_ONCE = 1 << 16 };

struct line_reader {
	FILE *file;
	struct problem_log *log;
	uint64_t number;   /* number of the last line */
	size_t begin, end; /* bytes that were read and not yet returned */
	/* The longest line with its end, \r\n, and what was read after it. */
	char text[LINE_LONGEST + 2 + READ_AT_ONCE + 1];
};

static struct line_reader *lines_of(FILE *file, struct problem_log *log)
{
	struct line_reader *lines = mem_alloc(sizeof(*lines));

	memset(lines, 0, offsetof(struct line_reader, text));
	lines->file = file;
	lines->log = log;
	return lines;
}

struct line_reader *line_reader_open(const char *path, struct problem_log *log)
{
	struct error error = ERROR_INIT;
	FILE *file = file_open_stream(path, NULL, &error);

	if (file)
		return lines_of(file, log);
	problem_log_add(log, PROBLEM_UNREADABLE, 0, "%s", error_text(&error));
	error_clear(&error);
	return NULL;
}

/* Read more. Return false at the end. */
static bool read_more(struct line_reader *lines)
{
	size_t size;

	if (feof(lines->file) || ferror(lines->file))
		return false;
	memmove(lines->text, lines->text + lines->begin, lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	size = fread(lines->text + lines->end, 1, READ_AT_ONCE, lines->file);
	lines->end += size;
	if (!size && ferror(lines->file))
		problem_log_add(lines->log, PROBLEM_UNREADABLE, lines->number + 1,
				"%s; the rest skipped", strerror(errno));
	return size;
}

/*
 * Read the next line, even if it will be skipped. Return 1, 0 at the end, or -1 if it is
 * too long.
 */
static int read_line(struct line_reader *lines, struct text_line *line)
{
	size_t length = 0;
	bool is_long = false;
	char *newline = NULL;

	/* Drop the text of a line that is too long. */
	while (!(newline = memchr(lines->text + lines->begin + length, '\n',
				  lines->end - lines->begin - length))) {
		length = lines->end - lines->begin;
		if (length > LINE_LONGEST + 1) {
			is_long = true;
			lines->begin = lines->end;
			length = 0;
		}
		if (!read_more(lines))
			break;
	}
	if (!newline && !length && !is_long)
		return 0;
	lines->number++;
	*line = (struct text_line){.text = lines->text + lines->begin,
				   .number = lines->number,
				   .ended = newline};
	line->length =
	    newline ? (size_t)(newline - line->text) : lines->end - lines->begin;
	lines->begin += line->length + line->ended;
	if (newline && line->length && newline[-1] == '\r')
		line->length--;
	line->text[line->length] = '\0';
	return is_long || line->length > LINE_LONGEST ? -1 : 1;
}

bool line_reader_next(struct line_reader *lines, struct text_line *line)
{
	int status;

	while ((status = read_line(lines, line))) {
		if (status < 0)
			problem_log_add(lines->log, PROBLEM_BROKEN, lines->number,
					"line longer than 1 MiB skipped");
		else if (memchr(line->text, '\0', line->length))
			problem_log_add(lines->log, PROBLEM_BROKEN, lines->number,
					"line with a zero byte skipped");
		else
			return true;
	}
	return false;
}

json_t *line_reader_next_object(struct line_reader *lines, struct text_line *line)
{
	struct error error = ERROR_INIT;
	json_t *object = NULL;

	while (!object && line_reader_next(lines, line)) {
		if (line->text[strspn(line->text, " \t")] == '\0')
			continue;
		object = json_parse_object(line->text, line->length, &error);
		if (!object && !line->ended)
			problem_log_add(lines->log, PROBLEM_TRUNCATED, line->number,
					"incomplete last line skipped");
		else if (!object)
			problem_log_add(lines->log, PROBLEM_BROKEN, line->number,
					"%s; skipped", error_text(&error));
		error_clear(&error);
	}
	return object;
}

void line_reader_close(struct line_reader *lines)
{
	if (!lines)
		return;
	fclose(lines->file);
	free(lines);
}

#define NOWHERE SIZE_MAX

struct csv {
	struct line_reader *lines;
	struct problem_log *log;
	const struct csv_columns *columns;
	char **field; /* fields of the current line */
	size_t fields, capacity;
	uint64_t line; /* its number */
	bool waiting;  /* the current line is the first one and not a header; it is still
			  to be delivered */
	size_t *where; /* index of each column's field */
	size_t width;  /* number of fields in a row */
	struct csv_cell *cell;
};

/*
 * Unquote, in place, a quoted field from after its first quote. Return what follows its
 * last quote, or NULL.
 */
static char *unquote_field(char *text)
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

/* Split a line into fields. Return 0, or -1 if quotes are misplaced. */
static int split_fields(struct csv *csv, char *at)
{
	bool has_quotes = strchr(at, '"');

	csv->fields = 0;
	for (;;) {
		char *end;

		csv->field = mem_grow(csv->field, csv->fields, &csv->capacity,
				      sizeof(*csv->field));
		if (*at == '"') {
			/* The unquoted text is shorter, so its end can be overwritten. */
			char *after = unquote_field(at + 1);
			char next = after ? *after : 'x';

			if (next && next != ',')
				return -1;
			csv->field[csv->fields++] = at + 1;
			if (!next)
				return 0;
			at = after + 1;
			continue;
		}
		end = strchrnul(at, ',');
		if (has_quotes && memchr(at, '"', (size_t)(end - at)))
			return -1;
		csv->field[csv->fields++] = at;
		if (!*end)
			return 0;
		*end = '\0';
		at = end + 1;
	}
}

/* Read the fields of the next nonempty line. Return false at the end. */
static bool next_fields(struct csv *csv)
{
	struct text_line line;

	if (csv->waiting) {
		csv->waiting = false;
		return true;
	}
	while (line_reader_next(csv->lines, &line)) {
		csv->line = line.number;
		if (!line.length)
			continue;
		if (!line.ended && !csv->columns->end_may_lack)
			problem_log_add(csv->log, PROBLEM_TRUNCATED, csv->line,
					"incomplete last line skipped");
		else if (split_fields(csv, line.text))
			problem_log_add(csv->log, PROBLEM_BROKEN, csv->line,
					"line with unbalanced quotes skipped");
		else
			return true;
	}
	return false;
}

/* Return the index of the column of that name, or the number of columns. */
static size_t find_column(const struct csv_columns *columns, const char *name)
{
	size_t k = 0;

	while (k < columns->count && strcmp(columns->column[k].name, name) != 0)
		k++;
	return k;
}

static void place_columns(struct csv *csv)
{
	const struct csv_columns *columns = csv->columns;

	csv->width = csv->fields;
	for (size_t i = 0; i < csv->fields; i++) {
		size_t k = find_column(columns, csv->field[i]);

		if (k == columns->count)
			problem_log_add(csv->log, PROBLEM_FOREIGN, csv->line,
					"unknown column '%s' ignored", csv->field[i]);
		else if (csv->where[k] != NOWHERE)
			problem_log_add(csv->log, PROBLEM_TWICE, csv->line,
					"duplicate column '%s' ignored", csv->field[i]);
		else
			csv->where[k] = i;
	}
}

/* A line with other separators than commas is a broken header rather than a row. */
static bool is_header(const struct csv *csv)
{
	if (csv->fields == 1 && csv->columns->needed > 1 && strpbrk(csv->field[0], ";\t"))
		return true;
	for (size_t i = 0; i < csv->fields; i++)
		if (find_column(csv->columns, csv->field[i]) < csv->columns->count)
			return true;
	return false;
}

/* Check that all required columns are present. Return 0, or -1 with a problem. */
static int check_columns(const struct csv *csv)
{
	const struct csv_columns *columns = csv->columns;
	struct bytes names = {0};
	size_t k = 0;

	while (k < columns->needed && csv->where[k] != NOWHERE)
		k++;
	if (k == columns->needed)
		return 0;
	for (size_t i = 0; i < columns->count; i++) {
		bytes_add_text(&names, i ? "," : "");
		bytes_add_text(&names, columns->column[i].name);
	}
	bytes_add_byte(&names, 0);
	problem_log_add(csv->log, PROBLEM_HEADLESS, csv->line,
			"missing column '%s' (expected a header line: %s)",
			columns->column[k].name, (const char *)names.data);
	bytes_clear(&names);
	return -1;
}

/*
 * Determine the positions of columns from the first line. Return 0, or -1 with a problem.
 */
static int read_header(struct csv *csv)
{
	const struct csv_columns *columns = csv->columns;

	if (!next_fields(csv))
		return 0;
	/* Files from spreadsheets can start with a byte order mark. */
	if (strncmp(csv->field[0], "\xef\xbb\xbf", 3) == 0)
		csv->field[0] += 3;
	if (is_header(csv)) {
		place_columns(csv);
	} else if (columns->header_may_lack) {
		/*
		 * The row has as many columns as the first line; optional ones may be
		 * missing.
		 */
		csv->width = csv->fields;
		if (csv->width < columns->needed || csv->width > columns->count)
			csv->width = columns->needed;
		for (size_t k = 0; k < csv->width; k++)
			csv->where[k] = k;
		csv->waiting = true;
	}
	return check_columns(csv);
}

static struct csv *csv_of(struct line_reader *lines, const struct csv_columns *columns,
			  struct problem_log *log)
{
	struct csv *csv = mem_zalloc(sizeof(*csv));

	csv->lines = lines;
	csv->log = log;
	csv->columns = columns;
	csv->cell = mem_realloc(NULL, columns->count, sizeof(*csv->cell));
	csv->where = mem_realloc(NULL, columns->count, sizeof(*csv->where));
	for (size_t k = 0; k < columns->count; k++)
		csv->where[k] = NOWHERE;
	if (read_header(csv)) {
		csv_close(csv);
		return NULL;
	}
	return csv;
}

struct csv *csv_open(const char *path, const struct csv_columns *columns,
		     struct problem_log *log)
{
	struct line_reader *lines = line_reader_open(path, log);

	return lines ? csv_of(lines, columns, log) : NULL;
}

struct csv *csv_read(FILE *file, const struct csv_columns *columns,
		     struct problem_log *log)
{
	return csv_of(lines_of(file, log), columns, log);
}

/*
 * Convert a cell's text to its type. Return NULL, or the name of the type that was
 * expected.
 */
static const char *read_cell(struct csv_cell *cell, enum csv_type type)
{
	switch (type) {
	case CSV_TEXT:
		return NULL;
	case CSV_STAMP:
		return number_stamp(cell->text, &cell->integer) ? "time in nanoseconds"
								: NULL;
	case CSV_COUNT:
		return number_integer(cell->text, &cell->integer) || cell->integer < 0
			   ? "count"
			   : NULL;
	case CSV_REAL:
		return number_real(cell->text, &cell->real) ? "number" : NULL;
	case CSV_LETTER:
		cell->integer = (unsigned char)*cell->text;
		return cell->text[1] ? "single letter" : NULL;
	}
	return NULL;
}

/* Convert the cells of a line. Return false if a required one is missing or invalid. */
static bool read_cells(struct csv *csv)
{
	for (size_t k = 0; k < csv->columns->count; k++) {
		const struct csv_column *column = &csv->columns->column[k];
		const char *field =
		    csv->where[k] == NOWHERE ? "" : csv->field[csv->where[k]];
		bool is_needed = k < csv->columns->needed;
		struct csv_cell *cell = &csv->cell[k];
		const char *wanted;

		*cell = (struct csv_cell){.text = *field ? field : NULL, .integer = -1};
		if (!*field && is_needed) {
			problem_log_add(csv->log, PROBLEM_BROKEN, csv->line,
					"%s is empty; skipped", column->name);
			return false;
		}
		wanted = *field ? read_cell(cell, column->type) : NULL;
		if (!wanted)
			continue;
		problem_log_add(csv->log, is_needed ? PROBLEM_BROKEN : PROBLEM_MALFORMED,
				csv->line, "invalid %s '%s' (expected a %s); skipped",
				column->name, field, wanted);
		if (is_needed)
			return false;
		*cell = (struct csv_cell){.text = NULL, .integer = -1};
	}
	return true;
}

bool csv_next(struct csv *csv, struct csv_row *row)
{
	while (next_fields(csv)) {
		if (csv->fields != csv->width)
			problem_log_add(csv->log, PROBLEM_BROKEN, csv->line,
					"line with %zu fields skipped (expected %zu)",
					csv->fields, csv->width);
		else if (read_cells(csv)) {
			*row = (struct csv_row){csv->cell, csv->line};
			return true;
		}
	}
	return false;
}

void csv_close(struct csv *csv)
{
	if (!csv)
		return;
	line_reader_close(csv->lines);
	free(csv->field);
	free(csv->cell);
	free(csv->where);
	free(csv);
}

const struct csv_columns proc_columns = {
    (const struct csv_column[PROC_COLUMNS]){{"realtime_ns", CSV_STAMP},
					    {"pid", CSV_COUNT},
					    {"ppid", CSV_COUNT},
					    {"comm", CSV_TEXT},
					    {"state", CSV_LETTER},
					    {"utime_ns", CSV_COUNT},
					    {"stime_ns", CSV_COUNT},
					    {"rss_kib", CSV_COUNT},
					    {"read_bytes", CSV_COUNT},
					    {"write_bytes", CSV_COUNT}},
    PROC_COLUMNS, PROC_PID + 1, false, false};

const struct csv_columns sensor_columns = {
    (const struct csv_column[SENSOR_COLUMNS]){{"realtime_ns", CSV_STAMP},
					      {"sensor", CSV_TEXT},
					      {"metric", CSV_TEXT},
					      {"value", CSV_REAL}},
    SENSOR_COLUMNS, SENSOR_COLUMNS, true, false};
