/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/input_private.h"

static const char *type_name(int type)
{
	static const char *const names[] = {
	    "BOOLEAN", "INT32",  "INT64",      "INT96",
	    "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};

	return type >= 0 && (size_t)type < sizeof(names) / sizeof(*names) ? names[type]
									  : "?";
}

/* OpenDC's reader takes a column by names, physical type, and how often it may be
 * missing; what else is said of it does not count. */
static bool check_leaf(const struct opendc_input *input,
		       const struct opendc_column *column,
		       const struct parquet_leaf *leaf, struct report *report)
{
	const struct parquet_column *want = &column->parquet;

	if (leaf->type != (int)want->type)
		report_add(report, REPORT_ERROR, "type", "%s: column %s is %s, want %s",
			   input->name, leaf->path, type_name(leaf->type),
			   type_name((int)want->type));
	if (!want->optional && leaf->top != PARQUET_REQUIRED)
		report_add(report, REPORT_ERROR, "required",
			   "%s: column %s is %s, want it REQUIRED", input->name,
			   leaf->path,
			   leaf->top == PARQUET_OPTIONAL ? "OPTIONAL" : "REPEATED");
	if (want->list != (leaf->most_repetition == 1) || leaf->most_repetition > 1 ||
	    (want->list && (!strstr(leaf->path, ".list.element") || leaf->parts != 3))) {
		report_add(report, REPORT_ERROR, "type", "%s: column %s, want %s%s",
			   input->name, leaf->path, want->name,
			   want->list ? ".list.element, a list" : ", no list");
		return false;
	}
	return true;
}

void opendc_take_parquet(struct opendc_input *input, struct report *report)
{
	for (size_t i = 0; i < input->table.columns; i++) {
		const struct opendc_column *column = &input->table.column[i];
		struct opendc_source *source = &input->source[column->field];
		const struct parquet_leaf *leaf =
		    parquet_reader_find(input->parquet, column->parquet.name);

		if (!leaf && column->wanted)
			report_add(report, REPORT_ERROR, "column",
				   "%s: no column %s, want it of %s", input->name,
				   column->parquet.name,
				   type_name((int)column->parquet.type));
		if (!leaf || !check_leaf(input, column, leaf, report))
			continue;
		source->column = column;
		source->leaf = leaf;
		source->cursor = parquet_cursor_new(input->parquet, leaf);
	}
}

static struct cell cell_of(struct opendc_input *input, const struct parquet_leaf *leaf,
			   const struct parquet_item *item)
{
	struct cell cell = {.type = CELL_NULL};
	uint32_t narrow = (uint32_t)item->bits;
	float single;

	if (item->null)
		return cell;
	cell.type = CELL_INTEGER;
	switch (leaf->type) {
	case PARQUET_BOOLEAN:
	case PARQUET_INT32:
		cell.integer = (int32_t)narrow;
		break;
	case PARQUET_INT64:
		cell.integer = (int64_t)item->bits;
		break;
	case PARQUET_FLOAT:
		memcpy(&single, &narrow, sizeof(single));
		cell.type = CELL_REAL;
		cell.real = (double)single;
		break;
	case PARQUET_DOUBLE:
		cell.type = CELL_REAL;
		memcpy(&cell.real, &item->bits, sizeof(cell.real));
		break;
	default:
		/* The text may still move: for now it is told by its place. */
		cell.type = CELL_TEXT;
		cell.integer = (int64_t)input->text.size;
		cell.size = item->size;
		bytes_add(&input->text, item->bytes, item->size);
	}
	return cell;
}

static int read_list(struct opendc_input *input, struct opendc_source *source,
		     const struct parquet_item *first, struct parquet_list *list,
		     struct error *error)
{
	unsigned empty = source->leaf->top == PARQUET_OPTIONAL;
	struct parquet_item item = *first;
	int more = 1;

	list->null = item.definition < empty;
	if (item.definition <= empty)
		return 0;
	while (more > 0) {
		struct cell cell = cell_of(input, source->leaf, &item);

		opendc_add_element(input, &cell);
		list->count++;
		more = parquet_cursor_in_row(source->cursor, error);
		if (more > 0)
			more = parquet_cursor_next(source->cursor, &item, error);
	}
	return more;
}

static int read_field(struct opendc_input *input, enum opendc_field field,
		      struct opendc_row *row, struct error *error)
{
	struct opendc_source *source = &input->source[field];
	struct parquet_item item;
	int more = parquet_cursor_next(source->cursor, &item, error);

	if (more == 0)
		error_set(error, "%s: column %s ends with row %" PRIu64, input->path,
			  source->leaf->path, input->row);
	if (more <= 0)
		return -1;
	if (source->column->parquet.list)
		return read_list(input, source, &item, &row->list[field - OPENDC_PARENTS],
				 error);
	row->cell[field] = cell_of(input, source->leaf, &item);
	return 0;
}

int opendc_next_parquet(struct opendc_input *input, struct opendc_row *row,
			struct error *error)
{
	if (input->row == parquet_reader_rows(input->parquet))
		return 0;
	row->number = ++input->row;
	for (int i = 0; i < OPENDC_FIELDS; i++)
		if (input->source[i].cursor &&
		    read_field(input, (enum opendc_field)i, row, error))
			return -1;
	for (int i = 0; i < OPENDC_FIELDS; i++)
		if (row->cell[i].type == CELL_TEXT)
			row->cell[i].bytes =
			    (const char *)input->text.data + row->cell[i].integer;
	return 1;
}
