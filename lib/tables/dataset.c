/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/dataset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "tables/csv_text.h"
#include "tables/directory.h"

/* A file that is open. */
struct dataset_file {
	struct bytes key; /* values of the keys, as key_of makes them */
	char *name;
	FILE *file;
	struct table_file *table;
	uint64_t used; /* the row that it had last */
};

struct dataset {
	const char *directory;
	const struct question *question;
	const struct table_style *style;
	struct dataset_key *key;
	size_t keys;
	struct dataset_file *file;
	size_t files, most;
	struct dataset_file *last;
	struct bytes wanted; /* the key of the row at hand */
	uint64_t rows, mended;
};

struct dataset *dataset_new(const char *directory, const struct question *question,
			    const struct dataset_key *key, size_t keys,
			    const struct table_style *style, size_t most)
{
	struct dataset *dataset = mem_zalloc(sizeof(*dataset));

	dataset->directory = directory;
	dataset->question = question;
	dataset->style = style;
	dataset->key = mem_alloc(keys * sizeof(*key));
	memcpy(dataset->key, key, keys * sizeof(*key));
	dataset->keys = keys;
	dataset->file = mem_zalloc(most * sizeof(*dataset->file));
	dataset->most = most;
	return dataset;
}

char *dataset_escape(const char *bytes, size_t size)
{
	char *text;
	size_t length;
	FILE *out;

	if (size == 0)
		return mem_strdup("__HIVE_DEFAULT_PARTITION__");
	out = open_memstream(&text, &length);
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' || byte == 0x7f || strchr("\"#%'*/:=?\\{[]^", byte) ||
		    (i == 0 && byte == '.'))
			fprintf(out, "%%%02X", byte);
		else
			putc(byte, out);
	}
	fclose(out);
	return text;
}

/* Type and value of each key, which tells rows apart and is quick to compare. */
static void key_of(struct bytes *bytes, const struct dataset *dataset,
		   const struct cell *row)
{
	bytes_empty(bytes, SIZE_MAX);
	for (size_t i = 0; i < dataset->keys; i++) {
		const struct cell *cell = &row[dataset->key[i].column];

		if (dataset->key[i].text)
			continue;
		bytes_add_byte(bytes, (uint8_t)cell->type);
		if (cell->type == CELL_INTEGER || cell->type == CELL_REAL) {
			bytes_add(bytes, &cell->integer, sizeof(cell->integer));
		} else if (cell->type != CELL_NULL) {
			bytes_add(bytes, &cell->size, sizeof(cell->size));
			bytes_add(bytes, cell->bytes, cell->size);
		}
	}
}

static char *value_text(const struct dataset_key *key, const struct cell *row)
{
	const struct cell *cell = &row[key->column];
	char number[CSV_NUMBER];

	if (key->text)
		return dataset_escape(key->text, strlen(key->text));
	switch (cell->type) {
	case CELL_INTEGER:
	case CELL_REAL:
		return dataset_escape(number, csv_number(number, cell));
	case CELL_TEXT:
	case CELL_BLOB:
		return dataset_escape(cell->bytes, cell->size);
	case CELL_NULL:
		break;
	}
	return dataset_escape("", 0);
}

/* "node=n1/class=sched_switch/" */
static char *path_of(const struct dataset *dataset, const struct cell *row)
{
	char *path = mem_strdup("");

	for (size_t i = 0; i < dataset->keys; i++) {
		const struct dataset_key *key = &dataset->key[i];
		char *name = dataset_escape(key->name, strlen(key->name));
		char *value = value_text(key, row);
		char *longer = mem_printf("%s%s=%s/", path, name, value);

		free(name);
		free(value);
		free(path);
		path = longer;
	}
	return path;
}

static int close_file(struct dataset *dataset, struct dataset_file *file,
		      struct error *error)
{
	int status = table_file_end(file->table, error);

	dataset->mended += table_file_mended(file->table);
	table_file_free(file->table);
	file->table = NULL;
	if (!status)
		status = export_close(file->file, file->name, error);
	else
		fclose(file->file);
	file->file = NULL;
	free(file->name);
	file->name = NULL;
	return status;
}

/* A place for one more open file: the one that was not used for longest goes. */
static struct dataset_file *free_place(struct dataset *dataset, struct error *error)
{
	struct dataset_file *oldest = &dataset->file[0];

	if (dataset->files < dataset->most)
		return &dataset->file[dataset->files++];
	for (size_t i = 1; i < dataset->files; i++)
		if (dataset->file[i].used < oldest->used)
			oldest = &dataset->file[i];
	return oldest->table && close_file(dataset, oldest, error) ? NULL : oldest;
}

static bool is_there(const struct dataset *dataset, const char *name)
{
	char *path = mem_printf("%s/%s", dataset->directory, name);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

/* The first part of this path that is not there yet. */
static char *part_name(const struct dataset *dataset, const char *path)
{
	for (unsigned part = 0;; part++) {
		char *name =
		    mem_printf("%spart-%u.%s", path, part, dataset->style->extension);

		if (!is_there(dataset, name))
			return name;
		free(name);
	}
}

static struct dataset_file *open_file(struct dataset *dataset, const struct cell *row,
				      struct error *error)
{
	struct dataset_file *file = free_place(dataset, error);
	char *path;

	if (!file)
		return NULL;
	path = path_of(dataset, row);
	file->name = part_name(dataset, path);
	free(path);
	file->file = export_create(dataset->directory, file->name, error);
	if (!file->file)
		return NULL;
	file->table = table_file_new(file->file, file->name, dataset->question,
				     dataset->style, error);
	if (!file->table)
		return NULL;
	bytes_empty(&file->key, SIZE_MAX);
	bytes_add(&file->key, dataset->wanted.data, dataset->wanted.size);
	return file;
}

static bool has_key(const struct dataset_file *file, const struct bytes *key)
{
	return file->table && file->key.size == key->size &&
	       (key->size == 0 || memcmp(file->key.data, key->data, key->size) == 0);
}

int dataset_row(struct dataset *dataset, const struct cell *row, struct error *error)
{
	struct dataset_file *file = dataset->last;

	key_of(&dataset->wanted, dataset, row);
	if (!file || !has_key(file, &dataset->wanted)) {
		file = NULL;
		for (size_t i = 0; i < dataset->files && !file; i++)
			if (has_key(&dataset->file[i], &dataset->wanted))
				file = &dataset->file[i];
	}
	if (!file)
		file = open_file(dataset, row, error);
	dataset->last = file;
	if (!file)
		return -1;
	file->used = ++dataset->rows;
	return table_file_rows(file->table, row, 1, error);
}

int dataset_end(struct dataset *dataset, struct error *error)
{
	for (size_t i = 0; i < dataset->files; i++)
		if (dataset->file[i].table &&
		    close_file(dataset, &dataset->file[i], error))
			return -1;
	return 0;
}

uint64_t dataset_mended(const struct dataset *dataset)
{
	return dataset->mended;
}

void dataset_free(struct dataset *dataset)
{
	if (!dataset)
		return;
	for (size_t i = 0; i < dataset->files; i++) {
		struct dataset_file *file = &dataset->file[i];

		table_file_free(file->table);
		if (file->file)
			fclose(file->file);
		free(file->name);
		bytes_clear(&file->key);
	}
	bytes_clear(&dataset->wanted);
	free(dataset->file);
	free(dataset->key);
	free(dataset);
}
