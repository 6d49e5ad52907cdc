/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "ctf/schema.h"

/*
 * Metadata of CTF 2: JSON texts, each after a record separator (CTF2-SPEC-2.0, RFC 7464).
 */
enum {
	SEPARATOR = 0x1e,
	LARGE = 0x7f, /* begins a string of digits that jansson's integers cannot hold */
	MOST_NODES = 1 << 20, /* field classes and labels of one trace */
	MOST_DEPTH = 64,
	MOST_MEMBERS = 1 << 12, /* of one structure, each is compared with all */
	SCOPES = 6,
};

/* Streams times events, of which every pair is looked at. */
#define MOST_PAIRS ((uint64_t)1 << 28)

#define DEFAULT_CLOCK "*" /* of a stamp, until its stream is known */

struct alias {
	char *name;
	struct field_class *class;
};

struct metadata {
	struct schema *schema;
	struct error *error;
	struct alias *alias;
	size_t aliases, alias_room;
	size_t nodes; /* of all field classes, so that no text makes too many */
	unsigned depth;
	size_t fragments;
	bool has_trace_class;
};

struct number {
	bool is_negative;
	uint64_t bits; /* in two's complement if negative */
};

static int read_number(const json_t *json, struct number *number)
{
	const char *digits = json_string_value(json);
	char *end;

	if (json_is_integer(json)) {
		number->is_negative = json_integer_value(json) < 0;
		number->bits = (uint64_t)json_integer_value(json);
		return 0;
	}
	if (!digits || digits[0] != LARGE)
		return -1;
	number->is_negative = false;
	number->bits = strtoull(digits + 1, &end, 10);
	return *end || number->bits <= INT64_MAX || strlen(digits) > 21 ? -1 : 0;
}

static int wrong(const struct metadata *metadata, const char *name, const char *wanted)
{
	return error_set(metadata->error, "%s: want %s", name, wanted);
}

/* An integer that is not negative; left alone where it is not there. */
static int read_natural(const struct metadata *metadata, const json_t *object,
			const char *name, uint64_t *value)
{
	const json_t *json = json_object_get(object, name);
	struct number number;

	if (!json)
		return 0;
	if (read_number(json, &number) || number.is_negative)
		return wrong(metadata, name, "an integer that is not negative");
	*value = number.bits;
	return 0;
}

/* A text, or NULL; -1 where it is something else. */
static int read_text(const struct metadata *metadata, const json_t *object,
		     const char *name, const char **text)
{
	const json_t *json = json_object_get(object, name);

	*text = json_string_value(json);
	return json && !*text ? wrong(metadata, name, "a string") : 0;
}

static int read_alignment(const struct metadata *metadata, const json_t *object,
			  const char *name, unsigned *align)
{
	uint64_t value = 1;

	if (read_natural(metadata, object, name, &value))
		return -1;
	if (value < 1 || value > 1 << 16 || (value & (value - 1)))
		return wrong(metadata, name, "a power of two");
	if (value > *align)
		*align = (unsigned)value;
	return 0;
}

/* What an object may hold, whatever it describes: nothing that changes how to read. */
static bool is_property(const char *name)
{
	static const char *const known[] = {"accuracy",
					    "alignment",
					    "attributes",
					    "bit-order",
					    "byte-order",
					    "data-stream-class-id",
					    "default-clock-class-id",
					    "description",
					    "element-field-class",
					    "encoding",
					    "environment",
					    "event-record-common-context-field-class",
					    "event-record-header-field-class",
					    "extensions",
					    "field-class",
					    "flags",
					    "frequency",
					    "id",
					    "length",
					    "length-field-location",
					    "mappings",
					    "media-type",
					    "member-classes",
					    "minimum-alignment",
					    "name",
					    "namespace",
					    "offset-from-origin",
					    "options",
					    "origin",
					    "packet-context-field-class",
					    "packet-header-field-class",
					    "payload-field-class",
					    "precision",
					    "preferred-display-base",
					    "roles",
					    "selector-field-location",
					    "selector-field-ranges",
					    "specific-context-field-class",
					    "type",
					    "uid",
					    "uuid",
					    "version"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i], name) == 0)
			return true;
	return false;
}

/* Extensions change the rules: who does not know them must not read on (section 4.3). */
static int check_extensions(const struct metadata *metadata, const json_t *object)
{
	const json_t *extensions = json_object_get(object, "extensions");
	const char *space, *name;
	json_t *of, *value;

	if (extensions && !json_is_object(extensions))
		return wrong(metadata, "extensions", "an object");
	json_object_foreach((json_t *)(uintptr_t)extensions, space, of)
	    json_object_foreach(of, name, value) return error_set(
		metadata->error, "extension %s of %s is not known", name, space);
	return 0;
}

