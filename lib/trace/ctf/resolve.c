/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/ctf/program.h"

enum {
	MOST_USES = 1 << 20,
	MOST_MATCHES = 1 << 26, /* LTTng's variants have a dozen options */
	MOST_IDS = 1 << 20,     /* up to the greatest one, of all streams together */
};

/* A structure or variant around the field at hand. */
struct around {
	struct field_class *class;
	const struct around *outer;
};

/* Of the field at hand. */
struct resolving {
	struct schema *schema;
	struct field_class *scope[SCOPES];
	int at;                       /* the scope at hand, */
	struct schema_stream *stream; /* and its stream */
	struct field_class *user;
	size_t uses; /* of integers by others */
	struct error *error;
};

static const char *location_text(const struct field_location *location)
{
	const char *last = "";

	for (size_t i = 0; i < location->steps; i++)
		if (location->step[i])
			last = location->step[i];
	return last;
}

/*
 * Labels of one name may be several ranges, and the first that fits counts. An option
 * that no label names is never selected.
 */
static int select_by_labels(const struct resolving *resolving, struct field_class *class,
			    const struct field_class *tag)
{
	struct schema *schema = resolving->schema;

	for (size_t i = 0; i < tag->members; i++)
		schema->matches += (class->members + 1) * tag->member[i].ranges;
	if (schema->matches > MOST_MATCHES)
		return error_set(resolving->error, "%s: want fewer options and labels",
				 location_text(class->location));
	for (size_t i = 0; i < class->members; i++) {
		const struct field_member *label = NULL;
		struct field_member *option = &class->member[i];

		for (size_t k = 0; k < tag->members; k++)
			if (strcmp(tag->member[k].name, option->name) == 0)
				label = &tag->member[k];
		for (size_t k = 0; label && k < label->ranges; k++)
			field_add_range(option, label->range[k].first,
					label->range[k].last);
	}
	return 0;
}

/* Let a field refer to an integer that comes before it. */
static int refer(struct resolving *resolving, struct field_class *target)
{
	struct field_class *class = resolving->user;
	const char *name =
	    class->location ? location_text(class->location) : "variant without a tag";
	bool is_known = target && target->is_known &&
			(target->type == FIELD_INTEGER || target->type == FIELD_LEB128);
	bool is_again = class->from >= 0;

	if (!is_known)
		return error_set(resolving->error, "%s: want an integer before its use",
				 name);
	if (class->type == FIELD_SEQUENCE && target->is_signed)
		return error_set(resolving->error, "%s: want an unsigned length", name);
	if (!resolving->schema->is_ctf2 && class->type == FIELD_VARIANT) {
		if (!target->is_label)
			return error_set(resolving->error, "%s: want an enumeration",
					 name);
		if (select_by_labels(resolving, class, target))
			return -1;
	}
	if (class->type == FIELD_OPTIONAL && !class->member->ranges &&
	    !target->is_boolean)
		return error_set(resolving->error, "%s: want a boolean, or ranges", name);
	if (is_again && class->is_from_signed != target->is_signed)
		return error_set(resolving->error, "%s: want integers of one sign", name);
	if (resolving->uses++ >= MOST_USES)
		return error_set(resolving->error, "%s: want fewer of its kind", name);
	if (!is_again)
		class->from =
		    target->slots ? target->slot[0] : resolving->schema->slots++;
	/* Of several options one is there, whichever; each sets the slot. */
	if (!target->slots || target->slot[0] != class->from)
		field_add_slot(target, class->from);
	class->is_from_signed = target->is_signed;
	return 0;
}

/*
 * From this field on, by the steps that are left. Behind a variant every option that has
 * the name is meant: the one that is there when it is used.
 */
static int follow(struct resolving *resolving, struct field_class *class, size_t step)
{
	const struct field_location *location = resolving->user->location;
	bool found = false;

	/* CTF 1.8 knows no way into an array or an option. */
	if (!resolving->schema->is_ctf2 && class && class->type != FIELD_STRUCTURE)
		return refer(resolving, step == location->steps ? class : NULL);
	while (class && (class->type == FIELD_ARRAY || class->type == FIELD_SEQUENCE))
		class = class->element;
	if (class && (class->type == FIELD_VARIANT || class->type == FIELD_OPTIONAL)) {
		for (size_t i = 0; i < class->members; i++) {
			struct field_class *option = class->member[i].class;

			if (!option->is_known ||
			    (step < location->steps && option->type == FIELD_STRUCTURE &&
			     !field_member(option, location->step[step])))
				continue;
			if (follow(resolving, option, step))
				return -1;
			found = true;
		}
		return found ? 0 : refer(resolving, NULL);
	}
	if (step == location->steps)
		return refer(resolving, class);
	if (class && class->type == FIELD_STRUCTURE && location->step[step])
		return follow(
		    resolving,
		    (struct field_class *)field_member(class, location->step[step]),
		    step + 1);
	return refer(resolving, NULL);
}

