/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/dataset.h"

#include "../scratch.h"

SCRATCH_TEST(files_are_made_with_directories_above_them)
{
	struct error error = ERROR_INIT;
	FILE *file = export_create(".", "once/more", &error);

	assert_non_null(file);
	fputs("text", file);
	assert_int_equal(export_close(file, "once/more", &error), 0);
	assert_file("once/more", "text");
	assert_null(export_create(".", "once/more", &error));
	assert_string_equal(error_text(&error), "once/more: File exists");
	assert_null(export_create(".", "once/more/still", &error));
	assert_string_equal(error_text(&error), "once/more/still: Not a directory");
	error_clear(&error);
}

SCRATCH_TEST(a_full_disk_is_told)
{
	struct error error = ERROR_INIT;
	FILE *file = fopen("/dev/full", "w");

	fputs("text", file);
	assert_int_equal(export_close(file, "name", &error), -1);
	assert_string_equal(error_text(&error), "name: No space left on device");
	error_clear(&error);
}