static int check_object(const struct metadata *metadata, const json_t *object)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return error_set(metadata->error, "want an object");
	json_object_foreach(
	    (json_t *)(uintptr_t)object, name,
	    value) if (!is_property(name)) return error_set(metadata->error,
							    "property %s is not known",
							    name);
	return check_extensions(metadata, object);
}

/* [[first, last], ...]; calls `add` for each. */
typedef int range_fn(struct metadata *metadata, void *context, const struct number *first,
		     const struct number *last);

static int each_range(struct metadata *metadata, const json_t *ranges, range_fn *add,
		      void *context)
{
	size_t count = json_array_size(ranges);

	if (!count)
		return error_set(metadata->error, "want ranges of integers");
	for (size_t i = 0; i < count; i++) {
		const json_t *range = json_array_get(ranges, i);
		struct number first, last;
		bool is_ordered;

		if (json_array_size(range) != 2 ||
		    read_number(json_array_get(range, 0), &first) ||
		    read_number(json_array_get(range, 1), &last))
			return error_set(metadata->error, "want ranges of two integers");
		is_ordered = first.is_negative == last.is_negative
				 ? first.bits <= last.bits
				 : first.is_negative;
		if (!is_ordered)
			return error_set(metadata->error,
					 "want ranges that end after their begin");
		metadata->nodes++;
		if (add(metadata, context, &first, &last))
			return -1;
	}
	return metadata->nodes > MOST_NODES
		   ? error_set(metadata->error, "want fewer labels and ranges")
		   : 0;
}

struct labelled {
	struct field_class *class;
	const char *name;
};

static int add_label(struct metadata *metadata, void *context, const struct number *first,
		     const struct number *last)
{
	const struct labelled *labelled = context;
	struct field_class *class = labelled->class;

	if (class->is_signed ? (!first->is_negative && first->bits > INT64_MAX) ||
				   (!last->is_negative && last->bits > INT64_MAX)
			     : first->is_negative)
		return wrong(metadata, labelled->name,
			     "values that the integer can have");
	field_add_label(class, labelled->name, first->bits, last->bits);
	return 0;
}

static int read_mappings(struct metadata *metadata, const json_t *json,
			 struct field_class *class)
{
	const json_t *mappings = json_object_get(json, "mappings");
	struct labelled labelled = {class, NULL};
	json_t *ranges;

	if (mappings && !json_is_object(mappings))
		return wrong(metadata, "mappings", "an object");
	json_object_foreach(
	    (json_t *)(uintptr_t)mappings, labelled.name,
	    ranges) if (each_range(metadata, ranges, add_label, &labelled)) return -1;
	class->is_label = class->labels > 0;
	return 0;
}

struct selected {
	struct field_range **range;
	size_t *ranges;
};

static int add_range(struct metadata *metadata, void *context, const struct number *first,
		     const struct number *last)
{
	const struct selected *selected = context;

	(void)metadata;
	field_add_range(selected->range, selected->ranges, first->bits, last->bits);
	return 0;
}

static int read_ranges(struct metadata *metadata, const json_t *json,
		       struct field_range **range, size_t *ranges)
{
	struct selected selected = {range, ranges};

	return each_range(metadata, json_object_get(json, "selector-field-ranges"),
			  add_range, &selected);
}

static const struct {
	const char *name;
	unsigned roles;
	bool is_stamp, is_id;
} known_role[] = {
    {"packet-magic-number", 1u << ROLE_MAGIC, false, false},
    {"metadata-stream-uuid", 1u << ROLE_UUID, false, false},
    {"data-stream-class-id", 1u << ROLE_STREAM, false, false},
    {"data-stream-id", 1u << ROLE_INSTANCE, false, false},
    {"default-clock-timestamp", 1u << ROLE_BEGIN, true, false},
    {"packet-end-default-clock-timestamp", 1u << ROLE_END | 1u << ROLE_END_STAMP, false,
     false},
    {"packet-content-length", 1u << ROLE_CONTENT, false, false},
    {"packet-total-length", 1u << ROLE_SIZE, false, false},
    {"packet-sequence-number", 1u << ROLE_SEQUENCE, false, false},
    {"discarded-event-record-counter-snapshot", 1u << ROLE_DISCARDED, false, false},
    {"event-record-class-id", 0, false, true},
};

