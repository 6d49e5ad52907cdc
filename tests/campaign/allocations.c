/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * To be preloaded (LD_PRELOAD): the allocation whose number is $FAILING, counted from 0,
 * fails. At exit, the number of allocations is written to
 * $COUNTED if that is set.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Those of glibc. */
extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long allocations;

static bool fails(void)
{
	static atomic_long failing = -1;
	long number = atomic_fetch_add(&allocations, 1);

	if (failing < 0) {
		const char *text = getenv("FAILING");

		failing = text ? atol(text) : LONG_MAX;
	}
	if (number != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

__attribute__((destructor)) static void write_count(void)
{
	const char *path = getenv("COUNTED");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%ld\n", (long)allocations);
	fclose(file);
}
