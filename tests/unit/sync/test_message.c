/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/message_log.h"

#include <signal.h>
#include <sys/resource.h>

#include "../scratch.h"

enum { BLOCK = 1 << 17, MANY = 2 * BLOCK + 1234 };

/* Between clock 0 and others, to and fro. */
static struct message numbered(uint64_t n, uint32_t *from, uint32_t *to)
{
	uint32_t other = 1 + (uint32_t)(n * 7 % 100);

	*from = n % 3 ? other : 0;
	*to = n % 3 ? 0 : other;
	return (struct message){.send_ns = (nsec_t)n, .recv_ns = NSEC_MAX - (nsec_t)n};
}

static int add(struct message_log *log, uint64_t count, struct error *error)
{
	while (count--) {
		uint32_t from, to;
		struct message message = numbered(log->count, &from, &to);

		if (message_log_add(log, from, to, &message, error))
			return -1;
	}
	return 0;
}

struct walk {
	const struct message_log *log;
	uint64_t seen, stop_at;
	uint64_t reject_every; /* 0: none */
	uint64_t rejected_every;
};

static int look(void *context, const struct message *message)
{
	struct walk *walk = context;
	uint32_t from, to;
	struct message wanted = numbered(walk->seen, &from, &to);

	assert_int_equal(message_from(walk->log, message), from);
	assert_int_equal(message_to(walk->log, message), to);
	assert_int_equal(message->send_ns, wanted.send_ns);
	assert_int_equal(message->recv_ns, wanted.recv_ns);
	assert_int_equal(message->rejected,
			 walk->rejected_every && walk->seen % walk->rejected_every == 0);
	return ++walk->seen == walk->stop_at;
}

static int reject(void *context, struct message *message)
{
	struct walk *walk = context;
	bool is_meant = walk->seen % walk->reject_every == 0;
	int stop = look(walk, message);

	if (is_meant)
		message->rejected = true;
	return stop;
}

static void check_walk(struct message_log *log, struct walk walk, uint64_t wanted)
{
	struct error error = ERROR_INIT;

	walk.log = log;
	assert_int_equal(walk.reject_every
			     ? message_log_change(log, reject, &walk, &error)
			     : message_log_each(log, look, &walk, &error),
			 0);
	assert_int_equal(walk.seen, wanted);
}

TEST(an_empty_log_has_nothing_to_walk)
{
	struct message_log log;

	message_log_init(&log);
	check_walk(&log, (struct walk){0}, 0);
	message_log_clear(&log);
	message_log_clear(&log);
}

TEST(the_order_is_that_of_adding)
{
	struct error error = ERROR_INIT;
	struct message_log log;

	message_log_init(&log);
	assert_int_equal(add(&log, BLOCK, &error), 0);
	assert_false(log.spill.is_open);
	check_walk(&log, (struct walk){0}, BLOCK);
	assert_int_equal(add(&log, 1, &error), 0);
	assert_true(log.spill.is_open);
	check_walk(&log, (struct walk){0}, BLOCK + 1);
	/* A walk in between does not disturb what comes after. */
	assert_int_equal(add(&log, MANY - BLOCK - 1, &error), 0);
	check_walk(&log, (struct walk){0}, MANY);
	check_walk(&log, (struct walk){0}, MANY);
	assert_int_equal(log.count, MANY);
	message_log_clear(&log);
}

TEST(changes_are_kept_on_both_sides_of_the_spill)
{
	struct error error = ERROR_INIT;
	struct message_log log;

	message_log_init(&log);
	assert_int_equal(add(&log, MANY, &error), 0);
	check_walk(&log, (struct walk){.reject_every = 5}, MANY);
	check_walk(&log, (struct walk){.rejected_every = 5}, MANY);
	message_log_clear(&log);
}

/* Messages that were changed before the stop stay so, later ones are as before. */
static void check_stop(uint64_t stop_at)
{
	struct error error = ERROR_INIT;
	struct message_log log;

	message_log_init(&log);
	assert_int_equal(add(&log, MANY, &error), 0);
	check_walk(&log, (struct walk){.reject_every = MANY, .stop_at = stop_at},
		   stop_at);
	check_walk(&log, (struct walk){.rejected_every = MANY}, MANY);
	assert_int_equal(add(&log, BLOCK, &error), 0);
	/* Numbers up to 2 * MANY - 1 that MANY divides: the first and MANY's own. */
	check_walk(&log, (struct walk){.rejected_every = MANY, .stop_at = MANY}, MANY);
	message_log_clear(&log);
}

TEST(a_walk_may_stop_anywhere)
{
	check_stop(1);
	check_stop(BLOCK);
	check_stop(BLOCK + 1);
	check_stop(2 * BLOCK + 1);
	check_stop(MANY);
}

