/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sadf/sadf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"

#define COMMENTS_REMEMBERED 65536

/* Fill a row's stamps. False, with a fault, where they are none. */
static bool sadf_stamps(struct sadf_reader *reader, const struct sadf_head *head,
			struct sadf_row *row)
{
	const char *stamp = head->stamp;

	row->host = head->host;
	if (number_seconds(stamp, &row->realtime_ns) ||
	    !nsec_is_stamp(row->realtime_ns)) {
		/* A date is what sadf prints without -U. */
		faults_add(reader->faults, "broken", row->line,
			   strspn(stamp, "0123456789.") == strlen(stamp)
			       ? "'%s' is no time in seconds between 1933 and 2070, left "
				 "out"
			       : "'%s' is no time in seconds, want sadf -U, left out",
			   stamp);
		return false;
	}
	if (number_seconds(head->interval, &row->interval_ns)) {
		faults_add(reader->faults, "broken", row->line,
			   "'%s' is no interval in seconds, left out", head->interval);
		return false;
	}
	return true;
}

/* Whether a text would be a number if it had a point for its comma. */
static bool has_decimal_comma(const char *text)
{
	size_t whole = strspn(text, "-0123456789");

	return whole && text[whole] == ',' && text[whole + 1] &&
	       text[whole + 1 + strspn(text + whole + 1, "0123456789")] == '\0';
}

/* Complete a row by its item, metric and text, and hand it on. */
static int sadf_value(struct sadf_reader *reader, struct sadf_row *row)
{
	row->about =
	    sadf_metrics_find(reader->metrics, row->item, row->metric, reader->activity);
	reader->activity = row->about.activity;
	row->value = (double)NAN;
	if (row->about.kind != METRIC_TEXT && number_real(row->text, &row->value)) {
		if (has_decimal_comma(row->text))
			faults_add(reader->faults, "locale", row->line,
				   "'%s' has a decimal comma, want LC_ALL=C sadf, left "
				   "out",
				   row->text);
		else
			faults_add(reader->faults, "broken", row->line,
				   "'%s' is no number, left out", row->text);
		return 0;
	}
	reader->rows++;
	return reader->sink->row(reader->sink->context, row);
}

/* Whether a comment was handed on already; from now on it was. */
static bool is_known(struct sadf_reader *reader, const struct sadf_mark *mark)
{
	uint64_t key = hash_text(HASH_INIT ^ (uint64_t)mark->realtime_ns, mark->text);
	int64_t value;

	if (intmap_get(&reader->comments, key, &value))
		return true;
	if (reader->comments.count < COMMENTS_REMEMBERED)
		intmap_put(&reader->comments, key, 1);
	return false;
}

/*
 * Whether a line is a restart or a comment, by the text after its stamp. It is
 * handed on, and `status` is what the sink says.
 */
static bool take_mark(struct sadf_reader *reader, const struct sadf_head *head,
		      const char *text, uint64_t line, int *status)
{
	static const char restart[] = "LINUX-RESTART", comment[] = "COM ";
	struct sadf_mark mark = {.host = head->host, .line = line};
	struct sadf_row stamps = {.line = line};

	if (strcmp(head->interval, "-1") != 0)
		return false;
	if (strncmp(text, comment, strlen(comment)) == 0) {
		mark.kind = SADF_COMMENT;
		mark.text = text + strlen(comment);
	} else if (strncmp(text, restart, strlen(restart)) == 0) {
		mark.kind = SADF_RESTART;
		mark.text = text + strlen(restart);
		mark.text += *mark.text == '\t';
	} else {
		return false;
	}
	reader->rows++;
	if (!sadf_stamps(reader, head, &stamps))
		return true;
	mark.realtime_ns = stamps.realtime_ns;
	if (reader->sink->mark && !(mark.kind == SADF_COMMENT && is_known(reader, &mark)))
		*status = reader->sink->mark(reader->sink->context, &mark);
	return true;
}

/* Cut a field off the front; NULL where no separator follows it. */
static char *cut(char **text, char separator)
{
	char *field = *text, *end = strchr(field, separator);

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return field;
}

/* ITEM METRIC VALUE */
static int take_value(struct sadf_reader *reader, struct sadf_row *row, char *text)
{
	row->item = cut(&text, '\t');
	row->metric = row->item ? cut(&text, '\t') : NULL;
	row->text = text;
	if (row->metric && !strchr(text, '\t'))
		return sadf_value(reader, row);
	faults_add(reader->faults, "broken", row->line,
		   "want HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between, left "
		   "out");
	return 0;
}

/*
 * Columns that name the item of a line, and what sadf -p puts in front of the
 * number that stands there.
 */
static const struct item_column {
	const char *name, *prefix;
} item_columns[] = {
    {"CPU", "cpu"}, {"INTR", ""},       {"TTY", "ttyS"},    {"DEV", ""},
    {"IFACE", ""},  {"FAN", "fan"},     {"TEMP", "temp"},   {"IN", "in"},
    {"BUS", "bus"}, {"FILESYSTEM", ""}, {"MOUNTPOINT", ""}, {"FCHOST", ""},
    {"BAT", "bat"}, {NULL, NULL},
};

static const struct item_column *find_item(const char *name)
{
	const struct item_column *column = item_columns;

	while (column->name && strcmp(column->name, name) != 0)
		column++;
	return column->name ? column : NULL;
}

/* Cut a text at its semicolons into reader->column-like fields. */
static size_t cut_fields(char *text, char ***field, size_t *room)
{
	size_t fields = 0;

	while (text) {
		*field = mem_grow(*field, fields, room, sizeof(**field));
		(*field)[fields++] = text;
		text = strchr(text, ';');
		if (text)
			*text++ = '\0';
	}
	return fields;
}

