/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_PAGES_H
#define CT_TIMELINE_PAGES_H

#include <stdint.h>

#include "base/error.h"

/*
 * Pages of a database file, written one behind the other before SQLite opens it:
 * https://www.sqlite.org/fileformat2.html. Page 1 is that of a database without
 * tables; SQLite takes the pages behind it for ones in use, and puts its own behind
 * them.
 */
#define PAGE_BYTES 4096

struct pages;

/* Takes the descriptor of an empty file. `place` goes in front of errors; copied. */
struct pages *pages_new(int fd, const char *place);

/*
 * Room for the next page, zeroed; good until the next call. `number` becomes its
 * number. NULL with error if writing failed, as in every later call then.
 */
unsigned char *pages_take(struct pages *pages, uint32_t *number, struct error *error);

/* The number of the page behind one, which is not always the next number. */
uint32_t page_after(uint32_t number);

/* The number that the next page will have. */
uint32_t pages_next(const struct pages *pages);

/* Write what waits. 0, or -1 with error. */
int pages_flush(struct pages *pages, struct error *error);

/* Put other bytes into a page, when SQLite has closed the file. 0, or -1 with error. */
int pages_replace(struct pages *pages, uint32_t number, const unsigned char *bytes,
		  struct error *error);

/* Closes the file, as it is. */
void pages_free(struct pages *pages);

static inline void put_be(unsigned char *to, uint64_t value, int bytes)
{
	while (bytes-- > 0) {
		to[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

#endif
