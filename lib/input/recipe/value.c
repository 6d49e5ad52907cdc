/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of values out of YAML files that may import others, and what is wrong there. */
#include "input/recipe/value.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/order.h"
#include "base/version.h"

#if CT_HAVE_YAML
#include <yaml.h>
#endif

int recipe_error_add(struct recipe_location location, const char *format, ...)
{
	struct recipe_errors *errors = location.errors;
	struct recipe_error *error =
	    MEM_NEXT(errors->item, errors->count, errors->capacity);

	error->location = location;
	error->text = MEM_VPRINTF(format);
	return -1;
}

static int compare_errors(const void *a, const void *b)
{
	const struct recipe_error *l = a, *r = b;

	return strcmp(l->location.file, r->location.file) ?:
	       COMPARE(l->location.line, r->location.line) ?:
	       strcmp(l->text, r->text);
}

void recipe_errors_sort(struct recipe_errors *errors)
{
	size_t kept = 0;

	SORT(errors->item, errors->count, compare_errors);
	for (size_t i = 0; i < errors->count; i++)
		if (kept &&
		    compare_errors(&errors->item[kept - 1], &errors->item[i]) == 0)
			free(errors->item[i].text);
		else
			errors->item[kept++] = errors->item[i];
	errors->count = kept;
}

void recipe_errors_clear(struct recipe_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++)
		free(errors->item[i].text);
	text_list_clear(&errors->files);
	free(errors->item);
	memset(errors, 0, sizeof(*errors));
}

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

struct recipe_value *recipe_value_add(struct recipe_value *value, const char *key,
				      struct recipe_location location)
{
	struct recipe_entry *entry;

	entry = MEM_NEXT(value->entry, value->count, value->capacity);
	memset(entry, 0, sizeof(*entry));
	entry->key = key ? mem_strdup(key) : NULL;
	entry->location = entry->value.location = location;
	return &entry->value;
}

void recipe_value_set(struct recipe_value *value, const char *text)
{
	char *copy = mem_strdup(text);
	struct recipe_location location = value->location;

	recipe_value_clear(value);
	value->location = location;
	value->text = copy;
}

static struct recipe_value *find_member(const struct recipe_value *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->entry[i].key, key) == 0)
			return &map->entry[i].value;
	return NULL;
}

void recipe_value_put(struct recipe_value *value, const char *key, const char *text)
{
	struct recipe_value *member = key ? find_member(value, key) : NULL;

	recipe_value_set(member ? member : recipe_value_add(value, key, value->location),
			 text);
}

void recipe_value_copy(struct recipe_value *value, const struct recipe_value *from)
{
	*value = (struct recipe_value){
	    .kind = from->kind, .location = from->location, .plain = from->plain};
	value->text = from->text ? mem_strdup(from->text) : NULL;
	for (size_t i = 0; i < from->count; i++)
		recipe_value_copy(
		    recipe_value_add(value, from->entry[i].key, from->entry[i].location),
		    &from->entry[i].value);
}

struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key)
{
	struct recipe_value *member =
	    map && map->kind == RECIPE_MAP ? find_member(map, key) : NULL;

	return member && !recipe_value_is_null(member) ? member : NULL;
}

const char *recipe_text(const struct recipe_value *map, const char *key)
{
	const struct recipe_value *value = recipe_value_find(map, key);

	return value && value->kind == RECIPE_TEXT ? value->text : "";
}

