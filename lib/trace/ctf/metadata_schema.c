/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/ctf/metadata_private.h"

/* The schema of what fragments of CTF 2 and blocks of TSDL say. */

enum { UUID_TEXT = 36 };

/* Read a uuid: a string, or 16 numbers. Return false if `value` is NULL. */
static bool read_uuid(const struct ast *value, unsigned char uuid[16])
{
	const struct ast *byte = value ? value->first : NULL;
	int bytes = 0;

	if (!value || (value->kind == AST_TEXT && strlen(value->text) == UUID_TEXT &&
		       !parse_uuid(value->text, uuid)))
		return value != NULL;
	for (; byte && byte->kind == AST_NUMBER && byte->number < 256 && bytes < 16;
	     byte = byte->next)
		uuid[bytes++] = (unsigned char)byte->number;
	if (byte || bytes != 16)
		metadata_wrong(value, "expected a uuid");
	return true;
}

static void read_preamble(const struct ast *object)
{
	struct schema *schema = object->in->schema;
	const struct ast *version = ast_need(object, "version", NULL);

	if (object->in->fragments != 1)
		metadata_wrong(object, "expected a preamble only as the first fragment");
	if (ast_natural(version, 2) != 2)
		metadata_wrong(version, "unsupported version (expected 2)");
	schema->has_uuid = read_uuid(ast_get(object, "uuid", NULL), schema->uuid);
}

static void read_alias(const struct ast *object)
{
	const char *name = ast_text(ast_need(object, "name", NULL), NULL);
	const struct ast *class = ast_need(object, "field-class", NULL);

	for (size_t i = 0; name && i < object->in->types; i++)
		if (strcmp(object->in->type[i].name, name) == 0)
			metadata_wrong(object, "duplicate alias '%s'", name);
	if (class && class->kind == AST_TEXT)
		class = metadata_find_type(class->in, class->text);
	if (class)
		metadata_define(object->in, name, class);
}

/*
 * Read from the environment the host, and the version of a tracer whose timestamps need a
 * correction.
 */
static void read_environment(const struct ast *object)
{
	static const char *const part[] = {"tracer_major", "tracer_minor",
					   "tracer_patch"};
	struct ast *entry = object ? object->first : NULL;

	for (; entry; entry = entry->next) {
		struct schema *schema = object->in->schema;
		bool is_text = entry->kind == AST_TEXT;

		entry->is_known = true;
		if (is_text && strcmp(entry->name, "hostname") == 0) {
			free(schema->hostname);
			schema->hostname = mem_strdup(entry->text);
		} else if (is_text && strcmp(entry->name, "tracer_name") == 0) {
			schema->is_barectf = strcmp(entry->text, "barectf") == 0;
		}
		for (int i = 0; !is_text && i < 3; i++)
			if (strcmp(entry->name, part[i]) == 0)
				schema->version[i] = entry->number;
	}
}

static void read_trace(const struct ast *object)
{
	struct metadata *in = object->in;
	struct schema *schema = in->schema;
	const struct ast *order = ast_get(object, NULL, "byte_order");

	if (in->has_trace || (in->is_json && schema->streams)) {
		metadata_wrong(object, "expected once, before its streams");
		return;
	}
	in->has_trace = true;
	if (!in->is_json && (ast_natural(ast_need(object, NULL, "major"), 1) != 1 ||
			     ast_natural(ast_need(object, NULL, "minor"), 8) != 8))
		metadata_wrong(object, "unsupported version (expected CTF 1.8)");
	if (order)
		schema->order = schema_order(order);
	schema->has_uuid |= read_uuid(ast_get(object, NULL, "uuid"), schema->uuid);
	read_environment(ast_get(object, "environment", NULL));
	schema_scopes(object, &schema->packet_header, SCOPE_PACKET_HEADER,
		      SCOPE_PACKET_HEADER, NULL);
}

/*
 * Derive a clock's uuid from its identity. In CTF 2, clocks are the same if namespace,
 * name and unique ID are equal. LTTng's ID is the boot's UUID, as in CTF 1.8; other IDs
 * are hashed to 16 bytes (FNV-1a, twice).
 */
static void make_uuid(unsigned char uuid[16], const char *space, const char *uid)
{
	AUTOFREE char *whole = mem_printf("%s\n%s", space ? space : "", uid);
	const uint64_t hash[2] = {
	    hash_bytes(HASH_INIT, whole, strlen(whole)),
	    hash_bytes(0x9ae16a3b2f90404fu, whole, strlen(whole)),
	};

	if (space || parse_uuid(uid, uuid) != 0)
		memcpy(uuid, hash, sizeof(hash));
}

static void read_offset(const struct ast *object, struct schema_clock *clock)
{
	const struct ast *seconds = ast_get(object, "seconds", "offset_s");

	if (seconds && (seconds->kind != AST_NUMBER ||
			(!seconds->is_negative && seconds->number > INT64_MAX)))
		metadata_wrong(seconds, "expected a number of seconds");
	clock->offset_s = seconds ? (int64_t)seconds->number : 0;
	clock->offset = ast_natural(ast_get(object, "cycles", "offset"), 0);
}

/* Check the attributes of a clock that do not affect its timestamps. */
static void check_clock(const struct ast *object)
{
	ast_text(ast_get(object, "description", "description"), NULL);
	ast_natural(ast_get(object, "precision", "precision"), 0);
	ast_truth(ast_get(object, NULL, "absolute"));
}

