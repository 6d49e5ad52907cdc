/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"

/*
 * SQLite locks bytes at 1 GiB where a file system locks bytes that are there, so the
 * page with these is never used (sections 1.3 and 1.4 of the format).
 */
enum {
	AT_ONCE = 64, /* pages a write */
	LOCK_PAGE = 0x40000000 / PAGE_BYTES + 1,
	MOST_PAGES = 0xfffffffe,
};

struct pages {
	int fd;
	char *place, *failure;
	unsigned char *bytes; /* what waits */
	uint32_t first, next; /* waiting: from `first` up to `next` */
};

/* Of an empty database; SQLite counts its pages by the length of the file. */
static void make_first_page(unsigned char *page)
{
	static const unsigned char versions_and_payload[] = {1, 1, 0, 64, 32, 32};

	memcpy(page, "SQLite format 3", 16);
	put_be(page + 16, PAGE_BYTES, 2);
	memcpy(page + 18, versions_and_payload, sizeof(versions_and_payload));
	page[100] = 0x0d;
	put_be(page + 105, PAGE_BYTES, 2);
}

struct pages *pages_new(int fd, const char *place)
{
	struct pages *pages = mem_zalloc(sizeof(*pages));

	pages->fd = fd;
	pages->place = mem_strdup(place);
	pages->bytes = mem_zalloc((size_t)AT_ONCE * PAGE_BYTES);
	pages->first = 1;
	pages->next = 2;
	make_first_page(pages->bytes);
	return pages;
}

static int write_at(const struct pages *pages, const unsigned char *bytes, size_t size,
		    uint32_t page)
{
	return output_write_all(pages->fd, bytes, size, (off_t)(page - 1) * PAGE_BYTES);
}

static int fail(struct pages *pages, struct error *error)
{
	if (!pages->failure)
		pages->failure = mem_strdup(strerror(errno));
	return error_set(error, "%s: %s", pages->place, pages->failure);
}

int pages_flush(struct pages *pages, struct error *error)
{
	size_t size = (size_t)(pages->next - pages->first) * PAGE_BYTES;

	if (pages->failure || write_at(pages, pages->bytes, size, pages->first))
		return fail(pages, error);
	pages->first = pages->next;
	return 0;
}

unsigned char *pages_take(struct pages *pages, uint32_t *number, struct error *error)
{
	unsigned char *page;

	if (pages->next - pages->first == AT_ONCE && pages_flush(pages, error))
		return NULL;
	if (pages->next == MOST_PAGES)
		errno = EFBIG;
	if (pages->failure || pages->next == MOST_PAGES) {
		fail(pages, error);
		return NULL;
	}
	page = pages->bytes + (size_t)(pages->next - pages->first) * PAGE_BYTES;
	memset(page, 0, PAGE_BYTES);
	if (pages->next++ == LOCK_PAGE)
		return pages_take(pages, number, error);
	*number = pages->next - 1;
	return page;
}

uint32_t page_after(uint32_t number)
{
	return number + 1 == LOCK_PAGE ? LOCK_PAGE + 1 : number + 1;
}

uint32_t pages_next(const struct pages *pages)
{
	return page_after(pages->next - 1);
}

int pages_replace(struct pages *pages, uint32_t number, const unsigned char *bytes,
		  struct error *error)
{
	if (pages->failure || write_at(pages, bytes, PAGE_BYTES, number))
		return fail(pages, error);
	return 0;
}

void pages_free(struct pages *pages)
{
	if (!pages)
		return;
	close(pages->fd);
	free(pages->place);
	free(pages->failure);
	free(pages->bytes);
	free(pages);
}
