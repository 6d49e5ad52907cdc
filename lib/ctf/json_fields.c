/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/metadata_json.h"

/* Field classes of CTF 2. */
enum {
	MOST_NODES = 1 << 20, /* field classes and labels of one trace */
	MOST_DEPTH = 64,
	MOST_MEMBERS = 1 << 12, /* of one structure, each is compared with all */
	SCOPES = 6,
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
	if (!digits || digits[0] != METADATA_LARGE)
		return -1;
	number->is_negative = false;
	number->bits = strtoull(digits + 1, &end, 10);
	return *end || number->bits <= INT64_MAX || strlen(digits) > 21 ? -1 : 0;
}

int metadata_wrong(const struct metadata *metadata, const char *name, const char *wanted)
{
	return error_set(metadata->error, "%s: want %s", name, wanted);
}

/* An integer that is not negative; left alone where it is not there. */
int metadata_natural(const struct metadata *metadata, const json_t *object,
		     const char *name, uint64_t *value)
{
	const json_t *json = json_object_get(object, name);
	struct number number;

	if (!json)
		return 0;
	if (read_number(json, &number) || number.is_negative)
		return metadata_wrong(metadata, name, "an integer that is not negative");
	*value = number.bits;
	return 0;
}

/* A text, or NULL; -1 where it is something else. */
int metadata_string(const struct metadata *metadata, const json_t *object,
		    const char *name, const char **text)
{
	const json_t *json = json_object_get(object, name);

	*text = json_string_value(json);
	return json && !*text ? metadata_wrong(metadata, name, "a string") : 0;
}

static int read_alignment(const struct metadata *metadata, const json_t *object,
			  const char *name, unsigned *align)
{
	uint64_t value = 1;

	if (metadata_natural(metadata, object, name, &value))
		return -1;
	if (value < 1 || value > 1 << 16 || (value & (value - 1)))
		return metadata_wrong(metadata, name, "a power of two");
	if (value > *align)
		*align = (unsigned)value;
	return 0;
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
		return metadata_wrong(metadata, labelled->name,
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
		return metadata_wrong(metadata, "mappings", "an object");
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
		return metadata_wrong(metadata, "roles", "a role that is known");
	if (is_uuid != (known_role[i].roles == 1u << ROLE_UUID) || class->is_signed ||
	    (is_uuid && class->length != 16))
		return error_set(metadata->error, "role %s of a field of another kind",
				 name);
	class->roles |= known_role[i].roles;
	class->is_id |= known_role[i].is_id;
	if (known_role[i].is_stamp && !class->clock)
		class->clock = mem_strdup(METADATA_CLOCK);
	return 0;
}

static int read_roles(const struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	const json_t *roles = json_object_get(json, "roles");

	if (roles && !json_is_array(roles))
		return metadata_wrong(metadata, "roles", "an array");
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

	if (metadata_string(metadata, object, "origin", &origin) || !location.steps)
		return metadata_wrong(metadata, name, "a location of a field");
	while (origin && scope < SCOPES && strcmp(origin_name[scope], origin) != 0)
		scope++;
	if (scope == SCOPES)
		return metadata_wrong(metadata, name, "an origin that is known");
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
			return metadata_wrong(metadata, name, "names or null");
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
	if (metadata_string(metadata, json, "encoding", &name))
		return -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!name || strcmp(known[i].name, name) == 0) {
			*encoding = known[i].encoding;
			return 0;
		}
	return metadata_wrong(metadata, "encoding", "an encoding that is known");
}

/* What names of types say. */
struct kind {
	const char *name;
	enum field_type type;
	int (*read)(struct metadata *metadata, const json_t *json,
		    struct field_class *class);
};

static int read_fixed(struct metadata *metadata, const json_t *json,
		      struct field_class *class)
{
	const char *order, *bits, *natural;
	uint64_t length = 0;

