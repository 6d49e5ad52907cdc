/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/schema.h"

enum {
	MOST_USES = 1 << 20,
	MOST_MATCHES = 1 << 26, /* LTTng's variants have a dozen options */
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

/* Labels of one name may be several ranges, and the first that fits counts. */
static int select_by_labels(const struct resolving *resolving, struct field_class *class,
			    const struct field_class *tag)
{
	struct schema *schema = resolving->schema;

	schema->matches += (class->members + 1) * tag->labels;
	if (schema->matches > MOST_MATCHES)
		return error_set(resolving->error, "%s: want fewer options and labels",
				 location_text(class->location));
	for (size_t i = 0; i < class->members; i++) {
		struct field_member *option = &class->member[i];

		for (size_t k = 0; k < tag->labels; k++)
			if (strcmp(tag->label[k].name, option->name) == 0)
				field_add_range(&option->range, &option->ranges,
						tag->label[k].first, tag->label[k].last);
		if (!option->ranges)
			return error_set(resolving->error,
					 "option %s: want a label of its tag",
					 option->name);
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
	if (class->location->is_looked_up && class->type == FIELD_VARIANT) {
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
	/* Of several fields one is there, whichever; each sets the slot. */
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
	if (location->is_looked_up && class && class->type != FIELD_STRUCTURE)
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
	if (location->is_looked_up)
		while (around && !knows(around->class, location->step[0]))
			around = structure_around(around->outer);
	else
		for (; around && step < location->steps && !location->step[step]; step++)
			around = structure_around(around->outer);
	return follow(resolving, around ? around->class : NULL, step);
}

static bool is_number(const struct field_class *class)
{
	return class->type == FIELD_INTEGER || class->type == FIELD_REAL;
}

/* What a field tells of its stream besides its value. */
static int survey(struct resolving *resolving, const struct field_class *class)
{
	struct schema_stream *stream = resolving->stream;

	if (resolving->at == SCOPE_PACKET_HEADER)
		resolving->schema->header_roles |= class->roles;
	else
		stream->has_id |= (class->roles & 1u << ROLE_ID) != 0;
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
	if (is_number(class) && class->order != schema->order &&
	    (class->size % 8 || class->align % 8))
		schema->mixed = true;
	resolving->user = class;
	if (survey(resolving, class))
		return -1;
	if ((class->type == FIELD_VARIANT || class->type == FIELD_SEQUENCE ||
	     class->type == FIELD_OPTIONAL) &&
	    find_target(resolving, outer))
		return -1;
	if (class->type == FIELD_OPTIONAL && !class->member->ranges)
		field_add_range(&class->member->range, &class->member->ranges, 1,
				UINT64_MAX);
	class->is_known = true;
	for (size_t i = 0; i < class->members; i++)
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

/* In the order in which packets may have them; up to the first that fails. */
int schema_resolve(struct schema *schema, struct error *error)
{
	struct resolving resolving = {.schema = schema, .error = error};

	schema->slots = ROLES;
	if (resolve_scopes(&resolving, &schema->packet_header, 0, 0))
		return -1;
	for (size_t i = 0; i < schema->streams; i++) {
		struct schema_stream *stream = resolving.stream = &schema->stream[i];

		if (resolve_scopes(&resolving, stream->scope, SCOPE_PACKET_CONTEXT,
				   SCOPE_COMMON_CONTEXT))
			return -1;
		for (size_t k = 0; k < schema->events; k++) {
			struct ctf_event_class *event = &schema->event[k];

			if (event->stream_id != stream->id)
				continue;
			event->stream = stream;
			event->scope[SCOPE_COMMON_CONTEXT] =
			    stream->scope[SCOPE_COMMON_CONTEXT];
			if (resolve_scopes(&resolving, event->scope,
					   SCOPE_SPECIFIC_CONTEXT, SCOPE_PAYLOAD))
				return error_prefix(error, "event %s", event->known.name);
		}
	}
	return 0;
}