static const struct around *structure_around(const struct around *around)
{
	while (around && around->class->type != FIELD_STRUCTURE)
		around = around->outer;
	return around;
}

static bool knows(const struct field_class *class, const char *name)
{
	const struct field_class *member = field_member(class, name);

	return member && member->is_known;
}

static int find_target(struct resolving *resolving, const struct around *outer)
{
	const struct field_location *location = resolving->user->location;
	const struct around *around = structure_around(outer);
	size_t step = 0;

	if (!location)
		return refer(resolving, NULL);
	if (location->scope > resolving->at)
		return refer(resolving, NULL);
	if (location->scope >= 0)
		return follow(resolving, resolving->scope[location->scope], 0);
	if (!resolving->schema->is_ctf2)
		while (around && !knows(around->class, location->step[0]))
			around = structure_around(around->outer);
	else
		for (; around && step < location->steps && !location->step[step]; step++)
			around = structure_around(around->outer);
	return follow(resolving, around ? around->class : NULL, step);
}

static unsigned counter_size(const struct field_class *class)
{
	return class->type == FIELD_INTEGER ? class->size : 64;
}

/* What a field tells of its stream besides its value. */
static int survey(struct resolving *resolving, const struct field_class *class)
{
	struct schema_stream *stream = resolving->stream;

	if (resolving->at == SCOPE_PACKET_HEADER)
		resolving->schema->header_roles |= class->roles;
	else
		stream->has_id |= (class->roles & 1u << ROLE_ID) != 0;
	if (class->roles & 1u << ROLE_SEQUENCE)
		stream->sequence_size = counter_size(class);
	if (class->roles & 1u << ROLE_DISCARDED)
		stream->discarded_size = counter_size(class);
	if (!class->clock)
		return 0;
	if (class->is_signed)
		return error_set(resolving->error, "a stamp that is signed");
	if (resolving->at != SCOPE_PACKET_CONTEXT && resolving->at != SCOPE_EVENT_HEADER)
		return error_set(resolving->error, "a stamp outside the headers");
	if (stream->clock_name && strcmp(stream->clock_name, class->clock) != 0)
		return error_set(resolving->error, "stamps of two clocks");
	stream->clock_name = class->clock;
	if (resolving->at == SCOPE_EVENT_HEADER && !stream->has_stamps) {
		stream->has_stamps = true;
		stream->stamp_size = class->size;
	}
	return 0;
}

static int resolve(struct resolving *resolving, struct field_class *class,
		   const struct around *outer)
{
	struct schema *schema = resolving->schema;
	struct around around = {class, outer};

	if (class->order == ORDER_NATIVE)
		class->order = schema->order;
	resolving->user = class;
	if (survey(resolving, class))
		return -1;
	if ((class->type == FIELD_VARIANT || class->type == FIELD_SEQUENCE ||
	     class->type == FIELD_OPTIONAL) &&
	    find_target(resolving, outer))
		return -1;
	if (class->type == FIELD_OPTIONAL && !class->member->ranges)
		field_add_range(class->member, 1, UINT64_MAX);
	class->is_known = true;
	for (size_t i = 0; i < class->members && !class->is_label; i++)
		if (resolve(resolving, class->member[i].class, &around))
			return -1;
	return class->element ? resolve(resolving, class->element, outer) : 0;
}

/* These scopes, of which others may be known already. */
static int resolve_scopes(struct resolving *resolving, struct field_class *const *scope,
			  int first, int last)
{
	for (int i = first; i <= last; i++) {
		resolving->at = i;
		resolving->scope[i] = scope[i];
		if (scope[i] && resolve(resolving, scope[i], NULL))
			return -1;
	}
	return 0;
}

static int resolve_stream(struct resolving *resolving, struct schema_stream *stream)
{
	resolving->stream = stream;
	return resolve_scopes(resolving, stream->scope, SCOPE_PACKET_CONTEXT,
			      SCOPE_COMMON_CONTEXT);
}

static int resolve_event(struct resolving *resolving, struct schema_event_class *event,
			 struct schema_stream *stream)
{
	event->stream = resolving->stream = stream;
	for (int i = SCOPE_PACKET_CONTEXT; i <= SCOPE_COMMON_CONTEXT; i++)
		resolving->scope[i] = stream->scope[i];
	event->scope[SCOPE_COMMON_CONTEXT] = stream->scope[SCOPE_COMMON_CONTEXT];
	if (resolve_scopes(resolving, event->scope, SCOPE_SPECIFIC_CONTEXT,
			   SCOPE_PAYLOAD))
		return error_prefix(resolving->error, "event %s", event->known.name);
	return 0;
}

