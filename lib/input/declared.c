/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/declared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "input/recipe/keys.h"
#include "input/recipe/recipe.h"
#include "input/run.h"

/* Name a field as traces do, nested ones with `_`, as in the columns of a timeline. The
 * caller frees it. */
static char *field_name(const char *text, size_t length)
{
	char *name = mem_strndup(text, length);

	for (char *at = name; *at; at++)
		if (*at == '.')
			*at = '_';
	return name;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

static const struct {
	const char *text;
	enum declared_test test;
} tests[] = {{"==", TEST_EQUAL},         {"!=", TEST_UNEQUAL}, {"<=", TEST_LESS_EQUAL},
	     {">=", TEST_GREATER_EQUAL}, {"=", TEST_EQUAL},    {"<", TEST_LESS},
	     {">", TEST_GREATER}};

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\n");
}

/* Parse a constant: an integer, or text within quotes. Return what follows, or NULL. */
static const char *parse_constant(const char *at, struct declared_condition *condition)
{
	size_t length = strspn(at, "+-" DIGITS "abcdefxABCDEFX");
	char *end;

	if (*at == '\'' || *at == '"') {
		const char *quote = strchr(at + 1, *at);

		if (!quote)
			return NULL;
		condition->text = mem_strndup(at + 1, (size_t)(quote - at - 1));
		return quote + 1;
	}
	errno = 0;
	condition->integer = strtoll(at, &end, 0);
	return length && !errno && end == at + length ? end : NULL;
}

/* Parse FIELD TEST CONSTANT. Return what follows, or NULL. */
static const char *parse_condition(const char *at, struct declared_condition *condition)
{
	size_t length = strspn(at, LETTERS DIGITS "_."), test = 0;

	if (!length || strchr(DIGITS, *at))
		return NULL;
	condition->field = field_name(at, length);
	at = skip_blanks(at + length);
	while (test < sizeof(tests) / sizeof(*tests) &&
	       strncmp(at, tests[test].text, strlen(tests[test].text)) != 0)
		test++;
	if (test == sizeof(tests) / sizeof(*tests))
		return NULL;
	condition->test = tests[test].test;
	at = parse_constant(skip_blanks(at + strlen(tests[test].text)), condition);
	if (at && condition->text && condition->test > TEST_UNEQUAL)
		return NULL; /* texts have no order */
	return at;
}

static void read_where(const struct recipe_value *where, struct declared_end *end)
{
	const char *at = where->text;
	bool more = true;

	while (more) {
		struct declared_condition *condition =
		    MEM_NEXT(end->where, end->wheres, end->where_capacity);

		*condition = (struct declared_condition){.field = NULL};
		at = parse_condition(skip_blanks(at), condition);
		if (at)
			at = skip_blanks(at);
		more = at && strncmp(at, "and", 3) == 0 && strchr(" \t\n", at[3]);
		if (more)
			at += 3;
		else if (!at || *at)
			recipe_error_add(
			    where->location,
			    "where: invalid '%.80s' (expected FIELD TEST CONSTANT, "
			    "joined by `and`; a test is one of == != < <= > >=, a "
			    "constant an integer or a string in quotes, which only == "
			    "and != compare)",
			    where->text);
	}
}

static void read_end(const struct recipe_value *map, struct declared_end *end)
{
	const struct recipe_value *key = recipe_value_find(map, "key");
	const struct recipe_value *where = recipe_value_find(map, "where");

	end->event = mem_strdup(recipe_text(map, "event"));
	for (size_t i = 0; i < key->count; i++) {
		const char *field = key->entry[i].value.text;
		AUTOFREE char *name = field_name(field, strlen(field));

		text_list_add(&end->key, name);
	}
	if (where)
		read_where(where, end);
}

/* Read the ends that a map has into `message`, and add that to the list. */
static struct declared_message *add_message(struct declared_list *list,
					    const struct recipe_value *map,
					    struct declared_message message)
{
	struct declared_message *added = mem_alloc(sizeof(*added));

	*added = message;
	added->name = mem_strdup(message.name);
	*MEM_NEXT(list->item, list->count, list->capacity) = added;
	read_end(recipe_value_find(map, "send"), &added->end[0]);
	read_end(recipe_value_find(map, "receive"), &added->end[1]);
	if (added->end[0].key.count != added->end[1].key.count)
		recipe_error_add(map->location,
				 "message %s: send has %zu fields in its key and receive "
				 "%zu; they correspond by position",
				 message.name, added->end[0].key.count,
				 added->end[1].key.count);
	return added;
}

/* Read a message that has the form of known.yaml. */
static void read_message(struct declared_list *list, const char *path,
			 const struct recipe_value *map)
{
	const struct recipe_value *answer = recipe_value_find(map, "answer");
	const struct declared_message *message, *answering;
	struct declared_message own = {
	    .path = path,
	    .line = map->location.line,
	    .name = (char *)recipe_text(map, "message"),
	    .flags = *recipe_text(map, "count") ? PACKET_COUNTED : 0,
	};

	message = add_message(list, map, own);
	if (!answer)
		return;
	own.line = answer->location.line;
	own.flags |= PACKET_ANSWERS;
	answering = add_message(list, answer, own);
	if (answering->end[0].key.count != message->end[0].key.count)
		recipe_error_add(answer->location,
				 "message %s: the answer has %zu fields in its key, and "
				 "what it answers %zu; they correspond by position",
				 message->name, answering->end[0].key.count,
				 message->end[0].key.count);
}

