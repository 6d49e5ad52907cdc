/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/tsdl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Streams times events, of which every pair is looked at. */
#define MOST_PAIRS ((uint64_t)1 << 28)

static int set_uuid(struct tsdl_parser *parser, unsigned char uuid[16], bool *has,
		    const struct tsdl_value *value)
{
	if (value->kind != TSDL_STRING || schema_read_uuid(value->text, uuid))
		return tsdl_wrong(parser, "a uuid");
	*has = true;
	return 0;
}

static int set_number(struct tsdl_parser *parser, uint64_t *number,
		      const struct tsdl_value *value)
{
	if (value->kind != TSDL_NUMBER || value->is_negative)
		return tsdl_wrong(parser, "a number");
	*number = value->number;
	return 0;
}

static int set_name(struct tsdl_parser *parser, char **name,
		    const struct tsdl_value *value)
{
	if (value->kind == TSDL_NUMBER)
		return tsdl_wrong(parser, "a name");
	free(*name);
	*name = mem_strdup(value->text);
	return 0;
}

int tsdl_ignore(struct tsdl_parser *parser, void *target, const struct tsdl_value *value)
{
	(void)parser;
	(void)target;
	(void)value;
	return 0;
}

static int clock_name(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct schema_clock *clock = target;

	return set_name(parser, &clock->name, value);
}

static int clock_uuid(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct schema_clock *clock = target;

	return set_uuid(parser, clock->uuid, &clock->has_uuid, value);
}

static int clock_frequency(struct tsdl_parser *parser, void *target,
			   const struct tsdl_value *value)
{
	struct schema_clock *clock = target;

	if (set_number(parser, &clock->frequency, value))
		return -1;
	return clock->frequency ? 0 : tsdl_wrong(parser, "a frequency");
}

static int clock_offset_s(struct tsdl_parser *parser, void *target,
			  const struct tsdl_value *value)
{
	struct schema_clock *clock = target;

	if (value->kind != TSDL_NUMBER ||
	    (!value->is_negative && value->number > INT64_MAX))
		return tsdl_wrong(parser, "a number of seconds");
	clock->offset_s = (int64_t)value->number;
	return 0;
}

static int clock_offset(struct tsdl_parser *parser, void *target,
			const struct tsdl_value *value)
{
	struct schema_clock *clock = target;

	return set_number(parser, &clock->offset, value);
}

static int read_clock(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {
	    {"name", clock_name},
	    {"uuid", clock_uuid},
	    {"freq", clock_frequency},
	    {"offset_s", clock_offset_s},
	    {"offset", clock_offset},
	    {"description", tsdl_ignore},
	    {"precision", tsdl_ignore},
	    {"absolute", tsdl_ignore},
	    {NULL, NULL},
	};
	struct schema *schema = parser->schema;
	struct schema_clock *clock;

	schema->clock = mem_grow(schema->clock, schema->clocks, &schema->clock_room,
				 sizeof(*schema->clock));
	clock = &schema->clock[schema->clocks++];
	memset(clock, 0, sizeof(*clock));
	clock->frequency = 1000000000;
	if (tsdl_attributes(parser, table, clock) || tsdl_expect(parser, ';'))
		return -1;
	if (clock->name)
		clock->identity = mem_strdup(clock->name);
	return clock->name ? 0 : tsdl_wrong(parser, "a clock with a name");
}

/* What of the environment says how to read the rest; all else is passed over. */
static int read_environment(struct tsdl_parser *parser)
{
	static const char patch[] = "tracer_patch";
	struct schema *schema = parser->schema;
	int status = tsdl_expect(parser, '{');

	while (!status && !tsdl_take(parser, '}')) {
		char *key = tsdl_path(parser);
		struct tsdl_value value = {.text = NULL};

		status = key ? tsdl_expect(parser, '=') : -1;
		if (!status)
			status = tsdl_value(parser, &value);
		if (!status && value.text && strcmp(key, "hostname") == 0)
			status = set_name(parser, &schema->hostname, &value);
		else if (!status && value.text && strcmp(key, "tracer_name") == 0)
			status = set_name(parser, &schema->tracer, &value);
		else if (!status && !value.text && strcmp(key, "tracer_major") == 0)
			schema->major = value.number;
		else if (!status && !value.text && strcmp(key, "tracer_minor") == 0)
			schema->minor = value.number;
		else if (!status && !value.text &&
			 strncmp(key, patch, strlen(patch)) == 0)
			schema->patch = value.number;
		tsdl_value_clear(&value);
		free(key);
	}
	return status ? status : tsdl_expect(parser, ';');
}

