/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "input/recipe/anchors.h"
#include "input/recipe/bytes.h"
#include "input/recipe/value.h"

struct yaml {
	yaml_parser_t parser;
	const char *file;
	char *bytes;
	size_t size;
	size_t *room;
	struct recipe_mistakes *mistakes;
	struct recipe_anchors anchors;
};

static struct recipe_place place_at(const struct yaml *yaml, const yaml_mark_t *mark)
{
	return (struct recipe_place){yaml->file, mark->line + 1};
}

/* The line, from 1, in which a byte stands; past the end it is the last one. */
static size_t line_of_byte(const struct yaml *yaml, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i + 1 < yaml->size; i++)
		line += yaml->bytes[i] == '\n';
	return line;
}

/* Whether what indents a line, counted from 1, has a tab in it. */
static bool is_tab_indented(const struct yaml *yaml, size_t line)
{
	const char *at = yaml->bytes, *end = yaml->bytes + yaml->size;

	while (--line > 0 && at < end) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '\t';
}

/* What the parser did not like. Returns -1. */
static int syntax_mistake(struct yaml *yaml)
{
	const yaml_parser_t *parser = &yaml->parser;
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	size_t last = line_of_byte(yaml, yaml->size), line;
	struct recipe_place place = {yaml->file, 0};

	line = parser->error == YAML_READER_ERROR
		   ? line_of_byte(yaml, parser->problem_offset)
		   : parser->problem_mark.line + 1;
	place.line = line < last ? line : last;
	if (parser->error == YAML_READER_ERROR)
		recipe_mistake_add(yaml->mistakes, place,
				   "no YAML: %s, want a text file in UTF-8", problem);
	else if (is_tab_indented(yaml, place.line))
		recipe_mistake_add(yaml->mistakes, place,
				   "no YAML: a tab indents this line, want blanks");
	else if (parser->context && parser->context_mark.line + 1 < place.line)
		recipe_mistake_add(
		    yaml->mistakes, place, "no YAML: %s which began in line %zu, %s",
		    parser->context, parser->context_mark.line + 1, problem);
	else
		recipe_mistake_add(yaml->mistakes, place, "no YAML: %s%s%s",
				   parser->context ? parser->context : "",
				   parser->context ? ", " : "", problem);
	return -1;
}

static int next_event(struct yaml *yaml, yaml_event_t *event)
{
	return yaml_parser_parse(&yaml->parser, event) ? 0 : syntax_mistake(yaml);
}

