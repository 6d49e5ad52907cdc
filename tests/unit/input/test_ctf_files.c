/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf_build.h"

static void a_trace_is_known_by_its_metadata(void **state)
{
	(void)state;
	scratch_text("t/metadata", "");
	assert_true(ctf_files_probe("t"));
	assert_true(ctf_files_probe("t/"));
	assert_false(ctf_files_probe("."));
	assert_false(ctf_files_probe("t/metadata"));
	assert_false(ctf_files_probe("none"));
	scratch_text("d/metadata/file", "");
	assert_false(ctf_files_probe("d"));
}

static int check(struct ctf_files *files, const char *wanted)
{
	struct error error = ERROR_INIT;
	int status = ctf_files_check("t", files, &error);

	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
	return status;
}

static void assert_metadata(const void *bytes, size_t count, const char *wanted)
{
	struct ctf_files files;

	scratch_bytes("t/metadata", bytes, count);
	assert_int_equal(check(&files, wanted), *wanted ? -1 : 0);
}

static void plain_metadata_must_be_of_ctf(void **state)
{
	(void)state;
	assert_metadata("/* CTF 1.8 */\n", 14, "");
	assert_metadata("/* CTF 1.7 */\n", 14, "t/metadata: no CTF 1.8 metadata");
	assert_metadata("", 0, "t/metadata: no CTF 1.8 metadata");
	assert_metadata("/* CTF", 6, "t/metadata: no CTF 1.8 metadata");
	assert_metadata("\x7f"
			"ELF\1\1\1\0\0\0\0\0",
			12, "t/metadata: no CTF 1.8 metadata");
}

static void check_packets(bool big)
{
	unsigned char *packet = metadata_packet("/* CTF 1.8 */", 64, big);
	unsigned char two[128];

	memcpy(two, packet, 64);
	memcpy(two + 64, packet, 64);
	assert_metadata(two, 64, "");
	assert_metadata(two, 128, "");
	assert_metadata(two, 127, "t/metadata: cut in the middle of a packet at byte 64");
	assert_metadata(two, 65, "t/metadata: cut in the middle of a packet at byte 64");
	assert_metadata(two, 40, "t/metadata: cut in the middle of a packet at byte 0");
	assert_metadata(two, 5, "t/metadata: cut in the middle of a packet at byte 0");
	two[64] ^= 1;
	assert_metadata(two, 128, "t/metadata: no metadata packet at byte 64");
	two[64] ^= 1;
	memset(two + 64 + 28, 0, 4); /* a packet of no size would never end */
	assert_metadata(two, 128, "t/metadata: broken packet header at byte 64");
	memset(two + 64 + 28, 0xff, 4);
	assert_metadata(two, 128, "t/metadata: cut in the middle of a packet at byte 64");
	memset(two + 64 + 24, 0xff, 4);
	memset(two + 64 + 28, 0x01, 4);
	assert_metadata(two, 128, "t/metadata: broken packet header at byte 64");
	free(packet);
}

static void packets_of_metadata_must_be_whole(void **state)
{
	(void)state;
	check_packets(false);
	check_packets(true);
}

static void a_missing_trace_is_named(void **state)
{
	struct ctf_files files;

	(void)state;
	assert_int_equal(check(&files, "t/metadata: No such file or directory"), -1);
	assert_int_equal(mkdir("t", 0777), 0);
	assert_int_equal(check(&files, "t/metadata: No such file or directory"), -1);
}

static void put_trace(void)
{
	unsigned char *packet = metadata_packet(LAYOUT, 1024, false);

	scratch_bytes("t/metadata", packet, 1024);
	free(packet);
	put_stream("t/ch_0", 3, 4096, 0);
	put_stream("t/ch_1", 1, 8192, 0);
	put_index("t/index/ch_0.idx", 3, 4096);
	put_index("t/index/ch_1.idx", 1, 8192);
	scratch_text("t/empty", "");
	scratch_text("t/.hidden", "hello");
}

static void streams_are_summed_up(void **state)
{
	struct ctf_files files;

	(void)state;
	put_trace();
	assert_int_equal(check(&files, ""), 0);
	assert_int_equal(files.bytes, 3 * 4096 + 8192);
	assert_int_equal(files.packets, 4);
	assert_true(files.known && files.sound);
	/* Without one of the indexes nobody knows how many packets there are. */
	assert_int_equal(unlink("t/index/ch_1.idx"), 0);
	assert_int_equal(check(&files, ""), 0);
	assert_int_equal(files.packets, 0);
	assert_true(files.sound);
}

static void assert_unsound(void)
{
	struct ctf_files files;

	assert_int_equal(check(&files, ""), 0);
	assert_true(files.known);
	assert_false(files.sound);
}

static void damage_of_streams_is_found(void **state)
{
	struct packet_head head = stream_head(0, 4096);

	(void)state;
	put_trace();
	put_stream("t/ch_0", 3, 4096, 1);
	assert_unsound();
	put_stream("t/ch_0", 3, 4096, 4096); /* less than the index says */
	assert_unsound();
	put_stream("t/ch_0", 4, 4096, 0);
	assert_unsound();
	put_trace();
	scratch_bytes("t/ch_2", "hello", 5);
	assert_unsound();
	head.packet_size = 0;
	scratch_bytes("t/ch_2", &head, sizeof(head));
	assert_unsound();
}

static void damage_of_indexes_is_found(void **state)
{
	(void)state;
	put_trace();
	put_index("t/index/ch_0.idx", 3, 4095);
	assert_unsound();
	put_index("t/index/ch_0.idx", 2, 4096);
	assert_unsound();
	put_index("t/index/ch_0.idx", 4, 4096);
	assert_unsound();
	scratch_text("t/index/ch_0.idx", "hello");
	assert_unsound();
}

/* Of a trace that somebody else laid out, nothing is said. */
static void other_layouts_are_not_judged(void **state)
{
	struct ctf_files files;

	(void)state;
	put_trace();
	scratch_text("t/metadata", "/* CTF 1.8 */ trace { byte_order = be; };");
	scratch_bytes("t/ch_2", "hello", 5);
	assert_int_equal(check(&files, ""), 0);
	assert_false(files.known);
	assert_true(files.sound);
	assert_int_equal(files.bytes, 3 * 4096 + 8192 + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_trace_is_known_by_its_metadata),
	    SCRATCH_TEST(plain_metadata_must_be_of_ctf),
	    SCRATCH_TEST(packets_of_metadata_must_be_whole),
	    SCRATCH_TEST(a_missing_trace_is_named),
	    SCRATCH_TEST(streams_are_summed_up),
	    SCRATCH_TEST(damage_of_streams_is_found),
	    SCRATCH_TEST(damage_of_indexes_is_found),
	    SCRATCH_TEST(other_layouts_are_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
