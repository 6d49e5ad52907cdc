/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/clock_class.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "base/mem.h"

enum { HEADER = 37, ROOM = 8192 };

struct file {
	unsigned char byte[ROOM];
	size_t size;
};

static void put_u32(unsigned char *byte, uint32_t value, bool big_endian)
{
	for (int k = 0; k < 4; k++)
		byte[k] = (unsigned char)(value >> 8 * (big_endian ? 3 - k : k));
}

/* One packet with padding behind its text. */
static void add_packet(struct file *file, const char *text, size_t padding,
		       bool big_endian)
{
	unsigned char *at = file->byte + file->size;
	size_t content = HEADER + strlen(text);

	assert_true(file->size + content + padding <= ROOM);
	memset(at, 0, content + padding);
	put_u32(at, 0x75d11d57, big_endian);
	memcpy(at + 4, "sixteen bytes id", 16);
	put_u32(at + 24, (uint32_t)content * 8, big_endian);
	put_u32(at + 28, (uint32_t)(content + padding) * 8, big_endian);
	at[35] = 1;
	at[36] = 8;
	memcpy(at + HEADER, text, strlen(text));
	file->size += content + padding;
}

static void write_bytes(const void *bytes, size_t size)
{
	FILE *file = fopen("metadata", "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void assert_read(const char *expect)
{
	struct error error = ERROR_INIT;
	char *text = metadata_read("metadata", &error);

	if (!text)
		fail_msg("%s", error_text(&error));
	assert_string_equal(text, expect);
	free(text);
}

static void assert_unread(const char *message)
{
	struct error error = ERROR_INIT;

	assert_null(metadata_read("metadata", &error));
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

TEST(test_packets)
{
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		struct file file = {.size = 0};

		add_packet(&file, "trace { maj", 100, big_endian);
		add_packet(&file, "", 0, big_endian);
		add_packet(&file, "or = 1; };\n", 7, big_endian);
		write_bytes(file.byte, file.size);
		assert_read("trace { major = 1; };\n");
		/* Only the padding of the last packet may be missing. */
		write_bytes(file.byte, file.size - 7);
		assert_read("trace { major = 1; };\n");
		write_bytes(file.byte, file.size - 8);
		assert_unread("metadata: packet at byte 185: cut short");
	}
}

TEST(test_plain_text)
{
	const char text[] = "/* CTF 1.8 */\ntrace { };\n";

	write_bytes(text, strlen(text));
	assert_read(text);
}

/* A packet with one byte changed. */
static void assert_spoilt(size_t at, unsigned char byte, const char *message)
{
	struct file file = {.size = 0};

	add_packet(&file, "trace", 0, false);
	add_packet(&file, "second", 2, false);
	file.byte[at] = byte;
	write_bytes(file.byte, file.size);
	assert_unread(message);
}

TEST(test_broken_packets)
{
	const char *const compressed = "metadata: packet at byte 0: compressed, "
				       "encrypted or with a checksum (expected plain)";
	const char *const version =
	    "metadata: packet at byte 0: unsupported version (expected CTF 1.8)";

	assert_spoilt(42, 0, "metadata: packet at byte 42: no metadata packet");
	assert_spoilt(46, 0, "metadata: packet at byte 42: another trace's uuid");
	assert_spoilt(24, 1, "metadata: packet at byte 0: impossible size");
	assert_spoilt(24, 8, "metadata: packet at byte 0: impossible size");
	assert_spoilt(28, 0, "metadata: packet at byte 0: impossible size");
	assert_spoilt(32, 1, compressed);
	assert_spoilt(33, 1, compressed);
	assert_spoilt(34, 1, compressed);
	assert_spoilt(35, 2, version);
	assert_spoilt(36, 0, version);
	assert_spoilt(41, 0, "metadata: contains a NUL byte (expected metadata)");
}

TEST(test_no_metadata)
{
	unlink("metadata");
	assert_unread("metadata: No such file or directory");
	assert_int_equal(mkdir("metadata", 0777), 0);
	assert_unread("metadata: not a regular file (expected metadata)");
	assert_int_equal(rmdir("metadata"), 0);
	write_bytes("\x57\x1d\xd1\x75", 4);
	assert_unread("metadata: packet at byte 0: cut short");
	write_bytes("trace {\0}", 9);
	assert_unread("metadata: contains a NUL byte (expected metadata)");
}

#define TRACE "trace { major = 1; minor = 8; byte_order = le; };"

static void assert_class(const char *text, uint64_t frequency, int64_t offset_s,
			 uint64_t offset)
{
	struct error error = ERROR_INIT;
	char *whole = mem_printf("%s%s", *text == '\x1e' ? "" : TRACE, text);
	struct clock_class class;

	if (metadata_clock(whole, &class, &error))
		fail_msg("%s", error_text(&error));
	free(whole);
	assert_int_equal(class.frequency, frequency);
	assert_int_equal(class.offset_s, offset_s);
	assert_int_equal(class.offset, offset);
}

TEST(test_clock)
{
	assert_class("clock { name = m; };", 1000000000, 0, 0);
	assert_class("clock { name = m; freq = 1000; offset_s = -7; offset = 99; };",
		     1000, -7, 99);
	assert_class("clock { name = m; freq = 0x10; offset = 010ULL; offset_s = 3; };",
		     16, 3, 8);
	assert_class("clock { name = m; freq/*=3;*/=/**/5 // ;\n; };", 5, 0, 0);
	assert_class("\x1e{\"type\": \"preamble\", \"version\": 2}\n"
		     "\x1e{\"type\": \"clock-class\", \"id\": \"m\", \"frequency\": 7, "
		     "\"offset-from-origin\": {\"seconds\": 3, \"cycles\": 2}}\n",
		     7, 3, 2);
}

/* Neither strings nor comments nor deeper braces hold a clock. */
static const char decoy[] = "/* CTF 1.8 */ " TRACE "\n"
			    "/* clock { freq = 1; }; */\n"
			    "// clock { freq = 2; };\n"
			    "env { a = \"clock { freq = 3; }; \\\" {{\"; };\n"
			    "env { b = \"{\"; };\n"
			    "clock {\n"
			    "\tdescription = \"freq = 6; }\";\n"
			    "\tname = \"offset\";\n"
			    "\tfreq = 77; /* freq = 8; } */\n"
			    "\t/* offset = 9 */ offset = 10;\n"
			    "};\n"
			    "env { d = \"clock { freq = 7; };\"; };\n";

TEST(test_decoys)
{
	struct error error = ERROR_INIT;
	struct clock_class class;

	assert_int_equal(metadata_clock(decoy, &class, &error), 0);
	assert_int_equal(class.frequency, 77);
	assert_int_equal(class.offset, 10);
}

static void assert_no_class(const char *text, const char *message)
{
	struct error error = ERROR_INIT;
	char *whole = mem_printf("%s%s", TRACE, text);
	struct clock_class class = {1, 0, 0, 0, 0};

	assert_int_equal(metadata_clock(whole, &class, &error), -1);
	assert_non_null(strstr(error_text(&error), message));
	free(whole);
	error_clear(&error);
}

TEST(test_no_clock)
{
	const char *const range = "a clock whose frequency or offset is out of range";

	assert_no_class("env { a = 1; };", "0 clocks (expected one)");
	assert_no_class("clock { name = a; };\n\nclock { name = b; };",
			"2 clocks (expected one)");
	assert_no_class("clock { name = a; freq = 1000000000000000001; };", range);
	assert_no_class("clock { name = a; offset_s = 9223372037; };", range);
	assert_no_class("clock { name = a; };\nclock {", "line 2");
	assert_no_class("clock { name = a; };\n/* no end *", "line 2");
}

static void assert_changed(const char *text, const char *expect)
{
	const struct clock_class class = {999960002, 0, 1795156914148644990, 0, 0};
	char *changed = metadata_with_clock(text, &class);

	assert_string_equal(changed, expect);
	free(changed);
}

TEST(test_change)
{
	char *expect = mem_strdup(decoy), *at = strstr(expect, "77");

	assert_changed("clock { freq = 1; offset = 0x2u; };\nx",
		       "/* CTF 1.8 */\n"
		       "clock { freq = 999960002; offset = 1795156914148644990; };\nx");
	assert_changed("/* CTF 1.8 */ clock { offset_s = -2; };",
		       "/* CTF 1.8 */ clock { offset_s = 0; "
		       "\tfreq = 999960002;\n\toffset = 1795156914148644990;\n};");
	assert_non_null(at);
	*at = '\0';
	at = mem_printf("%s999960002; /* freq = 8; } */\n"
			"\t/* offset = 9 */ offset = 1795156914148644990%s",
			expect, strstr(decoy, ";\n};\nenv"));
	assert_changed(decoy, at);
	free(at);
	free(expect);
}

TEST(test_change_before_the_epoch)
{
	const struct clock_class class = {5, -3, 4, 0, 0};
	char *changed = metadata_with_clock(
	    "/* CTF 1.8 */\nclock {\n\toffset = 0;\n\tfreq = 9;\n};\n", &class);

	assert_non_null(changed);
	assert_string_equal(changed,
			    "/* CTF 1.8 */\nclock {\n\toffset = 4;\n\tfreq = 5;\n"
			    "\toffset_s = -3;\n};\n");
	free(changed);
}

/* Cut anywhere, it may be refused, but never crash. */
TEST(test_cut_anywhere)
{
	char text[sizeof(decoy)];

	for (size_t length = 0; length < sizeof(decoy); length++) {
		struct clock_class class = {1, 0, 0, 0, 0};
		struct error error = ERROR_INIT;

		memcpy(text, decoy, length);
		text[length] = '\0';
		if (!metadata_clock(text, &class, &error))
			free(metadata_with_clock(text, &class));
		error_clear(&error);
	}
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