static size_t depth_of(const struct recipe_value *value)
{
	size_t deepest = 0;

	for (size_t i = 0; i < value->count; i++) {
		size_t depth = depth_of(&value->entry[i].value);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

static int too_deep(struct yaml *yaml, struct recipe_place place)
{
	recipe_mistake_add(yaml->mistakes, place,
			   "more than %d lists and maps within one another",
			   RECIPE_MOST_DEPTH);
	return -1;
}

static int too_many(struct yaml *yaml, struct recipe_place place)
{
	recipe_mistake_add(yaml->mistakes, place,
			   "more than %d values in the recipe and what it imports",
			   RECIPE_MOST_VALUES);
	return -1;
}

/* What an alias stands for. One that is not there is a mistake, and reading goes on. */
static int take_alias(struct yaml *yaml, const char *name, size_t depth,
		      struct recipe_value *value)
{
	const struct recipe_value *named = recipe_anchors_find(&yaml->anchors, name);
	struct recipe_place place = value->place;

	if (named) {
		if (depth + depth_of(named) > RECIPE_MOST_DEPTH)
			return too_deep(yaml, place);
		return recipe_value_copy(value, named, yaml->room) ? too_many(yaml, place)
								   : 0;
	}
	recipe_mistake_add(yaml->mistakes, place,
			   "*%s is the name of nothing above, want &%s before it", name,
			   name);
	value->kind = RECIPE_TEXT;
	value->text = mem_strdup("");
	value->plain = true;
	return 0;
}

/* Of tags, those that every YAML has. They change nothing but that a !!str is a text. */
static void check_tag(struct yaml *yaml, const yaml_char_t *tag,
		      struct recipe_place place, bool *plain)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const known[] = {"str", "int",  "float", "bool",
					    "map", "null", "seq"};
	const char *text = (const char *)tag;

	if (!text || strcmp(text, "!") == 0) /* the latter: no tag, by its own name */
		return;
	if (strncmp(text, prefix, strlen(prefix)) == 0) {
		text += strlen(prefix);
		if (plain && strcmp(text, "str") == 0)
			*plain = false;
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (strcmp(text, known[i]) == 0)
				return;
	}
	recipe_mistake_add(yaml->mistakes, place, "tag !%s is not known, want none",
			   text);
}

static void take_scalar(struct yaml *yaml, const yaml_event_t *event,
			struct recipe_value *value)
{
	const char *text = (const char *)event->data.scalar.value;

	value->kind = RECIPE_TEXT;
	value->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	value->text = mem_strdup(text);
	check_tag(yaml, event->data.scalar.tag, value->place, &value->plain);
	if (strlen(text) == event->data.scalar.length)
		return;
	recipe_mistake_add(yaml->mistakes, value->place, "a NUL character in a text");
}

static int take_value(struct yaml *yaml, const yaml_event_t *event, size_t depth,
		      struct recipe_value *value);

static int take_list(struct yaml *yaml, size_t depth, struct recipe_value *value)
{
	yaml_event_t event;
	int status = 0;

	value->kind = RECIPE_LIST;
	while (status == 0) {
		struct recipe_entry *entry;
		struct recipe_place place;

		if (next_event(yaml, &event))
			return -1;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		place = place_at(yaml, &event.start_mark);
		entry = recipe_value_add(value, NULL, place);
		status = take_value(yaml, &event, depth + 1, &entry->value);
		yaml_event_delete(&event);
	}
	return -1;
}

/* A key as text for free(), or NULL with a mistake where it is none. */
static char *take_key(struct yaml *yaml, const struct recipe_value *key)
{
	char *what = NULL;

	if (key->kind == RECIPE_TEXT && *key->text)
		return mem_strdup(key->text);
	what = recipe_value_describe(key);
	recipe_mistake_add(yaml->mistakes, key->place, "a key is %s, want a text", what);
	free(what);
	return NULL;
}

static void merge_map(struct yaml *yaml, struct recipe_value *map,
		      struct recipe_value *from)
{
	if (from->kind != RECIPE_MAP) {
		char *what = recipe_value_describe(from);

		recipe_mistake_add(yaml->mistakes, from->place,
				   "<< is %s, want a map or a list of maps", what);
		free(what);
		return;
	}
	for (size_t i = 0; i < from->count; i++) {
		struct recipe_entry *entry = &from->entry[i], *added;

		if (recipe_value_find(map, entry->key))
			continue;
		added = recipe_value_add(map, entry->key, entry->place);
		added->value = entry->value; /* moves */
		memset(&entry->value, 0, sizeof(entry->value));
	}
}

/* Merge keys: what they name is added where the map has no such key itself. */
static void merge_all(struct yaml *yaml, struct recipe_value *map,
		      struct recipe_value *merges)
{
	for (size_t i = 0; i < merges->count; i++) {
		struct recipe_value *from = &merges->entry[i].value;

		if (from->kind != RECIPE_LIST) {
			merge_map(yaml, map, from);
			continue;
		}
		for (size_t k = 0; k < from->count; k++)
			merge_map(yaml, map, &from->entry[k].value);
	}
}

static int take_member(struct yaml *yaml, const yaml_event_t *event, size_t depth,
		       struct recipe_value *map, struct recipe_value *merges)
{
	struct recipe_value key = {0}, other = {0}, *value = &other;
	struct recipe_value *before = NULL;
	yaml_event_t next;
	char *name = NULL;
	int status = -1;

	if (take_value(yaml, event, depth + 1, &key))
		goto out;
	name = take_key(yaml, &key);
	if (name && key.plain && strcmp(name, "<<") == 0) {
		value = &recipe_value_add(merges, name, key.place)->value;
	} else if (name && (before = recipe_value_find(map, name))) {
		recipe_mistake_add(yaml->mistakes, key.place,
				   "%s stands in line %zu already", name,
				   before->place.line);
	} else if (name) {
		if (map->count >= RECIPE_MOST_KEYS) {
			recipe_mistake_add(yaml->mistakes, key.place,
					   "more than %d keys in a map",
					   RECIPE_MOST_KEYS);
			goto out;
		}
		value = &recipe_value_add(map, name, key.place)->value;
	}
	if (next_event(yaml, &next))
		goto out;
	status = take_value(yaml, &next, depth + 1, value);
	yaml_event_delete(&next);
out:
	recipe_value_clear(&key);
	recipe_value_clear(&other);
	free(name);
	return status;
}

static int take_map(struct yaml *yaml, size_t depth, struct recipe_value *value)
{
	struct recipe_value merges = {.kind = RECIPE_MAP};
	yaml_event_t event;
	int status = 0;

	value->kind = RECIPE_MAP;
	while (status == 0) {
		bool ends;

		status = next_event(yaml, &event);
		if (status)
			break;
		ends = event.type == YAML_MAPPING_END_EVENT;
		if (ends)
			merge_all(yaml, value, &merges);
		else
			status = take_member(yaml, &event, depth, value, &merges);
		yaml_event_delete(&event);
		if (ends)
			break;
	}
	recipe_value_clear(&merges);
	return status;
}

/* The value that begins with this event; what it holds is taken from the parser. */
static int take_value(struct yaml *yaml, const yaml_event_t *event, size_t depth,
		      struct recipe_value *value)
{
	const yaml_char_t *anchor = NULL;
	int status = 0;

	memset(value, 0, sizeof(*value));
	value->place = place_at(yaml, &event->start_mark);
	if (depth > RECIPE_MOST_DEPTH)
		return too_deep(yaml, value->place);
	if (*yaml->room == 0)
		return too_many(yaml, value->place);
	--*yaml->room;
	if (event->type == YAML_ALIAS_EVENT)
		return take_alias(yaml, (const char *)event->data.alias.anchor, depth,
				  value);
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		take_scalar(yaml, event, value);
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		check_tag(yaml, event->data.sequence_start.tag, value->place, NULL);
		status = take_list(yaml, depth, value);
	} else {
		anchor = event->data.mapping_start.anchor;
		check_tag(yaml, event->data.mapping_start.tag, value->place, NULL);
		status = take_map(yaml, depth, value);
	}
	if (status == 0 && anchor &&
	    recipe_anchors_keep(&yaml->anchors, (const char *)anchor, value)) {
		recipe_mistake_add(yaml->mistakes, value->place, "more than %d anchors",
				   RECIPE_MOST_ANCHORS);
		return -1;
	}
	return status;
}

