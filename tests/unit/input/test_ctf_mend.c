/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf_build.h"

struct mended {
	char *view;
	struct problem_list problems;
};

static void mend(struct mended *mended)
{
	struct error error = ERROR_INIT;

	memset(mended, 0, sizeof(*mended));
	assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
	mended->view = ctf_mend("t", &mended->problems, &error);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(error_text(&error), "");
	assert_non_null(mended->view);
	assert_memory_equal(mended->view, scratch, strlen(scratch));
}

/* And nothing of it is left. */
static void mended_clear(struct mended *mended)
{
	char *view = mem_strdup(mended->view);

	ctf_mend_remove(mended->view);
	assert_int_equal(access(view, F_OK), -1);
	free(view);
	problem_clear(&mended->problems);
}

static bool has(const struct mended *mended, const char *name)
{
	char *path = mem_printf("%s/%s", mended->view, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

/* The index of a stream in the view, without its head; returns its packets. */
static size_t read_index(const struct mended *mended, const char *stream,
			 struct index_entry *entry, size_t most)
{
	char *path = mem_printf("%s/index/%s.idx", mended->view, stream);
	char *text;
	struct index_head head;
	size_t size, count;

	text = scratch_read(path, &size);
	assert_true(size >= sizeof(head));
	memcpy(&head, text, sizeof(head));
	assert_int_equal(be32toh(head.magic), INDEX_MAGIC);
	assert_int_equal(be32toh(head.entry_size), sizeof(*entry));
	count = (size - sizeof(head)) / sizeof(*entry);
	assert_true(count <= most);
	memcpy(entry, text + sizeof(head), count * sizeof(*entry));
	free(text);
	free(path);
	return count;
}

static void put_trace(void)
{
	scratch_text("t/metadata", "/* CTF 1.8 */");
	put_stream("t/ch_0", 3, 4096, 0);
	put_stream("t/ch_1", 2, 4096, 0);
	scratch_text("t/empty", "");
	scratch_text("t/.hidden", "hello");
	put_index("t/index/ch_0.idx", 1, 512); /* a lie */
}

static void a_sound_trace_is_shown_whole(void **state)
{
	struct index_entry entry[4];
	struct mended mended;

	(void)state;
	put_trace();
	mend(&mended);
	assert_int_equal(mended.problems.count, 0);
	assert_true(has(&mended, "metadata") && has(&mended, "ch_1"));
	assert_false(has(&mended, "empty") || has(&mended, ".hidden"));
	assert_int_equal(read_index(&mended, "ch_0", entry, 4), 3);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(be64toh(entry[i].offset), 4096 * i);
		assert_int_equal(be64toh(entry[i].packet_size), 8 * 4096);
		assert_int_equal(be64toh(entry[i].content_size), 8 * (4096 - 5));
		assert_int_equal(be64toh(entry[i].timestamp_begin), 1000 * i);
		assert_int_equal(be64toh(entry[i].timestamp_end), 1000 * i + 900);
		assert_int_equal(be64toh(entry[i].discarded), 2 * i);
		assert_int_equal(be64toh(entry[i].stream_id), 1);
		assert_int_equal(be64toh(entry[i].stream_instance_id), 3);
		assert_int_equal(be64toh(entry[i].sequence), i);
	}
	mended_clear(&mended);
	assert_true(ctf_files_probe("t"));
}

static void assert_problem(const struct mended *mended, const char *kind,
			   const char *text)
{
	assert_int_equal(mended->problems.count, 1);
	assert_string_equal(mended->problems.item[0].place, "t/ch_0");
	assert_string_equal(mended->problems.item[0].kind, kind);
	assert_string_equal(mended->problems.item[0].text, text);
}

static void a_cut_packet_is_shown_up_to_the_cut(void **state)
{
	struct index_entry entry[4];
	struct mended mended;

	(void)state;
	put_trace();
	put_stream("t/ch_0", 3, 4096, 3000);
	mend(&mended);
	assert_problem(&mended, "truncated",
		       "cut in the middle of a packet, 1096 of its 4096 bytes are there");
	assert_int_equal(read_index(&mended, "ch_0", entry, 4), 3);
	assert_int_equal(be64toh(entry[1].packet_size), 8 * 4096);
	assert_int_equal(be64toh(entry[2].packet_size), 8 * 1096);
	assert_int_equal(be64toh(entry[2].content_size), 8 * 1096);
	mended_clear(&mended);
}

/* Not even the head of the third packet is there. */
static void a_cut_head_is_left_out(void **state)
{
	struct index_entry entry[4];
	struct mended mended;

	(void)state;
	put_trace();
	put_stream("t/ch_0", 3, 4096, 4090);
	mend(&mended);
	assert_problem(&mended, "garbled",
		       "no packet at byte 8192 of 8198, the rest is left out");
	assert_int_equal(read_index(&mended, "ch_0", entry, 4), 2);
	mended_clear(&mended);
}

static void check_garbled(size_t at, const void *bytes, size_t count)
{
	struct index_entry entry[4];
	struct mended mended;
	size_t size;
	char *text;

	put_trace();
	text = scratch_read("t/ch_0", &size);
	memcpy(text + 4096 + at, bytes, count);
	scratch_bytes("t/ch_0", text, size);
	free(text);
	mend(&mended);
	assert_problem(&mended, "garbled",
		       "no packet at byte 4096 of 12288, the rest is left out");
	assert_int_equal(read_index(&mended, "ch_0", entry, 4), 1);
	mended_clear(&mended);
}

static void what_is_no_packet_ends_the_stream(void **state)
{
	static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	static const unsigned char zeros[8];

	(void)state;
	check_garbled(offsetof(struct packet_head, magic), zeros, 4);
	check_garbled(offsetof(struct packet_head, uuid), ones, 1);
	check_garbled(offsetof(struct packet_head, stream_id), ones, 4);
	check_garbled(offsetof(struct packet_head, packet_size), zeros, 8);
	check_garbled(offsetof(struct packet_head, packet_size), ones, 8);
	check_garbled(offsetof(struct packet_head, content_size), zeros, 8);
	check_garbled(offsetof(struct packet_head, content_size), ones, 8);
}

static void a_file_without_a_packet_is_not_shown(void **state)
{
	struct mended mended;

	(void)state;
	put_trace();
	scratch_text("t/ch_0", "hello");
	mend(&mended);
	assert_problem(&mended, "garbled",
		       "no packet at byte 0 of 5, the rest is left out");
	assert_false(has(&mended, "ch_0") || has(&mended, "index/ch_0.idx"));
	assert_true(has(&mended, "ch_1"));
	mended_clear(&mended);
}

/* Of the trace itself nothing goes with the view, not even by way of a link. */
static void the_trace_outlives_the_view(void **state)
{
	struct mended mended;

	(void)state;
	put_trace();
	put_index("t/index/ch_0.idx", 3, 4096);
	mend(&mended);
	mended_clear(&mended);
	assert_int_equal(access("t/index/ch_0.idx", F_OK), 0);
	/* As if somebody had put a link where our directory was. */
	assert_int_equal(mkdir("view", 0700), 0);
	assert_int_equal(symlink("../t/index", "view/index"), 0);
	ctf_mend_remove(mem_strdup("view"));
	assert_int_equal(access("t/index/ch_0.idx", F_OK), 0);
	assert_int_equal(access("view", F_OK), -1);
	assert_int_equal(symlink("t", "view"), 0);
	ctf_mend_remove(mem_strdup("view"));
	assert_int_equal(access("t/ch_0", F_OK), 0);
	assert_int_equal(access("t/metadata", F_OK), 0);
}

static void assert_no_mend(const char *path, const char *wanted)
{
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;

	assert_null(ctf_mend(path, &problems, &error));
	assert_memory_equal(error_text(&error), wanted, strlen(wanted));
	assert_int_equal(problems.count, 0);
	error_clear(&error);
}

static void what_cannot_be_made_is_an_error(void **state)
{
	(void)state;
	put_trace();
	assert_no_mend("none", "none: No such file or directory");
	assert_int_equal(setenv("TMPDIR", "none", 1), 0);
	assert_no_mend("t", "none/clustertrace-");
	assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_sound_trace_is_shown_whole),
	    SCRATCH_TEST(a_cut_packet_is_shown_up_to_the_cut),
	    SCRATCH_TEST(a_cut_head_is_left_out),
	    SCRATCH_TEST(what_is_no_packet_ends_the_stream),
	    SCRATCH_TEST(a_file_without_a_packet_is_not_shown),
	    SCRATCH_TEST(the_trace_outlives_the_view),
	    SCRATCH_TEST(what_cannot_be_made_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
