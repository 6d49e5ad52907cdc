/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"
#include "base/output_directory.h"

#include <dirent.h>

#include "../scratch.h"
#include "base/process.h"

static const struct output_kind kinds[] = {
    {OUTPUT_EMPTY, ".list", "an empty one", true, NULL},
    {OUTPUT_REPLACE, ".list", NULL, true, NULL},
};
static const struct output_kind adding = {.rule = OUTPUT_ADD};

static void put(const char *directory, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", directory, name);

	scratch_text(path, text);
	free(path);
}

static void overwrite(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void holds(const char *path, const char *text)
{
	char have[200] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fread(have, 1, sizeof(have) - 1, file) == strlen(text));
	assert_string_equal(have, text);
	fclose(file);
}

static bool is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void export_to(const char *path, bool force, const char *name, const char *text)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	assert_int_equal(output_directory_open(&directory, path, &kinds[force], &error),
			 0);
	put(directory.temporary, name, text);
	assert_int_equal(output_directory_commit(&directory, &error), 0);
}

static void refuses(const char *path, bool force, const char *message)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	assert_int_equal(output_directory_open(&directory, path, &kinds[force], &error),
			 -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

static int entries_of(const char *path)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;
	int count = 0;

	assert_non_null(stream);
	while ((entry = readdir(stream)))
		count +=
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(stream);
	return count;
}

TEST(a_new_directory_is_made)
{
	export_to("new/", false, "a/b", "text");
	holds("new/a/b", "text");
	holds("new/.list", "clustertrace export 1\na/b\n");
	remove_tree("new");
	assert_false(is_there("new"));
}

TEST(directories_above_it_are_made)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	export_to("above/all/new", false, "a/b", "text");
	holds("above/all/new/a/b", "text");
	holds("above/all/new/.list", "clustertrace export 1\na/b\n");
	export_to("above/other/./new/", false, "c", "text");
	holds("above/other/new/c", "text");
	assert_int_equal(
	    output_directory_open(&directory, "way/to/it", &kinds[0], &error), 0);
	put(directory.temporary, "a", "text");
	assert_false(is_there("way/to/it"));
	output_directory_discard(&directory);
	assert_int_equal(entries_of("."), 1);
}

