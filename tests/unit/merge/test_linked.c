/* SPDX-License-Identifier: GPL-3.0-or-later */

/* On whole runs: messages are as many as ctsync's, and their events hold their packets.
 */
#include "found.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/hash.h"
#include "input/packet_source.h"

#include "../select.h"

/* What an event says of its packet. */
struct event_key {
	const char *class; /* of this file's own */
	int64_t id, seq, length;
	uint32_t src, dst;
};

struct linked {
	struct found found;
	struct trace_reader *source;
	uint32_t at;         /* source being read */
	struct intmap index; /* by hash of source, stream, ordinal */
	struct event_key *key;
	size_t keys, capacity;
	bool is_whole; /* both hosts saw the same packet */
	uint64_t walked;
};

static uint64_t place(uint32_t source, uint32_t stream, uint64_t ordinal)
{
	return (uint64_t)source << 56 | (uint64_t)stream << 40 | ordinal;
}

/* The cell of a column, by its name in a trace and in a capture. */
static const struct cell *cell_of(const struct trace_class *class,
				  const struct trace_event *record, const char *of_trace,
				  const char *of_capture)
{
	static const struct cell none = {.type = CELL_NULL};
	const char *name = strcmp(class->name, "packet") == 0 ? of_capture : of_trace;

	for (size_t i = 0; i < class->columns; i++)
		if (strcmp(class->column[i].name, name) == 0)
			return &record->cell[i];
	return &none;
}

static int64_t number_of(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer : -1;
}

static uint32_t address_of(const struct cell *cell)
{
	uint32_t address = 0;

	if (cell->type == CELL_BLOB && cell->size == sizeof(address)) {
		memcpy(&address, cell->bytes, sizeof(address));
	} else if (cell->type == CELL_TEXT) {
		char *text = mem_strndup(cell->bytes, cell->size);

		inet_pton(AF_INET, text, &address);
		free(text);
	}
	return address;
}

#define IPV4(name) "network_header_ipv4_" name

/* That class as a constant; NULL: no packet's. */
static const char *class_name(const struct trace_class *class)
{
	static const char *const names[] = {"net_dev_queue", "net_if_receive_skb",
					    "packet"};

	for (size_t i = 0; i < 3; i++)
		if (strcmp(class->name, names[i]) == 0)
			return names[i];
	return NULL;
}

static void note(void *context, const struct trace_event *record)
{
	struct linked *linked = context;
	const struct trace_class *class =
	    trace_reader_class(linked->source, record->class);
	struct event_key key = {
	    .class = class_name(class),
	    .id = number_of(cell_of(class, record, IPV4("id"), "id")),
	    .seq = number_of(
		cell_of(class, record, IPV4("transport_header_tcp_seq"), "seq")),
	    .length = number_of(cell_of(class, record, IPV4("tot_len"), "length")),
	    .src = address_of(cell_of(class, record, IPV4("saddr"), "src")),
	    .dst = address_of(cell_of(class, record, IPV4("daddr"), "dst")),
	};

	if (!key.class)
		return;
	linked->key =
	    mem_grow(linked->key, linked->keys, &linked->capacity, sizeof(*linked->key));
	intmap_put(&linked->index, place(linked->at, record->stream, record->ordinal),
		   (int64_t)linked->keys);
	linked->key[linked->keys++] = key;
}

static void note_all(struct linked *linked)
{
	struct error error = ERROR_INIT;

	for (uint32_t i = 0; i < linked->found.run.count; i++) {
		const struct source *source = &linked->found.run.sources.item[i];

		linked->at = i;
		linked->source =
		    source->kind == SOURCE_TRACE
			? open_columns(source->path, &error)
			: with_columns(capture_records_open(
			      &(struct capture_input){.path = source->path,
						      .part = source->part,
						      .parts = source->parts},
			      &error));
		assert_non_null(linked->source);
		while (trace_reader_step(linked->source, UINT64_MAX, note, linked))
			;
		trace_reader_free(linked->source);
	}
}

static const struct event_key *
key_of(const struct linked *linked, const struct messages_end *origin, const char *class)
{
	int64_t at = -1;

	assert_true(intmap_get(
	    &linked->index, place(origin->source, origin->stream, origin->ordinal), &at));
	if (linked->found.run.sources.item[origin->source].kind == SOURCE_CAPTURE)
		class = "packet";
	assert_string_equal(linked->key[at].class, class);
	return &linked->key[at];
}

static void check_send(const struct linked *linked, const struct event_key *sent,
		       const struct packet *packet)
{
	if (linked->is_whole) {
		assert_int_equal(sent->id, packet->id);
		assert_int_equal(sent->length, packet->length);
		assert_memory_equal(&sent->src, packet->src, 4);
		assert_memory_equal(&sent->dst, packet->dst, 4);
	}
	if (linked->is_whole && packet->protocol == IPPROTO_TCP)
		assert_int_equal(sent->seq, packet->seq);
	/* Else some byte, or the number itself, is in both. */
	if (packet->protocol == IPPROTO_TCP) {
		int32_t ahead = (int32_t)((uint32_t)sent->seq - packet->seq);

		assert_true(ahead <= (int32_t)packet->payload);
		assert_true(-ahead <= sent->length);
	}
}

