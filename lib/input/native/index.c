/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/index.h"

#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum {
	INDEX_MAGIC = (int)0xc1f1dcc1,
	MOST_ENTRY = 1 << 10, /* bytes, so that there is no use in a larger one */
	OLD_ENTRY = 7 * 8,
	NEW_ENTRY = 9 * 8,
};

enum {
	FIELD_OFFSET,
	FIELD_SIZE,
	FIELD_CONTENT,
	FIELD_BEGIN,
	FIELD_END,
	FIELD_SEQUENCE = 8
};

struct index_form {
	uint32_t magic, major, minor, bytes; /* of an entry */
};

/* dir/name to dir/index/name.idx; none is much larger than what it is of. */
static FILE *open_index(const char *path, uint64_t bytes)
{
	const char *name = strrchr(path, '/');
	int length = name ? (int)(name - path + 1) : 0;
	char *index =
	    mem_printf("%.*sindex/%s.idx", length, path, name ? name + 1 : path);
	FILE *file = fopen(index, "rb");
	struct stat status;

	free(index);
	if (file && (fstat(fileno(file), &status) || !S_ISREG(status.st_mode) ||
		     (uint64_t)status.st_size / 2 > bytes)) {
		fclose(file);
		return NULL;
	}
	return file;
}

static bool read_form(FILE *file, struct index_form *form)
{
	if (fread(form, sizeof(*form), 1, file) != 1)
		return false;
	form->minor = be32toh(form->minor);
	form->bytes = be32toh(form->bytes);
	return be32toh(form->magic) == (uint32_t)INDEX_MAGIC &&
	       be32toh(form->major) == 1 && form->bytes <= MOST_ENTRY &&
	       form->bytes >= (form->minor ? NEW_ENTRY : OLD_ENTRY);
}

/* False at the end, and where it is cut. */
static bool read_entry(FILE *file, const struct index_form *form,
		       struct native_index_entry *entry)
{
	uint64_t field[MOST_ENTRY / sizeof(uint64_t) + 1];

	if (fread(field, 1, form->bytes, file) != form->bytes)
		return false;
	entry->offset = be64toh(field[FIELD_OFFSET]);
	entry->size = be64toh(field[FIELD_SIZE]);
	entry->begin = be64toh(field[FIELD_BEGIN]);
	entry->end = be64toh(field[FIELD_END]);
	entry->sequence = form->minor ? be64toh(field[FIELD_SEQUENCE]) : UINT64_MAX;
	return true;
}

size_t native_index_read(const char *path, uint64_t bytes,
			 struct native_index_entry **entry)
{
	FILE *file = open_index(path, bytes);
	struct native_index_entry next;
	struct index_form form;
	size_t count = 0, room = 0;
	uint64_t at = 0;

	*entry = NULL;
	if (!file)
		return 0;
	if (read_form(file, &form))
		while (at < bytes && read_entry(file, &form, &next) &&
		       next.offset == at && next.size && next.size % 8 == 0 &&
		       next.size / 8 <= bytes - at && next.begin <= next.end) {
			*entry = mem_grow(*entry, count, &room, sizeof(next));
			(*entry)[count++] = next;
			at += next.size / 8;
		}
	if (at != bytes || fgetc(file) != EOF) {
		free(*entry);
		*entry = NULL;
		count = 0;
	}
	fclose(file);
	return count;
}
