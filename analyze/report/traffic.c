/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traffic of interfaces over time, without a search for each frame's event: ids of events
 * ascend with time, so the step of a frame follows from the first id of each step, and
 * its node from the message that it is part of.
 */
#include "analyze/report/traffic.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"

/* The messages that frames are part of. */
static const char message_sql[] =
    "SELECT " TIMELINE_ROW "(send_event, src_node, recv_event, dst_node) FROM message"
    " WHERE id BETWEEN ? AND ?";

/* The tables of frames. */
static const struct direction {
	bool is_received;
	const char *frames;
} directions[] = {
    {false, "SELECT " TIMELINE_ROW "(id, name, len) FROM net_dev_queue"
	    " WHERE id BETWEEN ? AND ?"},
    {true, "SELECT " TIMELINE_ROW "(id, name, len) FROM net_if_receive_skb"
	   " WHERE id BETWEEN ? AND ?"},
    {true, "SELECT " TIMELINE_ROW "(id, name, len) FROM netif_receive_skb"
	   " WHERE id BETWEEN ? AND ?"},
};
enum { DIRECTIONS = sizeof(directions) / sizeof(*directions) };

static const char node_sql[] = "SELECT node FROM event WHERE id = ?";
static const char first_sql[] =
    "SELECT id FROM event WHERE ts_ns >= ? ORDER BY ts_ns, id LIMIT 1";

struct packet_event {
	int64_t id, node;
};

/* An interface of a node: frames and bytes by step, sent and received. */
struct interface {
	int64_t node;
	struct cell name;
	struct bin_series frames[2], bytes[2];
};

struct traffic {
	struct query *query;
	const struct bin_grid *grid;
	int64_t *first_id; /* the first event of each step */
	struct known_events {
		struct packet_event *item; /* by id */
		size_t count, capacity, next;
	} known[2];                  /* sent and received */
	struct timeline_query *node; /* finds the node of other events */
	struct texts names;          /* keys of the interfaces */
	struct bytes key;
	struct interface *interface;
	size_t interfaces, interface_capacity;
	size_t step;
	bool is_received;
};

static int add_known(void *context, const struct cell *row, struct error *error)
{
	struct traffic *traffic = context;

	(void)error;
	for (size_t i = 0; i < 2; i++) {
		struct known_events *known = &traffic->known[i];
		const struct cell *event = &row[2 * i], *node = &row[2 * i + 1];

		if (event->type != CELL_NULL && node->type != CELL_NULL)
			*MEM_NEXT(known->item, known->count, known->capacity) =
			    (struct packet_event){cell_integer(event, 0),
						  cell_integer(node, 0)};
	}
	return 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct packet_event *x = a, *y = b;

	return COMPARE(x->id, y->id);
}

/* Set the node of an event. Frames are in the order of their ids, so it is mostly the
 * next one that is known. Return 1, 0 if there is no such event, or -1 with error. */
static int find_node(struct traffic *traffic, int64_t id, int64_t *node,
		     struct error *error)
{
	const struct cell key = cell_of_integer(id);
	struct known_events *known = &traffic->known[traffic->is_received];
	const struct packet_event *item = known->item;
	int found;

	if (known->next == known->count || item[known->next].id != id)
		known->next = PARTITION_POINT(known->count, i, item[i].id < id);
	if (known->next < known->count && item[known->next].id == id) {
		*node = item[known->next++].node;
		return 1;
	}
	if (timeline_query_ask(traffic->node, &key, 1, error))
		return -1;
	found = timeline_query_next(traffic->node, error);
	if (found > 0)
		*node = cell_integer(timeline_query_row(traffic->node), 0);
	return found;
}

static struct interface *find_interface(struct traffic *traffic, int64_t node,
					const struct cell *name)
{
	const struct cell number = cell_of_integer(node);
	struct interface *interface;
	size_t at;

	traffic->key.size = 0;
	cell_add_key(&number, &traffic->key);
	cell_add_key(name, &traffic->key);
	at = texts_put_bytes(&traffic->names, (const char *)traffic->key.data,
			     traffic->key.size);
	if (at < traffic->interfaces)
		return &traffic->interface[at];
	interface = MEM_NEXT(traffic->interface, traffic->interfaces,
			     traffic->interface_capacity);
	*interface = (struct interface){.node = node, .name = *name};
	if (cell_has_bytes(name))
		interface->name.bytes =
		    mem_strndup(name->size ? name->bytes : "", name->size);
	return interface;
}

static int add_frame(void *context, const struct cell *row, struct error *error)
{
	struct traffic *traffic = context;
	const struct cell name = row[1].type == CELL_NULL ? cell_of_text("") : row[1];
	const int64_t id = row[0].integer, *first_id = traffic->first_id;
	int64_t node, bytes = cell_integer(&row[2], 0);
	struct interface *interface;
	int found = find_node(traffic, id, &node, error);

	if (found <= 0 || !scope_has_node(&traffic->query->scope, node))
		return found < 0 ? -1 : 0;
	if (first_id[traffic->step] > id || first_id[traffic->step + 1] <= id)
		traffic->step =
		    PARTITION_POINT(traffic->grid->steps, i, first_id[i + 1] <= id);
	bytes = bytes >= 0 && bytes <= UINT32_MAX ? bytes : 0;
	interface = find_interface(traffic, node, &name);
	bin_add(&interface->frames[traffic->is_received], (uint32_t)traffic->step, 1);
	bin_add(&interface->bytes[traffic->is_received], (uint32_t)traffic->step, bytes);
	return 0;
}

