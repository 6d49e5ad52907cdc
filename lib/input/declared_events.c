/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/declared_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* One end of a message at an event class of the trace. */
struct rule {
	const struct declared_message *message;
	bool received;
	uint32_t class;
	const char *missing; /* a field that the class lacks: none of its events count */
	int *key;            /* columns */
	int *where;
	uint64_t lacking; /* events without a field of the key or of a condition */
	uint64_t lost;    /* events of a counted message after a loss */
};

struct declared_events {
	struct trace_reader *reader;
	struct rule *rule; /* by class */
	size_t rules, capacity;
	size_t *first; /* by class: its first rule; one more for the end */
	size_t classes;
};

/* Find a column by name; fields of the payload precede those of the context. */
static int find_column(const struct trace_class *class, const char *name)
{
	for (int context = 0; context < 2; context++)
		for (size_t i = 0; i < class->columns; i++)
			if (class->column[i].context == context &&
			    strcmp(class->column[i].name, name) == 0)
				return (int)i;
	return -1;
}

static int require_column(struct rule *rule, const struct trace_class *class,
			  const char *name)
{
	int column = find_column(class, name);

	if (column < 0 && !rule->missing)
		rule->missing = name;
	return column;
}

static void add_rule(struct declared_events *events, uint32_t index,
		     const struct declared_message *message, bool received)
{
	const struct trace_class *class = trace_reader_columns(events->reader, index);
	const struct declared_end *end = &message->end[received];
	struct rule *rule = MEM_NEXT(events->rule, events->rules, events->capacity);

	*rule = (struct rule){.message = message,
			      .received = received,
			      .class = index,
			      .key = mem_zalloc(end->key.count * sizeof(int)),
			      .where = mem_zalloc((end->wheres + 1) * sizeof(int))};
	for (size_t i = 0; i < end->key.count; i++)
		rule->key[i] = require_column(rule, class, end->key.item[i]);
	for (size_t i = 0; i < end->wheres; i++)
		rule->where[i] = require_column(rule, class, end->where[i].field);
}

struct declared_events *declared_events_new(struct trace_reader *reader,
					    const struct declared_message *const *message,
					    size_t count, const bool *taken)
{
	struct declared_events *events = mem_zalloc(sizeof(*events));
	const struct trace_selection selection = {.what = SELECT_COLUMNS};
	const struct trace_class *class;

	events->reader = reader;
	while (trace_reader_class(reader, (uint32_t)events->classes))
		events->classes++;
	events->first = mem_zalloc((events->classes + 1) * sizeof(*events->first));
	for (uint32_t i = 0; (class = trace_reader_class(reader, i)); i++) {
		events->first[i] = events->rules;
		for (size_t k = 0; k < 2 * count && !taken[i]; k++)
			if (strcmp(message[k / 2]->end[k % 2].event, class->name) == 0)
				add_rule(events, i, message[k / 2], k % 2);
		if (events->rules > events->first[i])
			trace_reader_select(reader, i, &selection);
	}
	events->first[events->classes] = events->rules;
	if (events->rules)
		return events;
	declared_events_free(events);
	return NULL;
}

