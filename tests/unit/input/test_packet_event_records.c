/* SPDX-License-Identifier: GPL-3.0-or-later */

/* On the recorded run, every packet event names the record that holds its packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "input/packet_source.h"

#include "../select.h"

struct record_key {
	const char *class;
	nsec_t ns;
	int64_t id, seq;
};

struct linked {
	struct trace_reader *source;
	struct intmap at; /* stream and ordinal -> index of record */
	struct record_key *record;
	size_t records, capacity, packet_events;
};

static uint64_t place(uint32_t stream, uint64_t ordinal)
{
	return (uint64_t)stream << 48 | ordinal;
}

/* The first number in a column of one of two names; -1 without one. */
static int64_t number_of(const struct trace_class *class,
			 const struct trace_event *record, const char *name,
			 const char *other)
{
	for (size_t i = 0; i < class->columns; i++)
		if (record->cell[i].type == CELL_INTEGER &&
		    (strcmp(class->column[i].name, name) == 0 ||
		     strcmp(class->column[i].name, other) == 0))
			return record->cell[i].integer;
	return -1;
}

static void note_record(void *context, const struct trace_event *record)
{
	struct linked *linked = context;
	const struct trace_class *class =
	    trace_reader_class(linked->source, record->class);
	struct record_key *key;

	linked->record = mem_grow(linked->record, linked->records, &linked->capacity,
				  sizeof(*linked->record));
	key = &linked->record[linked->records];
	key->class = class->name;
	key->ns = record->local_ns;
	key->id = number_of(class, record, "id", "network_header_ipv4_id");
	key->seq = number_of(class, record, "seq",
			     "network_header_ipv4_transport_header_tcp_seq");
	intmap_put(&linked->at, place(record->stream, record->ordinal),
		   (int64_t)linked->records++);
}

static void check_packet_event(void *context, const struct packet_event *packet_event)
{
	struct linked *linked = context;
	const struct packet *packet = &packet_event->packet;
	const struct record_key *key;
	int64_t at;

	assert_true(intmap_get(&linked->at,
			       place(packet_event->stream, packet_event->ordinal), &at));
	key = &linked->record[at];
	linked->packet_events++;
	if (strcmp(key->class, "packet") != 0) {
		assert_string_equal(key->class, packet_event->received
						    ? "net_if_receive_skb"
						    : "net_dev_queue");
		/* Stamps are tightened: a send may be later, a receive earlier. */
		assert_true(packet_event->received ? key->ns == packet_event->whole_ns
						   : key->ns <= packet_event->ns);
	}
	if (packet->family == 4)
		assert_int_equal(key->id, packet->id);
	if (packet->family == 4 && packet->protocol == 6)
		assert_int_equal(key->seq, packet->seq);
}

static void check_source(struct trace_reader *records, struct packet_source *packets)
{
	struct linked linked = {.source = records};

	assert_non_null(records);
	assert_non_null(packets);
	while (trace_reader_step(records, UINT64_MAX, note_record, &linked))
		;
	while (packet_source_step(packets, check_packet_event, &linked))
		;
	assert_true(linked.packet_events > 1000);
	assert_int_equal(linked.packet_events,
			 packets->facts.sent + packets->facts.received);
	assert_int_equal(linked.records, packets->facts.events);
	free(linked.record);
	intmap_clear(&linked.at);
	trace_reader_free(records);
	packet_source_free(packets);
}

static void of_traces(void **state)
{
	const char *tree = getenv("CT_SOURCE");
	struct error error = ERROR_INIT;

	(void)state;
	if (!tree)
		skip();
	for (int node = 1; node <= 3; node++) {
		char *path =
		    mem_printf("%s/tests/fixtures/net3/node%d/kernel", tree, node);

		check_source(open_columns(path, &error),
			     trace_packets_open(path, &error));
		free(path);
	}
}

static void of_captures(void **state)
{
	const char *tree = getenv("CT_SOURCE");
	struct error error = ERROR_INIT;

	(void)state;
	if (!tree)
		skip();
	for (int node = 2; node <= 3; node++) {
		char *path = mem_printf("%s/tests/fixtures/net3/node%d/node%d.pcap", tree,
					node, node);

		check_source(with_columns(capture_records_open(
				 &(struct capture_input){.path = path}, &error)),
			     capture_packets_open(&(struct capture_input){.path = path,
									  .name = "n1",
									  .local = NULL,
									  .locals = 0},
						  &error));
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_traces),
	    cmocka_unit_test(of_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
