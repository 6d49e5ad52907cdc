/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Whole runs, the recorded and simulated ones or those named as arguments: there
 * are as many messages as ctsync finds, and the two events of each hold its packet.
 */
#include <arpa/inet.h>

#include "clock/map.h"

#include "merged.h"

/* A row of `message`. */
struct row {
	int64_t id, send_event, recv_event, src_node, dst_node;
	int64_t send_ns, recv_ns, latency_ns, sport, dport;
	char *protocol, *src, *dst;
};

/* A row of `event`. */
struct event {
	int64_t id, ts_ns, node, class;
};

struct walk {
	struct merged merged;
	struct timeline_query *event;
	int64_t rows;
	nsec_t last_ns;
};

static int64_t count_matched(const char *run)
{
	char *words = mem_printf("ctsync -q -o map.json '%s' >ctsync.out 2>&1", run);
	struct error error = ERROR_INIT;
	struct clock_map map;
	int64_t count;
	int status = merged_run(words);

	assert_true(status == 0 || status == 3);
	assert_int_equal(clock_map_read(&map, "map.json", &error), 0);
	count = (int64_t)map.matching.matched;
	for (size_t i = 0; i < map.pairs; i++)
		count -= (int64_t)map.pair[i].rejected;
	clock_map_clear(&map);
	free(words);
	return count;
}

static struct event find_event(struct walk *walk, int64_t id)
{
	struct error error = ERROR_INIT;
	const struct cell filter = {.type = CELL_INTEGER, .integer = id}, *cell;

	timeline_query_ask(walk->event, &filter, 1, &error);
	assert_string_equal(error_text(&error), "");
	cell = merged_next(walk->event);
	assert_non_null(cell);
	return (struct event){id, cell[0].integer, cell[1].integer, cell[2].integer};
}

/* The column of a header's field, of a packet with such an address. */
static const struct cell *header_cell(const struct merged_class *class,
				      const struct cell *cell, const char *address,
				      const char *field)
{
	char *name = mem_printf("network_header_%s_%s",
				strchr(address, ':') ? "ipv6" : "ipv4", field);
	int column = merged_column(class, name);

	if (column < 0)
		fail_msg("%s has no %s", class->name, name);
	free(name);
	return &cell[column];
}

/* IPv4 as four bytes, IPv6 as JSON of eight numbers of 16 bits. */
static bool is_address(const struct cell *cell, const char *text)
{
	unsigned char bytes[16];
	char json[80];
	int length = 0;

	if (inet_pton(AF_INET, text, bytes) == 1)
		return cell->type == CELL_BLOB && cell->size == 4 &&
		       memcmp(cell->bytes, bytes, 4) == 0;
	assert_int_equal(inet_pton(AF_INET6, text, bytes), 1);
	for (int i = 0; i < 16; i += 2)
		length += snprintf(json + length, sizeof(json) - (size_t)length, "%c%d",
				   i ? ',' : '[', bytes[i] << 8 | bytes[i + 1]);
	strcpy(json + length, "]");
	return merged_is(cell, json);
}

static void check_ports(const struct row *row, const struct merged_class *class,
			const struct cell *cell)
{
	char *from = mem_printf("transport_header_%s_source_port", row->protocol);
	char *to = mem_printf("transport_header_%s_dest_port", row->protocol);

	assert_int_equal(header_cell(class, cell, row->src, from)->integer, row->sport);
	assert_int_equal(header_cell(class, cell, row->dst, to)->integer, row->dport);
	free(from);
	free(to);
}

static void check_packet(struct walk *walk, const struct row *row,
			 const struct event *event)
{
	struct merged_class *class = &walk->merged.class[event->class - 1];
	const struct cell *cell = merged_event(class, event->id);
	bool has_ports =
	    strcmp(row->protocol, "tcp") == 0 || strcmp(row->protocol, "udp") == 0;

	if (strcmp(class->name, "packet") == 0) {
		assert_true(merged_is(&cell[merged_column(class, "src")], row->src));
		assert_true(merged_is(&cell[merged_column(class, "dst")], row->dst));
		if (has_ports)
			assert_int_equal(cell[merged_column(class, "sport")].integer,
					 row->sport);
		return;
	}
	assert_true(is_address(header_cell(class, cell, row->src, "saddr"), row->src));
	assert_true(is_address(header_cell(class, cell, row->dst, "daddr"), row->dst));
	if (has_ports)
		check_ports(row, class, cell);
}

