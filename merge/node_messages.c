/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/node_messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "input/messages_file.h"

struct reading {
	struct merge_run *run;
	const char *path;
	struct messages_reader *reader;
	const struct messages_head *head;
	uint32_t *source; /* by the file's: index in the run */
	size_t sources;   /* that were looked up */
};

/* Number a node that the clock map does not have by its name. Two nodes can have the same
 * number; joining the parts detects that. */
static int64_t number_by_name(const char *name)
{
	return NODE_NUMBERS + hash_id(hash_text(HASH_INIT, name)) % (NODE_NUMBERS - 1);
}

/* Sources that are not in the map have places after all that are. */
static void set_ids(struct merge_run *run, int64_t number)
{
	run->node[0].id = number + 1;
	for (size_t i = 0; i < run->count; i++) {
		const char *name = run->sources.item[i].name;
		const struct clock *clock = clock_map_find(&run->map, name);

		run->source[i].id = clock ? clock - run->map.clock + 1
					  : node_first_id(number + 1) + (int64_t)i + 1;
	}
}

static uint32_t add_node(struct merge_run *run, const struct messages_source *source)
{
	size_t first = run->nodes, count = first + run->nodes_elsewhere;

	for (size_t i = first; i < count; i++)
		if (run->node[i].id == source->number + INT64_C(1))
			return (uint32_t)i;
	run->node = mem_realloc(run->node, count + 1, sizeof(*run->node));
	run->node[count] = (struct merge_node){.id = source->number + INT64_C(1)};
	run->nodes_elsewhere++;
	return (uint32_t)count;
}

/* Return the index in the run of a source of the file. Sources elsewhere are added to the
 * run. Return -1 with error. */
static int64_t index_of(const struct reading *reading,
			const struct messages_source *source, struct error *error)
{
	struct merge_run *run = reading->run;
	const struct clock *clock = clock_map_find(&run->map, source->trace);
	size_t count = run->count + run->elsewhere;

	if (source->number == reading->head->number) {
		int64_t own = merge_run_find(run, source->trace);

		return own >= 0
			   ? own
			   : error_set(error,
				       "%s: messages of %s, which is not a source of %s",
				       reading->path, source->trace, run->node[0].name);
	}
	if (!clock)
		return error_set(error, "%s: %s is not in the clock map", reading->path,
				 source->trace);
	run->source = mem_realloc(run->source, count + 1, sizeof(*run->source));
	run->source[count] =
	    (struct merge_source){.id = clock - run->map.clock + 1,
				  .node = add_node(run, source),
				  .kind = source->is_capture ? "capture" : "trace",
				  .clock = *clock}; /* the map's */
	run->elsewhere++;
	return (int64_t)count;
}

static int find_end(struct reading *reading, const struct messages_end *end,
		    struct messages_end *found, struct error *error)
{
	while (reading->sources <= end->source) {
		int64_t index = index_of(
		    reading,
		    messages_reader_source(reading->reader, (uint32_t)reading->sources),
		    error);

		if (index < 0)
			return -1;
		reading->source = mem_realloc(reading->source, reading->sources + 1,
					      sizeof(*reading->source));
		reading->source[reading->sources++] = (uint32_t)index;
	}
	*found = *end;
	found->source = reading->source[end->source];
	return 0;
}

/* One between two sources of the node is there twice. */
static int add_message(struct reading *reading, const struct node_message *message,
		       struct message_log *messages, struct error *error)
{
	struct message_ends ends = {.first = message->first,
				    .packet = message->packet,
				    .sent = message->sent,
				    .number = message->number,
				    .offset = message->offset};
	struct messages_end own, other;
	bool has_first = message->first.local_ns < NSEC_MAX;

	if (find_end(reading, &message->own, &own, error) ||
	    find_end(reading, &message->other, &other, error) ||
	    (has_first && find_end(reading, &message->first, &ends.first, error)))
		return -1;
	if (own.source >= reading->run->count)
		return error_set(error, "%s: a message without an end of %s",
				 reading->path, reading->head->node);
	if (other.source < reading->run->count && !message->received)
		return 0;
	ends.send = message->received ? other : own;
	ends.recv = message->received ? own : other;
	return message_log_add(messages, 0, 1, &(struct message){0}, error) ||
		       message_log_add_ends(messages, &ends, error)
		   ? -1
		   : 0;
}

/* Check that the file belongs to the run and the clock map. */
static int check_head(const struct reading *reading, struct error *error)
{
	const struct merge_run *run = reading->run;
	const struct messages_head *head = reading->head;

	if (!head)
		return error_set(
		    error,
		    "%s: does not name its node (expected a file that this ctsync wrote)",
		    reading->path);
	if (head->clocks != clock_map_fingerprint(&run->map))
		return error_set(error,
				 "%s: of another run of ctsync than the clock map "
				 "(expected both of one run)",
				 reading->path);
	if (head->number >= NODE_NUMBERS)
		return error_set(error, "%s: invalid node %u (expected less than %d)",
				 reading->path, head->number, NODE_NUMBERS);
	if (merge_run_find(run, head->node) >= 0)
		return 0;
	return error_set(error, "%s: of node %s, which is not %s", reading->path,
			 head->node, run->node[0].name);
}

static int read_all(struct reading *reading, struct message_log *messages,
		    struct error *error)
{
	struct node_message message;
	int more;

	do {
		more = messages_reader_next(reading->reader, &message, error);
		if (more >= 0 && !reading->head) {
			reading->head = messages_reader_head(reading->reader);
			if (check_head(reading, error))
				return -1;
		}
		if (more > 0 && add_message(reading, &message, messages, error))
			return -1;
	} while (more > 0);
	return more;
}

static int check_no_messages(const struct merge_run *run, struct error *error)
{
	for (size_t i = 0; i < run->count; i++) {
		const char *name = run->sources.item[i].name;

		if (clock_map_find(&run->map, name))
			return error_set(error,
					 "%s is in the clock map, but its messages are "
					 "missing; use --messages",
					 name);
	}
	return 0;
}

int node_messages_read(struct merge_run *run, const char *path,
		       struct message_log *messages, struct error *error)
{
	struct reading reading = {.run = run, .path = path};
	int status = -1;

	if (!path) {
		if (check_no_messages(run, error))
			return -1;
		set_ids(run, number_by_name(run->node[0].name));
		return 0;
	}
	reading.reader = messages_reader_open(path, error);
	if (reading.reader)
		status = read_all(&reading, messages, error);
	if (!status)
		set_ids(run, reading.head->number);
	if (reading.reader)
		messages_reader_free(reading.reader);
	free(reading.source);
	return status;
}
