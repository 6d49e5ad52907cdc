/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_FORMAT_H
#define CT_PARQUET_FORMAT_H

/* Numbers of the Parquet format (parquet.thrift) that several files need. */
enum {
	FORMAT_PLAIN = 0,
	FORMAT_RLE = 3,
	FORMAT_DELTA_BINARY_PACKED = 5,
	FORMAT_RLE_DICTIONARY = 8,
	FORMAT_ENCODINGS,
};

enum { FORMAT_DATA_PAGE = 0, FORMAT_DICTIONARY_PAGE = 2 };

#define FORMAT_MAGIC "PAR1"

#endif
