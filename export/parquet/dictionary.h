/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_DICTIONARY_H
#define CT_EXPORT_PARQUET_DICTIONARY_H

#include "base/bytes.h"
#include "export/parquet/value.h"

/* The different values of a column chunk, numbered as they come. */
struct parquet_dictionary {
	struct bytes plain; /* the values, as PLAIN has them */
	unsigned width; /* bytes of each, 0: they differ, and their size is in front */
	size_t most;    /* bytes of `plain` */
	uint32_t count;
	uint32_t *place; /* where each is in `plain`, only if they differ in size */
	uint32_t *slot;  /* a hash table of numbers, plus 1 */
	uint32_t slots;  /* a power of 2, or none yet */
	uint32_t last;   /* number of the value before, plus 1 */
	size_t place_room;
};

enum { PARQUET_FULL = -1 };

/* The number of a value, which is added where it is new; or PARQUET_FULL. */
int64_t parquet_dictionary_code(struct parquet_dictionary *dictionary,
				const struct parquet_value *value);

/* Add a value by its number to `out`, as PLAIN has it. */
void parquet_dictionary_copy(const struct parquet_dictionary *dictionary, uint32_t code,
			     struct bytes *out);

/* The bytes of memory that it has. */
size_t parquet_dictionary_held(const struct parquet_dictionary *dictionary);

void parquet_dictionary_clear(struct parquet_dictionary *dictionary);

#endif
