/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/sqlite_pages.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/worker.h"

enum {
	PAGE_BYTES = SQLITE_PAGE_BYTES,
	AT_ONCE = 128,                           /* pages per write */
	LOCK_PAGE = 0x40000000 / PAGE_BYTES + 1, /* sections 1.3 and 1.4 of the format */
	MOST_PAGES = 0xfffffffe,
};

static void put_be(unsigned char *to, uint64_t value, int bytes)
{
	while (bytes-- > 0) {
		to[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

/* Consecutive pages. */
struct run {
	unsigned char *bytes;
	uint32_t first, count;
};

/* Copying pages into the system's cache takes as long as filling them, so a thread writes
 * one run while the next one is filled. */
struct sqlite_pages {
	int fd;
	char *place, *failure;
	struct run run[2];
	struct worker writer;
	struct sqlite_tree **tree;
	size_t trees, capacity;
	struct texts names; /* names of the trees, in the same order */
};

/* Make the first page of an empty database. Its header does not say how many pages the
 * file has, so SQLite derives that from the file's size. */
static void make_first_page(unsigned char *page)
{
	static const unsigned char versions_and_payload[] = {1, 1, 0, 64, 32, 32};

	memcpy(page, "SQLite format 3", 16);
	put_be(page + 16, PAGE_BYTES, 2);
	memcpy(page + 18, versions_and_payload, sizeof(versions_and_payload));
	page[100] = 0x0d;
	put_be(page + 105, PAGE_BYTES, 2);
}

static int write_at(const struct sqlite_pages *pages, const struct run *run)
{
	return output_write_all(pages->fd, run->bytes, (size_t)run->count * PAGE_BYTES,
				(off_t)(run->first - 1) * PAGE_BYTES);
}

/* Set the error of the first failure, from errno. Return -1. */
static int set_failure(struct sqlite_pages *pages, struct error *error)
{
	if (!pages->failure)
		pages->failure = mem_strdup(strerror(errno));
	return error_set(error, "%s: %s", pages->place, pages->failure);
}

/* Return 0, or errno. The disk begins at once, so that syncing the file at the end does
 * not wait for all of it. */
static int write_run(void *context, size_t slot)
{
	const struct sqlite_pages *pages = context;
	const struct run *run = &pages->run[slot];

	if (write_at(pages, run))
		return errno;
	sync_file_range(pages->fd, (off_t)(run->first - 1) * PAGE_BYTES,
			(off_t)run->count * PAGE_BYTES, SYNC_FILE_RANGE_WRITE);
	return 0;
}

struct sqlite_pages *sqlite_pages_new(int fd, const char *place)
{
	struct sqlite_pages *pages = mem_zalloc(sizeof(*pages));

	pages->fd = fd;
	pages->place = mem_strdup(place);
	for (int i = 0; i < 2; i++)
		pages->run[i].bytes = mem_zalloc((size_t)AT_ONCE * PAGE_BYTES);
	pages->run[0].first = pages->run[0].count = 1;
	worker_init(&pages->writer, 2, write_run, pages);
	make_first_page(pages->run[0].bytes);
	return pages;
}

/* Pass the run to the thread, and begin the next one. */
static int hand_over(struct sqlite_pages *pages, struct error *error)
{
	const struct run *run = &pages->run[pages->writer.at];
	uint32_t next = run->first + run->count;
	struct run *after;

	errno = worker_pass(&pages->writer);
	after = &pages->run[pages->writer.at];
	after->first = next;
	after->count = 0;
	return errno ? set_failure(pages, error) : 0;
}

/*
 * Return the memory of the next page, of any content and valid until the next call, and
 * set `number`. Return NULL with error if this or an earlier write failed.
 */
static unsigned char *add_page(struct sqlite_pages *pages, uint32_t *number,
			       struct error *error)
{
	struct run *run = &pages->run[pages->writer.at];
	unsigned char *page;

	if (run->count == AT_ONCE && hand_over(pages, error))
		return NULL;
	run = &pages->run[pages->writer.at];
	*number = run->first + run->count;
	if (*number == MOST_PAGES)
		errno = EFBIG;
	if (pages->failure || *number == MOST_PAGES) {
		set_failure(pages, error);
		return NULL;
	}
	page = run->bytes + (size_t)run->count++ * PAGE_BYTES;
	if (*number != LOCK_PAGE)
		return page;
	memset(page, 0, PAGE_BYTES);
	return add_page(pages, number, error);
}

uint32_t sqlite_page_after(uint32_t number)
{
	return number + 1 == LOCK_PAGE ? LOCK_PAGE + 1 : number + 1;
}

static uint32_t next_page_number(const struct sqlite_pages *pages)
{
	const struct run *run = &pages->run[pages->writer.at];

	return sqlite_page_after(run->first + run->count - 1);
}

static int replace_page(struct sqlite_pages *pages, uint32_t number,
			const unsigned char *bytes, struct error *error)
{
	const struct run run = {(unsigned char *)bytes, number, 1};

	return pages->failure || write_at(pages, &run) ? set_failure(pages, error) : 0;
}

enum {
	LEVELS = 16, /* enough, as a page has more than a hundred children */
	LEAF_HEADER = 8,
	INNER_HEADER = 12,
	CHILD = 4, /* bytes of a page number */
	/* Bytes of a row in its own page: limits for a table's leaf and for an index, and
	 * the least if the row continues in overflow pages (section 1.6). */
	LOCAL_MOST = PAGE_BYTES - 35,
	KEY_LOCAL_MOST = (PAGE_BYTES - 12) * 64 / 255 - 23,
	LOCAL_LEAST = (PAGE_BYTES - 12) * 32 / 255 - 23,
	OVERFLOW = PAGE_BYTES - CHILD, /* bytes of a row in each overflow page */
};

/* The page of one level that is being filled, as a sequence of cells. */
struct node {
	unsigned char *bytes;
	uint16_t *at; /* offset of each cell */
	size_t capacity, used, cell_capacity, cells;
	uint32_t last; /* the root's right child, after sqlite_pages_finish() */
};

struct sqlite_tree {
	struct sqlite_pages *pages;
	bool is_index;
	struct node level[LEVELS];
	int levels;
	int64_t last_id; /* id of a table's last row */
	uint32_t root;   /* page number: ours if detached, otherwise SQLite's */
	bool is_detached;
};

struct sqlite_tree *sqlite_tree_new(struct sqlite_pages *pages, const char *name,
				    bool is_index)
{
	struct sqlite_tree *tree = mem_zalloc(sizeof(*tree));

	tree->pages = pages;
	tree->is_index = is_index;
	tree->levels = 1;
	texts_put(&pages->names, name);
	*MEM_NEXT(pages->tree, pages->trees, pages->capacity) = tree;
	assert(pages->names.count == pages->trees);
	return tree;
}

void sqlite_tree_detach(struct sqlite_tree *tree)
{
	tree->is_detached = true;
}

uint32_t sqlite_tree_root(const struct sqlite_tree *tree)
{
	return tree->root;
}

static size_t header_size(int level)
{
	return level ? INNER_HEADER : LEAF_HEADER;
}

static bool cell_fits(const struct sqlite_tree *tree, int level, size_t size)
{
	const struct node *node = &tree->level[level];

	return header_size(level) + 2 * (node->cells + 1) + node->used + size <=
	       PAGE_BYTES;
}

/* Append a cell, which must fit, and return its memory. */
static unsigned char *add_cell(struct node *node, size_t size)
{
	if (node->used + size > node->capacity) {
		node->capacity = 2 * node->capacity + size + 64;
		if (node->capacity > PAGE_BYTES)
			node->capacity = PAGE_BYTES;
		node->bytes = mem_realloc(node->bytes, node->capacity, 1);
	}
	if (node->cells == node->cell_capacity) {
		node->cell_capacity = 2 * node->cell_capacity + 8;
		node->at = mem_realloc(node->at, node->cell_capacity, sizeof(*node->at));
	}
	node->at[node->cells++] = (uint16_t)node->used;
	node->used += size;
	return node->bytes + node->used - size;
}

/* Format a page: a header and the cells' offsets at the start, the cells at the end. */
static void make_page(const struct sqlite_tree *tree, int level, uint32_t right,
		      unsigned char *page)
{
	const struct node *node = &tree->level[level];
	size_t begin = PAGE_BYTES - node->used, header = header_size(level);
	size_t end = header + 2 * node->cells;

	page[0] = (unsigned char)((tree->is_index ? 2 : 5) | (level ? 0 : 8));
	put_be(page + 1, 0, 2);
	put_be(page + 3, node->cells, 2);
	put_be(page + 5, begin, 2);
	page[7] = 0;
	if (level)
		put_be(page + 8, right, CHILD);
	for (size_t i = 0; i < node->cells; i++)
		put_be(page + header + 2 * i, begin + node->at[i], 2);
	memset(page + end, 0, begin - end);
	if (node->used)
		memcpy(page + begin, node->bytes, node->used);
}

static int close_page(struct sqlite_tree *tree, int level, uint32_t right,
		      uint32_t *number, struct error *error)
{
	struct node *node = &tree->level[level];
	unsigned char *page = add_page(tree->pages, number, error);

	if (!page)
		return -1;
	make_page(tree, level, right, page);
	node->cells = node->used = 0;
	return 0;
}

/* The key that separates a full page from the next: a row id in a table, a whole key in
 * an index. */
struct divider {
	unsigned char bytes[PAGE_BYTES];
	size_t size;
};

/*
 * Remove the last cell of a full page and make it the divider; `right` is the child in
 * it. For a table's leaf, the divider is the last id, and no cell is removed.
 */
static void make_divider(struct sqlite_tree *tree, int level, struct divider *divider,
			 uint32_t *right)
{
	struct node *node = &tree->level[level];
	const unsigned char *cell;

	*right = 0;
	if (level == 0 && !tree->is_index) {
		divider->size = varint_put(divider->bytes, (uint64_t)tree->last_id);
		return;
	}
	cell = node->bytes + node->at[--node->cells];
	divider->size = (size_t)(node->bytes + node->used - cell);
	node->used -= divider->size;
	if (level) {
		for (int i = 0; i < CHILD; i++)
			*right = *right << 8 | *cell++;
		divider->size -= CHILD;
	}
	memcpy(divider->bytes, cell, divider->size);
}

/* Write the full page of a level and add it to the level above. */
static int split_level(struct sqlite_tree *tree, int level, struct error *error)
{
	struct divider divider;
	uint32_t right, number;
	unsigned char *cell;

	make_divider(tree, level, &divider, &right);
	if (close_page(tree, level, right, &number, error))
		return -1;
	level++;
	assert(level < LEVELS);
	if (level == tree->levels)
		tree->levels++;
	if (!cell_fits(tree, level, CHILD + divider.size) &&
	    split_level(tree, level, error))
		return -1;
	cell = add_cell(&tree->level[level], CHILD + divider.size);
	put_be(cell, number, CHILD);
	memcpy(cell + CHILD, divider.bytes, divider.size);
	return 0;
}

/* Write the bytes that do not fit into the row's own page to a chain of overflow pages.
 */
static int write_overflow(struct sqlite_tree *tree, const unsigned char *bytes,
			  size_t size, struct error *error)
{
	while (size > 0) {
		size_t part = size < OVERFLOW ? size : OVERFLOW;
		uint32_t number;
		unsigned char *page = add_page(tree->pages, &number, error);

		if (!page)
			return -1;
		memcpy(page + CHILD, bytes, part);
		memset(page + CHILD + part, 0, OVERFLOW - part);
		bytes += part;
		size -= part;
		put_be(page, size > 0 ? next_page_number(tree->pages) : 0, CHILD);
	}
	return 0;
}

/* Return how many bytes of a row are in its own page. */
static size_t local_size(const struct sqlite_tree *tree, size_t size)
{
	size_t most = tree->is_index ? KEY_LOCAL_MOST : LOCAL_MOST, local;

	if (size <= most)
		return size;
	local = LOCAL_LEAST + (size - LOCAL_LEAST) % OVERFLOW;
	return local <= most ? local : LOCAL_LEAST;
}

/* Copy bytes, mostly some tens of them, without calling a function for those. */
static inline void copy_bytes(unsigned char *to, const unsigned char *from, size_t size)
{
	enum { STEP = 16, HALF = STEP / 2 };

	if (size < HALF || size > 4 * STEP) {
		memmove(to, from, size);
		return;
	}
	if (size < STEP) {
		memcpy(to, from, HALF);
		memcpy(to + size - HALF, from + size - HALF, HALF);
		return;
	}
	for (size_t at = 0; at < size - STEP; at += STEP)
		memcpy(to + at, from + at, STEP);
	memcpy(to + size - STEP, from + size - STEP, STEP);
}

int sqlite_tree_add(struct sqlite_tree *tree, int64_t id, const struct row_bytes *row,
		    struct error *error)
{
	size_t local = local_size(tree, row->size);
	size_t overflow = local < row->size ? CHILD : 0;
	unsigned size =
	    varint_size(row->size) + (tree->is_index ? 0 : varint_size((uint64_t)id));
	unsigned char *cell;

	if (!cell_fits(tree, 0, size + local + overflow) && split_level(tree, 0, error))
		return -1;
	cell = add_cell(&tree->level[0], size + local + overflow);
	cell += varint_put(cell, row->size);
	if (!tree->is_index)
		cell += varint_put(cell, (uint64_t)id);
	copy_bytes(cell, row->bytes, local);
	if (overflow)
		put_be(cell + local, next_page_number(tree->pages), CHILD);
	tree->last_id = id;
	return write_overflow(tree, row->bytes + local, row->size - local, error);
}

/* Write a tree's last pages, except a root that SQLite places. */
static int finish_tree(struct sqlite_tree *tree, struct error *error)
{
	uint32_t right = 0;

	for (int level = 0; level < tree->levels - !tree->is_detached; level++)
		if (close_page(tree, level, right, &right, error))
			return -1;
	if (tree->is_detached)
		tree->root = right;
	else
		tree->level[tree->levels - 1].last = right;
	return 0;
}

/* Write the remaining pages and wait for the thread. Return 0, or -1 with error. */
static int flush_pages(struct sqlite_pages *pages, struct error *error)
{
	if (hand_over(pages, error))
		return -1;
	errno = worker_wait(&pages->writer);
	return errno ? set_failure(pages, error) : 0;
}

int sqlite_pages_finish(struct sqlite_pages *pages, struct error *error)
{
	for (size_t i = 0; i < pages->trees; i++)
		if (finish_tree(pages->tree[i], error))
			return -1;
	return flush_pages(pages, error);
}

void sqlite_pages_set_root(struct sqlite_pages *pages, const char *name, uint32_t page)
{
	size_t at = texts_put(&pages->names, name);

	if (at < pages->trees)
		pages->tree[at]->root = page;
}

int sqlite_pages_write_roots(struct sqlite_pages *pages, struct error *error)
{
	for (size_t i = 0; i < pages->trees; i++) {
		const struct sqlite_tree *tree = pages->tree[i];
		unsigned char bytes[PAGE_BYTES] = {0};
		int top = tree->levels - 1;

		assert(tree->root);
		if (tree->is_detached)
			continue;
		make_page(tree, top, tree->level[top].last, bytes);
		if (replace_page(pages, tree->root, bytes, error))
			return -1;
	}
	return 0;
}

static void free_tree(struct sqlite_tree *tree)
{
	for (int level = 0; level < LEVELS; level++) {
		free(tree->level[level].bytes);
		free(tree->level[level].at);
	}
	free(tree);
}

void sqlite_pages_free(struct sqlite_pages *pages)
{
	if (!pages)
		return;
	worker_end(&pages->writer);
	close(pages->fd);
	for (size_t i = 0; i < pages->trees; i++)
		free_tree(pages->tree[i]);
	free(pages->tree);
	texts_clear(&pages->names);
	free(pages->place);
	free(pages->failure);
	free(pages->run[0].bytes);
	free(pages->run[1].bytes);
	free(pages);
}