/* A block of attributes and of `PLACE := type;`. */
struct block {
	const struct tsdl_key *key;
	void *target;
	struct place {
		const char *name;
		struct field_class **class;
	} place[3];
};

static int assign(struct tsdl_parser *parser, const struct block *block, const char *name)
{
	for (size_t i = 0; i < 3 && block->place[i].name; i++) {
		struct field_class **class = block->place[i].class;

		if (strcmp(block->place[i].name, name) != 0)
			continue;
		tsdl_next(&parser->lexer);
		if (*class)
			return tsdl_wrong(parser, "one type at this place");
		*class = tsdl_type(parser);
		if (*class && (*class)->type != FIELD_STRUCTURE)
			return tsdl_wrong(parser, "a structure");
		return *class ? tsdl_expect(parser, ';') : -1;
	}
	return tsdl_wrong(parser, "a place that is known here");
}

static int read_block(struct tsdl_parser *parser, const struct block *block)
{
	size_t aliases = parser->aliases;
	int status = tsdl_expect(parser, '{');

	while (!status && !tsdl_take(parser, '}')) {
		char *key;

		if (tsdl_is_definition(parser)) {
			status = tsdl_definition(parser);
			continue;
		}
		key = tsdl_path(parser);
		if (!key)
			status = -1;
		else if (parser->lexer.token.is_alias)
			status = assign(parser, block, key);
		else
			status = tsdl_attribute(parser, key, block->key, block->target);
		free(key);
	}
	tsdl_forget(parser, aliases);
	return status ? status : tsdl_expect(parser, ';');
}

static int version(struct tsdl_parser *parser, void *target,
		   const struct tsdl_value *value)
{
	(void)target;
	if (value->kind != TSDL_NUMBER || (value->number != 1 && value->number != 8))
		return tsdl_wrong(parser, "CTF 1.8");
	return 0;
}

static int trace_uuid(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct schema *schema = target;

	return set_uuid(parser, schema->uuid, &schema->has_uuid, value);
}

static int trace_order(struct tsdl_parser *parser, void *target,
		       const struct tsdl_value *value)
{
	struct schema *schema = target;

	if (tsdl_set_order(parser, &schema->order, value))
		return -1;
	return schema->order == ORDER_NATIVE ? tsdl_wrong(parser, "byte order le or be")
					     : 0;
}

static int read_trace(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {
	    {"major", version},          {"minor", version}, {"uuid", trace_uuid},
	    {"byte_order", trace_order}, {NULL, NULL},
	};
	struct block block = {table, parser->schema, {{NULL, NULL}}};

	block.place[0] = (struct place){"packet.header", &parser->schema->packet_header};
	return read_block(parser, &block);
}

static int stream_id(struct tsdl_parser *parser, void *target,
		     const struct tsdl_value *value)
{
	struct schema_stream *stream = target;

	return set_number(parser, &stream->id, value);
}

static int read_stream(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {{"id", stream_id}, {NULL, NULL}};
	struct schema *schema = parser->schema;
	struct schema_stream *stream;
	struct block block = {.key = table};

	schema->stream = mem_grow(schema->stream, schema->streams, &schema->stream_room,
				  sizeof(*schema->stream));
	stream = &schema->stream[schema->streams++];
	memset(stream, 0, sizeof(*stream));
	block.target = stream;
	block.place[0] = (struct place){"packet.context", &stream->packet_context};
	block.place[1] = (struct place){"event.header", &stream->event_header};
	block.place[2] = (struct place){"event.context", &stream->event_context};
	return read_block(parser, &block);
}

static int event_id(struct tsdl_parser *parser, void *target,
		    const struct tsdl_value *value)
{
	struct schema_event *event = target;

	return set_number(parser, &event->id, value);
}

static int event_stream(struct tsdl_parser *parser, void *target,
			const struct tsdl_value *value)
{
	struct schema_event *event = target;

	return set_number(parser, &event->stream, value);
}

static int event_name(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct schema_event *event = target;

	return set_name(parser, &event->name, value);
}

static int read_event(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {
	    {"id", event_id},
	    {"stream_id", event_stream},
	    {"name", event_name},
	    {"loglevel", tsdl_ignore},
	    {"model.emf.uri", tsdl_ignore},
	    {NULL, NULL},
	};
	struct schema *schema = parser->schema;
	struct schema_event *event;
	struct block block = {.key = table};

	schema->event = mem_grow(schema->event, schema->events, &schema->event_room,
				 sizeof(*schema->event));
	event = &schema->event[schema->events++];
	memset(event, 0, sizeof(*event));
	block.target = event;
	block.place[0] = (struct place){"context", &event->context};
	block.place[1] = (struct place){"fields", &event->fields};
	if (read_block(parser, &block))
		return -1;
	return event->name ? 0 : tsdl_wrong(parser, "an event with a name");
}

