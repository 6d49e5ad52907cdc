/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/apply.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "base/mem.h"
#include "base/process.h"
#include "sync/apply/apply_capture.h"
#include "sync/apply/clock_class.h"

#define BEGIN ((nsec_t)1795228746000000000)

static const char recorded[] = "trace { major = 1; minor = 8; byte_order = le; };\n"
			       "clock {\n"
			       "\tname = \"monotonic\";\n"
			       "\tfreq = 1000000000; /* Frequency, in Hz */\n"
			       "\toffset = 1795228717911675304;\n"
			       "};\n";

/* One clock of +40 ppm over 30 s, a second ahead of the reference. */
static struct clock_segment segment = {BEGIN, BEGIN - 1000000000, 40000};
static char name[] = "n1", path[] = "trace";
static const struct clock fast = {.trace = name,
				  .path = path,
				  .begin_ns = BEGIN,
				  .end_ns = BEGIN + 30000000000,
				  .segment = &segment,
				  .segments = 1};

static bool exists(const char *file_name)
{
	struct stat status;

	return lstat(file_name, &status) == 0;
}

/* metadata in one packet, as LTTng writes it, little-endian */
static void write_packet(const char *text)
{
	size_t size = 37 + strlen(text);
	unsigned char *byte = mem_zalloc(size);

	memcpy(byte, "\x57\x1d\xd1\x75", 4);
	for (int k = 0; k < 4; k++)
		byte[24 + k] = byte[28 + k] = (unsigned char)(size * 8 >> 8 * k);
	byte[35] = 1;
	byte[36] = 8;
	memcpy(byte + 37, text, strlen(text));
	scratch_bytes("trace/metadata", byte, size);
	free(byte);
}

/* Each test has a small trace. */
static int set_up(void **state)
{
	if (scratch_enter(state) || mkdir("trace", 0777) || mkdir("trace/index", 0777) ||
	    mkdir("trace/index/deep", 0777))
		return -1;
	scratch_text("trace/ch_0", "stream 0");
	scratch_text("trace/ch_1", "");
	scratch_text("trace/index/ch_0.idx", "index");
	scratch_text("trace/index/deep/metadata", "not the trace's");
	write_packet(recorded);
	return 0;
}

static void assert_applied(const char *target)
{
	struct error error = ERROR_INIT;
	double residual_ns;

	if (apply_clock(&fast, target, &residual_ns, &error))
		fail_msg("%s", error_text(&error));
	/* 0.4 ppb off by rounding to 999960002 Hz, over 15 s, and the cuts. */
	assert_true(residual_ns > 5 && residual_ns < 9);
}

/*
 * At the middle the clock value is 43088324696 and the reference reads
 * BEGIN + 14000600000, one more for the cuts: that many cycles of 999960002 Hz
 * less the value are the offset.
 */
static void assert_rewritten(const char *file_name, const char *head)
{
	char *expect = mem_printf("%strace { major = 1; minor = 8; byte_order = le; };\n"
				  "clock {\n"
				  "\tname = \"monotonic\";\n"
				  "\tfreq = 999960002; /* Frequency, in Hz */\n"
				  "\toffset = 1795156911352332801;\n"
				  "};\n",
				  head);

	assert_file(file_name, expect);
	free(expect);
}

FIXTURE_TEST(test_packets, set_up, scratch_leave)
{
	assert_applied("new");
	assert_rewritten("new/metadata", "/* CTF 1.8 */\n");
}

FIXTURE_TEST(test_plain_text, set_up, scratch_leave)
{
	char *text = mem_printf("/* CTF 1.8 (by hand) */\n%s", recorded);

	scratch_bytes("trace/metadata", text, strlen(text));
	free(text);
	assert_applied("new");
	assert_rewritten("new/metadata", "/* CTF 1.8 (by hand) */\n");
}

/* As LTTng writes it: without the packets, and without the line. */
FIXTURE_TEST(test_text_without_signature, set_up, scratch_leave)
{
	scratch_bytes("trace/metadata", recorded, strlen(recorded));
	assert_applied("new");
	assert_rewritten("new/metadata", "/* CTF 1.8 */\n");
}

