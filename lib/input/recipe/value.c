/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/mem.h"

void recipe_value_clear(struct recipe_value *value)
{
	for (size_t i = 0; i < value->count; i++) {
		free(value->entry[i].key);
		recipe_value_clear(&value->entry[i].value); /* RECIPE_MOST_DEPTH */
	}
	free(value->entry);
	free(value->text);
	memset(value, 0, sizeof(*value));
}

struct recipe_entry *recipe_value_add(struct recipe_value *value, const char *key,
				      struct recipe_place place)
{
	struct recipe_entry *entry;

	value->entry =
	    mem_grow(value->entry, value->count, &value->room, sizeof(*value->entry));
	entry = &value->entry[value->count++];
	memset(entry, 0, sizeof(*entry));
	entry->key = key ? mem_strdup(key) : NULL;
	entry->place = place;
	return entry;
}

struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key)
{
	if (map->kind != RECIPE_MAP)
		return NULL;
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->entry[i].key, key) == 0)
			return &map->entry[i].value;
	return NULL;
}

bool recipe_value_is_null(const struct recipe_value *value)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (value->kind != RECIPE_TEXT || !value->plain)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		if (strcmp(value->text, nulls[i]) == 0)
			return true;
	return false;
}

bool recipe_value_has(const struct recipe_value *map, const char *key)
{
	const struct recipe_value *member = recipe_value_find(map, key);

	return member && !recipe_value_is_null(member);
}

char *recipe_value_describe(const struct recipe_value *value)
{
	enum { SHOWN = 60 };

	if (value->kind == RECIPE_LIST)
		return mem_strdup("a list");
	if (value->kind == RECIPE_MAP)
		return mem_strdup("a map");
	if (recipe_value_is_null(value))
		return mem_strdup("nothing");
	if (strlen(value->text) > SHOWN)
		return mem_printf("'%.*s...'", SHOWN, value->text);
	return mem_printf("'%s'", value->text);
}

/* One YAML file while it is read. */
struct yaml_file {
	yaml_parser_t parser;
	yaml_document_t document;
	const char *name;
	char *bytes;
	size_t size;
	size_t *room;
	struct recipe_mistakes *mistakes;
};

/* The whole file, with a NUL behind it. NULL with a mistake. */
static char *read_bytes(struct yaml_file *file, const char *path)
{
	struct recipe_place place = {file->name, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *stream = NULL;
	struct stat about;
	char *bytes = NULL;

	if (fd < 0 || fstat(fd, &about) || !(stream = fdopen(fd, "r"))) {
		recipe_mistake_add(file->mistakes, place, "%s", strerror(errno));
	} else if (!S_ISREG(about.st_mode)) {
		recipe_mistake_add(file->mistakes, place, "no plain file, want one");
	} else {
		bytes = mem_zalloc(RECIPE_MOST_BYTES + 2);
		file->size = fread(bytes, 1, RECIPE_MOST_BYTES + 1, stream);
		if (!ferror(stream) && file->size <= RECIPE_MOST_BYTES)
			goto out;
		recipe_mistake_add(file->mistakes, place, "%s",
				   ferror(stream) ? strerror(errno)
						  : "more than 1 MiB, want a recipe");
		free(bytes);
		bytes = NULL;
	}
out:
	if (stream)
		fclose(stream);
	else if (fd >= 0)
		close(fd);
	return bytes;
}

/* The line, from 1, in which a byte stands; past the end it is the last one. */
static size_t line_of_byte(const struct yaml_file *file, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i + 1 < file->size; i++)
		line += file->bytes[i] == '\n';
	return line;
}

/* Whether what indents a line, counted from 1, has a tab in it. */
static bool is_tab_indented(const struct yaml_file *file, size_t line)
{
	const char *at = file->bytes;

	while (--line > 0 && at)
		at = (at = strchr(at, '\n')) ? at + 1 : NULL;
	return at && at[strspn(at, " ")] == '\t';
}

