/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of values out of YAML files that may import others, and what is wrong there. */
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

void recipe_error_add(struct recipe_errors *errors, struct recipe_location location,
		      const char *format, ...)
{
	struct recipe_error *error;
	va_list arguments;

	errors->item = mem_grow(errors->item, errors->count, &errors->capacity,
				sizeof(*errors->item));
	error = &errors->item[errors->count++];
	error->location = location;
	va_start(arguments, format);
	error->text = mem_vprintf(format, arguments);
	va_end(arguments);
}

/* The one copy of a file's name, valid until the errors are cleared. */
static const char *file_name(struct recipe_errors *errors, const char *name)
{
	for (size_t i = 0; i < errors->files; i++)
		if (strcmp(errors->file[i].name, name) == 0)
			return errors->file[i].name;
	errors->file = mem_grow(errors->file, errors->files, &errors->file_capacity,
				sizeof(*errors->file));
	errors->file[errors->files].name = mem_strdup(name);
	return errors->file[errors->files++].name;
}

struct ranked_error {
	size_t file;
	struct recipe_error error;
};

static int compare_errors(const void *a, const void *b)
{
	const struct ranked_error *l = a, *r = b;

	if (l->file != r->file)
		return l->file < r->file ? -1 : 1;
	if (l->error.location.line != r->error.location.line)
		return l->error.location.line < r->error.location.line ? -1 : 1;
	return strcmp(l->error.text, r->error.text);
}

void recipe_errors_sort(struct recipe_errors *errors)
{
	size_t count = errors->count;
	struct ranked_error *ranked = mem_alloc((count + 1) * sizeof(*ranked));

	for (size_t i = 0; i < count; i++) {
		ranked[i] = (struct ranked_error){errors->files, errors->item[i]};
		for (size_t k = 0; k < errors->files; k++)
			if (errors->file[k].name == errors->item[i].location.file)
				ranked[i].file = k;
	}
	qsort(ranked, count, sizeof(*ranked), compare_errors);
	errors->count = 0;
	for (size_t i = 0, last = 0; i < count; i++) {
		if (i && compare_errors(&ranked[last], &ranked[i]) == 0) {
			free(ranked[i].error.text);
			continue;
		}
		errors->item[errors->count++] = ranked[i].error;
		last = i;
	}
	free(ranked);
}

void recipe_errors_clear(struct recipe_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++)
		free(errors->item[i].text);
	for (size_t i = 0; i < errors->files; i++)
		free(errors->file[i].name);
	free(errors->item);
	free(errors->file);
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

	value->entry =
	    mem_grow(value->entry, value->count, &value->capacity, sizeof(*value->entry));
	entry = &value->entry[value->count++];
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

static struct recipe_value *find_member(const struct recipe_value *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->entry[i].key, key) == 0)
			return &map->entry[i].value;
	return NULL;
}

struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key)
{
	for (size_t i = 0; map && map->kind == RECIPE_MAP && i < map->count; i++)
		if (strcmp(map->entry[i].key, key) == 0 &&
		    !recipe_value_is_null(&map->entry[i].value))
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

char *recipe_value_describe(const struct recipe_value *value)
{
	if (value->kind != RECIPE_TEXT)
		return mem_strdup(value->kind == RECIPE_LIST ? "a list" : "a map");
	if (recipe_value_is_null(value))
		return mem_strdup("nothing");
	return mem_printf("'%.60s%s'", value->text,
			  strlen(value->text) > 60 ? "..." : "");
}

/* "BEFORE it is X, want WANTED" */
static void wrong_value(struct recipe_errors *errors, const struct recipe_value *value,
			const char *before, const char *wanted)
{
	char *what = recipe_value_describe(value);

	recipe_error_add(errors, value->location, "%s is %s, want %s", before, what,
			 wanted);
	free(what);
}

void recipe_value_merge(struct recipe_value *into, struct recipe_value *from)
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
		recipe_value_merge(old, &entry->value);
	}
	recipe_value_clear(from);
}

enum { MOST_CHAIN = 16, MOST_FILES = 64 };

/* Reading a recipe: its files one within another. */
struct loader {
	struct recipe_errors *errors;
	const char *chain[MOST_CHAIN]; /* the files that import one another */
	size_t depth, files;
	size_t values_left;
	/* The file that is being read: */
	yaml_document_t document;
	const char *file, *text;
	size_t size;
};