static void read_clock(const struct ast *object)
{
	struct schema *schema = object->in->schema;
	struct schema_clock clock = {0};
	const char *id = ast_text(ast_need(object, "id", "name"), NULL);
	const char *name = ast_text(ast_get(object, "name", "name"), NULL);
	const char *space = ast_text(ast_get(object, "namespace", NULL), NULL);
	const char *uid = ast_text(ast_get(object, "uid", NULL), NULL);
	const struct ast *frequency = ast_need_json(object, "frequency", "freq");
	const struct ast *offset = ast_get(object, "offset-from-origin", NULL);

	clock.frequency = ast_natural(frequency, 1000000000);
	if (!clock.frequency)
		metadata_wrong(frequency, "expected a positive frequency");
	ast_first(offset, AST_OBJECT);
	if (offset || !object->in->is_json)
		read_offset(offset ? offset : object, &clock);
	clock.has_uuid = read_uuid(ast_get(object, NULL, "uuid"), clock.uuid) || uid;
	if (uid)
		make_uuid(clock.uuid, space, uid);
	check_clock(object);
	/* In TSDL babeltrace2 writes a clock of one name for each stream. */
	for (size_t i = 0; id && object->in->is_json && i < schema->clocks; i++)
		if (strcmp(schema->clock[i].name, id) == 0)
			metadata_wrong(object, "duplicate clock '%s'", id);
	if (metadata_failed(object->in))
		return;
	clock.name = mem_strdup(id);
	clock.identity = name ? mem_strdup(name) : NULL;
	*MEM_NEXT(schema->clock, schema->clocks, schema->clock_capacity) = clock;
}

/*
 * Return the clock of timestamps for which TSDL names no clock: the trace's only clock
 * or, if it declares no clock, one that counts nanoseconds since the epoch, as in
 * babeltrace2. Return NULL if there are several clocks.
 */
static const char *default_clock(const struct schema *schema)
{
	if (!schema->clocks)
		return SCHEMA_DEFAULT_CLOCK;
	return schema->clocks == 1 ? schema->clock[0].name : NULL;
}

static void read_stream(const struct ast *object)
{
	struct schema *schema = object->in->schema;
	const char *clock =
	    ast_text(ast_get(object, "default-clock-class-id", NULL), NULL);
	struct schema_stream stream = {
	    .id = ast_natural(ast_get(object, "id", "id"), 0),
	};

	if (!object->in->is_json)
		clock = default_clock(schema);
	schema_scopes(object, stream.scope, SCOPE_PACKET_CONTEXT, SCOPE_COMMON_CONTEXT,
		      clock);
	*MEM_NEXT(schema->stream, schema->streams, schema->stream_capacity) = stream;
}

/*
 * Return the id of an event's stream. In TSDL an event that names no stream belongs to
 * the only one, which need not be declared.
 */
static uint64_t read_stream_id(const struct ast *object)
{
	struct schema *schema = object->in->schema;
	const struct ast *id = ast_get(object, "data-stream-class-id", "stream_id");

	if (!id && !object->in->is_json && !schema->streams)
		*MEM_NEXT(schema->stream, schema->streams, schema->stream_capacity) =
		    (struct schema_stream){.id = 0};
	return ast_natural(
	    id, !object->in->is_json && schema->streams == 1 ? schema->stream[0].id : 0);
}

static void read_event(const struct ast *object)
{
	struct schema *schema = object->in->schema;
	const struct ast *named = ast_get(object, "name", "name");
	const char *name = ast_text(named, "");
	struct schema_event_class event = {
	    .id = ast_natural(ast_get(object, "id", "id"), 0),
	    .stream_id = read_stream_id(object),
	};

	event.known.name =
	    *name ? mem_strdup(name) : mem_printf("event_%" PRIu64, event.id);
	schema_scopes(object, event.scope, SCOPE_SPECIFIC_CONTEXT, SCOPE_PAYLOAD, NULL);
	if (!named && !object->in->is_json)
		metadata_wrong(object, "missing name");
	*MEM_NEXT(schema->event, schema->events, schema->event_capacity) = event;
	if (metadata_failed(object->in) && *name)
		error_prefix(object->in->error, "%s", name);
}

void schema_add(const struct ast *object)
{
	static const struct {
		const char *json, *tsdl;
		void (*read)(const struct ast *object);
	} known[] = {
	    {"preamble", NULL, read_preamble},
	    {"event-record-class", "event", read_event},
	    {"data-stream-class", "stream", read_stream},
	    {"clock-class", "clock", read_clock},
	    {"trace-class", "trace", read_trace},
	    {"field-class-alias", NULL, read_alias},
	    {NULL, "env", read_environment},
	};
	const size_t count = sizeof(known) / sizeof(*known);
	const char *type = object->text ? object->text : "without a type", *name;
	size_t i = 0;

	for (; i < count; i++) {
		name = object->in->is_json ? known[i].json : known[i].tsdl;
		if (name && strcmp(name, type) == 0)
			break;
	}
	if (i == count) {
		metadata_wrong(object, "unknown fragment %s", type);
	} else if (i && object->in->fragments == 1) {
		metadata_wrong(object, "expected a preamble");
	} else {
		known[i].read(object);
		ast_expect_no_more(object);
		if (metadata_failed(object->in))
			error_prefix(object->in->error, "%s", type);
	}
}
