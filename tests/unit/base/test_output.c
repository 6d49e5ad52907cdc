/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "../scratch.h"

static size_t files_here(void)
{
	DIR *directory = opendir(".");
	size_t count = 0;

	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void a_file_appears_at_the_commit(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("hello\n", output.file);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("out", "hello\n");
	assert_int_equal(files_here(), 1);
	output_discard(&output);
	assert_file("out", "hello\n");
}

static void an_old_file_is_replaced_whole(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;

	(void)state;
	scratch_text("out", "old and long");
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	fflush(output.file);
	assert_file("out", "old and long");
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("out", "new");
}

static void what_is_discarded_leaves_nothing(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;

	(void)state;
	scratch_text("out", "old");
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	output_discard(&output);
	output_discard(&output);
	assert_file("out", "old");
	assert_int_equal(files_here(), 1);
}

static void the_umask_decides_who_may_read(void **state)
{
	struct error error = ERROR_INIT;
	mode_t before = umask(027);
	struct output output;
	struct stat status;

	(void)state;
	assert_int_equal(output_open(&output, "out", &error), 0);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(stat("out", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(umask(before), 027);
}

static void a_missing_directory_is_named(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;

	(void)state;
	assert_int_equal(output_open(&output, "none/out", &error), -1);
	assert_string_equal(error_text(&error), "none/out: No such file or directory");
	output_discard(&output);
	error_clear(&error);
	assert_int_equal(files_here(), 0);
}

static void a_target_that_cannot_be_replaced_stays(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;

	(void)state;
	assert_int_equal(mkdir("out", 0777), 0);
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	assert_int_equal(output_commit(&output, &error), -1);
	assert_string_equal(error_text(&error), "out: Is a directory");
	output_discard(&output);
	error_clear(&error);
	assert_int_equal(files_here(), 1);
}

/* Whoever reads a pipe gets it, and the pipe stays one. */
static void a_pipe_is_written_as_it_is(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;
	struct stat status;
	char text[8] = "";
	int reader;

	(void)state;
	assert_int_equal(mkfifo("out", 0600), 0);
	reader = open("out", O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("hello", output.file);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(read(reader, text, sizeof(text) - 1), 5);
	assert_string_equal(text, "hello");
	close(reader);
	assert_int_equal(lstat("out", &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(files_here(), 1);
}

static void a_link_stays_a_link(void **state)
{
	struct error error = ERROR_INIT;
	struct output output;
	struct stat status;

	(void)state;
	scratch_text("file", "old");
	assert_int_equal(symlink("file", "out"), 0);
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("file", "new");
	assert_int_equal(lstat("out", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	/* One that leads into nothing has nobody to write to. */
	assert_int_equal(symlink("none/file", "lost"), 0);
	assert_int_equal(output_open(&output, "lost", &error), -1);
	assert_string_equal(error_text(&error), "lost: No such file or directory");
	error_clear(&error);
}

/* As on a full disk: no file may grow beyond 4096 bytes. */
static int commit_to_a_full_disk(size_t bytes, struct error *error)
{
	struct rlimit before, tight;
	struct output output;
	int result;

	assert_int_equal(output_open(&output, "out", error), 0);
	fflush(NULL);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &tight);
	for (size_t i = 0; i < bytes; i++)
		putc('x', output.file);
	result = output_commit(&output, error);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	return result;
}

static void a_full_disk_keeps_the_old_file(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	scratch_text("out", "old");
	for (size_t bytes = 4097; bytes < 70000; bytes += 20000) {
		assert_int_equal(commit_to_a_full_disk(bytes, &error), -1);
		assert_string_equal(error_text(&error), "out: File too large");
		assert_file("out", "old");
		assert_int_equal(files_here(), 1);
	}
	error_clear(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_file_appears_at_the_commit),
	    SCRATCH_TEST(an_old_file_is_replaced_whole),
	    SCRATCH_TEST(what_is_discarded_leaves_nothing),
	    SCRATCH_TEST(the_umask_decides_who_may_read),
	    SCRATCH_TEST(a_missing_directory_is_named),
	    SCRATCH_TEST(a_target_that_cannot_be_replaced_stays),
	    SCRATCH_TEST(a_pipe_is_written_as_it_is),
	    SCRATCH_TEST(a_link_stays_a_link),
	    SCRATCH_TEST(a_full_disk_keeps_the_old_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
