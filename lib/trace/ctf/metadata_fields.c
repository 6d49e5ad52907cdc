/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/ctf/metadata_private.h"

/*
 * Field classes from metadata of both languages.
 *
 * A function that gets names for both has that of CTF 2 before that of TSDL. After an
 * error the results are arbitrary.
 */
enum {
	MOST_NODES = 1 << 20, /* field classes and labels of one trace */
	MOST_DEPTH = 64,
	MOST_MEMBERS =
	    1 << 12, /* members of one structure; each is compared with all others */
};

static unsigned read_alignment(const struct ast *value, unsigned otherwise)
{
	uint64_t align = ast_natural(value, otherwise);

	if (align < 1 || align > 1 << 16 || (align & (align - 1)))
		metadata_wrong(value, "expected a power of two up to 65536 as alignment");
	return (unsigned)align;
}

enum byte_order schema_order(const struct ast *value)
{
	static const struct ast_word order[] = {{"little-endian", ORDER_LITTLE},
						{"le", ORDER_LITTLE},
						{"big-endian", ORDER_BIG},
						{"be", ORDER_BIG},
						{"network", ORDER_BIG},
						{"native", ORDER_NATIVE},
						{NULL, ORDER_NATIVE}};

	return (enum byte_order)ast_word(value, order, ORDER_NATIVE);
}

/* Return an encoding as in field_class.text. */
static int read_encoding(const struct ast *value, int otherwise)
{
	static const struct ast_word known[] = {
	    {"none", 0},     {"utf8", 1},      {"ascii", 1},
	    {"utf-8", 1},    {"utf-16le", 2},  {"utf-16be", -2},
	    {"utf-32le", 4}, {"utf-32be", -4}, {NULL, 0}};

	return ast_word(value, known, otherwise);
}

/* Read ranges: [[first, last], ...]. */
static void read_ranges(const struct ast *value, struct field_member *member)
{
	const struct ast *pair = ast_first(value, AST_ARRAY);

	if (value && !pair)
		metadata_wrong(value, "expected ranges of integers");
	for (; pair; pair = pair->next) {
		const struct ast *first = ast_first(pair, AST_ARRAY);
		const struct ast *last = first ? first->next : NULL;

		if (!last || last->next || first->kind != AST_NUMBER ||
		    last->kind != AST_NUMBER) {
			metadata_wrong(value, "expected ranges of two integers");
			return;
		}
		if (first->is_negative != last->is_negative
			? last->is_negative
			: first->number > last->number)
			metadata_wrong(
			    value, "expected a range that does not end before its start");
		field_add_range(member, first->number, last->number);
		value->in->nodes++;
	}
}

/*
 * Read the labels of an enumeration. In TSDL a label with several ranges occurs several
 * times.
 */
static void read_mappings(const struct ast *value, struct field_class *class)
{
	const struct ast *label = ast_first(value, AST_OBJECT);
	struct texts names = {0};

	class->is_label = value && (label || !value->in->is_json);
	for (; label; label = label->next) {
		size_t at = texts_put(&names, label->name);

		if (at == class->members)
			field_add_member(class, label->name, NULL);
		read_ranges(label, &class->member[at]);
	}
	texts_clear(&names);
}

/*
 * The roles of fields: in CTF 2 they are named, in TSDL they follow from the field's name
 * and scope.
 */
static const struct role {
	const char *name, *tsdl;
	enum field_role role;
	enum field_scope scope;
} known_role[] = {
    {"packet-magic-number", "magic", ROLE_MAGIC, SCOPE_PACKET_HEADER},
    {"metadata-stream-uuid", "uuid", ROLE_UUID, SCOPE_PACKET_HEADER},
    {"data-stream-class-id", "stream_id", ROLE_STREAM, SCOPE_PACKET_HEADER},
    {"data-stream-id", "stream_instance_id", ROLE_INSTANCE, SCOPE_PACKET_HEADER},
    {"packet-content-length", "content_size", ROLE_CONTENT, SCOPE_PACKET_CONTEXT},
    {"packet-total-length", "packet_size", ROLE_SIZE, SCOPE_PACKET_CONTEXT},
    {"packet-sequence-number", "packet_seq_num", ROLE_SEQUENCE, SCOPE_PACKET_CONTEXT},
    {"discarded-event-record-counter-snapshot", "events_discarded", ROLE_DISCARDED,
     SCOPE_PACKET_CONTEXT},
    {"packet-end-default-clock-timestamp", "timestamp_end", ROLE_END,
     SCOPE_PACKET_CONTEXT},
    {"default-clock-timestamp", "timestamp_begin", ROLE_BEGIN, SCOPE_PACKET_CONTEXT},
    {"event-record-class-id", "id", ROLE_ID, SCOPE_EVENT_HEADER},
    {NULL, NULL, ROLES, SCOPES},
};

