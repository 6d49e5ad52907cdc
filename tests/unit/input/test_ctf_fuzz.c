/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader on damaged traces: whatever the bytes, it ends, and touches
 * nothing that is not its own (the sanitizers say so). The traces are of random
 * layouts and the recorded one. CT_ROUNDS says how often, CT_SEED repeats.
 */
#include "random_trace.h"
#include "record_compare.h"

enum { ROUNDS = 400, EACH = 20, MOST_DAMAGE = 6, MOST_RECORDED = 1 << 16 };

struct file {
	char *bytes;
	size_t size;
};

static uint64_t odd_number(void)
{
	static const uint64_t odd[] = {0, 1, 7, 8, 31, 64, 65, 255, 65535, 1u << 31};

	switch (draw_between(0, 3)) {
	case 0:
		return draw();
	case 1:
		return (uint64_t)1 << draw_between(0, 63);
	case 2:
		return UINT64_MAX - (uint64_t)draw_between(0, 9);
	default:
		return odd[draw_between(0, 9)];
	}
}

/* Move a part of the file over another one, which may be of another size. */
static void copy_part(struct file *file)
{
	size_t from = (size_t)draw_between(0, (int64_t)file->size);
	size_t part = (size_t)draw_between(0, (int64_t)(file->size - from));
	size_t to = (size_t)draw_between(0, (int64_t)file->size);
	size_t over = (size_t)draw_between(0, (int64_t)(file->size - to));
	char *bytes;

	part = part > 200 ? 200 : part;
	over = over > 200 ? 200 : over;
	bytes = mem_alloc(file->size + part);
	memcpy(bytes, file->bytes, to);
	memcpy(bytes + to, file->bytes + from, part);
	memcpy(bytes + to + part, file->bytes + to + over, file->size - to - over);
	free(file->bytes);
	file->bytes = bytes;
	file->size += part - over;
}

static void damage(struct file *file)
{
	uint64_t number = odd_number();
	size_t at, size = (size_t)1 << draw_between(0, 3);

	if (file->size < 16)
		return;
	at = (size_t)draw_between(0, (int64_t)(file->size - 8));
	switch (draw_between(0, 4)) {
	case 0:
		file->bytes[at] ^= (char)(1 << draw_between(0, 7));
		break;
	case 1:
		memcpy(file->bytes + at, &number, size);
		break;
	case 2: /* in the head of the first packet, where sizes stand */
		at = (size_t)draw_between(0, file->size < 100 ? 8 : 88);
		memcpy(file->bytes + at, &number, size);
		break;
	case 3:
		copy_part(file);
		break;
	default:
		file->size = at;
		break;
	}
}

/* A digit, a sign or a word of the metadata becomes another one. */
static void damage_text(struct file *file)
{
	static const char *const word[] = {
	    "0",       "1",  "64",     "65",        "4294967296", "18446744073709551615",
	    "{",       "}",  "[",      "]",         "<",          ">",
	    ";",       ":=", "struct", "string",    "variant",    "id",
	    "...",     "-1", "\"",     "integer",   "align(64)",  "size",
	    "_length", "/*", "\\",     "stream_id", "v"};
	const char *put =
	    word[draw_between(0, (int64_t)(sizeof(word) / sizeof(*word)) - 1)];
	size_t at, length = strlen(put);

	if (chance(30) || file->size < 100) {
		damage(file);
		return;
	}
	at = (size_t)draw_between(20, (int64_t)(file->size - length - 1));
	while (at > 20 && !strchr("0123456789;{}[]<>", file->bytes[at]))
		at--;
	memcpy(file->bytes + at, put, length);
}

/* Look at every value, and forget it. */
static void look_at(void *context, const struct trace_event *event)
{
	struct side *side = context;

	side->size = 0;
	put_event(side, event);
}