/* What the parser did not like. Returns -1. */
static int syntax_mistake(struct yaml_file *file)
{
	const yaml_parser_t *parser = &file->parser;
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	size_t last = line_of_byte(file, file->size);
	size_t line = parser->error == YAML_READER_ERROR
			  ? line_of_byte(file, parser->problem_offset)
			  : parser->problem_mark.line + 1;
	struct recipe_place place = {file->name, line < last ? line : last};

	if (parser->error == YAML_READER_ERROR)
		recipe_mistake_add(file->mistakes, place,
				   "no YAML: %s, want a text file in UTF-8", problem);
	else if (is_tab_indented(file, place.line))
		recipe_mistake_add(file->mistakes, place,
				   "no YAML: a tab indents this line, want blanks");
	else if (parser->context && parser->context_mark.line + 1 < place.line)
		recipe_mistake_add(
		    file->mistakes, place, "no YAML: %s which began in line %zu, %s",
		    parser->context, parser->context_mark.line + 1, problem);
	else
		recipe_mistake_add(file->mistakes, place, "no YAML: %s%s%s",
				   parser->context ? parser->context : "",
				   parser->context ? ", " : "", problem);
	return -1;
}

/* Of tags, those that every YAML has; they change nothing. */
static void check_tag(struct yaml_file *file, const yaml_node_t *node,
		      struct recipe_place place)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const known[] = {"str", "int",  "float", "bool",
					    "map", "null", "seq"};
	const char *tag = (const char *)node->tag;
	bool is_standard = tag && strncmp(tag, prefix, strlen(prefix)) == 0;

	if (!tag || strcmp(tag, "!") == 0) /* the latter: no tag, by its own name */
		return;
	if (is_standard)
		tag += strlen(prefix);
	for (size_t i = 0; is_standard && i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(tag, known[i]) == 0)
			return;
	recipe_mistake_add(file->mistakes, place, "tag !%s is not known, want none", tag);
}

static int convert(struct yaml_file *file, int node, size_t depth,
		   struct recipe_value *value);

static void convert_text(struct yaml_file *file, const yaml_node_t *node,
			 struct recipe_value *value)
{
	value->kind = RECIPE_TEXT;
	value->plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	value->text = mem_strdup((const char *)node->data.scalar.value);
	if (strlen(value->text) != node->data.scalar.length)
		recipe_mistake_add(file->mistakes, value->place,
				   "a NUL character in a text");
}

static int convert_list(struct yaml_file *file, const yaml_node_t *node, size_t depth,
			struct recipe_value *value)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;

	value->kind = RECIPE_LIST;
	for (; item < node->data.sequence.items.top; item++) {
		struct recipe_entry *entry = recipe_value_add(value, NULL, value->place);

		if (convert(file, *item, depth + 1, &entry->value))
			return -1;
		entry->place = entry->value.place;
	}
	return 0;
}

