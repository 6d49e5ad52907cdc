/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/metadata_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SEPARATOR = 0x1e };

/* Streams times events, of which every pair is looked at. */
#define MOST_PAIRS ((uint64_t)1 << 28)

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
		return metadata_wrong(metadata, "extensions", "an object");
	json_object_foreach((json_t *)(uintptr_t)extensions, space, of)
	    json_object_foreach(of, name, value) return error_set(
		metadata->error, "extension %s of %s is not known", name, space);
	return 0;
}

int metadata_check(const struct metadata *metadata, const json_t *object)
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
	*scope = metadata_field(metadata, class);
	if (!*scope)
		return error_prefix(metadata->error, "%s", name);
	if ((*scope)->type != FIELD_STRUCTURE)
		return metadata_wrong(metadata, name, "a structure");
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
	if (metadata_natural(metadata, json, "version", &version))
		return -1;
	if (version != 2)
		return metadata_wrong(metadata, "version", "2");
	schema->has_uuid = uuid != NULL;
	if (uuid && json_array_size(uuid) != sizeof(schema->uuid))
		return metadata_wrong(metadata, "uuid", "16 numbers");
	for (size_t i = 0; uuid && i < sizeof(schema->uuid); i++) {
		json_int_t byte = json_integer_value(json_array_get(uuid, i));

		if (!json_is_integer(json_array_get(uuid, i)) || byte < 0 || byte > 255)
			return metadata_wrong(metadata, "uuid", "numbers from 0 to 255");
		schema->uuid[i] = (unsigned char)byte;
	}
	return 0;
}

static int read_alias(struct metadata *metadata, const json_t *json)
{
	struct metadata_alias *alias;
	const char *name;

	if (metadata_string(metadata, json, "name", &name))
		return -1;
	if (!name)
		return metadata_wrong(metadata, "name", "a name");
	for (size_t i = 0; i < metadata->aliases; i++)
		if (strcmp(metadata->alias[i].name, name) == 0)
			return metadata_wrong(metadata, name,
					      "aliases of different names");
	metadata->alias = mem_grow(metadata->alias, metadata->aliases,
				   &metadata->alias_room, sizeof(*metadata->alias));
	alias = &metadata->alias[metadata->aliases];
	alias->class = metadata_field(metadata, json_object_get(json, "field-class"));
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
	return metadata_wrong(metadata, "origin", "unix-epoch, or a name and a uid");
}

static int read_offset(const struct metadata *metadata, const json_t *json,
		       struct schema_clock *clock)
{
	const json_t *offset = json_object_get(json, "offset-from-origin");
	const json_t *seconds = json_object_get(offset, "seconds");

	if (offset && !json_is_object(offset))
		return metadata_wrong(metadata, "offset-from-origin", "an object");
	if (seconds && !json_is_integer(seconds))
		return metadata_wrong(metadata, "seconds", "an integer");
	clock->offset_s = json_integer_value(seconds);
	return metadata_natural(metadata, offset, "cycles", &clock->offset);
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
	if (metadata_string(metadata, json, "id", &id) ||
	    metadata_string(metadata, json, "name", &name) ||
	    metadata_string(metadata, json, "namespace", &space) ||
	    metadata_string(metadata, json, "uid", &uid) ||
	    check_origin(metadata, json) || read_offset(metadata, json, clock) ||
	    metadata_natural(metadata, json, "frequency", &clock->frequency) ||
	    metadata_natural(metadata, json, "precision", &ignored) ||
	    metadata_natural(metadata, json, "accuracy", &ignored))
		return -1;
	if (!id || strcmp(id, METADATA_CLOCK) == 0)
		return metadata_wrong(metadata, "id", "an id");
	for (size_t i = 0; i + 1 < schema->clocks; i++)
		if (strcmp(schema->clock[i].name, id) == 0)
			return metadata_wrong(metadata, id,
					      "clock classes of different ids");
	clock->name = mem_strdup(id);
	set_identity(clock, space, name, uid);
	return clock->frequency ? 0
				: metadata_wrong(metadata, "frequency", "a frequency");
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
	if (metadata_string(metadata, json, "default-clock-class-id", &clock) ||
	    metadata_natural(metadata, json, "id", &stream->id) ||
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
	if (metadata_string(metadata, json, "name", &name))
		return -1;
	if (name) {
		free(event->name);
		event->name = mem_strdup(name);
	}
	if (metadata_natural(metadata, json, "id", &event->id) ||
	    metadata_natural(metadata, json, "data-stream-class-id", &event->stream) ||
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
	if (metadata_check(metadata, json))
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
			to += (size_t)sprintf(quoted + to, "\"%c", METADATA_LARGE);
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