/* In the order in which packets may have them; up to the first that fails. */
int schema_resolve(struct schema *schema, struct error *error)
{
	struct resolving resolving = {.schema = schema, .error = error};
	struct intmap streams = {0}; /* id -> index */
	int status;
	int64_t at;

	schema->slots = ROLES;
	status = resolve_scopes(&resolving, &schema->packet_header, 0, 0);
	for (size_t i = 0; !status && i < schema->streams; i++) {
		if (intmap_get(&streams, schema->stream[i].id, &at))
			status = error_set(error, "two streams of one id");
		else
			status = resolve_stream(&resolving, &schema->stream[i]);
		intmap_put(&streams, schema->stream[i].id, (int64_t)i);
	}
	for (size_t i = 0; !status && i < schema->events; i++) {
		struct schema_event_class *event = &schema->event[i];

		if (!intmap_get(&streams, event->stream_id, &at))
			status = error_set(error, "events of a stream that is not there");
		else
			status = resolve_event(&resolving, event, &schema->stream[at]);
	}
	intmap_clear(&streams);
	return status;
}

#define GIGAHERTZ 1000000000u

/* In doubles where it is not nanoseconds already, as libbabeltrace2 has it. */
static bool to_nanoseconds(uint64_t value, uint64_t frequency, int64_t *ns)
{
	double real = 1e9 * (double)value / (double)frequency;

	if (frequency != GIGAHERTZ && real >= 9.2e18)
		return false;
	*ns = (int64_t)(frequency == GIGAHERTZ ? value : (uint64_t)real);
	return *ns >= 0;
}

bool schema_clock_instant_slow(const struct schema_clock *clock, uint64_t value,
			       nsec_t *instant)
{
	int64_t ns;

	return to_nanoseconds(value, clock->frequency, &ns) &&
	       !__builtin_add_overflow(clock->range.base_ns, ns, instant) &&
	       nsec_is_stamp(*instant);
}

/* An offset's whole seconds count apart, as its cycles would round otherwise. */
bool schema_clock_base(const struct schema_clock *clock, nsec_t *base_ns)
{
	uint64_t whole = clock->offset / clock->frequency;
	int64_t rest;

	return whole <= INT64_MAX &&
	       to_nanoseconds(clock->offset % clock->frequency, clock->frequency,
			      &rest) &&
	       !__builtin_add_overflow(clock->offset_s, (int64_t)whole, base_ns) &&
	       !__builtin_mul_overflow(*base_ns, NSEC_PER_SEC, base_ns) &&
	       !__builtin_add_overflow(*base_ns, rest, base_ns);
}

/* Where an instant is one addition. */
static void set_range(struct schema_clock *clock)
{
	nsec_t least, most;

	clock->range.least = 1;
	clock->range.most = 0;
	if (clock->frequency != GIGAHERTZ ||
	    __builtin_sub_overflow(NSEC_STAMP_LEAST, clock->range.base_ns, &least) ||
	    __builtin_sub_overflow(NSEC_STAMP_MOST, clock->range.base_ns, &most) ||
	    most < 0)
		return;
	clock->range.least = least < 0 ? 0 : (uint64_t)least;
	clock->range.most = (uint64_t)most;
}

/* Events without stamps have no place among others. */
static int set_clock(struct schema_stream *stream, struct schema *schema,
		     struct error *error)
{
	struct schema_clock *clock = NULL;

	if (!stream->clock_name || !(schema->is_ctf2 || stream->has_stamps))
		return 0;
	if (!schema->clocks && strcmp(stream->clock_name, SCHEMA_DEFAULT_CLOCK) == 0 &&
	    !schema->is_ctf2)
		*MEM_NEXT(schema->clock, schema->clocks, schema->clock_capacity) =
		    (struct schema_clock){.name = mem_strdup(SCHEMA_DEFAULT_CLOCK),
					  .frequency = GIGAHERTZ};
	for (size_t i = 0; i < schema->clocks; i++)
		if (strcmp(schema->clock[i].name, stream->clock_name) == 0)
			clock = &schema->clock[i];
	if (!clock)
		return error_set(error, "no clock %s", stream->clock_name);
	stream->clock = clock;
	if (!schema_clock_base(clock, &clock->range.base_ns))
		return error_set(error, "clock %s begins too far from the epoch",
				 stream->clock_name);
	set_range(clock);
	return 0;
}