/* The line, from 1, in which a byte stands; past the end it is the last one. */
static size_t line_of_byte(const struct loader *loader, size_t offset)
{
	size_t line = 1;
	for (size_t i = 0; i < offset && i + 1 < loader->size; i++)
		line += loader->text[i] == '\n';
	return line;
}

/* What the parser did not like. Returns -1. */
static int syntax_error(const struct loader *loader, const yaml_parser_t *parser)
{
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	size_t last = line_of_byte(loader, loader->size);
	size_t mark = parser->problem_mark.index;
	size_t line = parser->error == YAML_READER_ERROR
			  ? line_of_byte(loader, parser->problem_offset)
			  : parser->problem_mark.line + 1;
	struct recipe_location location = {loader->file, line < last ? line : last};

	if (parser->error == YAML_READER_ERROR)
		recipe_error_add(loader->errors, location,
				 "no YAML: %s, want a text file in UTF-8", problem);
	else if (mark < loader->size && loader->text[mark] == '\t')
		recipe_error_add(loader->errors, location,
				 "no YAML: a tab indents this line, want blanks");
	else if (parser->context && parser->context_mark.line + 1 < location.line)
		recipe_error_add(loader->errors, location,
				 "no YAML: %s which began in line %zu, %s",
				 parser->context, parser->context_mark.line + 1, problem);
	else
		recipe_error_add(loader->errors, location, "no YAML: %s%s%s",
				 parser->context ? parser->context : "",
				 parser->context ? ", " : "", problem);
	return -1;
}

static int convert(struct loader *loader, int node, size_t depth,
		   struct recipe_value *value);

static int convert_list(struct loader *loader, const yaml_node_t *node, size_t depth,
			struct recipe_value *value)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;

	value->kind = RECIPE_LIST;
	for (; item < node->data.sequence.items.top; item++) {
		struct recipe_value *added =
		    recipe_value_add(value, NULL, value->location);

		if (convert(loader, *item, depth + 1, added))
			return -1;
		value->entry[value->count - 1].location = added->location;
	}
	return 0;
}

/* Members of what a merge key names are added where the map has none such. */
static void merge_under(struct loader *loader, struct recipe_value *map,
			struct recipe_value *from)
{
	for (size_t i = 0; from->kind == RECIPE_LIST && i < from->count; i++)
		merge_under(loader, map, &from->entry[i].value);
	for (size_t i = 0; from->kind == RECIPE_MAP && i < from->count; i++) {
		struct recipe_entry *entry = &from->entry[i];

		if (!find_member(map, entry->key))
			recipe_value_merge(
			    recipe_value_add(map, entry->key, entry->location),
			    &entry->value);
	}
	if (from->kind != RECIPE_TEXT)
		return;
	wrong_value(loader->errors, from, "<<", "a map or a list of maps");
}

/* Where a member's value goes; NULL: its key is no key, which was told. */
static struct recipe_value *add_member(struct loader *loader, struct recipe_value *map,
				       const struct recipe_value *key)
{
	const struct recipe_value *before;

	if (key->kind == RECIPE_TEXT && *key->text) {
		before = find_member(map, key->text);
		if (!before)
			return recipe_value_add(map, key->text, key->location);
		recipe_error_add(loader->errors, key->location,
				 "%s stands in line %zu already", key->text,
				 before->location.line);
		return NULL;
	}
	wrong_value(loader->errors, key, "a key", "a text");
	return NULL;
}

static int convert_member(struct loader *loader, const yaml_node_pair_t *pair,
			  size_t depth, struct recipe_value *map,
			  struct recipe_value *merges)
{
	struct recipe_value key = {0}, unused = {0}, *target;
	int status = convert(loader, pair->key, depth + 1, &key);