	if (metadata_natural(metadata, json, "length", &length) ||
	    metadata_string(metadata, json, "byte-order", &order) ||
	    metadata_string(metadata, json, "bit-order", &bits) ||
	    read_alignment(metadata, json, "alignment", &class->align))
		return -1;
	if (class->type == FIELD_REAL && length != 16 && length != 32 && length != 64)
		return metadata_wrong(metadata, "length", "16, 32 or 64 bits");
	if (length < 1 || length > 64)
		return metadata_wrong(metadata, "length", "1 to 64 bits");
	class->size = (unsigned)length;
	if (!order ||
	    (strcmp(order, "little-endian") != 0 && strcmp(order, "big-endian") != 0))
		return metadata_wrong(metadata, "byte-order",
				      "little-endian or big-endian");
	class->order = order[0] == 'b' ? ORDER_BIG : ORDER_LITTLE;
	natural = order[0] == 'b' ? "last-to-first" : "first-to-last";
	if (bits && strcmp(bits, "last-to-first") != 0 &&
	    strcmp(bits, "first-to-last") != 0)
		return metadata_wrong(metadata, "bit-order",
				      "first-to-last or last-to-first");
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
		return metadata_wrong(metadata, "length", "a length");
	return metadata_natural(metadata, json, "length", &class->length);
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
	class->element =
	    metadata_field(metadata, json_object_get(json, "element-field-class"));
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
		return metadata_wrong(metadata, list, "an array");
	if (json_array_size(members) > MOST_MEMBERS)
		return metadata_wrong(metadata, list, "fewer members");
	for (size_t i = 0; i < json_array_size(members); i++) {
		const json_t *member = json_array_get(members, i);
		struct field_class *of;
		struct field_member *added;
		const char *name;

		if (metadata_check(metadata, member) ||
		    metadata_string(metadata, member, "name", &name))
			return -1;
		if (!name && class->type == FIELD_STRUCTURE)
			return metadata_wrong(metadata, list, "names");
		if (class->type == FIELD_STRUCTURE && field_member(class, name))
			return metadata_wrong(metadata, name,
					      "members of different names");
		of = metadata_field(metadata, json_object_get(member, "field-class"));
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
	return class->members ? 0 : metadata_wrong(metadata, "options", "an option");
}

static int read_optional(struct metadata *metadata, const json_t *json,
			 struct field_class *class)
{
	if (read_location(metadata, json, "selector-field-location", class) ||
	    (json_object_get(json, "selector-field-ranges") &&
	     read_ranges(metadata, json, &class->range, &class->ranges)))
		return -1;
	class->element = metadata_field(metadata, json_object_get(json, "field-class"));
	return class->element ? 0 : -1;
}

static const struct kind *find_kind(const char *name)
{
	static const struct kind kind[] = {
	    {"fixed-length-bit-array", FIELD_INTEGER, read_fixed},
	    {"fixed-length-bit-map", FIELD_INTEGER, read_fixed},
	    {"fixed-length-boolean", FIELD_INTEGER, read_fixed},
	    {"fixed-length-unsigned-integer", FIELD_INTEGER, read_fixed},
	    {"fixed-length-signed-integer", FIELD_INTEGER, read_fixed},
	    {"fixed-length-floating-point-number", FIELD_REAL, read_fixed},
	    {"variable-length-unsigned-integer", FIELD_LEB128, read_variable},
	    {"variable-length-signed-integer", FIELD_LEB128, read_variable},
	    {"null-terminated-string", FIELD_STRING, read_string},
	    {"static-length-string", FIELD_ARRAY, read_bytes},
	    {"dynamic-length-string", FIELD_SEQUENCE, read_bytes},
	    {"static-length-blob", FIELD_ARRAY, read_bytes},
	    {"dynamic-length-blob", FIELD_SEQUENCE, read_bytes},
	    {"structure", FIELD_STRUCTURE, read_structure},
	    {"static-length-array", FIELD_ARRAY, read_array},
	    {"dynamic-length-array", FIELD_SEQUENCE, read_array},
	    {"optional", FIELD_OPTIONAL, read_optional},
	    {"variant", FIELD_VARIANT, read_variant},
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

	if (metadata_check(metadata, json))
		return NULL;
	if (!kind) {
		error_set(metadata->error, "field class %s is not known",
			  json_text(json, "type") ? json_text(json, "type")
						  : "without a type");
		return NULL;
	}
	class = field_new(kind->type);
	class->is_signed = strstr(kind->name, "-signed-") != NULL;
	class->is_boolean = strcmp(kind->name, "fixed-length-boolean") == 0;
	metadata->nodes++;
	if (!kind->read(metadata, json, class))
		return class;
	field_free(class);
	return NULL;
}

/* NULL with error. */
struct field_class *metadata_field(struct metadata *metadata, const json_t *json)
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