/* The events of all streams by their ids. */
static int set_up_ids(struct schema *schema, struct error *error)
{
	struct schema_event_class *event = schema->event, *end = event + schema->events;
	size_t ids = 0;

	for (; event < end; event++) {
		/* If event headers have no id, the stream has a single event class. */
		if (!event->stream->has_id && !schema->is_ctf2)
			event->id = 0;
		if (event->id >= MOST_IDS)
			return error_set(error, "event %s: want an id below %d",
					 event->known.name, MOST_IDS);
		if (event->id >= event->stream->ids)
			event->stream->ids = event->id + 1;
	}
	for (size_t i = 0; i < schema->streams; i++) {
		struct schema_stream *stream = &schema->stream[i];

		ids += stream->ids;
		if (ids > MOST_IDS)
			return error_set(error, "want events of smaller ids");
		stream->by_id = mem_zalloc(stream->ids * sizeof(*stream->by_id) + 1);
	}
	for (event = schema->event; event < end; event++) {
		struct schema_event_class **place = &event->stream->by_id[event->id];

		if (*place)
			return error_set(error, "event %s: %s", event->known.name,
					 event->stream->has_id || schema->is_ctf2
					     ? "two events of one id"
					     : "several events, but no id in the headers "
					       "of events");
		*place = event;
	}
	return 0;
}

static bool is_little_unsigned(const struct field_class *class)
{
	return class->type == FIELD_INTEGER && !class->is_signed &&
	       class->order == ORDER_LITTLE && !class->is_reversed && !class->is_boolean;
}

/* Where a field begins behind so many bits, the first of which begins a byte. */
static unsigned behind(unsigned bits, const struct field_class *class)
{
	return (bits + class->align - 1) / class->align * class->align;
}

/* Nothing but a stamp, which one word can hold behind an id of so many bits. */
static bool is_stamp(const struct field_class *class, unsigned id_size)
{
	return is_little_unsigned(class) && class->clock && !class->roles &&
	       !class->slots && class->align <= 8 &&
	       behind(id_size, class) % 8 + class->size <= 64;
}

static void find_short_header(const struct field_class *header,
			      struct short_header *short_header)
{
	const struct field_class *id, *stamp, *v;

	if (!header || header->members != 2 || header->align != 8)
		return;
	id = header->member[0].class;
	stamp = v = header->member[1].class;
	short_header->last = UINT64_MAX;
	if (v->type == FIELD_VARIANT) {
		/* The first option, so that no other one can be meant. */
		const struct field_member *option = v->member;

		if (id->slots != 1 || v->from != id->slot[0] || option->ranges != 1 ||
		    option->range[0].first != 0 ||
		    option->class->type != FIELD_STRUCTURE ||
		    option->class->members != 1 || id->size % option->class->align)
			return;
		short_header->last = option->range[0].last;
		stamp = option->class->member[0].class;
	}
	if (!is_little_unsigned(id) || id->roles != 1u << ROLE_ID || id->clock ||
	    id->slots > 1 || !is_stamp(stamp, id->size))
		return;
	short_header->id_size = id->size;
	short_header->stamp_size = stamp->size;
	short_header->stamp_at = behind(id->size, stamp);
	short_header->size = short_header->stamp_at + stamp->size;
	short_header->slot = id->slots ? id->slot[0] : -1;
}

/* Packets are looked for by the magic number, if it is the first of them. */
static void find_magic(struct schema *schema)
{
	const struct field_class *header = schema->packet_header;
	const struct field_class *field =
	    header && header->members ? header->member[0].class : NULL;

	schema->has_magic = field && field->roles & 1u << ROLE_MAGIC && field->size == 32;
	schema->is_magic_big = schema->has_magic && field->order == ORDER_BIG;
}

static int set_up_stream(struct schema *schema, struct schema_stream *stream,
			 struct error *error)
{
	if (set_clock(stream, schema, error))
		return -1;
	stream->packet_program = ctf_program_new(&stream->scope[SCOPE_PACKET_CONTEXT], 1);
	stream->header_program = ctf_program_new(&stream->scope[SCOPE_EVENT_HEADER], 1);
	find_short_header(stream->scope[SCOPE_EVENT_HEADER], &stream->short_header);
	return 0;
}

/* barectf before 2.3.1; libbabeltrace2 corrects the same. */
static bool has_early_events(const struct schema *schema)
{
	const uint64_t *version = schema->version;

	return schema->is_barectf &&
	       10000 * version[0] + 100 * version[1] + version[2] < 20301;
}

int schema_set_up(struct schema *schema, struct error *error)
{
	find_magic(schema);
	schema->has_early_events = has_early_events(schema);
	schema->packet_program = ctf_program_new(&schema->packet_header, 1);
	if (!(schema->header_roles & 1u << ROLE_STREAM) && schema->streams > 1)
		return error_set(error, "packets do not say their stream");
	for (size_t i = 0; i < schema->streams; i++)
		if (set_up_stream(schema, &schema->stream[i], error))
			return -1;
	return set_up_ids(schema, error);
}
