/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SOURCES_H
#define CT_TEST_SOURCES_H

/* Directories as users have them, and what is found in them. */
#include "input/run.h"

#include "../scratch.h"

typedef int add_sources(struct source_list *list, const char *path,
			struct problem_list *problems, struct error *error);

struct found_sources {
	struct source_list list;
	struct problem_list problems;
	struct error error;
	int status;
};

/* The head of a capture of Ethernet frames, and no frame. */
static inline void put_capture(const char *path)
{
	static const uint32_t head[] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};

	scratch_bytes(path, head, sizeof(head));
}

static inline void put_trace(const char *path)
{
	char *metadata = mem_printf("%s/metadata", path);

	scratch_text(metadata, "/* CTF 1.8 */");
	free(metadata);
}

static inline void find_sources(struct found_sources *found, add_sources *add,
				const char *path)
{
	memset(found, 0, sizeof(*found));
	found->status = add(&found->list, path, &found->problems, &found->error);
}

static inline void sources_clear(struct found_sources *found)
{
	source_list_clear(&found->list);
	problem_clear(&found->problems);
	error_clear(&found->error);
}

/* "name path" of every source, in order; NULL for a source without a name. */
static inline void assert_sources(add_sources *add, const char *path,
				  const char *const wanted[][2], size_t count)
{
	struct found_sources found;

	find_sources(&found, add, path);
	assert_string_equal(error_text(&found.error), "");
	assert_int_equal(found.status, 0);
	for (size_t i = 0; i < count && i < found.list.count; i++) {
		assert_string_equal(found.list.item[i].path, wanted[i][1]);
		if (wanted[i][0])
			assert_string_equal(found.list.item[i].name, wanted[i][0]);
		else
			assert_null(found.list.item[i].name);
	}
	assert_int_equal(found.list.count, count);
	assert_int_equal(found.problems.count, 0);
	sources_clear(&found);
}

#define SOURCES(add, path, ...)                                                          \
	assert_sources(add, path, (const char *const[][2]){__VA_ARGS__},                 \
		       sizeof((const char *const[][2]){__VA_ARGS__}) /                   \
			   sizeof(char *[2]))

static inline void assert_no_source(add_sources *add, const char *path,
				    const char *wanted)
{
	struct found_sources found;

	find_sources(&found, add, path);
	assert_int_equal(found.status, -1);
	assert_string_equal(error_text(&found.error), wanted);
	assert_int_equal(found.list.count, 0);
	sources_clear(&found);
}

#endif
