/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_VALUES_H
#define CT_EXPORT_PARQUET_READ_VALUES_H

#include "base/bytes.h"
#include "export/parquet/read.h"
#include "export/parquet/read_delta.h"
#include "export/parquet/read_hybrid.h"

/* One value of a leaf. */
struct parquet_datum {
	uint64_t bits;        /* of fixed types up to 64 bits, lowest first */
	const uint8_t *bytes; /* of the others */
	uint32_t size;
};

/* The entries of a chunk's dictionary page. */
struct parquet_read_dictionary {
	struct parquet_datum *entry;
	size_t entries, room;
};

/* The values of a page, without its nulls. */
struct parquet_values_reader {
	const struct parquet_leaf *leaf;
	const struct parquet_read_dictionary *dictionary;
	int (*next)(struct parquet_values_reader *values, struct parquet_datum *datum);
	const uint8_t *at, *end;
	uint64_t index;                      /* of the next value */
	uint64_t most;                       /* values that there may be */
	struct parquet_hybrid_reader hybrid; /* indices; booleans */
	struct parquet_delta_reader delta;   /* integers; lengths */
	struct parquet_delta_reader shared;  /* bytes in common with the value before */
	struct bytes text;                   /* that value */
};

/*
 * Begin with the bytes of a page, by the number of their encoding in the format; the
 * leaf, the dictionary and `most` are set. 0, or -1 with error. Borrows all; what is in
 * `values` from an earlier page is used again.
 */
int parquet_values_begin(struct parquet_values_reader *values, int32_t encoding,
			 const uint8_t *data, size_t size, struct error *error);

/* The next value: 0, or -1 where the bytes are broken or end. */
static inline int parquet_values_next(struct parquet_values_reader *values,
				      struct parquet_datum *datum)
{
	return values->next(values, datum);
}

/* Read a dictionary page of PLAIN values. 0, or -1 with error. */
int parquet_dictionary_read(struct parquet_read_dictionary *dictionary,
			    const struct parquet_leaf *leaf, const uint8_t *data,
			    size_t size, uint32_t count, struct error *error);

#endif
