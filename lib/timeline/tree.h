/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_TREE_H
#define CT_TIMELINE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "timeline/row_bytes.h"

/*
 * Pages of a database file, written one behind the other before SQLite opens it:
 * https://www.sqlite.org/fileformat2.html. Page 1 is that of a database without
 * tables; SQLite takes the pages behind it for ones in use, and puts its own behind
 * them.
 */
#define PAGE_BYTES 8192

struct pages;

/* Takes the descriptor of an empty file. `place` goes in front of errors; copied. */
struct pages *pages_new(int fd, const char *place);

/* The number of the page behind one, which is not always the next number. */
uint32_t page_after(uint32_t number);

/* Write what waits. 0, or -1 with error. */
int pages_flush(struct pages *pages, struct error *error);

/* Closes the file, as it is. */
void pages_free(struct pages *pages);

/*
 * A table or an index as SQLite's file has it, a tree of pages, made of what comes
 * in order: https://www.sqlite.org/fileformat2.html#b_tree_pages. Each page is filled
 * and written once, when the next one begins. Only the root waits until SQLite has
 * said which page that is.
 */
struct tree;

/* Borrows the pages. */
struct tree *tree_new(struct pages *pages, bool is_index);

/*
 * Add a row of a table by ascending id, or a key of an index or a row of a table
 * without rowid (whose `id` counts for nothing) by ascending key. 0, or -1 with error: it
 * is of no use then.
 */
int tree_add(struct tree *tree, int64_t id, const struct row_bytes *row,
	     struct error *error);

/* Write all pages but the root. 0, or -1 with error. */
int tree_finish(struct tree *tree, struct error *error);

/* Put the root of a finished tree into its page. 0, or -1 with error. */
int tree_write_root(struct tree *tree, uint32_t page, struct error *error);

void tree_free(struct tree *tree);

#endif