static int read_role(const struct metadata *metadata, const char *name,
		     struct field_class *class)
{
	size_t i = 0, roles = sizeof(known_role) / sizeof(*known_role);
	bool is_uuid = class->type == FIELD_ARRAY;

	while (i < roles && (!name || strcmp(known_role[i].name, name) != 0))
		i++;
	if (i == roles)
		return wrong(metadata, "roles", "a role that is known");
	if (is_uuid != (known_role[i].roles == 1u << ROLE_UUID) || class->is_signed ||
	    (is_uuid && class->length != 16))
		return error_set(metadata->error, "role %s of a field of another kind",
				 name);
	class->roles |= known_role[i].roles;
	class->is_id |= known_role[i].is_id;
	if (known_role[i].is_stamp && !class->clock)
		class->clock = mem_strdup(DEFAULT_CLOCK);
	return 0;
}

static int read_roles(const struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	const json_t *roles = json_object_get(json, "roles");

	if (roles && !json_is_array(roles))
		return wrong(metadata, "roles", "an array");
	for (size_t i = 0; i < json_array_size(roles); i++)
		if (read_role(metadata, json_string_value(json_array_get(roles, i)),
			      class))
			return -1;
	return 0;
}

static int read_location(const struct metadata *metadata, const json_t *json,
			 const char *name, struct field_class *class)
{
	static const char *const origin_name[SCOPES] = {
	    "packet-header",
	    "packet-context",
	    "event-record-header",
	    "event-record-common-context",
	    "event-record-specific-context",
	    "event-record-payload",
	};
	const json_t *object = json_object_get(json, name);
	const json_t *path = json_object_get(object, "path");
	struct field_location location = {-1, false, NULL, json_array_size(path)};
	const char *origin;
	int scope = 0;

	if (read_text(metadata, object, "origin", &origin) || !location.steps)
		return wrong(metadata, name, "a location of a field");
	while (origin && scope < SCOPES && strcmp(origin_name[scope], origin) != 0)
		scope++;
	if (scope == SCOPES)
		return wrong(metadata, name, "an origin that is known");
	location.scope = origin ? scope : -1;
	location.step = mem_zalloc(location.steps * sizeof(*location.step));
	for (size_t i = 0; i < location.steps; i++) {
		const char *step = json_string_value(json_array_get(path, i));

		if (step)
			location.step[i] = mem_strdup(step);
	}
	field_set_location(class, location);
	for (size_t i = 0; i < location.steps; i++)
		if (!location.step[i] && !json_is_null(json_array_get(path, i)))
			return wrong(metadata, name, "names or null");
	return 0;
}

static int read_encoding(const struct metadata *metadata, const json_t *json,
			 enum text_encoding *encoding)
{
	static const struct {
		const char *name;
		enum text_encoding encoding;
	} known[] = {
	    {"utf-8", TEXT_UTF8},       {"utf-16le", TEXT_UTF16LE},
	    {"utf-16be", TEXT_UTF16BE}, {"utf-32le", TEXT_UTF32LE},
	    {"utf-32be", TEXT_UTF32BE},
	};
	const char *name;

	*encoding = TEXT_UTF8;
	if (read_text(metadata, json, "encoding", &name))
		return -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!name || strcmp(known[i].name, name) == 0) {
			*encoding = known[i].encoding;
			return 0;
		}
	return wrong(metadata, "encoding", "an encoding that is known");
}

/* What names of types say. */
struct kind {
	const char *name;
	enum field_type type;
	int (*read)(struct metadata *metadata, const json_t *json,
		    struct field_class *class);
	bool is_signed, is_boolean, is_text;
};

static struct field_class *build(struct metadata *metadata, const json_t *json);

static int read_fixed(struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	const char *order, *bits, *natural;
	uint64_t length = 0;

	if (read_natural(metadata, json, "length", &length) ||
	    read_text(metadata, json, "byte-order", &order) ||
	    read_text(metadata, json, "bit-order", &bits) ||
	    read_alignment(metadata, json, "alignment", &class->align))
		return -1;
	if (class->type == FIELD_REAL && length != 16 && length != 32 && length != 64)
		return wrong(metadata, "length", "16, 32 or 64 bits");
	if (length < 1 || length > 64)
		return wrong(metadata, "length", "1 to 64 bits");
	class->size = (unsigned)length;
	if (!order ||
	    (strcmp(order, "little-endian") != 0 && strcmp(order, "big-endian") != 0))
		return wrong(metadata, "byte-order", "little-endian or big-endian");
	class->order = order[0] == 'b' ? ORDER_BIG : ORDER_LITTLE;
	natural = order[0] == 'b' ? "last-to-first" : "first-to-last";
	if (bits && strcmp(bits, "last-to-first") != 0 &&
	    strcmp(bits, "first-to-last") != 0)
		return wrong(metadata, "bit-order", "first-to-last or last-to-first");
	class->is_reversed = bits && strcmp(bits, natural) != 0;
	return read_mappings(metadata, json, class) || read_roles(metadata, json, class)
		   ? -1
		   : 0;
}