SCRATCH_TEST(the_spill_is_an_unnamed_file_in_tmpdir)
{
	struct error error = ERROR_INIT;
	static const char end[] = " (deleted)";
	char link[64], name[4096], wanted[4096];
	struct message_log log;
	ssize_t length;

	assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
	message_log_init(&log);
	assert_int_equal(add(&log, BLOCK + 1, &error), 0);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", log.spill.fd);
	length = readlink(link, name, sizeof(name) - 1);
	assert_true(length > 0);
	name[length] = '\0';
	snprintf(wanted, sizeof(wanted), "%s/", scratch);
	assert_memory_equal(name, wanted, strlen(wanted));
	assert_string_equal(name + length - strlen(end), end);
	assert_int_equal(rmdir(scratch), 0); /* it is empty */
	assert_int_equal(mkdir(scratch, 0700), 0);
	assert_int_equal(chdir(scratch), 0);
	message_log_clear(&log);
}

SCRATCH_TEST(a_missing_tmpdir_is_an_error)
{
	struct error error = ERROR_INIT;
	struct message_log log;

	assert_int_equal(setenv("TMPDIR", "none", 1), 0);
	message_log_init(&log);
	assert_int_equal(add(&log, BLOCK, &error), 0);
	assert_int_equal(add(&log, 1, &error), -1);
	assert_string_equal(error_text(&error), "cannot make a temporary file of "
						"messages: No such file or directory");
	assert_int_equal(unsetenv("TMPDIR"), 0);
	error_clear(&error);
	message_log_clear(&log);
}

SCRATCH_TEST(a_full_disk_is_an_error)
{
	struct error error = ERROR_INIT;
	struct rlimit before, tight;
	struct message_log log;
	int result;

	message_log_init(&log);
	assert_int_equal(add(&log, BLOCK, &error), 0);
	fflush(NULL);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = 65536;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &tight);
	result = add(&log, 1, &error);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(result, -1);
	assert_string_equal(error_text(&error),
			    "cannot write the temporary file of messages: File too "
			    "large");
	error_clear(&error);
	message_log_clear(&log);
}

struct ends_walk {
	uint64_t next, given, stop_at;
	uint64_t rejected_every; /* 0: none */
};

static int look_at_ends(void *context, const struct message_ends *ends,
			struct error *error)
{
	struct ends_walk *walk = context;

	if (walk->rejected_every && walk->next % walk->rejected_every == 0)
		walk->next++;
	assert_int_equal(ends->send.ordinal, walk->next);
	assert_int_equal(ends->recv.local_ns, -(nsec_t)walk->next);
	assert_int_equal(ends->packet.id, walk->next++);
	return ++walk->given == walk->stop_at ? error_set(error, "enough") : 0;
}

static int add_with_ends(struct message_log *log, uint64_t count, struct error *error)
{
	while (count--) {
		struct message_ends ends = {.send.ordinal = log->count,
					    .recv.local_ns = -(nsec_t)log->count,
					    .packet.id = (uint32_t)log->count};

		if (message_log_add_ends(log, &ends, error) || add(log, 1, error))
			return -1;
	}
	return 0;
}

TEST(ends_are_those_of_messages_that_are_not_rejected)
{
	static const uint64_t counts[] = {0, 1, 4096, 4097, BLOCK, BLOCK + 1, MANY};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct ends_walk all = {0}, some = {.rejected_every = 3};
		struct error error = ERROR_INIT;
		struct message_log log;

		message_log_init(&log);
		assert_int_equal(add_with_ends(&log, counts[i], &error), 0);
		assert_int_equal(message_log_walk_ends(&log, look_at_ends, &all, &error),
				 0);
		assert_int_equal(all.given, counts[i]);
		check_walk(&log, (struct walk){.reject_every = 3}, counts[i]);
		assert_int_equal(message_log_walk_ends(&log, look_at_ends, &some, &error),
				 0);
		assert_int_equal(some.given, counts[i] - (counts[i] + 2) / 3);
		message_log_clear(&log);
	}
}

TEST(a_walk_of_ends_stops_with_an_error)
{
	static const uint64_t stops[] = {1, 4096, 4097, MANY};
	struct error error = ERROR_INIT;
	struct message_log log;

	message_log_init(&log);
	assert_int_equal(add_with_ends(&log, MANY, &error), 0);
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
		struct ends_walk walk = {.stop_at = stops[i]};

		assert_int_equal(message_log_walk_ends(&log, look_at_ends, &walk, &error),
				 -1);
		assert_int_equal(walk.given, stops[i]);
		assert_string_equal(error_text(&error), "enough");
		error_clear(&error);
	}
	message_log_clear(&log);
}
