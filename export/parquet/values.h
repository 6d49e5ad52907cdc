/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_VALUES_H
#define CT_EXPORT_PARQUET_VALUES_H

#include "export/parquet/chunk.h"

/* The parts of a data page's content, from the page that a chunk is filling. */

/* Levels with their size in front; nothing can be added to them after that. */
void parquet_values_add_levels(struct bytes *content, struct parquet_hybrid *levels);

/* The values as numbers of the dictionary. */
void parquet_values_add_codes(struct bytes *content, const struct parquet_chunk *chunk);

/* Is the dictionary with these bytes of codes smaller than the values without it? */
bool parquet_values_pays(const struct parquet_chunk *chunk, size_t codes);

/* The values without the dictionary, and how they are encoded. */
int32_t parquet_values_add(struct bytes *content, const struct parquet_chunk *chunk);

#endif