#define PREAMBLE "\x1e{\"type\":\"preamble\", \"version\": 2}\n"
#define CLOCK                                                                            \
	"\x1e{\"type\":\"clock-class\",\"id\":\"monotonic\",\"uid\":\"u\","              \
	"\"frequency\":1000000000,\"origin\":\"unix-epoch\",\"offset-from-origin\":"     \
	"{\"seconds\":1795228717,\"cycles\":911675304}%s}\n"
#define REST "\x1e{\n  \"type\" : \"trace-class\"\n}\n"

static void write_json(const char *clock_end, const char *more)
{
	char *text = mem_printf(PREAMBLE CLOCK REST "%s", clock_end, more);

	scratch_bytes("trace/metadata", text, strlen(text));
	free(text);
}

/* All but the clock stays to the byte. The offset is that of assert_rewritten. */
static void assert_json(const struct clock *clock, const char *errors)
{
	struct error error = ERROR_INIT;
	double residual_ns;
	char *expect = mem_printf(
	    PREAMBLE "\x1e{\"type\":\"clock-class\",\"id\":\"monotonic\",\"uid\":\"u\","
		     "\"frequency\":999960002,\"origin\":\"unix-epoch\","
		     "\"offset-from-origin\":{\"seconds\":1795228716,\"cycles\":"
		     "910515369}%s}\n" REST,
	    errors);

	if (apply_clock(clock, "new", &residual_ns, &error))
		fail_msg("%s", error_text(&error));
	assert_file("new/metadata", expect);
	remove_tree("new");
	free(expect);
}

/* 7 ns may a stamp stray from the fit; cycles are 40 ppm longer than nanoseconds. */
FIXTURE_TEST(test_json, set_up, scratch_leave)
{
	struct clock_bound bound[] = {{BEGIN, -1000, 100000},
				      {BEGIN + 30000000000, -120000, 90}};
	struct clock clock = fast;

	write_json("", "");
	assert_json(&clock, ",\"precision\":7");
	clock.bound = bound;
	clock.bounds = 2;
	assert_json(&clock, ",\"precision\":7,\"accuracy\":119996");
	write_json(",\"precision\":40,\"accuracy\":7", "");
	assert_json(&clock, ",\"precision\":47,\"accuracy\":119996");
	bound[1].high_ns = NSEC_MAX;
	assert_json(&clock, ",\"precision\":47");
}

FIXTURE_TEST(test_streams_are_linked, set_up, scratch_leave)
{
	struct stat old, new;

	assert_applied("new");
	assert_int_equal(stat("trace/ch_0", &old), 0);
	assert_int_equal(stat("new/ch_0", &new), 0);
	assert_int_equal(old.st_ino, new.st_ino);
	assert_int_equal(new.st_nlink, 2);
	assert_file("new/ch_0", "stream 0");
	assert_file("new/ch_1", "");
	/* Files in directories are no streams. */
	assert_false(exists("new/index"));
	assert_int_equal(stat("trace/metadata", &old), 0);
	assert_int_equal(old.st_nlink, 1);
}