bool recipe_has(const struct recipe_value *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (list->entry[i].value.kind == RECIPE_TEXT &&
		    strcmp(list->entry[i].value.text, text) == 0)
			return true;
	return false;
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

bool recipe_add_invalid(const char *what, const struct recipe_value *value,
			const char *expected)
{
	if (value->kind != RECIPE_TEXT || recipe_value_is_null(value))
		recipe_error_add(value->location, "%s: %s (expected %s)", what,
				 value->kind == RECIPE_LIST  ? "a list"
				 : value->kind == RECIPE_MAP ? "a map"
							     : "nothing",
				 expected);
	else
		recipe_error_add(
		    value->location, "%s: invalid value '%.80s%s' (expected %s)", what,
		    value->text, strlen(value->text) > 80 ? "..." : "", expected);
	return false;
}

char *recipe_meant(const char *word, const struct recipe_value *map)
{
	const char **all = mem_alloc((map->count + 1) * sizeof(*all)), *near;

	for (size_t i = 0; i < map->count; i++)
		all[i] = map->entry[i].key;
	near = find_similar_word(word, all, map->count);
	free(all);
	return near ? mem_printf("; did you mean '%s'?", near) : mem_strdup("");
}

/* Move all of `from` over what is in `into`, maps member by member. */
static void merge_over(struct recipe_value *into, struct recipe_value *from)
{
	if (into->kind != RECIPE_MAP || from->kind != RECIPE_MAP) {
		recipe_value_clear(into);
		*into = *from;
		memset(from, 0, sizeof(*from));
		return;
	}
	into->location = from->location;
	for (size_t i = 0; i < from->count; i++) {
		struct recipe_entry *entry = &from->entry[i];
		struct recipe_value *old = find_member(into, entry->key);

		if (!old)
			old = recipe_value_add(into, entry->key, entry->location);
		merge_over(old, &entry->value);
	}
	recipe_value_clear(from);
}

/* Reading a recipe: its files one within another. */
struct loader {
	struct recipe_errors *errors;
	size_t values_left;
	const char *kind; /* "a recipe": how messages call a file */
			  /* The file that is being read: */
#if CT_HAVE_YAML
	yaml_document_t document;
#endif
	const char *file, *text;
};

static struct recipe_location in_line(const struct loader *loader, size_t line)
{
	return (struct recipe_location){loader->errors, loader->file, line};
}

#if CT_HAVE_YAML
/* Report the parser's error. Return -1. */
static int syntax_error(const struct loader *loader, const yaml_parser_t *parser)
{
	const yaml_mark_t *mark = &parser->problem_mark;
	struct recipe_location at = in_line(loader, mark->line + 1);
	size_t begin = parser->context_mark.line + 1;
	const char *what = parser->problem ? parser->problem : "it cannot be read";

	if (parser->error == YAML_READER_ERROR)
		return recipe_error_add(
		    in_line(loader, 0),
		    "invalid YAML: %s at byte %zu (expected a text file in UTF-8)", what,
		    parser->problem_offset);
	if (loader->text[mark->index] == '\t')
		return recipe_error_add(
		    at, "invalid YAML: a tab indents this line; use blanks");
	if (!parser->context || begin >= at.line)
		return recipe_error_add(at, "invalid YAML: %s", what);
	return recipe_error_add(at, "invalid YAML: %s which began in line %zu, %s",
				parser->context, begin, what);
}

static int convert_node(struct loader *loader, int node, size_t depth,
			struct recipe_value *value);

static int convert_list(struct loader *loader, const yaml_node_t *node, size_t depth,
			struct recipe_value *value)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;

	value->kind = RECIPE_LIST;
	if (node->data.sequence.items.top - item > RECIPE_MOST_ITEMS)
		return recipe_error_add(value->location,
					"too many items in a list (limit %d)",
					RECIPE_MOST_ITEMS);
	for (; item < node->data.sequence.items.top; item++) {
		struct recipe_value *added =
		    recipe_value_add(value, NULL, value->location);

		if (convert_node(loader, *item, depth + 1, added))
			return -1;
		value->entry[value->count - 1].location = added->location;
	}
	return 0;
}

/* Add the members of a merge key's maps that the map does not have. */
static void merge_under(struct recipe_value *map, struct recipe_value *from)
{
	for (size_t i = 0; from->kind == RECIPE_LIST && i < from->count; i++)
		merge_under(map, &from->entry[i].value);
	for (size_t i = 0; from->kind == RECIPE_MAP && i < from->count; i++) {
		struct recipe_entry *entry = &from->entry[i];

		if (!find_member(map, entry->key))
			merge_over(recipe_value_add(map, entry->key, entry->location),
				   &entry->value);
	}
	if (from->kind != RECIPE_TEXT)
		return;
	recipe_add_invalid("<<", from, "a map or a list of maps");
}

