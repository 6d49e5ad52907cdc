/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/print_private.h"
#include "base/mem.h"

static double number(const struct cell *cell)
{
	return cell->type == CELL_REAL ? cell->real : (double)cell->integer;
}

static void format_bytes(char text[PRINT_TEXT], double bytes, const char *behind)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t i = 0;

	while (fabs(bytes) >= 1024 && i < 5) {
		bytes /= 1024;
		i++;
	}
	snprintf(text, PRINT_TEXT, i ? "%.1f %s%s" : "%.0f %s%s", bytes, names[i],
		 behind);
}

static const char *format_instant(char text[PRINT_TEXT], const struct result *result,
				  nsec_t instant)
{
	char whole[NSEC_TEXT];
	bool is_one_day =
	    zone_is_one_day(&result->zone, result->begin_ns, result->end_ns);

	zone_format(whole, &result->zone, instant);
	snprintf(text, PRINT_TEXT, "%s", is_one_day ? strchr(whole, ' ') + 1 : whole);
	return text;
}

static void format_hertz(char text[PRINT_TEXT], double hertz)
{
	if (fabs(hertz) >= 1e9)
		snprintf(text, PRINT_TEXT, "%.3f GHz", hertz / 1e9);
	else if (fabs(hertz) >= 1e6)
		snprintf(text, PRINT_TEXT, "%.1f MHz", hertz / 1e6);
	else
		snprintf(text, PRINT_TEXT, "%.0f Hz", hertz);
}

static void format_span(char text[PRINT_TEXT], const char *before, double span_ns)
{
	char span[NSEC_TEXT];

	snprintf(text, PRINT_TEXT, "%s%s", before, nsec_format_span(span, span_ns));
}

static void format_number(char text[PRINT_TEXT], const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		snprintf(text, PRINT_TEXT, "%" PRId64, cell->integer);
	else
		snprintf(text, PRINT_TEXT, "%.6g", cell->real);
}

const char *print_human(char text[PRINT_TEXT], const struct result *result,
			const struct cell *cell, enum unit unit)
{
	if (cell->type == CELL_NULL)
		return "-";
	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		return cell->bytes;
	switch (unit) {
	case UNIT_SPAN:
		format_span(text, "", number(cell));
		break;
	case UNIT_BOUND:
		format_span(text, "+-", number(cell));
		break;
	case UNIT_INSTANT:
		return format_instant(
		    text, result,
		    cell->type == CELL_INTEGER ? cell->integer : nsec_round(cell->real));
	case UNIT_BYTES:
		format_bytes(text, number(cell), "");
		break;
	case UNIT_BYTE_RATE:
		format_bytes(text, number(cell), "/s");
		break;
	case UNIT_RATE:
		snprintf(text, PRINT_TEXT, "%.1f/s", number(cell));
		break;
	case UNIT_PERCENT:
		snprintf(text, PRINT_TEXT, "%.2f %%", number(cell));
		break;
	case UNIT_RATIO:
		snprintf(text, PRINT_TEXT, "%.3f", number(cell));
		break;
	case UNIT_PPM:
		snprintf(text, PRINT_TEXT, "%.3f ppm", number(cell));
		break;
	case UNIT_HERTZ:
		format_hertz(text, number(cell));
		break;
	case UNIT_TEXT:
	case UNIT_ID:
	case UNIT_COUNT:
	case UNIT_NUMBER:
	case UNIT_OF_ROW:
	case UNIT_COUNT_OF:
		format_number(text, cell);
		break;
	}
	return text;
}

const char *print_plain(char text[PRINT_TEXT], const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		return "";
	case CELL_INTEGER:
		snprintf(text, PRINT_TEXT, "%" PRId64, cell->integer);
		return text;
	case CELL_REAL:
		snprintf(text, PRINT_TEXT, "%.15g", cell->real);
		if (strtod(text, NULL) != cell->real)
			snprintf(text, PRINT_TEXT, "%.17g", cell->real);
		return text;
	case CELL_TEXT:
	case CELL_BLOB:
		break;
	}
	return cell->bytes;
}

char *print_title(const struct result *result, const struct result_column *column)
{
	bool is_local = result->request && result->request->local_time;

	return is_local && column->unit == UNIT_INSTANT
		   ? mem_printf("%s/%s", column->title, result->zone.name)
		   : mem_strdup(column->title);
}

bool print_is_right(enum unit unit)
{
	return unit != UNIT_TEXT;
}

const char *print_cell_of(char text[PRINT_TEXT], const struct result *result,
			  const struct result_table *table, size_t row, size_t column)
{
	const struct cell *cells = &table->cell[row * table->columns];
	enum unit unit = table->column[column].unit;

	for (size_t i = 0; unit == UNIT_OF_ROW && i < table->columns; i++)
		if (!strcmp(table->column[i].key, "unit") && cells[i].type == CELL_TEXT) {
			int found = unit_find(cells[i].bytes);

			unit = found < 0 ? UNIT_NUMBER : (enum unit)found;
		}
	return print_human(text, result, &cells[column], unit);
}

bool print_wants(const struct result *result, const struct result_table *table)
{
	const char *wanted = result->request ? result->request->table : NULL;

	return !wanted || !strcmp(wanted, table->key);
}

char *print_left_out(const struct result_table *table)
{
	if (table->added == table->rows)
		return NULL;
	return mem_printf("%zu of %" PRIu64 " rows (see --limit)", table->rows,
			  table->added);
}

void print_result(const struct question *question, const struct result *result,
		  FILE *file)
{
	if (result->document) {
		fwrite(result->document, 1, result->document_size, file);
		return;
	}
	switch (question->request->format) {
	case FORMAT_TABLE:
		print_tables(question, result, file);
		break;
	case FORMAT_CSV:
		print_csv(question, result, file);
		break;
	case FORMAT_JSON:
		print_json(question, result, file);
		break;
	case FORMAT_MARKDOWN:
		print_markdown(question, result, file);
		break;
	}
}