static int scan_rows(struct traffic *traffic, const char *sql, const int64_t id[2],
		     timeline_row_fn *on_row, struct error *error)
{
	const struct cell value[] = {cell_of_integer(id[0]), cell_of_integer(id[1])};

	return query_each(traffic->query->reader, sql, value, on_row, traffic, error);
}

/* Find the first event of each step; the last step has the events at the end as well. */
static int find_steps(struct traffic *traffic, struct error *error)
{
	const struct bin_grid *grid = traffic->grid;
	struct timeline_query *rows =
	    timeline_query_new(traffic->query->reader, first_sql, error);
	int more = rows ? 1 : -1;

	traffic->first_id = mem_zalloc((grid->steps + 2) * sizeof(int64_t));
	traffic->first_id[0] = INT64_MIN;
	for (size_t i = 1; i <= grid->steps + 1 && more >= 0; i++) {
		const struct cell at =
		    cell_of_integer(nsec_add(grid->begin_ns, (nsec_t)i * grid->step_ns));

		traffic->first_id[i] = INT64_MAX;
		more = timeline_query_ask(rows, &at, 1, error)
			   ? -1
			   : timeline_query_next(rows, error);
		if (more > 0)
			traffic->first_id[i] =
			    cell_integer(timeline_query_row(rows), INT64_MAX);
	}
	timeline_query_free(rows);
	return more < 0 ? -1 : 0;
}

static int read_frames(struct traffic *traffic, struct error *error)
{
	const struct scope *scope = &traffic->query->scope;
	struct timeline_reader *reader = traffic->query->reader;
	int64_t event[2], message[2];
	int status = scope_event_ids(scope, reader, event, error) ||
		     scope_message_ids(scope, reader, message, error) ||
		     find_steps(traffic, error) ||
		     !(traffic->node = timeline_query_new(reader, node_sql, error)) ||
		     scan_rows(traffic, message_sql, message, add_known, error);

	for (size_t i = 0; i < 2; i++)
		sort_almost_sorted(traffic->known[i].item, traffic->known[i].count,
				   sizeof(struct packet_event), compare_events);
	for (size_t i = 0; i < DIRECTIONS && !status; i++) {
		traffic->is_received = directions[i].is_received;
		status =
		    scan_rows(traffic, directions[i].frames, event, add_frame, error);
	}
	return status ? -1 : 0;
}

/* Store the frames of each interface in each step that has some. */
static int store_steps(const struct traffic *traffic, struct error *error)
{
	struct timeline_rows *rows = timeline_rows_begin(
	    traffic->query->reader,
	    TRAFFIC_RELATION " (begin_ns, node, interface, sent, sent_bytes, received, "
			     "received_bytes)",
	    7, error);

	for (size_t i = 0; i < traffic->interfaces; i++)
		for (uint32_t step = 0; step <= traffic->grid->steps; step++) {
			const struct interface *interface = &traffic->interface[i];
			const int64_t sent = bin_value(&interface->frames[0], step);
			const int64_t received = bin_value(&interface->frames[1], step);

			if (!sent && !received)
				continue;
			timeline_rows_add(
			    rows,
			    (const struct cell[]){
				cell_of_integer(traffic->grid->begin_ns +
						step * traffic->grid->step_ns),
				cell_of_integer(interface->node), interface->name,
				cell_of_integer(sent),
				cell_of_integer(bin_value(&interface->bytes[0], step)),
				cell_of_integer(received),
				cell_of_integer(bin_value(&interface->bytes[1], step))});
		}
	return timeline_rows_end(rows);
}

static void clear_traffic(struct traffic *traffic)
{
	for (size_t i = 0; i < traffic->interfaces; i++) {
		struct interface *interface = &traffic->interface[i];

		if (cell_has_bytes(&interface->name))
			free((char *)interface->name.bytes);
		for (size_t k = 0; k < 2; k++) {
			bin_clear(&interface->frames[k]);
			bin_clear(&interface->bytes[k]);
		}
	}
	free(traffic->interface);
	timeline_query_free(traffic->node);
	texts_clear(&traffic->names);
	bytes_clear(&traffic->key);
	for (size_t i = 0; i < 2; i++)
		free(traffic->known[i].item);
	free(traffic->first_id);
}

int traffic_keep(struct query *query, const struct bin_grid *grid, struct error *error)
{
	struct traffic traffic = {.query = query, .grid = grid};
	int status = read_frames(&traffic, error);

	if (!status)
		status = store_steps(&traffic, error);
	clear_traffic(&traffic);
	return status;
}