static int read_top(struct tsdl_parser *parser)
{
	static const struct {
		const char *word;
		int (*read)(struct tsdl_parser *parser);
	} block[] = {{"trace", read_trace},
		     {"env", read_environment},
		     {"clock", read_clock},
		     {"stream", read_stream},
		     {"event", read_event}};

	if (tsdl_is_definition(parser))
		return tsdl_definition(parser);
	for (size_t i = 0; i < sizeof(block) / sizeof(*block); i++)
		if (tsdl_take_word(parser, block[i].word))
			return block[i].read(parser);
	return tsdl_wrong(parser, "trace, env, clock, stream, event or a type");
}

/* The integers of a scope whose names say what they are. */
static int set_roles(struct field_class *scope, enum field_role from, enum field_role to,
		     struct error *error)
{
	static const char *const name_of[ROLES] = {
	    "magic",           "uuid",
	    "stream_id",       "stream_instance_id",
	    "timestamp_begin", "timestamp_end",
	    "content_size",    "packet_size",
	    "packet_seq_num",  "events_discarded",
	    "cpu_id",
	};

	for (size_t i = 0; scope && i < scope->members; i++) {
		struct field_class *field = scope->member[i].class;
		const char *name = scope->member[i].name;
		bool is_number = field->type == FIELD_INTEGER && !field->is_signed;
		enum field_role role = from;

		/* The CPU is no matter of the format: its name may have an underscore. */
		while (role < to && strcmp(name_of[role], name) != 0 &&
		       (role != ROLE_CPU || strcmp("_cpu_id", name) != 0))
			role++;
		if (role == to || (role == ROLE_CPU && !is_number))
			continue;
		if (role == ROLE_UUID
			? field->type != FIELD_ARRAY || field->length != 16 ||
			      field->element->type != FIELD_INTEGER ||
			      field->element->size != 8 || field->element->align != 8
			: !is_number)
			return error_set(error, "%s is of no known kind", name);
		field->roles |= 1u << role;
	}
	return 0;
}

/* The integer `id` of a header, and those in the options of its variant `v`. */
static void set_ids(struct field_class *header)
{
	for (size_t i = 0; header && i < header->members; i++) {
		struct field_class *field = header->member[i].class;
		const char *name = header->member[i].name;

		if (strcmp(name, "id") == 0 && field->type == FIELD_INTEGER &&
		    !field->is_signed)
			field->is_id = true;
		for (size_t k = 0; strcmp(name, "v") == 0 &&
				   field->type == FIELD_VARIANT && k < field->members;
		     k++)
			if (field->member[k].class->type == FIELD_STRUCTURE)
				set_ids(field->member[k].class);
	}
}

/* A packet's end is not a time to count on from. */
static void forget_end_clock(struct field_class *context)
{
	for (size_t i = 0; context && i < context->members; i++) {
		struct field_class *field = context->member[i].class;

		if (!(field->roles & 1u << ROLE_END) || !field->clock)
			continue;
		free(field->clock);
		field->clock = NULL;
		field->roles |= 1u << ROLE_END_STAMP;
	}
}

static int set_all_roles(struct schema *schema, struct error *error)
{
	if (set_roles(schema->packet_header, ROLE_MAGIC, ROLE_BEGIN, error))
		return -1;
	for (size_t i = 0; i < schema->streams; i++) {
		struct schema_stream *stream = &schema->stream[i];

		if (set_roles(stream->packet_context, ROLE_BEGIN, ROLE_END_STAMP, error))
			return -1;
		forget_end_clock(stream->packet_context);
		set_ids(stream->event_header);
	}
	return 0;
}

struct schema *tsdl_parse(const char *text, size_t size, struct error *error)
{
	struct tsdl_parser parser = {.error = error};
	int status = 0;

	error_clear(error);
	parser.schema = mem_zalloc(sizeof(*parser.schema));
	tsdl_lexer_init(&parser.lexer, text, size);
	while (!status && parser.lexer.token.kind != TSDL_END)
		status = read_top(&parser);
	if (!status && parser.schema->events * parser.schema->streams > MOST_PAIRS)
		status = tsdl_wrong(&parser, "fewer streams or events");
	if (!status && parser.schema->order == ORDER_NATIVE)
		status = tsdl_wrong(&parser, "a trace with a byte order");
	if (!status)
		status = set_all_roles(parser.schema, error);
	tsdl_forget(&parser, 0);
	free(parser.alias);
	tsdl_lexer_clear(&parser.lexer);
	if (!status)
		return parser.schema;
	schema_free(parser.schema);
	return NULL;
}
