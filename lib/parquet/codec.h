/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_CODEC_H
#define CT_PARQUET_CODEC_H

#include "base/bytes.h"
#include "parquet/parquet.h"

/*
 * Turns the content of a page into the page: compressed, with its header. One serves all
 * columns of a file; it is the only user of the compressors' libraries.
 */
struct parquet_press {
	enum parquet_codec codec;
	int level;            /* of zstd */
	void *zstd;           /* its context, when the first page is there */
	struct bytes content; /* to be filled for each page */
	struct bytes delta;   /* of use while the content is made, */
	struct bytes direct;  /* and this too */
	struct bytes packed;
};

struct parquet_page_head {
	int32_t type; /* FORMAT_..._PAGE */
	int32_t values;
	int32_t encoding;
};

/*
 * Add the page with its header to `out` and its size before compression to
 * `raw_size`; empties the content. 0, or -1 with error.
 */
int parquet_press_page(struct parquet_press *press, const struct parquet_page_head *head,
		       struct bytes *out, uint64_t *raw_size, struct error *error);

/* The codec's number in the format (CompressionCodec). */
int32_t parquet_codec_number(enum parquet_codec codec);

void parquet_press_clear(struct parquet_press *press);

#endif