static bool can_have(const struct field_class *class, enum field_role role)
{
	const struct field_class *element = class->element;

	if (role == ROLE_MAGIC && class->size != 32)
		return false;
	if (role != ROLE_UUID)
		return (class->type == FIELD_INTEGER || class->type == FIELD_LEB128) &&
		       !class->is_signed;
	return class->type == FIELD_ARRAY && class->length == 16 &&
	       element->type == FIELD_INTEGER && element->size == 8 &&
	       element->align == 8;
}

/*
 * Give a field class its role. A timestamp belongs to the stream's clock in CTF 2, and to
 * the mapped clock in TSDL.
 */
static void set_role(const struct ast *object, struct field_class *class,
		     const struct role *is)
{
	const struct metadata *in = object->in;

	if (!can_have(class, is->role)) {
		metadata_wrong(object, "%s is of no known kind",
			       in->is_json ? is->name : is->tsdl);
		return;
	}
	if (in->scope != is->scope && is->role != ROLE_BEGIN)
		return;
	if (in->clock && !class->clock &&
	    (is->role == ROLE_BEGIN || is->role == ROLE_END))
		class->clock = mem_strdup(in->clock);
	if (in->scope != is->scope)
		return;
	class->roles |= 1u << is->role;
	if (is->role != ROLE_END || !class->clock)
		return;
	/* The end of a packet is not a time from which to count on. */
	class->roles |= 1u << ROLE_END_STAMP;
	free(class->clock);
	class->clock = NULL;
}

static void read_roles(const struct ast *value, struct field_class *class)
{
	const struct ast *name = ast_first(value, AST_ARRAY);

	for (; name; name = name->next) {
		const struct role *role = known_role;

		while (role->name && strcmp(role->name, ast_text(name, "")) != 0)
			role++;
		if (role->name)
			set_role(value, class, role);
		else
			metadata_wrong(value, "unknown role");
	}
}

/*
 * Give a field class the role that its name implies in TSDL. CTF has no role for the CPU:
 * in both languages it is recognized by its field name, cpu_id.
 */
static void set_role_by_name(const struct ast *object, const char *name,
			     struct field_class *class)
{
	enum field_scope scope = object->in->scope;

	for (const struct role *role = known_role; role->name; role++)
		if (!object->in->is_json && role->scope == scope &&
		    strcmp(role->tsdl, name) == 0 &&
		    (scope == SCOPE_PACKET_HEADER || can_have(class, role->role)))
			set_role(object, class, role);
	if (scope == SCOPE_EVENT_HEADER && object->in->clock && !class->clock &&
	    strcmp(name, "timestamp") == 0 && can_have(class, ROLE_BEGIN) &&
	    !object->in->is_json)
		class->clock = mem_strdup(object->in->clock);
	if (scope == SCOPE_PACKET_CONTEXT && strcmp(field_name(name), "cpu_id") == 0 &&
	    class->type == FIELD_INTEGER && !class->is_signed)
		class->roles |= 1u << ROLE_CPU;
}

/* Read a mapping to a clock, "clock.NAME.value". */
static void read_map(const struct ast *value, struct field_class *class)
{
	static const char before[] = "clock.", after[] = ".value";
	const char *path = ast_text(value, NULL);
	size_t size = path ? strlen(path) : 0, around = strlen(before) + strlen(after);

	if (path && size > around && strncmp(path, before, strlen(before)) == 0 &&
	    strcmp(path + size - strlen(after), after) == 0)
		class->clock = mem_strndup(path + strlen(before), size - around);
	else if (value)
		metadata_wrong(value, "expected clock.NAME.value");
}