static int read_variable(struct metadata *metadata, const json_t *json,
			 struct field_class *class)
{
	return read_mappings(metadata, json, class) || read_roles(metadata, json, class)
		   ? -1
		   : 0;
}

static int read_string(struct metadata *metadata, const json_t *json,
		       struct field_class *class)
{
	return read_encoding(metadata, json, &class->text);
}

static int read_length(struct metadata *metadata, const json_t *json,
		       struct field_class *class)
{
	if (class->type == FIELD_SEQUENCE)
		return read_location(metadata, json, "length-field-location", class);
	if (!json_object_get(json, "length"))
		return wrong(metadata, "length", "a length");
	return read_natural(metadata, json, "length", &class->length);
}

/* Strings with a length, and BLOBs: so many bytes. */
static int read_bytes(struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	struct field_class *byte = field_new(FIELD_INTEGER);

	metadata->nodes++;
	byte->size = byte->align = class->align = 8;
	byte->order = ORDER_LITTLE;
	class->element = byte;
	if (strstr(json_text(json, "type"), "-string") &&
	    read_encoding(metadata, json, &byte->text))
		return -1;
	if (read_length(metadata, json, class))
		return -1;
	return class->type == FIELD_ARRAY && !byte->text
		   ? read_roles(metadata, json, class)
		   : 0;
}

static int read_array(struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	class->element = build(metadata, json_object_get(json, "element-field-class"));
	if (!class->element)
		return -1;
	class->align = class->element->align;
	if (read_alignment(metadata, json, "minimum-alignment", &class->align))
		return -1;
	return read_length(metadata, json, class);
}

/* The members of a structure, the options of a variant. */
static int read_members(struct metadata *metadata, const json_t *json, const char *list,
			struct field_class *class)
{
	const json_t *members = json_object_get(json, list);

	if (members && !json_is_array(members))
		return wrong(metadata, list, "an array");
	if (json_array_size(members) > MOST_MEMBERS)
		return wrong(metadata, list, "fewer members");
	for (size_t i = 0; i < json_array_size(members); i++) {
		const json_t *member = json_array_get(members, i);
		struct field_class *of;
		struct field_member *added;
		const char *name;

		if (check_object(metadata, member) ||
		    read_text(metadata, member, "name", &name))
			return -1;
		if (!name && class->type == FIELD_STRUCTURE)
			return wrong(metadata, list, "names");
		if (class->type == FIELD_STRUCTURE && field_member(class, name))
			return wrong(metadata, name, "members of different names");
		of = build(metadata, json_object_get(member, "field-class"));
		if (!of)
			return error_prefix(metadata->error, "%s", name ? name : list);
		added = field_add_member(class, name ? name : "", of);
		if (class->type == FIELD_STRUCTURE && of->align > class->align)
			class->align = of->align;
		if (class->type == FIELD_VARIANT &&
		    read_ranges(metadata, member, &added->range, &added->ranges))
			return -1;
	}
	return 0;
}

static int read_structure(struct metadata *metadata, const json_t *json,
			  struct field_class *class)
{
	if (read_alignment(metadata, json, "minimum-alignment", &class->align))
		return -1;
	return read_members(metadata, json, "member-classes", class);
}

static int read_variant(struct metadata *metadata, const json_t *json,
			struct field_class *class)
{
	if (read_location(metadata, json, "selector-field-location", class) ||
	    read_members(metadata, json, "options", class))
		return -1;
	return class->members ? 0 : wrong(metadata, "options", "an option");
}

static int read_optional(struct metadata *metadata, const json_t *json,
			 struct field_class *class)
{
	if (read_location(metadata, json, "selector-field-location", class) ||
	    (json_object_get(json, "selector-field-ranges") &&
	     read_ranges(metadata, json, &class->range, &class->ranges)))
		return -1;
	class->element = build(metadata, json_object_get(json, "field-class"));
	return class->element ? 0 : -1;
}