/*
 * Return the place of a member's value, or NULL if its key is invalid, which is reported.
 * A key with two names is stored under one, so that either overrides the other in an
 * imported recipe.
 */
static struct recipe_value *add_member(struct recipe_value *map,
				       const struct recipe_value *key)
{
	const struct recipe_value *before;
	const char *name = key->text;

	if (key->kind != RECIPE_TEXT || !*name) {
		recipe_add_invalid("a key", key, "a text");
		return NULL;
	}
	if (strcmp(name, "ssh_username") == 0)
		name = "username";
	before = find_member(map, name);
	if (!before)
		return recipe_value_add(map, name, key->location);
	recipe_error_add(key->location, "%s is in line %zu already", name,
			 before->location.line);
	return NULL;
}

static int convert_member(struct loader *loader, const yaml_node_pair_t *pair,
			  size_t depth, struct recipe_value *map,
			  struct recipe_value *merges)
{
	struct recipe_value key = {0}, unused = {0}, *target;
	int status = convert_node(loader, pair->key, depth + 1, &key);

	if (!status) {
		target = key.plain && strcmp(key.text, "<<") == 0
			     ? recipe_value_add(merges, NULL, key.location)
			     : add_member(map, &key);
		status = convert_node(loader, pair->value, depth + 1,
				      target ? target : &unused);
	}
	recipe_value_clear(&key);
	recipe_value_clear(&unused);
	return status;
}

static int convert_map(struct loader *loader, const yaml_node_t *node, size_t depth,
		       struct recipe_value *value)
{
	struct recipe_value merges = {.kind = RECIPE_LIST};
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	int status = 0;

	value->kind = RECIPE_MAP;
	if (node->data.mapping.pairs.top - pair > RECIPE_MOST_KEYS)
		return recipe_error_add(value->location,
					"too many keys in a map (limit %d)",
					RECIPE_MOST_KEYS);
	for (; pair < node->data.mapping.pairs.top && !status; pair++)
		status = convert_member(loader, pair, depth, value, &merges);
	if (!status)
		merge_under(value, &merges);
	recipe_value_clear(&merges);
	return status;
}

/* Convert a node to a tree of its own: what aliases refer to is copied. */
static int convert_node(struct loader *loader, int index, size_t depth,
			struct recipe_value *value)
{
	const yaml_node_t *node = yaml_document_get_node(&loader->document, index);

	memset(value, 0, sizeof(*value));
	value->location = in_line(loader, node->start_mark.line + 1);
	if (depth > RECIPE_MOST_DEPTH)
		return recipe_error_add(value->location,
					"more than %d lists and maps within one another",
					RECIPE_MOST_DEPTH);
	if (loader->values_left == 0)
		return recipe_error_add(value->location,
					"more than %d values in the recipe and what it "
					"imports",
					RECIPE_MOST_VALUES);
	loader->values_left--;
	if (node->type == YAML_SEQUENCE_NODE)
		return convert_list(loader, node, depth, value);
	if (node->type == YAML_MAPPING_NODE)
		return convert_map(loader, node, depth, value);
	value->plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	value->text = mem_strdup((const char *)node->data.scalar.value);
	if (strlen(value->text) != node->data.scalar.length)
		recipe_error_add(value->location, "a NUL character in a text");
	return 0;
}

/*
 * Reject text for which libyaml needs more than linear time: its scanner visits every
 * open list for each token, and its loader every anchor for each anchor and alias. Other
 * errors are left to the loader. Return 0, or -1 with error.
 */
