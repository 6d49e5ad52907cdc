/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/tsdl/field_resolve.h"

#include <string.h>

/* In the order in which they are in a packet. */
enum {
	SCOPES = 6,
	MOST_MATCHES = 1 << 26, /* LTTng's variants have a dozen options */
};

static const char *const scope_name[SCOPES] = {
    "trace.packet.header",  "stream.packet.context", "stream.event.header",
    "stream.event.context", "event.context",         "event.fields",
};

/* A structure around the field at hand, and how many of its members are before. */
struct around {
	struct field_class *class;
	size_t before;
	struct around *outer;
};

struct resolving {
	enum byte_order order;
	struct field_class *scope[SCOPES];
	int at; /* the scope at hand */
	struct field_slots *slots;
	struct error *error;
};

/* Whether a path goes on with this name; moves it behind the name and its dot. */
static bool take_name(const char **path, const char *name)
{
	size_t size = strlen(name);

	if (strncmp(*path, name, size) != 0 || ((*path)[size] && (*path)[size] != '.'))
		return false;
	*path += size + ((*path)[size] == '.');
	return true;
}

static struct field_class *descend(struct field_class *class, size_t members,
				   const char *path)
{
	while (*path) {
		size_t i = 0;

		if (class->type != FIELD_STRUCTURE)
			return NULL;
		while (i < members && !take_name(&path, class->member[i].name))
			i++;
		if (i == members)
			return NULL;
		class = class->member[i].class;
		members = class->members;
	}
	return class;
}

static struct field_class *find(const struct resolving *resolving, const char *path,
				const struct around *around)
{
	struct field_class *found = NULL;

	for (int i = 0; i <= resolving->at; i++) {
		const char *rest = path;

		if (!take_name(&rest, scope_name[i]) || !*rest)
			continue;
		if (!resolving->scope[i])
			return NULL;
		if (i < resolving->at)
			return descend(resolving->scope[i], resolving->scope[i]->members,
				       rest);
		while (around->outer)
			around = around->outer;
		return descend(around->class, around->before, rest);
	}
	for (; around && !found; around = around->outer)
		if (around->class->type == FIELD_STRUCTURE)
			found = descend(around->class, around->before, path);
	return found;
}

static int refer(struct resolving *resolving, struct field_class *class,
		 const struct around *around)
{
	struct field_class *target =
	    class->path ? find(resolving, class->path, around) : NULL;

	if (!target || target->type != FIELD_INTEGER)
		return error_set(resolving->error, "%s: want an integer before its use",
				 class->path ? class->path : "variant without a tag");
	if (class->type == FIELD_SEQUENCE ? target->is_signed : !target->is_label)
		return error_set(resolving->error, "%s: want %s", class->path,
				 class->type == FIELD_SEQUENCE ? "an unsigned length"
							       : "an enumeration");
	resolving->slots->matches += (class->members + 1) * target->labels;
	if (resolving->slots->matches > MOST_MATCHES)
		return error_set(resolving->error, "%s: want fewer options and labels",
				 class->path);
	if (target->slot < 0)
		target->slot = resolving->slots->count++;
	class->refers = target;
	return 0;
}

static int resolve(struct resolving *resolving, struct field_class *class,
		   struct around *outer)
{
	struct around around = {class, 0, outer};

	if (class->order == ORDER_NATIVE)
		class->order = resolving->order;
	if ((class->type == FIELD_INTEGER || class->type == FIELD_REAL) &&
	    class->order != resolving->order && (class->size % 8 || class->align % 8))
		resolving->slots->mixed = true;
	if ((class->type == FIELD_VARIANT || class->type == FIELD_SEQUENCE) &&
	    refer(resolving, class, outer))
		return -1;
	for (; around.before < class->members; around.before++)
		if (resolve(resolving, class->member[around.before].class, &around))
			return -1;
	return class->element ? resolve(resolving, class->element, outer) : 0;
}

static int resolve_scope(struct resolving *resolving, int scope,
			 struct field_class *class)
{
	resolving->at = scope;
	resolving->scope[scope] = class;
	return class ? resolve(resolving, class, NULL) : 0;
}

static int resolve_stream(struct resolving *resolving, const struct tsdl *tsdl,
			  const struct tsdl_stream *stream)
{
	if (resolve_scope(resolving, 1, stream->packet_context) ||
	    resolve_scope(resolving, 2, stream->event_header) ||
	    resolve_scope(resolving, 3, stream->event_context))
		return -1;
	for (size_t i = 0; i < tsdl->events; i++) {
		const struct tsdl_event *event = &tsdl->event[i];

		if (event->stream == stream->id &&
		    (resolve_scope(resolving, 4, event->context) ||
		     resolve_scope(resolving, 5, event->fields)))
			return error_prefix(resolving->error, "event %s", event->name);
	}
	return 0;
}

int field_resolve(struct tsdl *tsdl, struct field_slots *slots, struct error *error)
{
	struct resolving resolving = {
	    .order = tsdl->order, .slots = slots, .error = error};

	memset(slots, 0, sizeof(*slots));
	if (resolve_scope(&resolving, 0, tsdl->packet_header))
		return -1;
	for (size_t i = 0; i < tsdl->streams; i++)
		if (resolve_stream(&resolving, tsdl, &tsdl->stream[i]))
			return -1;
	return 0;
}
