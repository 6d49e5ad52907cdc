/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader against libbabeltrace2 on traces of layouts drawn at random:
 * sizes, alignments, byte orders, nested types, headers, contexts, packets. They are
 * written here, and again by libbabeltrace2's own writer, where it can.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "random_trace.h"
#include "record_compare.h"

enum { TRACES = 200, REWRITTEN = 10 }; /* one in so many is written again */

/*
 * A file of a stream, while it is written, and its index as LTTng writes it. We read no
 * index; libbabeltrace2 does, and has the sequence numbers of packets from there only.
 */
struct stream_file {
	struct bits bits, index;
	unsigned stream, instance;
};

static void begin_index(struct stream_file *file)
{
	file->index.at = 0;
	bits_put(&file->index, 32, 0xc1f1dcc1u, true);
	bits_put(&file->index, 32, 1, true);
	bits_put(&file->index, 32, 1, true);
	bits_put(&file->index, 32, 9 * 8, true);
}

static void put_indexed(struct whole_trace *whole, struct stream_file *file,
			uint64_t counter[2])
{
	uint64_t offset = file->bits.at, begin = whole->clock, size;

	put_packet(whole, file->stream, file->instance, &file->bits, counter);
	size = file->bits.at - offset;
	bits_put(&file->index, 64, offset / 8, true);
	bits_put(&file->index, 64, size, true);
	bits_put(&file->index, 64, size, true); /* its content, which nobody reads here */
	bits_put(&file->index, 64, begin, true);
	bits_put(&file->index, 64, whole->clock, true);
	bits_put(&file->index, 64, counter[1], true);
	bits_put(&file->index, 64, file->stream, true);
	bits_put(&file->index, 64, file->instance, true);
	bits_put(&file->index, 64, counter[0], true);
}

static void write_file(struct stream_file *file, int number, bool is_indexed)
{
	char *name = mem_printf("ch%u_%u_%d", 9 - file->stream, file->instance, number);
	char *path = mem_printf("t/%s", name),
	     *index = mem_printf("t/index/%s.idx", name);

	scratch_bytes(path, file->bits.byte, file->bits.at / 8);
	if (is_indexed)
		scratch_bytes(index, file->index.byte, file->index.at / 8);
	free(index);
	free(path);
	free(name);
}

/*
 * The packets of a stream instance, in one file or, as LTTng rotates them, in several
 * whose names are not in the order of time. Some files come twice. What several files
 * hold is in order: else libbabeltrace2 goes by how the directory lists them.
 */
static void put_instance(struct whole_trace *whole, unsigned stream, unsigned instance,
			 int back)
{
	/* libbabeltrace2 does not count what was lost before the first packet. */
	uint64_t counter[2] = {UINT64_MAX, 0};
	int rotation = chance(30) ? 60 : 0;
	struct stream_file file = {.bits = {.big = whole->say.big},
				   .index = {.big = true},
				   .stream = stream,
				   .instance = instance};
	int64_t packets = draw_between(1, rotation ? 9 : 5);
	bool is_indexed = whole->stream[stream].has_sequence;

	whole->clock = 1u << 30;
	begin_index(&file);
	for (int64_t n = 1; n <= packets; n++) {
		int number = (int)(n * 7 % 10);

		whole->clock +=
		    chance(rotation ? 0 : 30) ? 0 : (uint64_t)draw_between(1, 100);
		whole->is_back = n > 1 && !rotation && chance(back);
		if (whole->is_back)
			whole->clock -= (uint64_t)draw_between(0, 3000);
		put_indexed(whole, &file, counter);
		if (n < packets && !chance(rotation))
			continue;
		write_file(&file, number, is_indexed);
		if (rotation && back && chance(20))
			write_file(&file, number + 10, is_indexed);
		file.bits.at = 0;
		begin_index(&file);
	}
	free(file.bits.byte);
	free(file.index.byte);
}

/* All of them of the same time. */
static void put_streams(struct whole_trace *whole, int back)
{
	for (unsigned i = 0; i < whole->streams; i++)
		for (int64_t k = draw_between(1, 3); k > 0; k--)
			put_instance(whole, i, (unsigned)k, back);
}

static bool succeeds(const char *const *words)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status, spawned;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "said",
					 O_WRONLY | O_CREAT | O_TRUNC, 0666);
	spawned =
	    posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(spawned, 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Return true if the last child complained; babeltrace2 can succeed all the same. */
static bool complained(void)
{
	char *said = scratch_read("said", NULL);
	bool found = strstr(said, " E PLUGIN/") != NULL;

	free(said);
	return found;
}

/*
 * Write t again as s and compare that. Of some layouts sink.ctf.fs 2.0 aborts, or makes
 * what source.ctf.fs cannot read, or 2.1 never ends to read; that is no trace to compare.
 * Returns whether it was one.
 */
static bool compare_rewritten(uint64_t events)
{
	static const char *const write[] = {
	    "babeltrace2", "t",  "-c",
	    "sink.ctf.fs", "-p", "path=\"s\",assume-single-trace=true,quiet=true",
	    NULL};
	static const char *const read[] = {"timeout", "20",    "babeltrace2", "s",
					   "-o",      "dummy", NULL};
	bool written = succeeds(write),
	     known = written && succeeds(read) && !complained();

	if (known) {
		assert_int_equal(compare_readers("s"), events);
		assert_int_equal(compare_records("s"), events);
	}
	nftw("s", scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
	return known;
}

SCRATCH_TEST(traces_of_any_layout_are_read_the_same)
{
	const char *given = getenv("CT_TRACES");
	long traces = given ? strtol(given, NULL, 10) : TRACES;
	uint64_t events = 0;
	long rewritten = 0;

	for (long i = 0; i < traces; i++) {
		struct whole_trace whole = {.clock = 0};
		/* A trace whose time goes back cannot be written again. */
		bool again = i % REWRITTEN == 0;
		uint64_t these;

		say_trace(&whole);
		scratch_text("t/metadata", whole.say.text.text);
		put_streams(&whole, again ? 0 : 20);
		these = compare_readers("t");
		assert_int_equal(compare_records("t"), these);
		events += these;
		if (these && again)
			rewritten += compare_rewritten(these);
		whole_clear(&whole);
		assert_int_equal(nftw("t", scratch_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
	print_message("%ld traces, %" PRIu64 " events, %ld written again\n", traces,
		      events, rewritten);
	assert_true(traces < TRACES || rewritten > 0);
}