static const struct kind *find_kind(const char *name)
{
	static const struct kind kind[] = {
	    {"fixed-length-bit-array", FIELD_INTEGER, read_fixed, false, false, false},
	    {"fixed-length-bit-map", FIELD_INTEGER, read_fixed, false, false, false},
	    {"fixed-length-boolean", FIELD_INTEGER, read_fixed, false, true, false},
	    {"fixed-length-unsigned-integer", FIELD_INTEGER, read_fixed, false, false,
	     false},
	    {"fixed-length-signed-integer", FIELD_INTEGER, read_fixed, true, false,
	     false},
	    {"fixed-length-floating-point-number", FIELD_REAL, read_fixed, false, false,
	     false},
	    {"variable-length-unsigned-integer", FIELD_LEB128, read_variable, false,
	     false, false},
	    {"variable-length-signed-integer", FIELD_LEB128, read_variable, true, false,
	     false},
	    {"null-terminated-string", FIELD_STRING, read_string, false, false, true},
	    {"static-length-string", FIELD_ARRAY, read_bytes, false, false, true},
	    {"dynamic-length-string", FIELD_SEQUENCE, read_bytes, false, false, true},
	    {"static-length-blob", FIELD_ARRAY, read_bytes, false, false, false},
	    {"dynamic-length-blob", FIELD_SEQUENCE, read_bytes, false, false, false},
	    {"structure", FIELD_STRUCTURE, read_structure, false, false, false},
	    {"static-length-array", FIELD_ARRAY, read_array, false, false, false},
	    {"dynamic-length-array", FIELD_SEQUENCE, read_array, false, false, false},
	    {"optional", FIELD_OPTIONAL, read_optional, false, false, false},
	    {"variant", FIELD_VARIANT, read_variant, false, false, false},
	};

	for (size_t i = 0; name && i < sizeof(kind) / sizeof(*kind); i++)
		if (strcmp(kind[i].name, name) == 0)
			return &kind[i];
	return NULL;
}

static struct field_class *copy_alias(struct metadata *metadata, const char *name)
{
	for (size_t i = 0; i < metadata->aliases; i++) {
		struct field_class *class;

		if (strcmp(metadata->alias[i].name, name) != 0)
			continue;
		class =
		    field_copy(metadata->alias[i].class, &metadata->nodes, MOST_NODES);
		if (!class)
			error_set(metadata->error, "want fewer field classes");
		return class;
	}
	error_set(metadata->error, "no alias %s before its use", name);
	return NULL;
}

static struct field_class *build_object(struct metadata *metadata, const json_t *json)
{
	const struct kind *kind = find_kind(json_text(json, "type"));
	struct field_class *class;

	if (check_object(metadata, json))
		return NULL;
	if (!kind) {
		error_set(metadata->error, "field class %s is not known",
			  json_text(json, "type") ? json_text(json, "type")
						  : "without a type");
		return NULL;
	}
	class = field_new(kind->type);
	class->is_signed = kind->is_signed;
	class->is_boolean = kind->is_boolean;
	metadata->nodes++;
	if (!kind->read(metadata, json, class))
		return class;
	field_free(class);
	return NULL;
}

/* NULL with error. */
static struct field_class *build(struct metadata *metadata, const json_t *json)
{
	struct field_class *class = NULL;

	if (metadata->depth >= MOST_DEPTH || metadata->nodes > MOST_NODES)
		error_set(metadata->error, "want field classes less deep and fewer");
	else if (!json)
		error_set(metadata->error, "want a field class");
	else if (json_is_string(json))
		class = copy_alias(metadata, json_string_value(json));
	else {
		metadata->depth++;
		class = build_object(metadata, json);
		metadata->depth--;
	}
	return class;
}

/* The roles that count in one scope, and the clock of its stamps; NULL: none. */
struct scope_roles {
	unsigned roles;
	bool has_ids;
	const char *clock;
};

static void keep_roles(struct field_class *class, const struct scope_roles *scope)
{
	char *clock = class->clock && scope->clock ? mem_strdup(scope->clock) : NULL;

	free(class->clock);
	class->clock = clock;
	class->roles &= scope->roles;
	class->is_id &= scope->has_ids;
	for (size_t i = 0; i < class->members; i++)
		keep_roles(class->member[i].class, scope);
	if (class->element)
		keep_roles(class->element, scope);
}

/* The structure of one scope, or none. */
static int read_scope(struct metadata *metadata, const json_t *json, const char *name,
		      struct scope_roles roles, struct field_class **scope)
{
	const json_t *class = json_object_get(json, name);

