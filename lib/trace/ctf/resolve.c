/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/ctf/program.h"

enum {
	MOST_USES = 1 << 20,
	MOST_MATCHES = 1 << 26, /* LTTng's variants have a dozen options */
	MOST_IDS = 1 << 20,     /* largest ids of all streams, summed */
};

/* A structure or variant that encloses the current field. */
struct enclosing {
	struct field_class *class;
	const struct enclosing *outer;
};

struct resolver {
	struct schema *schema;
	struct field_class *scope[SCOPES];
	int at;                       /* index of the current scope */
	struct schema_stream *stream; /* stream of the current scope */
	struct field_class *user;
	const struct enclosing *outer; /* what encloses the user */
	size_t uses;                   /* number of references so far */
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
 * Let an option be selected by the ranges of the label with its name. If several labels
 * have the name, the last one counts. An option without a label is never selected.
 */
static int select_by_labels(const struct resolver *resolver, struct field_class *class,
			    const struct field_class *tag)
{
	struct schema *schema = resolver->schema;

	for (size_t i = 0; i < tag->members; i++)
		schema->matches += (class->members + 1) * tag->member[i].ranges;
	if (schema->matches > MOST_MATCHES)
		return error_set(resolver->error, "%s: too many options and labels",
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

/* Bind a field's length or selector to an integer that comes before it. */
static int bind_reference(struct resolver *resolver, struct field_class *target)
{
	struct field_class *class = resolver->user;
	const char *name =
	    class->location ? location_text(class->location) : "variant without a tag";
	bool is_known = target && target->is_known &&
			(target->type == FIELD_INTEGER || target->type == FIELD_LEB128);
	bool is_again = class->from >= 0;

	if (!is_known)
		return error_set(resolver->error, "%s: expected an earlier integer field",
				 name);
	if (class->type == FIELD_SEQUENCE && target->is_signed)
		return error_set(resolver->error, "%s: expected an unsigned length",
				 name);
	if (!resolver->schema->is_ctf2 && class->type == FIELD_VARIANT) {
		if (!target->is_label)
			return error_set(resolver->error, "%s: expected an enumeration",
					 name);
		if (select_by_labels(resolver, class, target))
			return -1;
	}
	if (class->type == FIELD_OPTIONAL && !class->member->ranges &&
	    !target->is_boolean)
		return error_set(resolver->error, "%s: expected a boolean or ranges",
				 name);
	if (is_again && class->is_from_signed != target->is_signed)
		return error_set(resolver->error,
				 "%s: expected integers of equal signedness", name);
	if (resolver->uses++ >= MOST_USES)
		return error_set(resolver->error, "%s: too many references to integers",
				 name);
	if (!is_again)
		class->from = target->slots ? target->slot[0] : resolver->schema->slots++;
	/* Whichever of several options is selected, it sets the slot. */
	if (!target->slots || target->slot[0] != class->from)
		field_add_slot(target, class->from);
	class->is_from_signed = target->is_signed;
	return 0;
}

/* The option of a variant that the user is in, or NULL. */
static struct field_class *enclosing_option(const struct resolver *resolver,
					    const struct field_class *variant)
{
	struct field_class *option = NULL;

	for (const struct enclosing *at = resolver->outer; at; at = at->outer) {
		if (at->class == variant)
			return option;
		option = at->class;
	}
	return NULL;
}

static bool leads_to(const struct field_class *class, const char *name)
{
	bool found = class->type == FIELD_STRUCTURE && name && field_member(class, name);

	if (class->type == FIELD_ARRAY || class->type == FIELD_SEQUENCE)
		return leads_to(class->element, name);
	if (class->type == FIELD_VARIANT || class->type == FIELD_OPTIONAL)
		for (size_t i = 0; i < class->members && !found; i++)
			found = leads_to(class->member[i].class, name);
	return found;
}

/*
 * Follow the remaining steps from a field. In a variant around the user, follow them in
 * the user's option. In another one, follow them in every option that has the name; the
 * selected one is used when reading.
 */
static int follow_steps(struct resolver *resolver, struct field_class *class, size_t step)
{
	const struct field_location *location = resolver->user->location;
	bool found = false;

	/* CTF 1.8 has no path into an array or an option. */
	if (!resolver->schema->is_ctf2 && class && class->type != FIELD_STRUCTURE)
		return bind_reference(resolver, step == location->steps ? class : NULL);
	while (class && (class->type == FIELD_ARRAY || class->type == FIELD_SEQUENCE))
		class = class->element;
	if (class && (class->type == FIELD_VARIANT || class->type == FIELD_OPTIONAL)) {
		struct field_class *option = enclosing_option(resolver, class);

		if (option)
			return follow_steps(resolver, option, step);
		for (size_t i = 0; i < class->members; i++) {
			option = class->member[i].class;
			if (!option->is_known ||
			    (step < location->steps &&
			     !leads_to(option, location->step[step])))
				continue;
			if (follow_steps(resolver, option, step))
				return -1;
			found = true;
		}
		return found ? 0 : bind_reference(resolver, NULL);
	}
	if (step == location->steps)
		return bind_reference(resolver, class);
	if (class && class->type == FIELD_STRUCTURE && location->step[step])
		return follow_steps(
		    resolver,
		    (struct field_class *)field_member(class, location->step[step]),
		    step + 1);
	return bind_reference(resolver, NULL);
}

static const struct enclosing *enclosing_structure(const struct enclosing *enclosing)
{
	while (enclosing && enclosing->class->type != FIELD_STRUCTURE)
		enclosing = enclosing->outer;
	return enclosing;
}

static bool has_known_member(const struct field_class *class, const char *name)
{
	const struct field_class *member = field_member(class, name);

	return member && member->is_known;
}

static int find_target(struct resolver *resolver, const struct enclosing *outer)
{
	const struct field_location *location = resolver->user->location;
	const struct enclosing *enclosing = enclosing_structure(outer);
	size_t step = 0;

	if (!location || location->scope > resolver->at)
		return bind_reference(resolver, NULL);
	if (location->scope >= 0)
		return follow_steps(resolver, resolver->scope[location->scope], 0);
	if (!resolver->schema->is_ctf2)
		while (enclosing &&
		       !has_known_member(enclosing->class, location->step[0]))
			enclosing = enclosing_structure(enclosing->outer);
	else
		for (; enclosing && step < location->steps && !location->step[step];
		     step++)
			enclosing = enclosing_structure(enclosing->outer);
	return follow_steps(resolver, enclosing ? enclosing->class : NULL, step);
}

static unsigned counter_size(const struct field_class *class)
{
	return class->type == FIELD_INTEGER ? class->size : 64;
}

/* Update the stream's properties from a field's roles and clock. */
static int note_roles(struct resolver *resolver, const struct field_class *class)
{
	struct schema_stream *stream = resolver->stream;

	if (resolver->at == SCOPE_PACKET_HEADER)
		resolver->schema->header_roles |= class->roles;
	else
		stream->has_id |= (class->roles & 1u << ROLE_ID) != 0;
	if (class->roles & 1u << ROLE_SEQUENCE)
		stream->sequence_size = counter_size(class);
	if (class->roles & 1u << ROLE_DISCARDED)
		stream->discarded_size = counter_size(class);
	if (!class->clock)
		return 0;
	if (class->is_signed)
		return error_set(resolver->error, "signed timestamp");
	if (resolver->at != SCOPE_PACKET_CONTEXT && resolver->at != SCOPE_EVENT_HEADER)
		return error_set(resolver->error, "timestamp outside the headers");
	if (stream->clock_name && strcmp(stream->clock_name, class->clock) != 0)
		return error_set(resolver->error, "timestamps of two clocks");
	stream->clock_name = class->clock;
	if (resolver->at == SCOPE_EVENT_HEADER && !stream->has_stamps) {
		stream->has_stamps = true;
		stream->stamp_size = class->size;
	}
	return 0;
}

static int resolve_field(struct resolver *resolver, struct field_class *class,
			 const struct enclosing *outer)
{
	struct schema *schema = resolver->schema;
	struct enclosing enclosing = {class, outer};

	if (class->order == ORDER_NATIVE)
		class->order = schema->order;
	resolver->user = class;
	resolver->outer = outer;
	if (note_roles(resolver, class))
		return -1;
	if ((class->type == FIELD_VARIANT || class->type == FIELD_SEQUENCE ||
	     class->type == FIELD_OPTIONAL) &&
	    find_target(resolver, outer))
		return -1;
	if (class->type == FIELD_OPTIONAL && !class->member->ranges)
		field_add_range(class->member, 1, UINT64_MAX);
	class->is_known = true;
	for (size_t i = 0; i < class->members && !class->is_label; i++)
		if (resolve_field(resolver, class->member[i].class, &enclosing))
			return -1;
	return class->element ? resolve_field(resolver, class->element, outer) : 0;
}

static int resolve_scopes(struct resolver *resolver, struct field_class *const *scope,
			  int first, int last)
{
	for (int i = first; i <= last; i++) {
		resolver->at = i;
		resolver->scope[i] = scope[i];
		if (scope[i] && resolve_field(resolver, scope[i], NULL))
			return -1;
	}
	return 0;
}

static int resolve_stream(struct resolver *resolver, struct schema_stream *stream)
{
	resolver->stream = stream;
	return resolve_scopes(resolver, stream->scope, SCOPE_PACKET_CONTEXT,
			      SCOPE_COMMON_CONTEXT);
}

static int resolve_event(struct resolver *resolver, struct schema_event_class *event,
			 struct schema_stream *stream)
{
	event->stream = resolver->stream = stream;
	for (int i = SCOPE_PACKET_CONTEXT; i <= SCOPE_COMMON_CONTEXT; i++)
		resolver->scope[i] = stream->scope[i];
	event->scope[SCOPE_COMMON_CONTEXT] = stream->scope[SCOPE_COMMON_CONTEXT];
	if (resolve_scopes(resolver, event->scope, SCOPE_SPECIFIC_CONTEXT, SCOPE_PAYLOAD))
		return error_prefix(resolver->error, "event %s", event->known.name);
	return 0;
}

/* Scopes are resolved in the order in which packets contain them. */
int schema_resolve(struct schema *schema, struct error *error)
{
	struct resolver resolver = {.schema = schema, .error = error};
	struct intmap streams = {0}; /* id -> index */
	int status;
	int64_t at;

	schema->slots = ROLES;
	status = resolve_scopes(&resolver, &schema->packet_header, 0, 0);
	for (size_t i = 0; !status && i < schema->streams; i++) {
		if (intmap_get(&streams, schema->stream[i].id, &at))
			status = error_set(error, "duplicate stream id");
		else
			status = resolve_stream(&resolver, &schema->stream[i]);
		intmap_put(&streams, schema->stream[i].id, (int64_t)i);
	}
	for (size_t i = 0; !status && i < schema->events; i++) {
		struct schema_event_class *event = &schema->event[i];

		if (!intmap_get(&streams, event->stream_id, &at))
			status = error_set(error, "event of an unknown stream");
		else
			status = resolve_event(&resolver, event, &schema->stream[at]);
	}
	intmap_clear(&streams);
	return status;
}

#define GIGAHERTZ 1000000000u

/* Uses doubles unless the frequency is 1 GHz, like libbabeltrace2. */
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

/* Whole seconds of the offset are added separately, because doubles would round them. */
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

/* Set the range of values for which the instant is one addition. */
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

/* Streams whose events have no timestamps get no clock. */
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
		return error_set(error, "unknown clock '%s'", stream->clock_name);
	stream->clock = clock;
	if (!schema_clock_base(clock, &clock->range.base_ns))
		return error_set(error, "clock '%s' starts too far from the epoch",
				 stream->clock_name);
	set_range(clock);
	return 0;
}

/* Build the tables of event classes by id. */
static int set_up_ids(struct schema *schema, struct error *error)
{
	struct schema_event_class *event = schema->event, *end = event + schema->events;
	size_t ids = 0;

	for (; event < end; event++) {
		/* If event headers have no id, the stream has a single event class. */
		if (!event->stream->has_id && !schema->is_ctf2)
			event->id = 0;
		if (event->id >= MOST_IDS)
			return error_set(error, "event %s: id too large (limit %d)",
					 event->known.name, MOST_IDS);
		if (event->id >= event->stream->ids)
			event->stream->ids = event->id + 1;
	}
	for (size_t i = 0; i < schema->streams; i++) {
		struct schema_stream *stream = &schema->stream[i];

		ids += stream->ids;
		if (ids > MOST_IDS)
			return error_set(
			    error, "event ids too large (limit %d over all streams)",
			    MOST_IDS);
		stream->by_id = mem_zalloc(stream->ids * sizeof(*stream->by_id) + 1);
	}
	for (event = schema->event; event < end; event++) {
		struct schema_event_class **place = &event->stream->by_id[event->id];

		if (*place)
			return error_set(error, "event %s: %s", event->known.name,
					 event->stream->has_id || schema->is_ctf2
					     ? "duplicate id"
					     : "several events, but event headers have "
					       "no id");
		*place = event;
	}
	return 0;
}

static bool is_little_unsigned(const struct field_class *class)
{
	return class->type == FIELD_INTEGER && !class->is_signed &&
	       class->order == ORDER_LITTLE && !class->is_reversed && !class->is_boolean;
}

/* Return the offset of a field that follows `bits` bits from the start of a byte. */
static unsigned align_up(unsigned bits, const struct field_class *class)
{
	return (bits + class->align - 1) / class->align * class->align;
}

/*
 * Return true if a field is only a timestamp that, after an id of `id_size` bits, fits
 * into one word.
 */
static bool is_stamp(const struct field_class *class, unsigned id_size)
{
	return is_little_unsigned(class) && class->clock && !class->roles &&
	       !class->slots && class->align <= 8 &&
	       align_up(id_size, class) % 8 + class->size <= 64;
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
		/*
		 * The first option has priority, so no other one can be selected for its
		 * ids.
		 */
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
	short_header->stamp_at = align_up(id->size, stamp);
	short_header->size = short_header->stamp_at + stamp->size;
	short_header->slot = id->slots ? id->slot[0] : -1;
}

/* If the packet header starts with the magic number, packets can be searched for. */
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

/* Return true for barectf before 2.3.1. libbabeltrace2 makes the same correction. */
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
		return error_set(error, "packets do not name their stream");
	for (size_t i = 0; i < schema->streams; i++)
		if (set_up_stream(schema, &schema->stream[i], error))
			return -1;
	return set_up_ids(schema, error);
}