static int check_limits(const struct loader *loader, yaml_parser_t *parser)
{
	size_t depth = 0, names = 0;
	yaml_event_type_t type = YAML_NO_EVENT;
	int status = 0;

	while (!status && type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;
		struct recipe_location at;
		bool is_list, is_map;

		if (!yaml_parser_parse(parser, &event))
			return 0;
		type = event.type;
		at = in_line(loader, event.start_mark.line + 1);
		is_list = type == YAML_SEQUENCE_START_EVENT;
		is_map = type == YAML_MAPPING_START_EVENT;
		depth += is_list || is_map;
		depth -=
		    type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
		names += type == YAML_ALIAS_EVENT ||
			 (type == YAML_SCALAR_EVENT && event.data.scalar.anchor) ||
			 (is_list && event.data.sequence_start.anchor) ||
			 (is_map && event.data.mapping_start.anchor);
		if (depth > RECIPE_MOST_DEPTH)
			status = recipe_error_add(
			    at, "more than %d lists and maps within one another",
			    RECIPE_MOST_DEPTH);
		else if (names > RECIPE_MOST_KEYS)
			status = recipe_error_add(
			    at, "too many anchors and aliases (limit %d)",
			    RECIPE_MOST_KEYS);
		yaml_event_delete(&event);
	}
	return status;
}

static int begin_parser(yaml_parser_t *parser, const char *text, size_t size)
{
	if (!yaml_parser_initialize(parser))
		return -1;
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)text, size);
	return 0;
}

/* A text of YAML, without what it imports. What is empty, or null, is an empty map. */
static int read_text(struct loader *loader, const char *text, size_t size,
		     struct recipe_value *value)
{
	const struct recipe_value empty = {.kind = RECIPE_MAP,
					   .location = in_line(loader, 1)};
	yaml_parser_t parser;
	int status;

	*value = empty;
	loader->text = text;
	if (begin_parser(&parser, text, size))
		return -1;
	status = check_limits(loader, &parser);
	yaml_parser_delete(&parser);
	if (begin_parser(&parser, text, size))
		return -1;
	for (int number = 1; status == 0 && number <= 2; number++) {
		yaml_document_t *document = &loader->document;

		if (!yaml_parser_load(&parser, document)) {
			status = syntax_error(loader, &parser);
			break;
		}
		if (yaml_document_get_root_node(document) && number == 1)
			status = convert_node(loader, 1, 1, value);
		else if (yaml_document_get_root_node(document))
			status = recipe_error_add(
			    in_line(loader, document->start_mark.line + 1),
			    "a second document begins (expected one)");
		yaml_document_delete(document);
	}
	yaml_parser_delete(&parser);
	if (status || recipe_value_is_null(value)) {
		recipe_value_clear(value);
		*value = empty;
	}
	return status;
}

char *recipe_library_version(void)
{
	return mem_printf("libyaml %s", yaml_get_version_string());
}
#else
char *recipe_library_version(void)
{
	return mem_strdup("no libyaml");
}

static int read_text(struct loader *loader, const char *text, size_t size,
		     struct recipe_value *value)
{
	(void)text;
	(void)size;
	*value =
	    (struct recipe_value){.kind = RECIPE_MAP, .location = in_line(loader, 1)};
	return recipe_error_add(in_line(loader, 0), "%s",
				CT_WITHOUT("libyaml", "libyaml-dev"));
}
#endif

static int read_file(struct loader *loader, const char *path, struct recipe_value *value)
{
	struct text_list *files = &loader->errors->files;
	struct error error = ERROR_INIT;
	AUTOFREE char *text = NULL;
	size_t size;
	int status;

	text_list_add(files, path);
	loader->file = files->item[files->count - 1];
	text = file_read(path, RECIPE_MOST_MIB, loader->kind, &size, &error);
	status = text ? read_text(loader, text, size, value)
		      : recipe_error_add(in_line(loader, 0), "%s", error_text(&error));
	error_clear(&error);
	return status;
}

static int load_file(struct loader *loader, const char *path, struct recipe_value *into);

/* Return true if the path is a link that leads out of its directory. */
static bool leads_elsewhere(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTOFREE char *above =
	    slash ? mem_strndup(path, (size_t)(slash - path + 1)) : mem_strdup(".");
	AUTOFREE char *directory = realpath(above, NULL), *real = realpath(path, NULL);
	size_t length = directory ? strlen(directory) : 0;

	if (!directory || !real)
		return false;  /* cannot be read either */
	length -= length == 1; /* the root */
	return strncmp(real, directory, length) != 0 || real[length] != '/' ||
	       strchr(real + length + 1, '/');
}