/* A file that is a symbolic link gives its content, wherever that is. */
FIXTURE_TEST(test_links_are_followed, set_up, scratch_leave)
{
	struct stat status;

	scratch_bytes("elsewhere", "stream 2", 8);
	assert_int_equal(symlink("../elsewhere", "trace/ch_2"), 0);
	assert_applied("new");
	assert_int_equal(lstat("new/ch_2", &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_file("new/ch_2", "stream 2");
}

/* On another file system there are no links: the bytes are copied. */
FIXTURE_TEST(test_streams_are_copied, set_up, scratch_leave)
{
	char target[] = "/dev/shm/test_apply.XXXXXX";
	struct stat here, there;
	char *new, *stream, *large = mem_zalloc(200000);

	memset(large, 'x', 200000);
	scratch_bytes("trace/ch_2", large, 200000);
	free(large);
	assert_int_equal(chmod("trace/ch_0", 0444), 0);
	if (stat(".", &here) || stat("/dev/shm", &there) || here.st_dev == there.st_dev ||
	    !mkdtemp(target))
		skip();
	new = mem_printf("%s/new", target);
	assert_applied(new);
	stream = mem_printf("%s/ch_0", new);
	assert_file(stream, "stream 0");
	assert_int_equal(stat(stream, &there), 0);
	assert_int_equal(there.st_nlink, 1);
	assert_int_equal(there.st_mode & 0777, 0444);
	free(stream);
	stream = mem_printf("%s/ch_2", new);
	assert_int_equal(stat(stream, &there), 0);
	assert_int_equal(there.st_size, 200000);
	free(stream);
	free(new);
	remove_tree(target);
}

static void assert_refused(const struct clock *clock, const char *target,
			   const char *message)
{
	struct error error = ERROR_INIT;
	double residual_ns;

	assert_int_not_equal(apply_clock(clock, target, &residual_ns, &error), 0);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

FIXTURE_TEST(test_bent_clock, set_up, scratch_leave)
{
	struct clock_segment bent[2] = {{0, 0, 0}, {1, 1, 1}};
	struct clock clock = fast;

	clock.segment = bent;
	clock.segments = 2;
	assert_refused(&clock, "new",
		       "n1: its clock has 2 segments, a CTF clock class holds one line");
	assert_false(exists("new"));
}

FIXTURE_TEST(test_clock_without_trace, set_up, scratch_leave)
{
	struct clock clock = fast;
	char empty[] = "", file[] = "trace/ch_0", none[] = "none";

	clock.path = empty;
	assert_refused(&clock, "new", "n1: no path (expected a CTF trace)");
	clock.path = file;
	assert_refused(&clock, "new", "trace/ch_0/metadata: Not a directory");
	clock.path = none;
	assert_refused(&clock, "new", "none/metadata: No such file or directory");
	assert_false(exists("new"));
}

FIXTURE_TEST(test_target_exists, set_up, scratch_leave)
{
	assert_int_equal(mkdir("new", 0777), 0);
	scratch_bytes("new/mine", "mine", 4);
	assert_refused(&fast, "new", "new: File exists");
	assert_file("new/mine", "mine");
	assert_false(exists("new/metadata"));
	assert_refused(&fast, "new/mine", "new/mine: File exists");
	assert_refused(&fast, "no/new", "no/new: No such file or directory");
}

FIXTURE_TEST(test_broken_metadata, set_up, scratch_leave)
{
	write_packet("trace { major = 1; minor = 8; byte_order = le; };\n");
	assert_refused(&fast, "new", "trace/metadata: 0 clocks (expected one)");
	write_packet(
	    "trace { major = 1; minor = 8; byte_order = le; };\nclock { name = a; };\n"
	    "clock { name = b; };\n");
	assert_refused(&fast, "new", "trace/metadata: 2 clocks (expected one)");
	scratch_bytes("trace/metadata", "rubbish", 7);
	assert_refused(&fast, "new",
		       "trace/metadata: line 1: expected trace, env, clock, stream, "
		       "event or a type");
	assert_false(exists("new"));
}

FIXTURE_TEST(test_broken_json, set_up, scratch_leave)
{
	write_json("", "\x1e{\"type\":\"clock-class\",\"id\":\"b\",\"frequency\":1}");
	assert_refused(&fast, "new", "trace/metadata: 2 clocks (expected one)");
	write_json("}", "");
	assert_refused(&fast, "new",
		       "trace/metadata: fragment 2: expected a record separator");
	scratch_bytes("trace/metadata", PREAMBLE, strlen(PREAMBLE));
	assert_refused(&fast, "new", "trace/metadata: 0 clocks (expected one)");
	assert_false(exists("new"));
}

/* If a file cannot be cloned, nothing is left of what was made before it. */
FIXTURE_TEST(test_failure_leaves_nothing, set_up, scratch_leave)
{
	assert_int_equal(mkfifo("trace/zz", 0666), 0);
	assert_refused(&fast, "new",
		       "trace/zz: neither a file nor a directory of the trace");
	assert_false(exists("new"));
	assert_int_equal(unlink("trace/zz"), 0);
	assert_int_equal(symlink("nowhere", "trace/zz"), 0);
	assert_refused(&fast, "new", "trace/zz: No such file or directory");
	assert_false(exists("new"));
	assert_file("trace/ch_0", "stream 0");
}
