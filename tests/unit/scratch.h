/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SCRATCH_H
#define CT_TEST_SCRATCH_H

/*
 * A directory of a test's own. While the test runs it is the working
 * directory, so that paths in it and in messages are short.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "test.h"

static char *scratch; /* its name, absolute */
static int scratch_back = -1;

static inline int scratch_enter(void **unused)
{
	const char *parent = getenv("TMPDIR");
	char *name =
	    mem_printf("%s/scratch-XXXXXX", parent && *parent == '/' ? parent : P_tmpdir);

	(void)unused;
	scratch_back = open(".", O_RDONLY | O_DIRECTORY);
	scratch = mkdtemp(name) ? realpath(name, NULL) : NULL;
	free(name);
	return scratch && scratch_back >= 0 ? chdir(scratch) : -1;
}

static inline int scratch_unlink(const char *path, const struct stat *status, int kind,
				 struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

static inline int scratch_leave(void **unused)
{
	int status = fchdir(scratch_back);

	(void)unused;
	close(scratch_back);
	status |= nftw(scratch, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
	free(scratch);
	scratch = NULL;
	return status;
}

/* Make the directories above a file. */
static inline void scratch_directories(const char *path)
{
	char *copy = mem_strdup(path);

	for (char *at = strchr(copy, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(copy, 0777);
		*at = '/';
	}
	free(copy);
}

static inline void scratch_bytes(const char *path, const void *bytes, size_t count)
{
	FILE *file;

	scratch_directories(path);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static inline void scratch_text(const char *path, const char *text)
{
	scratch_bytes(path, text, strlen(text));
}

/* Return the contents of a file. The caller frees them. */
static inline char *scratch_read(const char *path, size_t *count)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	char *text;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	text = mem_zalloc((size_t)status.st_size + 1);
	assert_int_equal(fread(text, 1, (size_t)status.st_size, file), status.st_size);
	fclose(file);
	if (count)
		*count = (size_t)status.st_size;
	return text;
}

static inline void assert_file(const char *path, const char *text)
{
	char *have = scratch_read(path, NULL);

	assert_string_equal(have, text);
	free(have);
}

#define SCRATCH_TEST(function) FIXTURE_TEST(function, scratch_enter, scratch_leave)

/* Return the number of files and directories in the working directory, without hidden
 * ones. */
static inline size_t files_here(void)
{
	DIR *directory = opendir(".");
	size_t count = 0;

	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

#endif
