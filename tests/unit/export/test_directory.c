/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/directory.h"

#include <dirent.h>

#include "../scratch.h"
#include "base/removal.h"

static void put(const char *directory, const char *name, const char *text)
{
	struct error error = ERROR_INIT;
	FILE *file = export_create(directory, name, &error);

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(export_close(file, name, &error), 0);
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
	struct export_directory directory;
	struct error error = ERROR_INIT;

	assert_int_equal(export_directory_open(&directory, path, force, &error), 0);
	put(directory.temporary, name, text);
	assert_int_equal(export_directory_commit(&directory, &error), 0);
}

static void refuses(const char *path, bool force, const char *message)
{
	struct export_directory directory;
	struct error error = ERROR_INIT;

	assert_int_equal(export_directory_open(&directory, path, force, &error), -1);
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

static void a_new_directory_is_made(void **state)
{
	(void)state;
	export_to("new/", false, "a/b", "text");
	holds("new/a/b", "text");
	holds("new/.ctexport", "clustertrace export 1\na/b\n");
	removal_of_tree("new");
	assert_false(is_there("new"));
}

static void directories_above_it_are_made(void **state)
{
	struct export_directory directory;
	struct error error = ERROR_INIT;

	(void)state;
	export_to("above/all/new", false, "a/b", "text");
	holds("above/all/new/a/b", "text");
	holds("above/all/new/.ctexport", "clustertrace export 1\na/b\n");
	export_to("above/other/./new/", false, "c", "text");
	holds("above/other/new/c", "text");
	assert_int_equal(export_directory_open(&directory, "way/to/it", false, &error),
			 0);
	put(directory.temporary, "a", "text");
	assert_false(is_there("way"));
	export_directory_discard(&directory);
	assert_int_equal(entries_of("."), 1);
}

static void an_empty_one_is_filled(void **state)
{
	struct stat before, after;

	(void)state;
	assert_int_equal(mkdir("empty", 0700), 0);
	assert_int_equal(symlink("empty", "link"), 0);
	assert_int_equal(stat("empty", &before), 0);
	export_to("link", false, "b", "text");
	holds("empty/b", "text");
	assert_int_equal(stat("empty", &after), 0);
	assert_true(before.st_ino == after.st_ino && after.st_mode == before.st_mode);
	assert_true(is_there("link"));
}

static void what_is_there_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir("full", 0777), 0);
	overwrite("full/x", "");
	refuses("full", false, "full: not empty, want an empty directory or --force");
	refuses("full/x", true, "full/x: no directory, want one, or a name that is free");
	refuses("full/x/y", false, "full/x/y: Not a directory");
	refuses("none/../new", false, "none/../new: No such file or directory");
	refuses("", false, "--output: an empty name, want a directory");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	refuses("dangling", false, "dangling: No such file or directory");
}

static void force_replaces_what_an_export_left(void **state)
{
	(void)state;
	export_to("out", false, "node=1/x", "old");
	overwrite("out/mine", "mine");
	overwrite("out/y", "also mine");
	export_to("out", true, "y", "new");
	assert_false(is_there("out/node=1"));
	holds("out/mine", "mine");
	holds("out/y", "new");
	holds("out/.ctexport", "clustertrace export 1\ny\n");
}

static void a_list_cannot_lead_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(mkdir("evil", 0777), 0);
	overwrite("victim", "v");
	assert_int_equal(mkdir("there", 0777), 0);
	overwrite("there/victim", "v");
	assert_int_equal(symlink("../there", "evil/link"), 0);
	overwrite("evil/.ctexport",
		  "clustertrace export 1\n../victim\nlink/victim\na/../../victim\n\n/\n");
	export_to("evil", true, "y", "new");
	holds("victim", "v");
	holds("there/victim", "v");
}

static void what_is_in_the_way_is_told_before(void **state)
{
	struct export_directory directory;
	struct error error = ERROR_INIT;

	(void)state;
	export_to("way", false, "a", "old");
	assert_int_equal(mkdir("way/b", 0777), 0);
	assert_int_equal(export_directory_open(&directory, "way", true, &error), 0);
	put(directory.temporary, "b", "new");
	assert_int_equal(export_directory_commit(&directory, &error), -1);
	assert_non_null(strstr(error_text(&error), "/way/b: in the way, want a file"));
	error_clear(&error);
	holds("way/a", "old");
	holds("way/.ctexport", "clustertrace export 1\na\n");
}

static void what_was_not_committed_goes(void **state)
{
	struct export_directory directory;
	struct error error = ERROR_INIT;
	char *temporary;

	(void)state;
	assert_int_equal(export_directory_open(&directory, "gone", false, &error), 0);
	for (int i = 0; i < 500; i++) {
		char name[40];

		snprintf(name, sizeof(name), "d%d/e/a-long-name-of-a-file-%d", i % 7, i);
		put(directory.temporary, name, "text");
	}
	temporary = mem_printf("%s/link", directory.temporary);
	assert_int_equal(symlink("/", temporary), 0);
	free(temporary);
	temporary = mem_strdup(directory.temporary);
	export_directory_discard(&directory);
	assert_false(is_there(temporary));
	assert_false(is_there("gone"));
	free(temporary);
}

static void a_name_that_is_there_is_no_new_file(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	put(".", "once", "text");
	assert_null(export_create(".", "once", &error));
	assert_string_equal(error_text(&error), "once: File exists");
	assert_null(export_create(".", "once/more", &error));
	assert_string_equal(error_text(&error), "once/more: Not a directory");
	error_clear(&error);
}

static void a_full_disk_is_told(void **state)
{
	struct error error = ERROR_INIT;
	FILE *file = fopen("/dev/full", "w");

	(void)state;
	fputs("text", file);
	assert_int_equal(export_close(file, "name", &error), -1);
	assert_string_equal(error_text(&error), "name: No space left on device");
	error_clear(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_directory_is_made),
	    cmocka_unit_test(directories_above_it_are_made),
	    cmocka_unit_test(an_empty_one_is_filled),
	    cmocka_unit_test(what_is_there_is_refused),
	    cmocka_unit_test(force_replaces_what_an_export_left),
	    cmocka_unit_test(a_list_cannot_lead_elsewhere),
	    cmocka_unit_test(what_is_in_the_way_is_told_before),
	    cmocka_unit_test(what_was_not_committed_goes),
	    cmocka_unit_test(a_name_that_is_there_is_no_new_file),
	    cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