static void check_class(const struct walk *walk, const struct event *event,
			const char *wanted)
{
	const char *name = walk->merged.class[event->class - 1].name;

	if (strcmp(name, wanted) != 0)
		assert_string_equal(name, "packet");
}

/* By how much a capture's stamp may be too early: it was cut to microseconds. */
static nsec_t cut_of(const struct walk *walk, const struct event *event)
{
	const char *name = walk->merged.class[event->class - 1].name;

	return strcmp(name, "packet") == 0 ? NSEC_PER_USEC : 0;
}

static void check_message(struct walk *walk, const struct row *row)
{
	struct event sent = find_event(walk, row->send_event);
	struct event came = find_event(walk, row->recv_event);

	assert_int_equal(row->id, ++walk->rows);
	assert_true(row->send_ns >= walk->last_ns);
	walk->last_ns = row->send_ns;
	assert_int_equal(row->latency_ns, row->recv_ns - row->send_ns);
	assert_int_equal(sent.node, row->src_node);
	assert_int_equal(came.node, row->dst_node);
	assert_true(sent.ts_ns <= row->send_ns);
	assert_true(row->recv_ns <= came.ts_ns + cut_of(walk, &came));
	check_class(walk, &sent, "net_dev_queue");
	check_class(walk, &came, "net_if_receive_skb");
	check_packet(walk, row, &sent);
	check_packet(walk, row, &came);
}

static void check_messages(struct walk *walk)
{
	struct timeline_query *messages = merged_ask(
	    &walk->merged,
	    "SELECT id, send_event, recv_event, src_node, dst_node, send_ns, recv_ns, "
	    "latency_ns, sport, dport, protocol, src, dst FROM message ORDER BY id",
	    0);
	const struct cell *cell;

	while ((cell = merged_next(messages))) {
		struct row row = {
		    cell[0].integer,       cell[1].integer,        cell[2].integer,
		    cell[3].integer,       cell[4].integer,        cell[5].integer,
		    cell[6].integer,       cell[7].integer,        cell[8].integer,
		    cell[9].integer,       merged_text(&cell[10]), merged_text(&cell[11]),
		    merged_text(&cell[12])};

		for (int i = 0; i < 8; i++)
			assert_int_equal(cell[i].type, CELL_INTEGER);
		check_message(walk, &row);
		free(row.protocol);
		free(row.src);
		free(row.dst);
	}
	timeline_query_free(messages);
}

static void check_run(const char *run)
{
	struct walk walk = {.last_ns = NSEC_MIN};

	merged_open(&walk.merged, run);
	walk.event = merged_ask(&walk.merged,
				"SELECT ts_ns, node, class FROM event WHERE id = ?", 0);
	check_messages(&walk);
	/* A match is a message, or another view of one with other events. */
	assert_int_equal(walk.rows +
			     merged_number(&walk.merged,
					   "SELECT count(*) FROM message_observation", 0),
			 count_matched(run));
	assert_int_equal(
	    merged_number(&walk.merged,
			  "SELECT count(*) FROM message_observation AS o "
			  "LEFT JOIN message AS m ON m.id = o.message "
			  "LEFT JOIN event AS s ON s.id = o.send_event "
			  "LEFT JOIN event AS r ON r.id = o.recv_event "
			  "WHERE s.node IS NOT m.src_node OR r.node IS NOT m.dst_node "
			  "OR (o.send_event = m.send_event AND o.recv_event = "
			  "m.recv_event) OR o.latency_ns <> o.recv_ns - o.send_ns",
			  0),
	    0);
	assert_true(walk.rows > 100);
	print_message("%s: %" PRId64 " messages\n", run, walk.rows);
	timeline_query_free(walk.event);
	merged_close(&walk.merged);
}

SCRATCH_TEST(every_message_is_there_with_its_events)
{
	static const char *const simulated[] = {
	    "--seed 3 --set seconds=2 clients", "--seed 5 --set seconds=4 mixed",
	    "--seed 6 --set seconds=2 offload",
	    "--seed 7 --set seconds=2 --captures mixed", NULL};

	merged_check_each(simulated, check_run);
}