/*
 * The tables of sadf -d: a header, "# hostname;interval;timestamp;CPU;%usr;..",
 * and a line of values for each stamp and item, here from behind the stamp.
 */
static void sadf_table_header(struct sadf_reader *reader, const struct line *line)
{
	static const char start[] = "# hostname;interval;timestamp;";

	reader->columns = 0;
	free(reader->header);
	reader->header = NULL;
	if (strncmp(line->text, start, strlen(start)) != 0) {
		faults_add(reader->faults, "broken", line->number,
			   "no header of sadf -d, want sadf -p, its lines left out");
	} else if (strstr(line->text, "[...]")) {
		faults_add(reader->faults, "broken", line->number,
			   "the header of sadf -d -h names no items, want sadf -p, its "
			   "lines left out");
	} else {
		reader->header = mem_strdup(line->text + strlen(start));
		reader->columns =
		    cut_fields(reader->header, &reader->column, &reader->room);
	}
}

/* The item as sadf -p writes it: -1 is all processors, 0 is cpu0. For free(). */
static char *item_name(const struct item_column *column, const char *text)
{
	int64_t number;

	if (!*column->prefix || number_integer(text, &number))
		return mem_strdup(text);
	if (number == -1)
		return mem_strdup("all");
	return mem_printf("%s%s", column->prefix, text);
}

/* Interrupts have a column for all processors, and one for each: CPU*. */
static int take_processors(struct sadf_reader *reader, struct sadf_row *row, char **field,
			   size_t fields)
{
	char name[32] = "all";
	int status = 0;

	row->metric = name;
	for (size_t i = 0; i < fields && !status; i++) {
		if (i)
			snprintf(name, sizeof(name), "cpu%zu", i - 1);
		row->text = field[i];
		status = sadf_value(reader, row);
	}
	return status;
}

static int take_fields(struct sadf_reader *reader, struct sadf_row *row, char **field,
		       size_t fields)
{
	char *item = NULL;
	int status = 0;

	for (size_t k = 0; k < reader->columns && !item; k++) {
		const struct item_column *column = find_item(reader->column[k]);

		if (column)
			item = item_name(column, field[k]);
	}
	row->item = item ? item : "-";
	for (size_t k = 0; k < reader->columns && !status; k++) {
		row->metric = reader->column[k];
		row->text = field[k];
		if (strcmp(row->metric, "CPU*") == 0)
			status = take_processors(reader, row, field + k, fields - k);
		else if (!find_item(row->metric))
			status = sadf_value(reader, row);
	}
	free(item);
	return status;
}

static int sadf_table_values(struct sadf_reader *reader, struct sadf_row *row, char *text)
{
	char **field = NULL;
	size_t room = 0, fields;
	int status = 0;

	if (!reader->columns) {
		faults_add(reader->faults, "broken", row->line,
			   "a line of sadf -d without its header, left out");
		return 0;
	}
	fields = cut_fields(text, &field, &room);
	if (fields == reader->columns ||
	    (fields > reader->columns &&
	     strcmp(reader->column[reader->columns - 1], "CPU*") == 0))
		status = take_fields(reader, row, field, fields);
	else
		faults_add(reader->faults, "broken", row->line,
			   "%zu values, want %zu as in the header, left out", fields,
			   reader->columns);
	free(field);
	return status;
}

static int take_line(struct sadf_reader *reader, const struct line *line)
{
	char *text = line->text;
	char separator = text[strcspn(text, "\t;")];
	struct sadf_row row = {.line = line->number};
	struct sadf_head head;
	int status = 0;

	if (*text == '#') {
		sadf_table_header(reader, line);
		return 0;
	}
	head.host = separator ? cut(&text, separator) : NULL;
	head.interval = head.host ? cut(&text, separator) : NULL;
	head.stamp = head.interval ? cut(&text, separator) : NULL;
	if (!head.stamp)
		faults_add(reader->faults, "broken", line->number,
			   "no line of sadf -p, want HOST INTERVAL SECONDS ITEM METRIC "
			   "VALUE with tabs between, left out");
	else if (take_mark(reader, &head, text, line->number, &status) ||
		 !sadf_stamps(reader, &head, &row))
		return status;
	else if (separator == ';')
		return sadf_table_values(reader, &row, text);
	else
		return take_value(reader, &row, text);
	return 0;
}

int sadf_read_lines(struct lines *lines, const struct sadf_sink *sink,
		    struct faults *faults)
{
	struct sadf_reader reader = {.sink = sink, .faults = faults};
	struct line line;
	int status = 0;

	reader.metrics = sadf_metrics_new();
	while (!status && lines_next(lines, &line)) {
		if (!line.ended)
			faults_add(faults, "truncated", line.number,
				   "the file ends within this line, left out");
		else if (line.length)
			status = take_line(&reader, &line);
	}
	if (!status && !reader.rows) {
		faults_add(faults, "empty", 0, "no sample in it");
		status = -1;
	}
	sadf_metrics_free(reader.metrics);
	intmap_clear(&reader.comments);
	free(reader.header);
	free(reader.column);
	return status;
}

int sadf_read(const char *path, const struct sadf_sink *sink,
	      struct problem_list *problems)
{
	struct faults faults;
	struct lines *lines;
	int status;

	faults_init(&faults, path, problems);
	lines = lines_open(path, &faults);
	if (!lines)
		return -1;
	status = sadf_read_lines(lines, sink, &faults);
	lines_close(lines);
	return status;
}