	if (!status && map->count >= RECIPE_MOST_KEYS) {
		recipe_error_add(loader->errors, key.location,
				 "more than %d keys in a map", RECIPE_MOST_KEYS);
		status = -1;
	}
	if (!status) {
		bool is_merge = key.plain && strcmp(key.text, "<<") == 0;

		target = is_merge ? recipe_value_add(merges, NULL, key.location)
				  : add_member(loader, map, &key);
		status =
		    convert(loader, pair->value, depth + 1, target ? target : &unused);
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
	for (; pair < node->data.mapping.pairs.top && !status; pair++)
		status = convert_member(loader, pair, depth, value, &merges);
	if (!status)
		merge_under(loader, value, &merges);
	recipe_value_clear(&merges);
	return status;
}

/* A node as a tree of its own: what aliases stand for is copied. */
static int convert(struct loader *loader, int index, size_t depth,
		   struct recipe_value *value)
{
	const yaml_node_t *node = yaml_document_get_node(&loader->document, index);

	memset(value, 0, sizeof(*value));
	value->location =
	    (struct recipe_location){loader->file, node->start_mark.line + 1};
	if (depth > RECIPE_MOST_DEPTH)
		recipe_error_add(loader->errors, value->location,
				 "more than %d lists and maps within one another",
				 RECIPE_MOST_DEPTH);
	else if (loader->values_left == 0)
		recipe_error_add(loader->errors, value->location,
				 "more than %d values in the recipe and what it imports",
				 RECIPE_MOST_VALUES);
	if (depth > RECIPE_MOST_DEPTH || loader->values_left == 0)
		return -1;
	loader->values_left--;
	if (node->type == YAML_SEQUENCE_NODE)
		return convert_list(loader, node, depth, value);
	if (node->type == YAML_MAPPING_NODE)
		return convert_map(loader, node, depth, value);
	value->plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	value->text = mem_strdup((const char *)node->data.scalar.value);
	if (strlen(value->text) != node->data.scalar.length)
		recipe_error_add(loader->errors, value->location,
				 "a NUL character in a text");
	return 0;
}

/* The one document of the file, if there is one. */
static int parse(struct loader *loader, yaml_parser_t *parser, struct recipe_value *value)
{
	int status = 0;

	if (!yaml_parser_load(parser, &loader->document))
		return syntax_error(loader, parser);
	if (yaml_document_get_root_node(&loader->document))
		status = convert(loader, 1, 1, value);
	yaml_document_delete(&loader->document);
	if (status || parser->stream_end_produced)
		return status;
	if (!yaml_parser_load(parser, &loader->document))
		return syntax_error(loader, parser);
	if (yaml_document_get_root_node(&loader->document)) {
		struct recipe_location location = {loader->file,
						   loader->document.start_mark.line + 1};

		recipe_error_add(loader->errors, location,
				 "a second document begins, want one");
		status = -1;
	}
	yaml_document_delete(&loader->document);
	return status;
}

/* A text of YAML, without what it imports. What is empty, or null, is an empty map. */
static int read_text(struct loader *loader, const char *text, size_t size,
		     struct recipe_value *value)
{
	yaml_parser_t parser;
	int status;

	memset(value, 0, sizeof(*value));
	loader->text = text;
	loader->size = size;
	if (!yaml_parser_initialize(&parser))
		return -1;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	status = parse(loader, &parser, value);
	yaml_parser_delete(&parser);
	if (status) {
		recipe_value_clear(value);
	} else if (!value->location.file || recipe_value_is_null(value)) {
		recipe_value_clear(value);
		value->kind = RECIPE_MAP;
		value->location = (struct recipe_location){loader->file, 1};
	}
	return status;
}

static int read_file(struct loader *loader, const char *path, struct recipe_value *value)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	char *bytes = mem_zalloc(RECIPE_MOST_BYTES + 2);
	const char *wrong = NULL;
	struct stat about;
	size_t size = 0;
	int status = -1;

	loader->file = file_name(loader->errors, path);
	if (!stream || fstat(fd, &about))
		wrong = strerror(errno);
	else if (!S_ISREG(about.st_mode))
		wrong = "no plain file, want one";
	else if (size = fread(bytes, 1, RECIPE_MOST_BYTES + 1, stream), ferror(stream))
		wrong = strerror(errno);
	else if (size > RECIPE_MOST_BYTES)
		wrong = "more than 1 MiB, want a recipe";
	if (wrong)
		recipe_error_add(loader->errors,
				 (struct recipe_location){loader->file, 0}, "%s", wrong);
	else
		status = read_text(loader, bytes, size, value);
	if (stream)
		fclose(stream);
	free(bytes);
	return status;
}

