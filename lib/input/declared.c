/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/declared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "input/recipe/value.h"

static const char *const end_names[2] = {"send", "receive"};

/* Report members that are not in `known`, which ends with NULL. Return true if there are
 * none. */
static bool check_members(const char *what, const struct recipe_value *map,
			  const char *const *known)
{
	size_t count = 0;
	bool all_known = true;

	while (known[count])
		count++;
	for (size_t i = 0; i < map->count; i++) {
		const char *key = map->entry[i].key, *near;
		size_t k = 0;

		while (k < count && strcmp(key, known[k]) != 0)
			k++;
		if (k < count)
			continue;
		near = find_similar_word(key, known, count);
		recipe_error_add(map->entry[i].location, "%s: unknown key '%s'%s%s%s",
				 what, key, near ? "; did you mean '" : "",
				 near ? near : "", near ? "'?" : "");
		all_known = false;
	}
	return all_known;
}

/* Return a member that must be text, or NULL with an error. */
static const char *required_text(const char *what, const struct recipe_value *map,
				 const char *key)
{
	const struct recipe_value *value = recipe_value_find(map, key);

	if (value && value->kind == RECIPE_TEXT && *value->text)
		return value->text;
	recipe_error_add(value ? value->location : map->location,
			 "%s: expected %s: a name", what, key);
	return NULL;
}

/* Traces name nested fields with `_`, as in the columns of a timeline. */
static char *field_name(const char *text, size_t length)
{
	char *name = mem_strndup(text, length);

	for (char *at = name; *at; at++)
		if (*at == '.')
			*at = '_';
	return name;
}

static void read_key(const char *what, const struct recipe_value *map,
		     struct declared_end *end)
{
	const struct recipe_value *key = recipe_value_find(map, "key");
	size_t count = key && key->kind == RECIPE_LIST ? key->count : 0;

	if (key && key->kind == RECIPE_TEXT) {
		AUTOFREE char *name = field_name(key->text, strlen(key->text));

		text_list_add(&end->key, name);
	}
	for (size_t i = 0; i < count; i++) {
		const struct recipe_value *field = &key->entry[i].value;

		if (field->kind == RECIPE_TEXT && *field->text) {
			AUTOFREE char *name =
			    field_name(field->text, strlen(field->text));

			text_list_add(&end->key, name);
		} else {
			recipe_want(what, field, "the name of a field in key");
		}
	}
	if (!end->key.count && (!key || !count))
		recipe_error_add(key ? key->location : map->location,
				 "%s: expected key: [FIELD, ...]", what);
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

static void read_where(const char *what, const struct recipe_value *map,
		       struct declared_end *end)
{
	const struct recipe_value *where = recipe_value_find(map, "where");
	const char *at = where && where->kind == RECIPE_TEXT ? where->text : NULL;
	bool more = at;

	if (where && !at)
		recipe_want(what, where, "where: FIELD TEST CONSTANT");
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
			    "%s: invalid where '%.80s' (expected FIELD TEST "
			    "CONSTANT, joined by `and`; a test is one of == "
			    "!= < <= > >=, a constant an integer or a string "
			    "in quotes, which only == and != compare)",
			    what, where->text);
	}
}

static void read_end(const struct recipe_value *map, struct declared_message *message,
		     int received)
{
	static const char *const members[] = {"event", "key", "where", NULL};
	const struct recipe_value *value = recipe_value_find(map, end_names[received]);
	struct declared_end *end = &message->end[received];
	AUTOFREE char *what =
	    mem_printf("message %s: %s", message->name, end_names[received]);
	const char *event;

	if (!value || value->kind != RECIPE_MAP) {
		recipe_error_add(value ? value->location : map->location,
				 "%s: expected {event: NAME, key: [FIELD, ...]}", what);
		return;
	}
	if (!check_members(what, value, members))
		return;
	event = required_text(what, value, "event");
	if (event)
		end->event = mem_strdup(event);
	read_key(what, value, end);
	read_where(what, value, end);
}

static bool is_name(const char *name)
{
	static const char *const reserved[] = {"tcp", "udp", "icmp", "icmp6", "ip"};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (strcmp(name, reserved[i]) == 0)
			return false;
	return packet_name_is_valid(name);
}

static bool read_count(const struct recipe_value *map)
{
	const struct recipe_value *count = recipe_value_find(map, "count");
	bool is_counted = count && count->kind == RECIPE_TEXT && count->plain &&
			  strcmp(count->text, "true") == 0;

	if (count && !is_counted &&
	    (count->kind != RECIPE_TEXT || strcmp(count->text, "false") != 0))
		recipe_want("count", count, "true or false");
	return is_counted;
}

static void read_message(struct declared_list *list, const char *path,
			 const struct recipe_value *map)
{
	static const char *const members[] = {"message", "send", "receive", "count",
					      NULL};
	struct declared_message *message;
	const char *name;
	size_t keys[2];

	if (map->kind != RECIPE_MAP) {
		recipe_want("a message", map, "{message: NAME, send: ..., receive: ...}");
		return;
	}
	if (!check_members("a message", map, members))
		return;
	name = required_text("a message", map, "message");
	if (!name)
		return;
	if (!is_name(name)) {
		recipe_error_add(
		    recipe_value_find(map, "message")->location,
		    "message '%.80s': expected a name of at most %d letters, "
		    "digits, '.', '_', '-', other than tcp, udp, icmp, icmp6 "
		    "and ip",
		    name, PACKET_NAME_MOST);
		return;
	}
	message = mem_zalloc(sizeof(*message));
	*MEM_NEXT(list->item, list->count, list->capacity) = message;
	message->path = path;
	message->line = map->location.line;
	message->name = mem_strdup(name);
	message->is_counted = read_count(map);
	for (int received = 0; received < 2; received++) {
		read_end(map, message, received);
		keys[received] = message->end[received].key.count;
	}
	if (keys[0] && keys[1] && keys[0] != keys[1])
		recipe_error_add(map->location,
				 "message %s: send has %zu fields in its key and receive "
				 "%zu; they correspond by position",
				 name, keys[0], keys[1]);
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
	struct recipe_value root;
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
	recipe_load_file(&root, path, "a declaration of messages", &errors);
	if (!errors.count && (root.kind != RECIPE_LIST || !root.count))
		recipe_error_add(root.location,
				 "expected a list of messages, each `- message: NAME` "
				 "with send and receive");
	for (size_t i = 0; !errors.count && i < root.count; i++)
		read_message(list, file, &root.entry[i].value);
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