/* Two at once, for neighbours: each makes what the other has not made yet. */
TEST(directories_above_it_are_made_at_once)
{
	static const char *const path[] = {"made/at/once/1", "made/at/once/2",
					   "made/at/3", "made/at/once/deep/./4/"};
	enum { COUNT = sizeof(path) / sizeof(*path) };
	struct output_directory directory[COUNT];
	struct error error = ERROR_INIT;

	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(
		    output_directory_open(&directory[i], path[i], &kinds[0], &error), 0);
		put(directory[i].temporary, "a/b", path[i]);
	}
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(output_directory_commit(&directory[i], &error), 0);
	for (int i = 0; i < COUNT; i++) {
		char *file = mem_printf("%s/a/b", path[i]);

		holds(file, path[i]);
		free(file);
	}
	assert_int_equal(entries_of("made/at"), 2);
	assert_int_equal(entries_of("made"), 1);
	/* The target itself is nobody else's. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    output_directory_open(&directory[i], "one/same", &kinds[0], &error),
		    0);
		put(directory[i].temporary, "a", "text");
	}
	assert_int_equal(output_directory_commit(&directory[0], &error), 0);
	assert_int_equal(output_directory_commit(&directory[1], &error), -1);
	assert_string_equal(error_text(&error), "one/same: Directory not empty");
	error_clear(&error);
	assert_int_equal(entries_of("one"), 1);
}

TEST(an_empty_one_is_filled)
{
	struct stat before, after;

	assert_int_equal(mkdir("empty", 0700), 0);
	assert_int_equal(symlink("empty", "link"), 0);
	assert_int_equal(stat("empty", &before), 0);
	export_to("link", false, "b", "text");
	holds("empty/b", "text");
	assert_int_equal(stat("empty", &after), 0);
	assert_true(before.st_ino == after.st_ino && after.st_mode == before.st_mode);
	assert_true(is_there("link"));
}

TEST(what_is_there_is_refused)
{
	assert_int_equal(mkdir("full", 0777), 0);
	overwrite("full/x", "");
	refuses("full", false, "full: not empty; use an empty one");
	refuses("full/x", true, "full/x: Not a directory");
	refuses("full/x/y", false, "full/x/y: Not a directory");
	refuses("", false, ": No such file or directory");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	refuses("dangling", false, "dangling: No such file or directory");
}

TEST(force_replaces_what_an_export_left)
{
	export_to("out", false, "node=1/x", "old");
	overwrite("out/mine", "mine");
	overwrite("out/y", "also mine");
	export_to("out", true, "y", "new");
	assert_false(is_there("out/node=1"));
	holds("out/mine", "mine");
	holds("out/y", "new");
	holds("out/.list", "clustertrace export 1\ny\n");
}

TEST(a_list_cannot_lead_elsewhere)
{
	assert_int_equal(mkdir("evil", 0777), 0);
	overwrite("victim", "v");
	assert_int_equal(mkdir("there", 0777), 0);
	overwrite("there/victim", "v");
	assert_int_equal(symlink("../there", "evil/link"), 0);
	overwrite("evil/.list",
		  "clustertrace export 1\n../victim\nlink/victim\na/../../victim\n\n/\n");
	export_to("evil", true, "y", "new");
	holds("victim", "v");
	holds("there/victim", "v");
}

TEST(what_is_in_the_way_is_told_before)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	export_to("way", false, "a", "old");
	assert_int_equal(mkdir("way/b", 0777), 0);
	assert_int_equal(output_directory_open(&directory, "way", &kinds[1], &error), 0);
	put(directory.temporary, "b", "new");
	assert_int_equal(output_directory_commit(&directory, &error), -1);
	assert_non_null(strstr(error_text(&error), "way/b: exists and is not a file"));
	error_clear(&error);
	holds("way/a", "old");
	holds("way/.list", "clustertrace export 1\na\n");
}

TEST(what_was_not_committed_goes)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;
	char *temporary;

	assert_int_equal(output_directory_open(&directory, "gone", &kinds[0], &error), 0);
	for (int i = 0; i < 500; i++) {
		char name[40];

		snprintf(name, sizeof(name), "d%d/e/a-long-name-of-a-file-%d", i % 7, i);
		put(directory.temporary, name, "text");
	}
	temporary = mem_printf("%s/link", directory.temporary);
	assert_int_equal(symlink("/", temporary), 0);
	free(temporary);
	temporary = mem_strdup(directory.temporary);
	output_directory_discard(&directory);
	assert_false(is_there(temporary));
	assert_false(is_there("gone"));
	free(temporary);
}

static void add(const char *path, const char *name, const char *message)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	assert_int_equal(output_directory_open(&directory, path, &adding, &error), 0);
	put(directory.temporary, name, "new");
	put(directory.temporary, "z", "new");
	assert_int_equal(output_directory_commit(&directory, &error), message ? -1 : 0);
	assert_string_equal(error_text(&error), message ? message : "");
	error_clear(&error);
}

TEST(entries_are_added_all_or_none)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	add("added//", "a/b", NULL);
	holds("added/a/b", "new");
	add("added", "b", "added/z: File exists");
	assert_false(is_there("added/b"));
	assert_int_equal(entries_of("added"), 2);
	assert_int_equal(output_directory_open(&directory, "none/a", &adding, &error),
			 -1);
	assert_string_equal(error_text(&error), "none/a: No such file or directory");
	error_clear(&error);
	assert_int_equal(output_directory_open(&directory, "other", &adding, &error), 0);
	assert_false(output_directory_has(&directory, "z"));
	error_set(&error, "x: %s/a: full", directory.temporary);
	output_directory_explain(&directory, &error);
	assert_string_equal(error_text(&error), "x: other/a: full");
	error_clear(&error);
	output_directory_discard(&directory);
}

/* Neither goes anything into a trace that is read, nor is a file replaced that is. */
TEST(inputs_stay)
{
	struct output_directory directory;
	struct error error = ERROR_INIT;

	scratch_text("trace/deep/metadata", "m");
	output_protect("trace");
	assert_int_equal(output_directory_open(&directory, "trace", &kinds[1], &error),
			 -1);
	assert_non_null(
	    strstr(error_text(&error), "trace: refusing to overwrite an input"));
	assert_int_equal(
	    output_directory_open(&directory, "trace/deep/new/er", &kinds[0], &error),
	    -1);
	assert_string_equal(error_text(&error), "trace/deep/new/er: refusing to write "
						"into the input trace; use another name");
	assert_int_equal(mkdir("mixed", 0777), 0);
	scratch_text("mixed/file", "recorded");
	output_protect("mixed/file");
	assert_int_equal(output_directory_open(&directory, "mixed", &kinds[1], &error),
			 0);
	put(directory.temporary, "a", "new");
	put(directory.temporary, "file", "new");
	assert_int_equal(output_directory_commit(&directory, &error), -1);
	assert_non_null(
	    strstr(error_text(&error), "mixed/file: refusing to overwrite an input"));
	error_clear(&error);
	holds("mixed/file", "recorded");
	assert_int_equal(entries_of("mixed"), 1);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
