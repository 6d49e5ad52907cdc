/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/trial.h"

#include <signal.h>

#include "ctf_write.h"

#include "base/signals.h"
#include "input/record.h"

static void comes_back(const char *path)
{
	(void)path;
}

static void gives_up(const char *path)
{
	if (strcmp(path, "bad") == 0)
		abort();
}

static void leaves(const char *path)
{
	_exit(*path);
}

static void is_stopped(const char *path)
{
	(void)path;
	raise(SIGTERM);
}

static void what_ends_is_told_from_what_breaks_down(void **state)
{
	(void)state;
	assert_true(trial_passes(comes_back, "t"));
	assert_true(trial_passes(leaves, "t"));
	assert_true(trial_passes(gives_up, "good"));
	assert_false(trial_passes(gives_up, "bad"));
	assert_false(trial_passes(is_stopped, "t"));
}

static void loses_its_file(const char *path)
{
	(void)path;
	raise(SIGBUS);
}

static void undo(int number)
{
	(void)number;
	_exit(0);
}

/* What the program does at signals is not for the trial to do. */
static void a_trial_undoes_nothing(void **state)
{
	(void)state;
	signals_catch(undo);
	signals_catch_pipe(undo);
	assert_false(trial_passes(is_stopped, "t"));
	assert_false(trial_passes(gives_up, "bad"));
	assert_false(trial_passes(loses_its_file, "t"));
	signals_forget();
}

/* libbabeltrace2 2.0.4 asserts that each option is a label of the tag. */
static void a_trace_that_libbabeltrace2_asserts_about_is_an_error(void **state)
{
	struct reader_choice choice = {.kind = READER_BABELTRACE2};
	struct error error = ERROR_INIT;

	(void)state;
	scratch_text(
	    "t/metadata",
	    METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
		0, 0, "u",
		"enum : uint8_t { a = 0, b = 1 } tag; variant <tag> { uint8_t a; "
		"uint16_t c; } v;"));
	assert_null(trace_records_open("t", &choice, &error));
	assert_string_not_equal(error_text(&error), "");
	error_clear(&error);
	choice.kind = READER_AUTO;
	assert_null(trace_records_open("t", &choice, &error));
	error_clear(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_ends_is_told_from_what_breaks_down),
	    cmocka_unit_test(a_trial_undoes_nothing),
	    SCRATCH_TEST(a_trace_that_libbabeltrace2_asserts_about_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