	if (!class)
		return 0;
	*scope = build(metadata, class);
	if (!*scope)
		return error_prefix(metadata->error, "%s", name);
	if ((*scope)->type != FIELD_STRUCTURE)
		return wrong(metadata, name, "a structure");
	keep_roles(*scope, &roles);
	return 0;
}

static int read_preamble(struct metadata *metadata, const json_t *json)
{
	struct schema *schema = metadata->schema;
	const json_t *uuid = json_object_get(json, "uuid");
	uint64_t version = 0;

	if (metadata->fragments != 1)
		return error_set(metadata->error,
				 "want one preamble, the first fragment");
	if (read_natural(metadata, json, "version", &version))
		return -1;
	if (version != 2)
		return wrong(metadata, "version", "2");
	schema->has_uuid = uuid != NULL;
	if (uuid && json_array_size(uuid) != sizeof(schema->uuid))
		return wrong(metadata, "uuid", "16 numbers");
	for (size_t i = 0; uuid && i < sizeof(schema->uuid); i++) {
		json_int_t byte = json_integer_value(json_array_get(uuid, i));

		if (!json_is_integer(json_array_get(uuid, i)) || byte < 0 || byte > 255)
			return wrong(metadata, "uuid", "numbers from 0 to 255");
		schema->uuid[i] = (unsigned char)byte;
	}
	return 0;
}

static int read_alias(struct metadata *metadata, const json_t *json)
{
	struct alias *alias;
	const char *name;

	if (read_text(metadata, json, "name", &name))
		return -1;
	if (!name)
		return wrong(metadata, "name", "a name");
	for (size_t i = 0; i < metadata->aliases; i++)
		if (strcmp(metadata->alias[i].name, name) == 0)
			return wrong(metadata, name, "aliases of different names");
	metadata->alias = mem_grow(metadata->alias, metadata->aliases,
				   &metadata->alias_room, sizeof(*metadata->alias));
	alias = &metadata->alias[metadata->aliases];
	alias->class = build(metadata, json_object_get(json, "field-class"));
	if (!alias->class)
		return -1;
	alias->name = mem_strdup(name);
	metadata->aliases++;
	return 0;
}

/* What of the environment says how to read the rest. */
static void read_environment(struct schema *schema, const json_t *environment)
{
	static const char patch[] = "tracer_patch";
	const char *hostname = json_text(environment, "hostname");
	const char *tracer = json_text(environment, "tracer_name"), *name;
	json_t *value;

	if (hostname)
		schema->hostname = mem_strdup(hostname);
	if (tracer)
		schema->tracer = mem_strdup(tracer);
	json_object_foreach((json_t *)(uintptr_t)environment, name, value)
	{
		uint64_t number = (uint64_t)json_integer_value(value);

		if (strcmp(name, "tracer_major") == 0)
			schema->major = number;
		else if (strcmp(name, "tracer_minor") == 0)
			schema->minor = number;
		else if (strncmp(name, patch, strlen(patch)) == 0)
			schema->patch = number;
	}
}

static int read_trace_class(struct metadata *metadata, const json_t *json)
{
	struct schema *schema = metadata->schema;
	const struct scope_roles roles = {1u << ROLE_MAGIC | 1u << ROLE_UUID |
					      1u << ROLE_STREAM | 1u << ROLE_INSTANCE,
					  false, NULL};

	if (metadata->has_trace_class || schema->streams)
		return error_set(metadata->error, "want one, before what it holds");
	metadata->has_trace_class = true;
	read_environment(schema, json_object_get(json, "environment"));
	return read_scope(metadata, json, "packet-header-field-class", roles,
			  &schema->packet_header);
}

/*
 * Clocks are one if namespace, name and unique ID are. LTTng's ID is the boot's UUID, as
 * in CTF 1.8; of others 16 bytes are made (FNV-1a, twice).
 */
static void set_identity(struct schema_clock *clock, const char *space, const char *name,
			 const char *uid)
{
	const char *const part[] = {space ? space : "", "\n", uid};
	uint64_t hash[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};

	if (name)
		clock->identity = mem_strdup(name);
	clock->has_uuid = uid != NULL;
	if (!uid || (!space && schema_read_uuid(uid, clock->uuid) == 0))
		return;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 3; k++)
			for (const char *at = part[k]; *at; at++)
				hash[i] = (hash[i] ^ (unsigned char)*at) * 0x100000001b3u;
	memcpy(clock->uuid, hash, sizeof(clock->uuid));
}