/* Mark the messages whose name has an answer, also in another file. */
static void mark_answered(struct declared_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < list->count; k++)
			if (!(list->item[i]->flags & PACKET_ANSWERS) &&
			    list->item[k]->flags & PACKET_ANSWERS &&
			    strcmp(list->item[i]->name, list->item[k]->name) == 0)
				list->item[i]->flags |= PACKET_ASKS;
}

/* Return the first error as "FILE:LINE: text", with the number of others. */
static int set_error(struct recipe_errors *errors, struct error *error)
{
	const struct recipe_error *first = errors->item;
	AUTOFREE char *others = NULL;

	if (!errors->count)
		return 0;
	recipe_errors_sort(errors);
	first = errors->item;
	others = errors->count > 1 ? mem_printf(" (and %zu more)", errors->count - 1)
				   : mem_strdup("");
	if (!first->location.line)
		return error_set(error, "%s: %s%s", first->location.file, first->text,
				 others);
	return error_set(error, "%s:%zu: %s%s", first->location.file,
			 first->location.line, first->text, others);
}

int declared_list_read(struct declared_list *list, const char *path, size_t *first,
		       size_t *end, struct error *error)
{
	struct recipe_errors errors = {0};
	struct recipe_value root, known;
	const char *file;
	int status;

	for (*first = 0; *first < list->count; ++*first)
		if (strcmp(list->item[*first]->path, path) == 0)
			break;
	for (*end = *first; *end < list->count; ++*end)
		if (strcmp(list->item[*end]->path, path) != 0)
			break;
	if (*first < *end)
		return 0;
	text_list_add(&list->files, path);
	file = list->files.item[list->files.count - 1];
	if (recipe_load_file(&root, path, "a declaration of messages", &errors) == 0) {
		recipe_known(&known);
		recipe_check(recipe_value_find(&known, "messages"), "messages", &root);
		recipe_value_clear(&known);
	}
	if (!errors.count && (root.kind != RECIPE_LIST || !root.count))
		recipe_error_add(root.location,
				 "expected a list of messages, each `- message: NAME` "
				 "with send and receive");
	for (size_t i = 0; !errors.count && i < root.count; i++)
		read_message(list, file, &root.entry[i].value);
	mark_answered(list);
	recipe_value_clear(&root);
	*end = list->count;
	status = set_error(&errors, error);
	recipe_errors_clear(&errors);
	return status;
}

static void clear_end(struct declared_end *end)
{
	free(end->event);
	text_list_clear(&end->key);
	for (size_t i = 0; i < end->wheres; i++) {
		free(end->where[i].field);
		free(end->where[i].text);
	}
	free(end->where);
}

void declared_list_clear(struct declared_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->item[i]->name);
		clear_end(&list->item[i]->end[0]);
		clear_end(&list->item[i]->end[1]);
		free(list->item[i]);
	}
	free(list->item);
	text_list_clear(&list->files);
	memset(list, 0, sizeof(*list));
}

/* Return the directory of a source's node as the source's path has it. The caller frees
 * it. */
static char *node_path(const struct source *source)
{
	char *path = mem_strdup(source->path);

	for (char *slash; (slash = strrchr(path, '/')) && slash > path;) {
		AUTOFREE char *real = NULL;

		*slash = '\0';
		real = realpath(path, NULL);
		if (real && strcmp(real, source->node) == 0)
			return path;
	}
	free(path);
	return mem_strdup(source->node);
}

/* Return the directory above, also of "." and "..". The caller frees it. */
static char *path_above(const char *path)
{
	if (strcmp(file_name(path), ".") == 0 || strcmp(file_name(path), "..") == 0)
		return mem_printf("%s/..", path);
	return output_parent(path);
}

/* Add the messages that a file declares to a source. Return 0, or -1 with error. */
static int declare_messages(struct source_list *list, struct source *source,
			    const char *path, struct error *error)
{
	size_t first, end;

	if (declared_list_read(&list->declared, path, &first, &end, error))
		return -1;
	for (; first < end; first++)
		*MEM_NEXT(source->declared, source->declareds,
			  source->declared_capacity) = list->declared.item[first];
	return 0;
}

/* Add those of a directory's DECLARED_FILE, if it has one. Return 0, or -1 with error. */
static int declare_of(struct source_list *list, struct source *source,
		      const char *directory, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/" DECLARED_FILE, directory);

	if (access(path, F_OK))
		return 0;
	output_protect(path);
	return declare_messages(list, source, path, error);
}

int source_list_declare(struct source_list *list, const struct text_list *files,
			struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < list->count && !status; i++) {
		struct source *source = &list->item[i];
		AUTOFREE char *node = NULL, *run = NULL;

		if (source->kind != SOURCE_TRACE || source->extract)
			continue;
		for (size_t k = 0; k < files->count && !status; k++)
			status = declare_messages(list, source, files->item[k], error);
		if (status || !source->node)
			continue;
		node = node_path(source);
		run = path_above(node);
		status = declare_of(list, source, run, error) ||
			 declare_of(list, source, node, error);
	}
	return status ? -1 : 0;
}