static bool condition_holds(const struct declared_condition *condition,
			    const struct cell *cell)
{
	int order;

	if (condition->text) {
		size_t size = strlen(condition->text);
		bool is_equal = cell_has_bytes(cell) && cell->size == size &&
				memcmp(cell->bytes, condition->text, size) == 0;

		return is_equal == (condition->test == TEST_EQUAL);
	}
	if (cell->type == CELL_REAL)
		order = (cell->real > (double)condition->integer) -
			(cell->real < (double)condition->integer);
	else if (cell->type == CELL_INTEGER)
		order = (cell->integer > condition->integer) -
			(cell->integer < condition->integer);
	else
		return condition->test == TEST_UNEQUAL;
	switch (condition->test) {
	case TEST_EQUAL:
		return order == 0;
	case TEST_UNEQUAL:
		return order != 0;
	case TEST_LESS:
		return order < 0;
	case TEST_LESS_EQUAL:
		return order <= 0;
	case TEST_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* Add a field to the hash of a key, of 128 bits. Return false if it has no value. */
static bool add_field(uint64_t hash[2], const struct cell *cell)
{
	const void *bytes = cell_has_bytes(cell) ? (const void *)cell->bytes
						 : (const void *)&cell->integer;
	size_t size = cell_has_bytes(cell) ? cell->size : sizeof(cell->integer);
	uint64_t head = (uint64_t)size << 1 | cell_has_bytes(cell);

	if (cell->type != CELL_INTEGER && !cell_has_bytes(cell))
		return false;
	for (int i = 0; i < 2; i++) {
		uint64_t seed = hash_mix(hash[i] ^ head) + (uint64_t)i;

		hash[i] = hash_mix(hash_bytes(seed, bytes, size));
	}
	return true;
}

/* Decide whether an event is one end of a message, and set its identity. */
static bool read_event(struct rule *rule, const struct cell *cell, uint64_t hash[2])
{
	const struct declared_end *end = &rule->message->end[rule->received];

	for (size_t i = 0; i < end->wheres; i++) {
		const struct cell *field = &cell[rule->where[i]];

		if (field->type == CELL_NULL) {
			rule->lacking++;
			return false;
		}
		if (!condition_holds(&end->where[i], field))
			return false;
	}
	hash[0] = HASH_INIT;
	hash[1] = ~HASH_INIT;
	for (size_t i = 0; i < end->key.count; i++)
		if (!add_field(hash, &cell[rule->key[i]])) {
			rule->lacking++;
			return false;
		}
	return true;
}

static struct packet make_packet(const struct declared_message *message,
				 const uint64_t hash[2])
{
	struct packet packet = {.family = PACKET_DECLARED,
				.protocol = PACKET_NO_PROTOCOL,
				.flags = message->flags};

	memcpy(packet.dst, message->name, strlen(message->name));
	packet_set_key(&packet, hash);
	return packet;
}

/* Return true if some events before now were lost, so that those to come cannot be
 * numbered. */
static bool has_losses(const struct declared_events *events)
{
	const struct trace_facts *facts = trace_reader_facts(events->reader);

	return facts->discarded_events || facts->discarded_packets;
}

/* Return true if an earlier rule of the class made the same of the event: two files may
 * declare one message. */
static bool is_same_as_earlier(const struct declared_events *events,
			       const struct rule *rule, const struct cell *cell,
			       const uint64_t hash[2])
{
	const struct rule *earlier = &events->rule[events->first[rule->class]];

	for (; earlier < rule; earlier++) {
		struct rule copy = *earlier;
		uint64_t other[2];

		if (!earlier->missing && earlier->received == rule->received &&
		    earlier->message->flags == rule->message->flags &&
		    strcmp(earlier->message->name, rule->message->name) == 0 &&
		    read_event(&copy, cell, other) &&
		    memcmp(hash, other, sizeof(other)) == 0)
			return true;
	}
	return false;
}

void declared_events_add(struct declared_events *events, const struct trace_event *event,
			 declared_event_fn *on_event, void *context)
{
	for (size_t i = events->first[event->class]; i < events->first[event->class + 1];
	     i++) {
		struct rule *rule = &events->rule[i];
		struct packet_event packet_event = {
		    .received = rule->received,
		    .ns = event->local_ns,
		    .whole_ns = rule->received ? event->local_ns : NSEC_MAX,
		    .event_ns = event->local_ns,
		    .ordinal = event->ordinal,
		    .stream = event->stream};
		uint64_t hash[2];

		if (rule->missing) {
			rule->lacking++;
			continue;
		}
		if (!read_event(rule, event->cell, hash) ||
		    is_same_as_earlier(events, rule, event->cell, hash))
			continue;
		if (rule->message->flags & PACKET_COUNTED && has_losses(events)) {
			rule->lost++;
			continue;
		}
		packet_event.packet = make_packet(rule->message, hash);
		on_event(context, &packet_event);
	}
}

void declared_events_report(const struct declared_events *events, const char *path,
			    struct problem_list *problems)
{
	for (size_t i = 0; i < events->rules; i++) {
		const struct rule *rule = &events->rule[i];
		const struct declared_message *message = rule->message;
		const char *event = message->end[rule->received].event;

		if (rule->missing)
			problem_add(problems, path, PROBLEM_DECLARED, rule->lacking,
				    "%s:%zu: message %s: %s has no field '%s' (%" PRIu64
				    " events ignored)",
				    message->path, message->line, message->name, event,
				    rule->missing, rule->lacking);
		else if (rule->lacking)
			problem_add(
			    problems, path, PROBLEM_DECLARED, rule->lacking,
			    "message %s: %" PRIu64
			    " events %s ignored, because a field is neither an integer "
			    "nor text",
			    message->name, rule->lacking, event);
		if (rule->lost)
			problem_add(problems, path, PROBLEM_DECLARED, rule->lost,
				    "message %s: %" PRIu64
				    " events %s ignored, because events before them "
				    "were lost, so their count is unknown",
				    message->name, rule->lost, event);
	}
}

void declared_events_free(struct declared_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->rules; i++) {
		free(events->rule[i].key);
		free(events->rule[i].where);
	}
	free(events->rule);
	free(events->first);
	free(events);
}
