/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/messages_file.h"
#include "input/packet_rows.h"

#include <string.h>

#include "../draw.h"
#include "../scratch.h"

enum { SOURCES = 5, MOST = 10000 };

static struct node_message message[MOST];

static struct messages_end draw_end(void)
{
	return (struct messages_end){
	    .source = (uint32_t)draw() % SOURCES,
	    .stream = (uint32_t)draw(),
	    .ordinal = draw(),
	    .local_ns = draw_between(NSEC_STAMP_LEAST + NSEC_PER_SEC, NSEC_STAMP_MOST)};
}

static const struct messages_head head = {"n", 7, UINT64_C(0x8123456789abcdef)};

static size_t write_file(size_t count)
{
	FILE *file = fopen("n.messages", "wb");
	struct packet_rows rows = {.count = 0};
	uint32_t described = 0;
	size_t size;

	messages_write_begin(file, &head);
	for (size_t i = 0; i < count; i++) {
		struct messages_end own = draw_end(), other = draw_end();

		message[i] = (struct node_message){.received = draw() % 2,
						   .own = own,
						   .other = other,
						   .first = {.local_ns = NSEC_MAX},
						   .number = draw(),
						   .offset = (uint32_t)draw()};
		if (draw() % 4 == 0) {
			message[i].first = draw_end();
			message[i].first.source = own.source;
			message[i].first.local_ns =
			    (message[i].received ? other : own).local_ns -
			    draw_between(1, NSEC_PER_SEC);
		}
		if (draw() % 4 == 0)
			message[i].sent =
			    (struct packet_names){.is_translated = true,
						  .src = {(uint8_t)draw()},
						  .dst = {[15] = (uint8_t)draw()},
						  .sport = (uint16_t)draw(),
						  .dport = (uint16_t)draw()};
		message[i].packet.seq = (uint32_t)draw();
		message[i].packet.sport = (uint16_t)(draw() % 8);
		for (; described <= own.source || described <= other.source; described++)
			messages_write_source(
			    file, described,
			    &(struct messages_source){"trace", "node", described, false});
		messages_write(file, &rows, &message[i]);
	}
	messages_write_end(file, &rows);
	packet_rows_clear(&rows);
	size = (size_t)ftello(file);
	assert_int_equal(ferror(file) | fclose(file), 0);
	return size;
}

static void assert_end(const struct messages_end *a, const struct messages_end *b)
{
	assert_int_equal(a->source, b->source);
	assert_int_equal(a->stream, b->stream);
	assert_int_equal(a->ordinal, b->ordinal);
	assert_int_equal(a->local_ns, b->local_ns);
}

/* Check that each message is as written. Return their number, and the last status. */
static size_t read_file(const char *path, int *status, struct error *error)
{
	struct messages_reader *reader = messages_reader_open(path, error);
	struct node_message read;
	size_t came = 0;

	*status = -1;
	if (!reader)
		return 0;
	while ((*status = messages_reader_next(reader, &read, error)) > 0) {
		const struct node_message *wanted = &message[came++];

		assert_int_equal(read.received, wanted->received);
		assert_end(&read.own, &wanted->own);
		assert_end(&read.other, &wanted->other);
		assert_end(&read.first, &wanted->first);
		assert_true(packet_equal(&read.packet, &wanted->packet));
		assert_int_equal(read.sent.is_translated, wanted->sent.is_translated);
		assert_memory_equal(read.sent.src, wanted->sent.src, 16);
		assert_memory_equal(read.sent.dst, wanted->sent.dst, 16);
		assert_int_equal(read.sent.sport, wanted->sent.sport);
		assert_int_equal(read.sent.dport, wanted->sent.dport);
		assert_true(read.number == wanted->number);
		assert_int_equal(read.offset, wanted->offset);
		assert_int_equal(messages_reader_source(reader, read.own.source)->number,
				 read.own.source);
	}
	if (*status == 0) {
		assert_string_equal(messages_reader_head(reader)->node, head.node);
		assert_int_equal(messages_reader_head(reader)->number, head.number);
		assert_true(messages_reader_head(reader)->clocks == head.clocks);
	}
	messages_reader_free(reader);
	return came;
}

TEST(what_is_written_comes_back)
{
	struct error error = ERROR_INIT;
	int status;

	write_file(MOST);
	assert_int_equal(read_file("n.messages", &status, &error), MOST);
	assert_int_equal(status, 0);
	write_file(0);
	assert_int_equal(read_file("n.messages", &status, &error), 0);
	assert_int_equal(status, 0);
}

/* No file that lacks something, or has a changed byte, is read to its end. */
TEST(what_is_not_whole_is_an_error)
{
	struct error error = ERROR_INIT;
	size_t size = write_file(30), count;
	char *bytes = scratch_read("n.messages", &count);
	int status;

	for (size_t at = 0; at < size; at++) {
		scratch_bytes("bad", bytes, at);
		read_file("bad", &status, &error);
		assert_int_equal(status, -1);
		assert_ptr_equal(strstr(error_text(&error), "bad: "), error_text(&error));
		error_clear(&error);
		bytes[at] = (char)(bytes[at] ^ (1 << draw() % 8));
		scratch_bytes("bad", bytes, size);
		read_file("bad", &status, &error);
		assert_int_equal(status, -1);
		error_clear(&error);
		scratch_bytes("bad", bytes, size);
		free(bytes);
		bytes = scratch_read("n.messages", &count);
	}
	free(bytes);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