static int check_origin(const struct metadata *metadata, const json_t *json)
{
	const json_t *origin = json_object_get(json, "origin");
	const char *text = json_string_value(origin);

	if (!origin || (text && strcmp(text, "unix-epoch") == 0) ||
	    (json_text(origin, "name") && json_text(origin, "uid")))
		return 0;
	return wrong(metadata, "origin", "unix-epoch, or a name and a uid");
}

static int read_offset(const struct metadata *metadata, const json_t *json,
		       struct schema_clock *clock)
{
	const json_t *offset = json_object_get(json, "offset-from-origin");
	const json_t *seconds = json_object_get(offset, "seconds");

	if (offset && !json_is_object(offset))
		return wrong(metadata, "offset-from-origin", "an object");
	if (seconds && !json_is_integer(seconds))
		return wrong(metadata, "seconds", "an integer");
	clock->offset_s = json_integer_value(seconds);
	return read_natural(metadata, offset, "cycles", &clock->offset);
}

static int read_clock(struct metadata *metadata, const json_t *json)
{
	struct schema *schema = metadata->schema;
	struct schema_clock *clock;
	const char *id, *name, *space, *uid;
	uint64_t ignored = 0;

	schema->clock = mem_grow(schema->clock, schema->clocks, &schema->clock_room,
				 sizeof(*schema->clock));
	clock = &schema->clock[schema->clocks++];
	memset(clock, 0, sizeof(*clock));
	if (read_text(metadata, json, "id", &id) ||
	    read_text(metadata, json, "name", &name) ||
	    read_text(metadata, json, "namespace", &space) ||
	    read_text(metadata, json, "uid", &uid) || check_origin(metadata, json) ||
	    read_offset(metadata, json, clock) ||
	    read_natural(metadata, json, "frequency", &clock->frequency) ||
	    read_natural(metadata, json, "precision", &ignored) ||
	    read_natural(metadata, json, "accuracy", &ignored))
		return -1;
	if (!id || strcmp(id, DEFAULT_CLOCK) == 0)
		return wrong(metadata, "id", "an id");
	for (size_t i = 0; i + 1 < schema->clocks; i++)
		if (strcmp(schema->clock[i].name, id) == 0)
			return wrong(metadata, id, "clock classes of different ids");
	clock->name = mem_strdup(id);
	set_identity(clock, space, name, uid);
	return clock->frequency ? 0 : wrong(metadata, "frequency", "a frequency");
}

static void set_cpu_role(struct field_class *context)
{
	for (size_t i = 0; context && i < context->members; i++)
		if (strcmp(context->member[i].name, "cpu_id") == 0 &&
		    context->member[i].class->type == FIELD_INTEGER &&
		    !context->member[i].class->is_signed)
			context->member[i].class->roles |= 1u << ROLE_CPU;
}

static int read_stream(struct metadata *metadata, const json_t *json)
{
	struct schema *schema = metadata->schema;
	const unsigned ends = 1u << ROLE_END | 1u << ROLE_END_STAMP;
	const unsigned heads = 1u << ROLE_BEGIN | 1u << ROLE_CONTENT | 1u << ROLE_SIZE |
			       1u << ROLE_SEQUENCE | 1u << ROLE_DISCARDED;
	struct schema_stream *stream;
	const char *clock;

	schema->stream = mem_grow(schema->stream, schema->streams, &schema->stream_room,
				  sizeof(*schema->stream));
	stream = &schema->stream[schema->streams++];
	memset(stream, 0, sizeof(*stream));
	if (read_text(metadata, json, "default-clock-class-id", &clock) ||
	    read_natural(metadata, json, "id", &stream->id) ||
	    read_scope(metadata, json, "packet-context-field-class",
		       (struct scope_roles){clock ? heads | ends : heads, false, clock},
		       &stream->packet_context) ||
	    read_scope(metadata, json, "event-record-header-field-class",
		       (struct scope_roles){0, true, clock}, &stream->event_header) ||
	    read_scope(metadata, json, "event-record-common-context-field-class",
		       (struct scope_roles){0, false, NULL}, &stream->event_context))
		return -1;
	set_cpu_role(stream->packet_context);
	return 0;
}

static int read_event(struct metadata *metadata, const json_t *json)
{
	const struct scope_roles none = {0, false, NULL};
	struct schema *schema = metadata->schema;
	struct schema_event *event;
	const char *name;

	schema->event = mem_grow(schema->event, schema->events, &schema->event_room,
				 sizeof(*schema->event));
	event = &schema->event[schema->events++];
	memset(event, 0, sizeof(*event));
	event->name = mem_strdup("");
	if (read_text(metadata, json, "name", &name))
		return -1;
	if (name) {
		free(event->name);
		event->name = mem_strdup(name);
	}
	if (read_natural(metadata, json, "id", &event->id) ||
	    read_natural(metadata, json, "data-stream-class-id", &event->stream) ||
	    read_scope(metadata, json, "specific-context-field-class", none,
		       &event->context) ||
	    read_scope(metadata, json, "payload-field-class", none, &event->fields))
		return error_prefix(metadata->error, "%s", event->name);
	return 0;
}