/* Every event class is selected as it was before the damage. */
static void read_damaged(const struct selected_fields *all)
{
	struct error error = ERROR_INIT;
	struct side side = {.all = all};

	side.reader = trace_reader_open("t", &error);
	assert_true(side.reader || error.text);
	for (size_t i = 0; side.reader && i < all->count; i++)
		select_fields(side.reader, all->wanted[i].name, all->wanted[i].path,
			      all->wanted[i].count);
	while (side.reader && trace_reader_step(side.reader, UINT64_MAX, look_at, &side))
		;
	trace_reader_free(side.reader);
	error_clear(&error);
	free(side.bytes);
}

static void look_at_record(void *context, const struct trace_event *record)
{
	struct record_side *side = context;

	side->side.size = 0;
	put_record(side, record);
}

static void read_damaged_records(void)
{
	struct error error = ERROR_INIT;
	struct record_side side = {.source = open_columns("t", &error)};

	assert_true(side.source || error.text);
	while (side.source &&
	       trace_reader_step(side.source, UINT64_MAX, look_at_record, &side))
		;
	if (side.source)
		trace_reader_free(side.source);
	error_clear(&error);
	free(side.side.bytes);
}

static struct file file_copy(const struct file *file)
{
	struct file copy = {mem_alloc(file->size), file->size};

	memcpy(copy.bytes, file->bytes, file->size);
	return copy;
}

static void damage_and_read(const struct file *metadata, const struct file *stream,
			    const struct selected_fields *all)
{
	struct file text = file_copy(metadata), bytes = file_copy(stream);
	bool in_text = chance(40);

	for (int64_t i = draw_between(1, MOST_DAMAGE); i > 0; i--)
		in_text ? damage_text(&text) : damage(&bytes);
	scratch_bytes("t/metadata", text.bytes, text.size);
	scratch_bytes("t/ch", bytes.bytes, bytes.size);
	read_damaged(all);
	read_damaged_records();
	free(text.bytes);
	free(bytes.bytes);
}

static long rounds(void)
{
	const char *given = getenv("CT_ROUNDS");

	return given ? strtol(given, NULL, 10) : ROUNDS;
}

SCRATCH_TEST(damaged_traces_of_any_layout_end)
{
	for (long i = 0; i < rounds(); i += EACH) {
		struct whole_trace whole = {.clock = 1u << 30};
		uint64_t counter[2] = {0, 0};
		struct file metadata, stream;
		struct selected_fields all;
		struct bits bits;

		say_trace(&whole);
		metadata.bytes = whole.say.text.text;
		metadata.size = whole.say.text.size;
		scratch_text("t/metadata", metadata.bytes);
		all = select_all("t");
		bits = (struct bits){.big = whole.say.big};
		for (int k = 0; k < 3; k++)
			put_packet(&whole, 0, 0, &bits, counter);
		stream.bytes = (char *)bits.byte;
		stream.size = bits.at / 8;
		for (int k = 0; k < EACH; k++)
			damage_and_read(&metadata, &stream, &all);
		free(bits.byte);
		selected_fields_clear(&all);
		whole_clear(&whole);
	}
}

SCRATCH_TEST(a_damaged_recorded_trace_ends)
{
	const char *tree = getenv("CT_SOURCE");
	struct file metadata, stream;
	struct selected_fields all;
	char *path, *name;

	if (!tree)
		skip();
	path = mem_printf("%s/tests/fixtures/net3/node3/kernel", tree);
	all = select_all(path);
	name = mem_printf("%s/metadata", path);
	metadata.bytes = scratch_read(name, &metadata.size);
	free(name);
	name = mem_printf("%s/ch_0", path);
	stream.bytes = scratch_read(name, &stream.size);
	stream.size = MOST_RECORDED;
	for (long i = 0; i < rounds() / 4; i++)
		damage_and_read(&metadata, &stream, &all);
	free(stream.bytes);
	free(metadata.bytes);
	free(name);
	free(path);
	selected_fields_clear(&all);
}