/* The one document of the stream, if there is one. */
static int take_stream(struct yaml *yaml, struct recipe_value *value)
{
	size_t documents = 0;
	yaml_event_t event;
	int status = 0;
	bool end = false;

	while (status == 0 && !end) {
		struct recipe_place place;

		if (next_event(yaml, &event))
			return -1;
		place = place_at(yaml, &event.start_mark);
		if (event.type == YAML_STREAM_END_EVENT) {
			end = true;
		} else if (event.type == YAML_DOCUMENT_START_EVENT && ++documents > 1) {
			recipe_mistake_add(yaml->mistakes, place,
					   "a second document begins, want one");
			status = -1;
		} else if (event.type != YAML_STREAM_START_EVENT &&
			   event.type != YAML_DOCUMENT_START_EVENT &&
			   event.type != YAML_DOCUMENT_END_EVENT) {
			status = take_value(yaml, &event, 1, value);
		}
		yaml_event_delete(&event);
	}
	return status;
}

static void clear(struct yaml *yaml)
{
	recipe_anchors_clear(&yaml->anchors);
	free(yaml->bytes);
	yaml_parser_delete(&yaml->parser);
}

int recipe_value_read(struct recipe_value *value, const char *path, size_t *room,
		      struct recipe_mistakes *mistakes)
{
	struct yaml yaml = {.room = room, .mistakes = mistakes};
	int status;

	memset(value, 0, sizeof(*value));
	yaml.file = recipe_file_name(mistakes, path);
	yaml.bytes = recipe_bytes_read(path, yaml.file, &yaml.size, mistakes);
	if (!yaml.bytes)
		return -1;
	if (!yaml_parser_initialize(&yaml.parser)) {
		recipe_mistake_add(mistakes, (struct recipe_place){yaml.file, 0},
				   "no memory for a parser");
		free(yaml.bytes);
		return -1;
	}
	yaml_parser_set_encoding(&yaml.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&yaml.parser, (const unsigned char *)yaml.bytes,
				     yaml.size);
	status = take_stream(&yaml, value);
	if (status == 0 && (!value->place.file || recipe_value_is_null(value))) {
		recipe_value_clear(value);
		value->kind = RECIPE_MAP;
		value->place = (struct recipe_place){yaml.file, 1};
	}
	if (status)
		recipe_value_clear(value);
	clear(&yaml);
	return status;
}
