/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/mapped.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

enum { SIZE = 16 << 20, PAGE = 4096 };

/* KiB of files that are in this process's memory, -1 if the system does not say. */
static long resident_files(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "RssFile: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

static int make_file(void)
{
	FILE *file = tmpfile();
	char page[PAGE];
	int fd;

	assert_non_null(file);
	fd = dup(fileno(file));
	assert_true(fd >= 0);
	fclose(file);
	for (int i = 0; i < SIZE / PAGE; i++) {
		memset(page, i & 0x7f, sizeof(page));
		assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	}
	return fd;
}

static void check_pages(const char *bytes)
{
	for (int i = 0; i < SIZE / PAGE; i++)
		assert_int_equal(bytes[(size_t)i * PAGE], i & 0x7f);
}

static void what_was_read_is_let_go_and_comes_back(void **state)
{
	int fd = make_file();
	char *bytes = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	long before, after;

	(void)state;
	assert_ptr_not_equal(bytes, MAP_FAILED);
	check_pages(bytes);
	before = resident_files();
	if (before < 0)
		skip();
	mapped_release();
	after = resident_files();
	assert_true(after <= before - SIZE / 1024 * 3 / 4);
	check_pages(bytes);
	munmap(bytes, SIZE);
	close(fd);
}

static void what_was_written_stays(void **state)
{
	int fd = make_file();
	char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	char *closed = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	(void)state;
	assert_ptr_not_equal(bytes, MAP_FAILED);
	assert_ptr_not_equal(closed, MAP_FAILED);
	bytes[1] = closed[1] = 'x';
	mapped_release();
	assert_int_equal(bytes[1], 'x');
	/* As the loader leaves a library: written to, then read-only, not open. */
	assert_int_equal(mprotect(closed, SIZE, PROT_READ), 0);
	close(fd);
	mapped_release();
	assert_int_equal(closed[1], 'x');
	munmap(bytes, SIZE);
	munmap(closed, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_read_is_let_go_and_comes_back),
	    cmocka_unit_test(what_was_written_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