/* Check the base in which to display an integer. It is not used, but must be valid. */
static void check_base(const struct ast *base)
{
	static const struct ast_word known[] = {
	    {"decimal", 10}, {"dec", 10},         {"d", 10},   {"i", 10},
	    {"u", 10},       {"hexadecimal", 16}, {"hex", 16}, {"x", 16},
	    {"p", 16},       {"octal", 8},        {"oct", 8},  {"o", 8},
	    {"binary", 2},   {"bin", 2},          {"b", 2},    {NULL, 0}};

	if (base->kind != AST_NUMBER)
		ast_word(base, known, 0);
	else if (base->is_negative || (base->number != 2 && base->number != 8 &&
				       base->number != 10 && base->number != 16))
		metadata_wrong(base, "invalid base (expected 2, 8, 10 or 16)");
}

static void read_variable(const struct ast *object, struct field_class *class)
{
	read_mappings(ast_get(object, "mappings", "mappings"), class);
	read_roles(ast_get(object, "roles", NULL), class);
}

/*
 * Read the attributes of a number. In TSDL the width of a real is the sum of its two
 * parts.
 */
static void read_fixed(const struct ast *object, struct field_class *class)
{
	static const struct ast_word bit_order[] = {
	    {"first-to-last", ORDER_LITTLE}, {"last-to-first", ORDER_BIG}, {NULL, 0}};
	const struct ast *bits = ast_get(object, "bit-order", NULL);
	const struct ast *base = ast_get(object, NULL, "base");
	bool is_real = class->type == FIELD_REAL;
	bool is_old_real = is_real && !object->in->is_json;
	const struct ast *length =
	    ast_need(object, "length", is_old_real ? "mant_dig" : "size");
	uint64_t size = ast_natural(length, 0), exponent = 0;

	if (is_old_real)
		exponent = ast_natural(ast_need(object, NULL, "exp_dig"), 0);
	if (__builtin_add_overflow(size, exponent, &size) || !size || size > 64)
		metadata_wrong(length, "expected 1 to 64 bits");
	else if (is_real && size != 16 && size != 32 && size != 64)
		metadata_wrong(length, "expected 16, 32 or 64 bits");
	class->size = (unsigned)size;
	class->align = read_alignment(ast_get(object, "alignment", "align"),
				      object->in->is_json || size % 8 ? 1 : 8);
	class->order = schema_order(ast_need_json(object, "byte-order", "byte_order"));
	class->is_reversed = ast_word(bits, bit_order, class->order) != (int)class->order;
	class->is_signed |= ast_truth(ast_get(object, NULL, "signed"));
	class->text = read_encoding(ast_get(object, NULL, "encoding"), 0);
	if (base)
		check_base(base);
	read_map(ast_get(object, NULL, "map"), class);
	read_variable(object, class);
}

static void read_string(const struct ast *object, struct field_class *class)
{
	class->text = read_encoding(ast_get(object, "encoding", "encoding"), 1);
}

/*
 * The attribute that contains each scope's structure, and the scope's name in field
 * locations.
 */
static const struct {
	const char *member[2], *path[2]; /* in TSDL, in CTF 2 */
} known_scope[SCOPES] = {
    {{"packet.header", "packet-header-field-class"},
     {"trace.packet.header.", "packet-header"}},
    {{"packet.context", "packet-context-field-class"},
     {"stream.packet.context.", "packet-context"}},
    {{"event.header", "event-record-header-field-class"},
     {"stream.event.header.", "event-record-header"}},
    {{"event.context", "event-record-common-context-field-class"},
     {"stream.event.context.", "event-record-common-context"}},
    {{"context", "specific-context-field-class"},
     {"event.context.", "event-record-specific-context"}},
    {{"fields", "payload-field-class"}, {"event.fields.", "event-record-payload"}},
};

/* Read a path of TSDL: an optional scope and names of fields, joined by dots. */
static void read_path(const char *path, struct field_location *location)
{
	size_t size = 0;

	for (int i = 0; i < SCOPES; i++)
		if (strncmp(path, known_scope[i].path[0],
			    strlen(known_scope[i].path[0])) == 0)
			location->scope = i;
	if (location->scope >= 0)
		path += strlen(known_scope[location->scope].path[0]);
	for (; *path; path += size + (path[size] == '.')) {
		AUTOFREE char *name = mem_strndup(path, size = strcspn(path, "."));

		field_add_step(location, name);
	}
}