/* Members of a map that a merge key names are added where the map has none such. */
static void merge_map(struct yaml_file *file, struct recipe_value *map,
		      struct recipe_value *from)
{
	if (from->kind != RECIPE_MAP) {
		char *what = recipe_value_describe(from);

		recipe_mistake_add(file->mistakes, from->place,
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

static void merge_keys(struct yaml_file *file, struct recipe_value *map,
		       struct recipe_value *merges)
{
	for (size_t i = 0; i < merges->count; i++) {
		struct recipe_value *from = &merges->entry[i].value;

		if (from->kind != RECIPE_LIST)
			merge_map(file, map, from);
		for (size_t k = 0; from->kind == RECIPE_LIST && k < from->count; k++)
			merge_map(file, map, &from->entry[k].value);
	}
}

/* Where a member's value goes; NULL: its key is no key, which was told. */
static struct recipe_entry *add_member(struct yaml_file *file, struct recipe_value *map,
				       const struct recipe_value *key)
{
	const struct recipe_value *before;
	char *what;

	if (key->kind == RECIPE_TEXT && *key->text) {
		before = recipe_value_find(map, key->text);
		if (!before)
			return recipe_value_add(map, key->text, key->place);
		recipe_mistake_add(file->mistakes, key->place,
				   "%s stands in line %zu already", key->text,
				   before->place.line);
		return NULL;
	}
	what = recipe_value_describe(key);
	recipe_mistake_add(file->mistakes, key->place, "a key is %s, want a text", what);
	free(what);
	return NULL;
}

static int convert_member(struct yaml_file *file, const yaml_node_pair_t *pair,
			  size_t depth, struct recipe_value *map,
			  struct recipe_value *merges)
{
	struct recipe_value key = {0}, unused = {0};
	struct recipe_entry *entry = NULL;
	int status = convert(file, pair->key, depth + 1, &key);

	if (!status && map->count >= RECIPE_MOST_KEYS) {
		recipe_mistake_add(file->mistakes, key.place,
				   "more than %d keys in a map", RECIPE_MOST_KEYS);
		status = -1;
	}
	if (!status) {
		bool is_merge =
		    key.kind == RECIPE_TEXT && key.plain && strcmp(key.text, "<<") == 0;

		entry = is_merge ? recipe_value_add(merges, "<<", key.place)
				 : add_member(file, map, &key);
		status = convert(file, pair->value, depth + 1,
				 entry ? &entry->value : &unused);
	}
	recipe_value_clear(&key);
	recipe_value_clear(&unused);
	return status;
}

static int convert_map(struct yaml_file *file, const yaml_node_t *node, size_t depth,
		       struct recipe_value *value)
{
	struct recipe_value merges = {.kind = RECIPE_MAP};
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	int status = 0;

	value->kind = RECIPE_MAP;
	for (; pair < node->data.mapping.pairs.top && !status; pair++)
		status = convert_member(file, pair, depth, value, &merges);
	if (!status)
		merge_keys(file, value, &merges);
	recipe_value_clear(&merges);
	return status;
}

/* A node as a tree of its own: what aliases stand for is copied. */
static int convert(struct yaml_file *file, int index, size_t depth,
		   struct recipe_value *value)
{
	const yaml_node_t *node = yaml_document_get_node(&file->document, index);

	memset(value, 0, sizeof(*value));
	value->place = (struct recipe_place){file->name, node->start_mark.line + 1};
	if (depth > RECIPE_MOST_DEPTH) {
		recipe_mistake_add(file->mistakes, value->place,
				   "more than %d lists and maps within one another",
				   RECIPE_MOST_DEPTH);
		return -1;
	}
	if (*file->room == 0) {
		recipe_mistake_add(
		    file->mistakes, value->place,
		    "more than %d values in the recipe and what it imports",
		    RECIPE_MOST_VALUES);
		return -1;
	}
	--*file->room;
	check_tag(file, node, value->place);
	if (node->type == YAML_SEQUENCE_NODE)
		return convert_list(file, node, depth, value);
	if (node->type == YAML_MAPPING_NODE)
		return convert_map(file, node, depth, value);
	convert_text(file, node, value);
	return 0;
}

/* The one document of the file, if there is one. */
static int convert_file(struct yaml_file *file, struct recipe_value *value)
{
	const yaml_node_t *second;
	int status = 0;

	if (!yaml_parser_load(&file->parser, &file->document))
		return syntax_mistake(file);
	if (yaml_document_get_root_node(&file->document))
		status = convert(file, 1, 1, value);
	yaml_document_delete(&file->document);
	if (status || file->parser.stream_end_produced)
		return status;
	if (!yaml_parser_load(&file->parser, &file->document))
		return syntax_mistake(file);
	second = yaml_document_get_root_node(&file->document);
	if (second) {
		struct recipe_place place = {file->name,
					     file->document.start_mark.line + 1};

		recipe_mistake_add(file->mistakes, place,
				   "a second document begins, want one");
		status = -1;
	}
	yaml_document_delete(&file->document);
	return status;
}

int recipe_value_read(struct recipe_value *value, const char *path, size_t *room,
		      struct recipe_mistakes *mistakes)
{
	struct yaml_file file = {.room = room, .mistakes = mistakes};
	int status = -1;

	memset(value, 0, sizeof(*value));
	file.name = recipe_file_name(mistakes, path);
	file.bytes = read_bytes(&file, path);
	if (!file.bytes || !yaml_parser_initialize(&file.parser))
		goto out;
	yaml_parser_set_encoding(&file.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&file.parser, (const unsigned char *)file.bytes,
				     file.size);
	status = convert_file(&file, value);
	yaml_parser_delete(&file.parser);
	if (!status && (!value->place.file || recipe_value_is_null(value))) {
		recipe_value_clear(value);
		value->kind = RECIPE_MAP;
		value->place = (struct recipe_place){file.name, 1};
	}
out:
	if (status)
		recipe_value_clear(value);
	free(file.bytes);
	return status;
}