/* Load a recipe that another one imports. Return 0 also if only its name is wrong. */
static int import_file(struct loader *loader, const char *importer,
		       const struct recipe_value *name, struct recipe_value *into)
{
	const char *slash = strrchr(importer, '/'), *dot;
	int status = -1;
	char *path;

	if (name->kind != RECIPE_TEXT || !*name->text || strpbrk(name->text, "/\n") ||
	    *name->text == '.') {
		recipe_add_invalid(
		    "import", name,
		    "the name of a recipe in the same directory, or a list of "
		    "names");
		return 0; /* the rest can still be looked at */
	}
	dot = strrchr(name->text, '.');
	path = mem_printf(
	    "%.*s%s%s", slash ? (int)(slash + 1 - importer) : 0, importer, name->text,
	    dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0) ? ""
									   : ".yaml");
	if (loader->errors->files.count == RECIPE_MOST_FILES)
		recipe_error_add(name->location,
				 "import: more than %d recipes in all, is there a circle",
				 RECIPE_MOST_FILES);
	else if (leads_elsewhere(path))
		recipe_error_add(name->location,
				 "import: %s: a link out of the directory", path);
	else if (load_file(loader, path, into))
		recipe_error_add(name->location, "import: %s cannot be used", path);
	else
		status = 0;
	free(path);
	return status;
}

/* Merge everything that a file imports, and remove the key. */
static int import_files(struct loader *loader, const char *path, struct recipe_value *own,
			struct recipe_value *into)
{
	struct recipe_value names;
	size_t at = 0;
	int status = 0;

	while (at < own->count && strcmp(own->entry[at].key, "import") != 0)
		at++;
	if (at == own->count)
		return 0;
	names = own->entry[at].value;
	free(own->entry[at].key);
	own->count--;
	memmove(&own->entry[at], &own->entry[at + 1],
		(own->count - at) * sizeof(*own->entry));
	if (names.kind != RECIPE_LIST && !recipe_value_is_null(&names))
		status = import_file(loader, path, &names, into);
	for (size_t i = 0; names.kind == RECIPE_LIST && i < names.count; i++)
		status |= import_file(loader, path, &names.entry[i].value, into);
	recipe_value_clear(&names);
	return status;
}

static int load_file(struct loader *loader, const char *path, struct recipe_value *into)
{
	struct recipe_value own;
	int status;

	status = read_file(loader, path, &own);
	if (status == 0 && own.kind != RECIPE_MAP) {
		recipe_add_invalid("the recipe", &own, "a map");
		recipe_value_clear(&own);
		status = -1;
	} else if (status == 0) {
		status = import_files(loader, path, &own, into);
		merge_over(into, &own);
	}
	return status;
}

void recipe_load_text(struct recipe_value *value, const char *text)
{
	struct recipe_errors errors = {0};
	struct loader loader = {.values_left = RECIPE_MOST_VALUES, .errors = &errors};

	read_text(&loader, text, strlen(text), value);
	assert(errors.count == 0);
}

int recipe_load(struct recipe_value *recipe, const char *path,
		struct recipe_errors *errors)
{
	struct loader loader = {
	    .values_left = RECIPE_MOST_VALUES, .errors = errors, .kind = "a recipe"};

	memset(recipe, 0, sizeof(*recipe));
	recipe->kind = RECIPE_MAP;
	if (load_file(&loader, path, recipe) == 0)
		return 0;
	recipe_value_clear(recipe);
	return -1;
}

int recipe_load_file(struct recipe_value *value, const char *path, const char *kind,
		     struct recipe_errors *errors)
{
	struct loader loader = {
	    .values_left = RECIPE_MOST_VALUES, .errors = errors, .kind = kind};

	memset(value, 0, sizeof(*value));
	return read_file(&loader, path, value);
}