/* Read the location of a length or a selector. */
static void read_location(const struct ast *value, struct field_class *class)
{
	const struct ast *step, *origin;
	struct field_location *location;

	if (!value)
		return;
	class->location = location = mem_zalloc(sizeof(*location));
	location->scope = -1;
	if (!value->in->is_json) {
		read_path(ast_text(value, ""), location);
		return;
	}
	origin = ast_get(value, "origin", NULL);
	for (int i = 0; origin && i < SCOPES; i++)
		if (strcmp(ast_text(origin, ""), known_scope[i].path[1]) == 0)
			location->scope = i;
	if (origin && location->scope < 0)
		metadata_wrong(origin, "expected a scope");
	step = ast_first(ast_need(value, "path", NULL), AST_ARRAY);
	if (!step)
		metadata_wrong(value, "expected a path of names");
	for (; step; step = step->next)
		field_add_step(location,
			       step->kind == AST_NULL ? NULL : ast_text(step, ""));
}

static void read_length(const struct ast *object, struct field_class *class)
{
	static const char location[] = "length-field-location";

	if (class->type == FIELD_SEQUENCE)
		read_location(ast_need(object, location, location), class);
	else
		class->length = ast_natural(ast_need(object, "length", "size"), 0);
}

/* Read a string with a length, or a BLOB: an array of bytes. */
static void read_bytes(const struct ast *object, struct field_class *class)
{
	struct field_class *byte = class->element = field_new(FIELD_INTEGER);

	byte->size = byte->align = class->align = 8;
	byte->order = ORDER_LITTLE;
	if (strstr(object->text, "-string"))
		byte->text = read_encoding(ast_get(object, "encoding", NULL), 1);
	read_length(object, class);
	read_roles(ast_get(object, "roles", NULL), class);
}

static void read_array(const struct ast *object, struct field_class *class)
{
	static const char element[] = "element-field-class";

	class->element = schema_field(ast_need(object, element, element));
	class->align = read_alignment(ast_get(object, "minimum-alignment", NULL), 1);
	if (class->element && class->element->align > class->align)
		class->align = class->element->align;
	read_length(object, class);
}

/* Read a member of a structure or an option of a variant. */
static void read_member(const struct ast *object, struct field_class *class)
{
	bool is_structure = class->type == FIELD_STRUCTURE;
	const char *name =
	    ast_text((is_structure ? ast_need : ast_get)(object, "name", "name"), "");
	struct field_class *of =
	    schema_field(ast_need(object, "field-class", "field-class"));
	struct field_member *member;

	if (class->members >= MOST_MEMBERS)
		metadata_wrong(object, "too many members");
	if (of && (is_structure || !object->in->is_json) && field_member(class, name))
		metadata_wrong(object, "duplicate member name");
	if (!of || metadata_failed(object->in)) {
		error_prefix(object->in->error, "%s", *name ? name : "option");
		field_free(of);
		return;
	}
	member = field_add_member(class, name, of);
	if (is_structure && of->align > class->align)
		class->align = of->align;
	if (is_structure)
		set_role_by_name(object, name, of);
	else
		read_ranges(ast_need_json(object, "selector-field-ranges", NULL), member);
	if ((of->roles & 1u << ROLE_MAGIC) && class->members > 1)
		metadata_wrong(object, "%s: expected as the first member", name);
	ast_expect_no_more(object);
}

static void read_members(const struct ast *list, struct field_class *class)
{
	const struct ast *member = ast_first(list, AST_ARRAY);

	for (; member && !metadata_failed(member->in); member = member->next)
		read_member(member, class);
}

static void read_structure(const struct ast *object, struct field_class *class)
{
	static const char align[] = "minimum-alignment", list[] = "member-classes";

	class->align = read_alignment(ast_get(object, align, align), 1);
	read_members(ast_get(object, list, list), class);
}

static void read_variant(const struct ast *object, struct field_class *class)
{
	static const char location[] = "selector-field-location";

	read_location(ast_need_json(object, location, location), class);
	read_members(ast_need(object, "options", "options"), class);
	if (!class->members)
		metadata_wrong(object, "expected an option");
}

