/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces in CTF 2: the metadata, and each field's bytes. */
#include "../draw.h"
#include "../scratch.h"

#include "base/json.h"
#include "simulated.h"
#include "written.h"

/* The fragments of a metadata file, in an array, which the caller lets go. */
static json_t *read_fragments(const char *path)
{
	json_t *fragments = json_array();
	size_t size;
	char *text = scratch_read(path, &size), *at = text;

	assert_true(size > 0 && text[0] == '\x1e');
	while (at < text + size) {
		char *next = memchr(at + 1, '\x1e', (size_t)(text + size - at - 1));
		size_t length = (size_t)((next ? next : text + size) - at) - 1;
		json_t *fragment = json_loadb(at + 1, length, 0, NULL);

		assert_non_null(fragment);
		json_array_append_new(fragments, fragment);
		at += length + 1;
	}
	free(text);
	return fragments;
}

static const char *text_of(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member));
}

/* Set the type of each field class below as a member of `types`. */
static void collect_types(json_t *value, json_t *types)
{
	const char *type = text_of(value, "type"), *name;
	size_t i;
	json_t *below;

	if (type)
		json_object_set_new(types, type, json_true());
	if (json_is_object(value))
		json_object_foreach(value, name, below) collect_types(below, types);
	json_array_foreach(value, i, below) collect_types(below, types);
}

/* An event of each of these, by hand: runs may be without some. */
static void write_classes(void)
{
	static const union sim_value value[EVERY];
	struct sim_node node = plain_nodes[0];
	struct error error = ERROR_INIT;
	struct sim_writer *writer;

	node.format = SIM_CTF_2;
	writer = sim_ctf_writer_new("run", &node, 1, classes, CLASSES, &error);
	assert_non_null(writer);
	for (size_t i = 0; i < CLASSES; i++)
		add(writer, &(struct sim_event){.class = &classes[i], .value = value});
	finish(writer);
}

static void test_every_field_class(void **unused)
{
	static const char *const want[] = {
	    "field-class-alias",
	    "fixed-length-bit-array",
	    "fixed-length-bit-map",
	    "fixed-length-boolean",
	    "fixed-length-unsigned-integer",
	    "fixed-length-signed-integer",
	    "fixed-length-floating-point-number",
	    "variable-length-unsigned-integer",
	    "variable-length-signed-integer",
	    "null-terminated-string",
	    "static-length-string",
	    "dynamic-length-string",
	    "static-length-blob",
	    "dynamic-length-blob",
	    "structure",
	    "static-length-array",
	    "dynamic-length-array",
	    "optional",
	    "variant",
	};
	json_t *types = json_object(), *fragments;

	(void)unused;
	write_classes();
	fragments = read_fragments("run/n1/kernel/metadata");
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(fragments, 0), "version")),
	    2);
	collect_types(fragments, types);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		if (!json_object_get(types, want[i]))
			fail_msg("no %s", want[i]);
	json_decref(fragments);
	json_decref(types);
}

/* The streams are those of CTF 1.8, to the byte, with each form of event headers. */
static void test_streams_are_the_same(void **unused)
{
	static const char *const headers[] = {"full", "compact", "large"};

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		char *text = mem_printf("nodes 2\nseconds 2\nprotocol mixed\nfamily "
					"mixed\nevent_header %s",
					headers[i]);
		char *a = mem_printf("a-%s", headers[i]),
		     *b = mem_printf("b-%s", headers[i]);
		char *a_path = mem_printf("%s/node2/kernel/ch_0", a);
		char *b_path = mem_printf("%s/node2/kernel/ch_0", b);
		char *b_metadata = mem_printf("%s/node2/kernel/metadata", b);
		size_t a_size, b_size;
		char *a_bytes, *b_bytes;

		simulated(text, draw_seed, a, "traces");
		simulated(text, draw_seed, b, "ctf2-lttng");
		a_bytes = scratch_read(a_path, &a_size);
		b_bytes = scratch_read(b_path, &b_size);
		assert_true(a_size > 1000);
		assert_int_equal(a_size, b_size);
		assert_memory_equal(a_bytes, b_bytes, a_size);
		json_decref(read_fragments(b_metadata));
		free(a_bytes);
		free(b_bytes);
		free(b_metadata);
		free(b_path);
		free(a_path);
		free(b);
		free(a);
		free(text);
	}
}

/* By hand, from the specification. */
static void test_bytes_of_a_payload(void **unused)
{
	static const union sim_value value[EVERY] = {
	    {.u = 0xfe},       {.u = 0x1234},
	    {.u = 0x12345678}, {.u = UINT64_MAX},
	    {.u = 300},        {.i = -2},
	    {.i = -129},       {.text = "\xc3\xbc\xf0\x9f\x98\x80"}, /* U+FC, U+1F600 */
	    {.text = "comm"},  {.u = 9},
	    {.i = -10},
	};
	static const uint8_t want[] = {
	    0xfe, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12,                   /* u8 u16 u32 */
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* u64 */
	    0xac, 0x02,                                                 /* hex */
	    0xfe, 0xff, 0xff, 0xff,                                     /* s32 */
	    0xff, 0x7e,                                                 /* s64 */
	    0xfc, 0x00, 0x3d, 0xd8, 0x00, 0xde, 0,    0,                /* text */
	    'c',  'o',  'm',  'm',  0,    0,    0,    0,    0,    0,
	    0,    0,    0,    0,    0,    0, /* comm */
	    9,    0,    0,    0,    0xf6, 0xff, 0xff, 0xff,
	};
	struct sim_node node = plain_nodes[0];
	struct error error = ERROR_INIT;
	struct sim_writer *writer;
	size_t size;
	char *bytes;

	(void)unused;
	node.format = SIM_CTF_2;
	writer = sim_ctf_writer_new("run", &node, 1, classes, CLASSES, &error);
	assert_non_null(writer);
	add(writer, &(struct sim_event){.class = every, .value = value});
	finish(writer);
	bytes = scratch_read("run/n1/kernel/ch_0", &size);
	assert_true(size > sizeof(want));
	assert_memory_equal(bytes + size - sizeof(want), want, sizeof(want));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_every_field_class),
	    SCRATCH_TEST(test_streams_are_the_same),
	    SCRATCH_TEST(test_bytes_of_a_payload),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