static int read_fragment(struct metadata *metadata, const json_t *json)
{
	static const struct {
		const char *type;
		int (*read)(struct metadata *metadata, const json_t *json);
	} fragment[] = {
	    {"preamble", read_preamble},        {"field-class-alias", read_alias},
	    {"trace-class", read_trace_class},  {"clock-class", read_clock},
	    {"data-stream-class", read_stream}, {"event-record-class", read_event},
	};
	const char *type = json_text(json, "type");

	metadata->fragments++;
	if (check_object(metadata, json))
		return -1;
	for (size_t i = 0; type && i < sizeof(fragment) / sizeof(*fragment); i++) {
		if (strcmp(fragment[i].type, type) != 0)
			continue;
		if (metadata->fragments == 1 && i)
			return error_set(metadata->error, "want a preamble");
		return fragment[i].read(metadata, json)
			   ? error_prefix(metadata->error, "%s", type)
			   : 0;
	}
	return error_set(metadata->error, "fragment %s is not known",
			 type ? type : "without a type");
}

/* Numbers past what jansson holds become strings that read_number knows. For free(). */
static char *quote_large(const char *text, size_t *size)
{
	char *quoted = mem_alloc(2 * *size + 1);
	size_t at = 0, to = 0;
	bool is_string = false;

	while (at < *size) {
		size_t digits = 0;

		while (!is_string && at + digits < *size && text[at + digits] >= '0' &&
		       text[at + digits] <= '9')
			digits++;
		if (digits == 0) {
			is_string ^= text[at] == '"';
			if (is_string && text[at] == '\\' && at + 1 < *size)
				quoted[to++] = text[at++];
			quoted[to++] = text[at++];
			continue;
		}
		if (digits >= 19 && to && quoted[to - 1] != '-' &&
		    quoted[to - 1] != '.' &&
		    (digits > 19 || strncmp(text + at, "9223372036854775807", 19) > 0)) {
			to += (size_t)sprintf(quoted + to, "\"%c", LARGE);
			memcpy(quoted + to, text + at, digits);
			quoted[to + digits] = '"';
			to += digits + 1;
		} else {
			memcpy(quoted + to, text + at, digits);
			to += digits;
		}
		at += digits;
	}
	*size = to;
	return quoted;
}

static int read_json(struct metadata *metadata, const char *text, size_t size)
{
	char *quoted = quote_large(text, &size);
	json_t *json = json_parse_object(quoted, size, metadata->error);
	int status = json ? read_fragment(metadata, json) : -1;

	json_decref(json);
	free(quoted);
	return status;
}

static bool is_blank(const char *text, size_t size)
{
	while (size &&
	       (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')) {
		text++;
		size--;
	}
	return size == 0;
}

static int read_sequence(struct metadata *metadata, const char *text, size_t size)
{
	const char *end = text + size;
	size_t number = 0;

	while (text < end) {
		const char *next = memchr(text, SEPARATOR, (size_t)(end - text));
		size_t length = (size_t)((next ? next : end) - text);

		if (!is_blank(text, length)) {
			number++;
			if (read_json(metadata, text, length))
				return error_prefix(metadata->error, "fragment %zu",
						    number);
		}
		text += length + 1;
	}
	if (!metadata->fragments)
		return error_set(metadata->error, "want a preamble");
	if (metadata->schema->events * metadata->schema->streams > MOST_PAIRS)
		return error_set(metadata->error, "want fewer streams or events");
	return 0;
}

struct schema *json_metadata_parse(const char *text, size_t size, struct error *error)
{
	struct metadata metadata = {.error = error};
	int status;

	error_clear(error);
	metadata.schema = mem_zalloc(sizeof(*metadata.schema));
	metadata.schema->order = ORDER_LITTLE;
	metadata.schema->is_ctf2 = true;
	status = read_sequence(&metadata, text, size);
	for (size_t i = 0; i < metadata.aliases; i++) {
		free(metadata.alias[i].name);
		field_free(metadata.alias[i].class);
	}
	free(metadata.alias);
	if (!status)
		return metadata.schema;
	schema_free(metadata.schema);
	return NULL;
}