/* False messages of these runs are much too early, and no other one is. */
static void check_latency(const struct linked *linked, const struct message_ends *ends)
{
	const struct merge_source *from = &linked->found.run.source[ends->send.source];
	const struct merge_source *to = &linked->found.run.source[ends->recv.source];
	nsec_t latency = clock_correct(&to->clock, ends->recv.local_ns) -
			 clock_correct(&from->clock, ends->send.local_ns);

	if (from->island >= 0)
		assert_true(latency > -100 * NSEC_PER_USEC);
}

static int check(void *context, const struct message_ends *ends, struct error *error)
{
	struct linked *linked = context;
	const struct packet *packet = &ends->packet;
	const struct event_key *sent = key_of(linked, &ends->send, "net_dev_queue");
	const struct event_key *came = key_of(linked, &ends->recv, "net_if_receive_skb");

	(void)error;
	linked->walked++;
	assert_int_not_equal(ends->send.source, ends->recv.source);
	check_latency(linked, ends);
	if (packet->family != 4)
		return 0;
	assert_int_equal(came->id, packet->id);
	assert_int_equal(came->length, packet->length);
	assert_memory_equal(&came->src, packet->src, 4);
	assert_memory_equal(&came->dst, packet->dst, 4);
	if (packet->protocol == IPPROTO_TCP)
		assert_int_equal(came->seq, packet->seq);
	check_send(linked, sent, packet);
	return 0;
}

static uint64_t matched_by_ctsync(const char *path, uint64_t *rejected)
{
	char *words =
	    mem_printf("ctsync -q -o map.json %s || [ $? = 3 ] || [ $? = 1 ]", path);
	struct error error = ERROR_INIT;
	struct clock_map map;
	uint64_t matched;

	run_program(words);
	free(words);
	assert_int_equal(clock_map_read(&map, "map.json", &error), 0);
	*rejected = 0;
	for (size_t i = 0; i < map.pairs; i++)
		*rejected += map.pair[i].rejected;
	matched = map.matching.matched;
	clock_map_clear(&map);
	return matched;
}

/* Returns how many messages were rejected. */
static uint64_t check_run(const char *path, bool is_whole)
{
	struct linked linked = {.is_whole = is_whole};
	uint64_t rejected, matched = matched_by_ctsync(path, &rejected);

	find_clocks(&linked.found, path, NULL, false);
	assert_string_equal(error_text(&linked.found.error), "");
	assert_int_equal(linked.found.status, 0);
	assert_true(matched > 1000);
	assert_int_equal(messages_of(&linked.found), matched - rejected);
	note_all(&linked);
	assert_int_equal(message_log_walk_ends(&linked.found.messages, check, &linked,
					       &linked.found.error),
			 0);
	assert_int_equal(linked.walked, matched - rejected);
	intmap_clear(&linked.index);
	free(linked.key);
	found_clear(&linked.found);
	return rejected;
}

static void of_the_recorded_run(void **state)
{
	const char *tree = getenv("CT_SOURCE");
	char *path = mem_printf("%s/tests/fixtures/net3", tree ? tree : ".");

	(void)state;
	check_run(path, true);
	free(path);
}

static uint64_t check_scenario(const char *name, bool is_whole)
{
	char *words = mem_printf("ctsim -q --seed 7 --set seconds=20 %s -o run", name);

	run_program(words);
	free(words);
	return check_run("run", is_whole);
}

static void of_super_packets(void **state)
{
	(void)state;
	check_scenario("offload", false);
}

static void of_translated_addresses(void **state)
{
	(void)state;
	check_scenario("nat", false);
}

static void of_two_islands(void **state)
{
	(void)state;
	check_scenario("islands", true);
}

/* Let some packets of a capture bear stamps a second too early. */
static void set_back(const char *path)
{
	enum { FILE_HEADER = 24, PACKET_HEADER = 16, EACH = 200 };
	size_t count;
	char *bytes = scratch_read(path, &count);
	uint32_t seconds, caplen;

	for (size_t at = FILE_HEADER, n = 1; at < count; n++) {
		memcpy(&seconds, bytes + at, sizeof(seconds));
		memcpy(&caplen, bytes + at + 8, sizeof(caplen));
		seconds -= n % EACH == 0;
		memcpy(bytes + at, &seconds, sizeof(seconds));
		at += PACKET_HEADER + caplen;
	}
	scratch_bytes(path, bytes, count);
	free(bytes);
}

static void without_those_that_were_rejected(void **state)
{
	(void)state;
	run_program("ctsim -q --seed 7 --captures --set seconds=20 two -o run");
	set_back("run/node2/node2.pcap");
	assert_true(check_run("run", true) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(of_the_recorded_run),
	    SCRATCH_TEST(of_super_packets),
	    SCRATCH_TEST(of_translated_addresses),
	    SCRATCH_TEST(of_two_islands),
	    SCRATCH_TEST(without_those_that_were_rejected),
	};

	/* The programs of this build are run. */
	if (!getenv("CT_BUILD"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