static void read_optional(const struct ast *object, struct field_class *class)
{
	struct field_member *option;

	read_location(ast_need(object, "selector-field-location", NULL), class);
	option = field_add_member(class, "",
				  schema_field(ast_need(object, "field-class", NULL)));
	read_ranges(ast_get(object, "selector-field-ranges", NULL), option);
}

static struct field_class *build_field(const struct ast *object)
{
	/* Kinds of field classes; the first three occur only in TSDL. */
	static const struct {
		const char *name;
		enum field_type type;
		void (*read)(const struct ast *object, struct field_class *class);
	} kind[] = {
	    {"integer", FIELD_INTEGER, read_fixed},
	    {"floating_point", FIELD_REAL, read_fixed},
	    {"string", FIELD_STRING, read_string},
	    {"structure", FIELD_STRUCTURE, read_structure},
	    {"variant", FIELD_VARIANT, read_variant},
	    {"static-length-array", FIELD_ARRAY, read_array},
	    {"dynamic-length-array", FIELD_SEQUENCE, read_array},
	    {"fixed-length-unsigned-integer", FIELD_INTEGER, read_fixed},
	    {"fixed-length-signed-integer", FIELD_INTEGER, read_fixed},
	    {"null-terminated-string", FIELD_STRING, read_string},
	    {"static-length-string", FIELD_ARRAY, read_bytes},
	    {"dynamic-length-string", FIELD_SEQUENCE, read_bytes},
	    {"static-length-blob", FIELD_ARRAY, read_bytes},
	    {"dynamic-length-blob", FIELD_SEQUENCE, read_bytes},
	    {"fixed-length-bit-array", FIELD_INTEGER, read_fixed},
	    {"fixed-length-bit-map", FIELD_INTEGER, read_fixed},
	    {"fixed-length-boolean", FIELD_INTEGER, read_fixed},
	    {"fixed-length-floating-point-number", FIELD_REAL, read_fixed},
	    {"variable-length-unsigned-integer", FIELD_LEB128, read_variable},
	    {"variable-length-signed-integer", FIELD_LEB128, read_variable},
	    {"optional", FIELD_OPTIONAL, read_optional},
	};
	const size_t kinds = sizeof(kind) / sizeof(*kind);
	const char *type = object->text ? object->text : "without a type";
	struct field_class *class;
	size_t i = object->in->is_json ? 3 : 0;

	while (i < kinds && strcmp(kind[i].name, type) != 0)
		i++;
	if (i == kinds || object->kind != AST_OBJECT) {
		metadata_wrong(object, "unknown field class %s", type);
		return NULL;
	}
	class = field_new(kind[i].type);
	class->is_signed = strstr(type, "-signed-") != NULL;
	class->is_boolean = strcmp(type, "fixed-length-boolean") == 0;
	kind[i].read(object, class);
	ast_expect_no_more(object);
	if (!metadata_failed(object->in))
		return class;
	field_free(class);
	return NULL;
}

struct field_class *schema_field(const struct ast *value)
{
	struct field_class *class = NULL;

	if (value && value->kind == AST_TEXT)
		value = metadata_find_type(value->in, value->text);
	if (!value || metadata_failed(value->in))
		return NULL;
	if (value->in->depth++ >= MOST_DEPTH || value->in->nodes++ > MOST_NODES)
		metadata_wrong(value, "too many types, or nested too deeply");
	else
		class = build_field(value);
	value->in->depth--;
	return class;
}

static struct field_class *read_scope(const struct ast *value)
{
	struct field_class *class = schema_field(value);

	if (class && class->type != FIELD_STRUCTURE)
		metadata_wrong(value, "expected a structure");
	if (metadata_failed(value->in))
		error_prefix(value->in->error, "%s", value->name);
	return class;
}

void schema_scopes(const struct ast *object, struct field_class **of,
		   enum field_scope first, enum field_scope last, const char *clock)
{
	struct metadata *in = object->in;

	in->clock = clock;
	for (in->scope = first; in->scope <= last; in->scope++) {
		const struct ast *value =
		    ast_get(object, known_scope[in->scope].member[1],
			    known_scope[in->scope].member[0]);

		if (value && !metadata_failed(in))
			of[in->scope] = read_scope(value);
	}
	in->scope = SCOPES;
	in->clock = NULL;
}
