/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_FOUND_H
#define CT_TEST_FOUND_H

/* Runs of the tests, and what merge_clocks_find makes of them. */
#include "merge/clocks.h"

#include "../scratch.h"

struct found {
	struct merge_run run;
	struct message_log messages;
	struct error error;
	int status;
};

/* Run a program of this build; its words are the tests' own. */
static inline void run_program(const char *words)
{
	char *command = mem_printf("PATH=\"$CT_BUILD/bin:$PATH\" && %s", words);

	assert_int_equal(system(command), 0);
	free(command);
}

static inline void find_by(struct found *found, const char *path,
			   const struct merge_clock_options *filter)
{
	struct progress progress;

	memset(found, 0, sizeof(*found));
	progress_init(&progress, true);
	assert_int_equal(source_add_run(&found->run.sources, path, &found->run.problems,
					&found->error),
			 0);
	found->run.count = found->run.sources.count;
	found->run.source = mem_zalloc(found->run.count * sizeof(*found->run.source));
	for (size_t i = 0; i < found->run.count; i++)
		found->run.source[i].kind = "trace";
	found->status = merge_clocks_find(&found->run, filter, &found->messages,
					  &progress, &found->error);
}

static inline void find_clocks(struct found *found, const char *path, const char *file,
			       bool none)
{
	const struct merge_clock_options filter = {
	    .file = file,
	    .none = none,
	    .sync = {.observe = {.threads = 1, .in_flight = 1 << 18},
		     .fit = {.drift_limit_ppm = 200,
			     .max_rejected = 0.02,
			     .bounds.threads = 1}}};

	find_by(found, path, &filter);
}

static inline void found_clear(struct found *found)
{
	for (size_t i = 0; i < found->run.count; i++)
		clock_clear(&found->run.source[i].clock);
	free(found->run.source);
	source_list_clear(&found->run.sources);
	clock_map_clear(&found->run.map);
	problem_clear(&found->run.problems);
	message_log_clear(&found->messages);
	error_clear(&found->error);
}

static inline int count_ends(void *context, const struct message_ends *ends,
			     struct error *error)
{
	(void)ends;
	(void)error;
	++*(uint64_t *)context;
	return 0;
}

/* Return the number of messages that are not rejected. */
static inline uint64_t messages_of(struct found *found)
{
	uint64_t count = 0;

	assert_int_equal(
	    message_log_walk_ends(&found->messages, count_ends, &count, &found->error),
	    0);
	return count;
}

/* The source of that name. */
static inline struct merge_source *source_named(const struct found *found,
						const char *name)
{
	for (size_t i = 0; i < found->run.count; i++)
		if (strcmp(found->run.sources.item[i].name, name) == 0)
			return &found->run.source[i];
	fail_msg("no source is named %s", name);
	return NULL;
}

static inline size_t count_problems(const struct found *found, const char *kind)
{
	size_t count = 0;

	for (size_t i = 0; i < found->run.problems.count; i++)
		count += strcmp(problem_kind_word(found->run.problems.item[i].kind),
				kind) == 0;
	return count;
}

/* The text of the only problem about clocks. */
static inline void assert_clock_problem(const struct found *found, const char *place,
					const char *text)
{
	assert_int_equal(count_problems(found, "clock"), 1);
	for (size_t i = 0; i < found->run.problems.count; i++) {
		const struct problem *problem = &found->run.problems.item[i];

		if (problem->kind != PROBLEM_CLOCK)
			continue;
		assert_string_equal(problem->place, place);
		assert_string_equal(problem->text, text);
	}
}

static inline bool is_identity(const struct clock *clock)
{
	return clock->segments == 1 && clock->segment->rate_ppb == 0 &&
	       clock->segment->local_ns == clock->segment->ref_ns;
}

#endif
