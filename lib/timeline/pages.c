/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/pages.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/process.h"

/*
 * SQLite locks bytes at 1 GiB where a file system locks bytes that are there, so the
 * page with these is never used (sections 1.3 and 1.4 of the format).
 */
enum {
	AT_ONCE = 128, /* pages a write */
	LOCK_PAGE = 0x40000000 / PAGE_BYTES + 1,
	MOST_PAGES = 0xfffffffe,
};

/* Some pages, one behind the other. */
struct run {
	unsigned char *bytes;
	uint32_t first, count;
};

/* A system takes as long to copy pages into its cache as we to fill them: while one run
 * is filled a thread writes the one before. */
struct pages {
	int fd;
	char *place, *failure;
	struct run run; /* being filled */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct run written; /* the thread's while it is busy */
	bool is_busy, is_over;
	int problem; /* errno of a write, 0 */
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
	pages->run = (struct run){
	    .bytes = mem_zalloc((size_t)AT_ONCE * PAGE_BYTES), .first = 1, .count = 1};
	pages->written.bytes = mem_zalloc((size_t)AT_ONCE * PAGE_BYTES);
	pthread_mutex_init(&pages->lock, NULL);
	pthread_cond_init(&pages->changed, NULL);
	make_first_page(pages->run.bytes);
	return pages;
}

static int write_at(const struct pages *pages, const struct run *run)
{
	return output_write_all(pages->fd, run->bytes, (size_t)run->count * PAGE_BYTES,
				(off_t)(run->first - 1) * PAGE_BYTES);
}

static int fail(struct pages *pages, struct error *error)
{
	if (!pages->failure)
		pages->failure = mem_strdup(strerror(errno));
	return error_set(error, "%s: %s", pages->place, pages->failure);
}

static void *write_runs(void *context)
{
	struct pages *pages = context;

	pthread_mutex_lock(&pages->lock);
	while (pages->is_busy || !pages->is_over) {
		int problem;

		if (!pages->is_busy) {
			pthread_cond_wait(&pages->changed, &pages->lock);
			continue;
		}
		pthread_mutex_unlock(&pages->lock);
		problem = write_at(pages, &pages->written) ? errno : 0;
		pthread_mutex_lock(&pages->lock);
		if (problem)
			pages->problem = problem;
		pages->is_busy = false;
		pthread_cond_broadcast(&pages->changed);
	}
	pthread_mutex_unlock(&pages->lock);
	return NULL;
}

/* Signals are for the thread that knows what to clean up. */
static void start_thread(struct pages *pages)
{
	sigset_t before;

	signals_hold(&before);
	pages->has_thread = !pthread_create(&pages->thread, NULL, write_runs, pages);
	signals_release(&before);
}

/* The run goes to the thread, or, where there is none, to the file. */
static int hand_over(struct pages *pages, struct error *error)
{
	struct run run = pages->run;

	if (!pages->has_thread)
		start_thread(pages);
	pthread_mutex_lock(&pages->lock);
	while (pages->is_busy)
		pthread_cond_wait(&pages->changed, &pages->lock);
	pages->run = pages->written;
	pages->written = run;
	pages->run.first = run.first + run.count;
	pages->run.count = 0;
	pages->is_busy = pages->has_thread;
	if (!pages->has_thread && !pages->problem && write_at(pages, &run))
		pages->problem = errno;
	errno = pages->problem;
	pthread_cond_broadcast(&pages->changed);
	pthread_mutex_unlock(&pages->lock);
	return errno ? fail(pages, error) : 0;
}

int pages_flush(struct pages *pages, struct error *error)
{
	if (hand_over(pages, error))
		return -1;
	pthread_mutex_lock(&pages->lock);
	while (pages->is_busy)
		pthread_cond_wait(&pages->changed, &pages->lock);
	errno = pages->problem;
	pthread_mutex_unlock(&pages->lock);
	return errno ? fail(pages, error) : 0;
}

unsigned char *pages_take(struct pages *pages, uint32_t *number, struct error *error)
{
	struct run *run = &pages->run;
	unsigned char *page;

	if (run->count == AT_ONCE && hand_over(pages, error))
		return NULL;
	*number = run->first + run->count;
	if (*number == MOST_PAGES)
		errno = EFBIG;
	if (pages->failure || *number == MOST_PAGES) {
		fail(pages, error);
		return NULL;
	}
	page = run->bytes + (size_t)run->count++ * PAGE_BYTES;
	memset(page, 0, PAGE_BYTES);
	return *number == LOCK_PAGE ? pages_take(pages, number, error) : page;
}

uint32_t page_after(uint32_t number)
{
	return number + 1 == LOCK_PAGE ? LOCK_PAGE + 1 : number + 1;
}

uint32_t pages_next(const struct pages *pages)
{
	return page_after(pages->run.first + pages->run.count - 1);
}

int pages_replace(struct pages *pages, uint32_t number, const unsigned char *bytes,
		  struct error *error)
{
	const struct run run = {(unsigned char *)bytes, number, 1};

	return pages->failure || write_at(pages, &run) ? fail(pages, error) : 0;
}

void pages_free(struct pages *pages)
{
	if (!pages)
		return;
	pthread_mutex_lock(&pages->lock);
	pages->is_over = true;
	pthread_cond_broadcast(&pages->changed);
	pthread_mutex_unlock(&pages->lock);
	if (pages->has_thread)
		pthread_join(pages->thread, NULL);
	pthread_mutex_destroy(&pages->lock);
	pthread_cond_destroy(&pages->changed);
	close(pages->fd);
	free(pages->place);
	free(pages->failure);
	free(pages->run.bytes);
	free(pages->written.bytes);
	free(pages);
}