/* The file that is imported by a name; NULL with an error. For free(). */
static char *imported_path(struct loader *loader, const char *importer,
			   const struct recipe_value *name)
{
	const char *slash = strrchr(importer, '/'), *dot;
	int directory = slash ? (int)(slash + 1 - importer) : 0;

	if (name->kind != RECIPE_TEXT || !*name->text || strpbrk(name->text, "/\n") ||
	    *name->text == '.') {
		wrong_value(loader->errors, name, "import: it",
			    "the name of a recipe in the same directory, or a list of "
			    "names");
		return NULL;
	}
	dot = strrchr(name->text, '.');
	return mem_printf("%.*s%s%s", directory, importer, name->text,
			  dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)
			      ? ""
			      : ".yaml");
}

static int load(struct loader *loader, const char *path, struct recipe_value *into);

static int import_file(struct loader *loader, const char *importer,
		       const struct recipe_value *name, struct recipe_value *into)
{
	char *path = imported_path(loader, importer, name);
	bool is_circle = false;
	int status = 0;

	if (!path)
		return 0; /* the rest can still be looked at */
	for (size_t i = 0; i < loader->depth; i++)
		is_circle |= strcmp(loader->chain[i], path) == 0;
	if (is_circle) {
		recipe_error_add(loader->errors, name->location,
				 "import: a circle, %s imports this recipe", path);
	} else if (loader->depth >= MOST_CHAIN || loader->files >= MOST_FILES) {
		recipe_error_add(loader->errors, name->location,
				 "import: more than %d files in all, or %d one after "
				 "another",
				 MOST_FILES, MOST_CHAIN);
		status = -1;
	} else if (load(loader, path, into)) {
		recipe_error_add(loader->errors, name->location,
				 "import: %s cannot be used", path);
		status = -1;
	}
	free(path);
	return status;
}

/* `import` goes, and one name stands for what has two, so that either can be changed. */
static void name_keys(struct loader *loader, struct recipe_value *map)
{
	bool has_username = find_member(map, "username");
	size_t kept = 0;

	for (size_t i = 0; i < map->count; i++) {
		struct recipe_entry *entry = &map->entry[i];

		if (strcmp(entry->key, "ssh_username") == 0) {
			strcpy(entry->key, "username"); /* which is shorter */
			if (has_username)
				recipe_error_add(loader->errors, entry->location,
						 "ssh_username and username are the "
						 "same, want one");
		}
		if (strcmp(entry->key, "import") != 0) {
			map->entry[kept++] = *entry;
			continue;
		}
		free(entry->key);
		recipe_value_clear(&entry->value);
	}
	map->count = kept;
}

static int load(struct loader *loader, const char *path, struct recipe_value *into)
{
	struct recipe_value own;
	const struct recipe_value *names;
	int status;

	loader->files++;
	loader->chain[loader->depth++] = path;
	status = read_file(loader, path, &own);
	if (status == 0 && own.kind != RECIPE_MAP) {
		wrong_value(loader->errors, &own, "the recipe", "a map");
		recipe_value_clear(&own);
		status = -1;
	}
	if (status)
		goto out;
	names = recipe_value_find(&own, "import");
	if (names && names->kind != RECIPE_LIST)
		status |= import_file(loader, path, names, into);
	for (size_t i = 0; names && names->kind == RECIPE_LIST && i < names->count; i++)
		status |= import_file(loader, path, &names->entry[i].value, into);
	name_keys(loader, &own);
	recipe_value_merge(into, &own);
out:
	loader->depth--;
	return status;
}

void recipe_load_text(struct recipe_value *value, const char *text,
		      struct recipe_errors *errors)
{
	struct loader loader = {
	    .values_left = RECIPE_MOST_VALUES, .errors = errors, .file = "known.yaml"};

	read_text(&loader, text, strlen(text), value);
}

int recipe_load(struct recipe_value *recipe, const char *path,
		struct recipe_errors *errors)
{
	struct loader loader = {.values_left = RECIPE_MOST_VALUES, .errors = errors};

	memset(recipe, 0, sizeof(*recipe));
	recipe->kind = RECIPE_MAP;
	if (load(&loader, path, recipe) == 0)
		return 0;
	recipe_value_clear(recipe);
	return -1;
}
