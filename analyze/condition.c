/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/condition.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/result.h"
#include "base/mem.h"
#include "base/number.h"

void field_list_init(struct field_list *list)
{
	static const char *const known[FIELD_OWN] = {"node", "cpu", "tid", "procname"};

	*list = (struct field_list){.count = FIELD_OWN};
	for (size_t i = 0; i < FIELD_OWN; i++)
		list->name[i] = mem_strdup(known[i]);
}

int field_list_add(struct field_list *list, const char *name, struct error *error)
{
	bool own = *name == '.';

	name += own;
	for (size_t i = own ? FIELD_OWN : 0; i < list->count; i++)
		if (!strcmp(list->name[i], name))
			return (int)i;
	/* The list of an events_wish ends with a NULL. */
	if (list->count + 1 >= FIELD_OWN + EVENTS_FIELDS)
		return error_set(error, "more than %d fields", EVENTS_FIELDS - 1);
	list->name[list->count] = mem_strdup(name);
	return (int)list->count++;
}

void field_list_clear(struct field_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->name[i]);
	list->count = 0;
}

static char *trimmed(const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return mem_strndup(text, length);
}

static const struct {
	const char *text;
	enum condition_op op;
} ops[] = {{"==", OP_EQUAL}, {"!=", OP_OTHER}, {"<=", OP_AT_MOST}, {">=", OP_AT_LEAST},
	   {"=", OP_EQUAL},  {"<", OP_LESS},   {">", OP_MORE},     {"~", OP_LIKE}};

/* "FIELD OP VALUE" */
static int parse_term(struct condition *condition, const char *text,
		      struct field_list *fields, struct error *error)
{
	size_t length = strcspn(text, "=!<>~"), op = 0, quoted;
	struct condition_term *term;
	int place;

	while (op < sizeof(ops) / sizeof(*ops) &&
	       strncmp(text + length, ops[op].text, strlen(ops[op].text)) != 0)
		op++;
	if (op == sizeof(ops) / sizeof(*ops) || !length)
		return error_set(error, "'%s' is no condition, want FIELD = VALUE", text);
	condition->term = mem_grow(condition->term, condition->terms, &condition->room,
				   sizeof(*condition->term));
	term = &condition->term[condition->terms++];
	*term = (struct condition_term){.op = ops[op].op, .field = trimmed(text, length)};
	text += length + strlen(ops[op].text);
	term->value = trimmed(text, strlen(text));
	quoted = strlen(term->value);
	if (quoted > 1 && strchr("\"'", term->value[0]) &&
	    term->value[quoted - 1] == term->value[0]) {
		memmove(term->value, term->value + 1, quoted - 2);
		term->value[quoted - 2] = '\0';
	} else {
		term->is_number = number_real(term->value, &term->number) == 0;
	}
	place = field_list_add(fields, term->field, error);
	if (place < 0)
		return -1;
	term->place = (size_t)place;
	return 0;
}

/* The end of a term: before "&&", but not within quotes. */
static size_t term_length(const char *text, size_t length)
{
	char quote = 0;

	for (size_t i = 0; i < length; i++) {
		if (quote)
			quote = text[i] == quote ? '\0' : quote;
		else if (text[i] == '"' || text[i] == '\'')
			quote = text[i];
		else if (text[i] == '&' && i + 1 < length && text[i + 1] == '&')
			return i;
	}
	return length;
}

int condition_parse(struct condition *condition, const char *text,
		    struct field_list *fields, struct error *error)
{
	const char *open = strchr(text, '[');
	size_t length = strlen(text);

	*condition = (struct condition){0};
	condition->class = trimmed(text, open ? (size_t)(open - text) : length);
	if (!*condition->class)
		return error_set(error, "'%s' names no class of events", text);
	if (!open)
		return 0;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (text[length - 1] != ']')
		return error_set(error, "'%s' ends without a ]", text);
	length -= (size_t)(open + 1 - text) + 1;
	for (const char *at = open + 1;;) {
		size_t part = term_length(at, length);
		char *term = trimmed(at, part);
		int status = parse_term(condition, term, fields, error);

		free(term);
		if (status || part == length)
			return status;
		at += part + 2;
		length -= part + 2;
	}
}

struct cell field_of(struct question *question, const struct event_row *row, size_t place)
{
	const struct thread_facts *facts;

	switch (place) {
	case FIELD_NODE:
		return cell_of_text(question_node(question, row->node));
	case FIELD_CPU:
		return cell_of_known(row->cpu, -1);
	case FIELD_TID:
		return cell_of_known(row->tid, -1);
	case FIELD_PROCNAME:
		facts = row->tid < 0
			    ? NULL
			    : question_thread(question, row->node, row->tid, row->ts_ns);
		return facts ? cell_of_text(facts->comm) : cell_of_null();
	default:
		return row->field[place - FIELD_OWN];
	}
}

/* -1, 0, 1; 2: they do not compare. */
static int compare(const struct condition_term *term, const struct cell *cell)
{
	char *text;
	int order;

	if (cell->type == CELL_INTEGER || cell->type == CELL_REAL) {
		double value =
		    cell->type == CELL_REAL ? cell->real : (double)cell->integer;

		return term->is_number ? (value > term->number) - (value < term->number)
				       : 2;
	}
	if (cell->type == CELL_NULL)
		return 2;
	text = mem_strndup(cell->bytes, cell->size);
	order = strcmp(text, term->value);
	free(text);
	return (order > 0) - (order < 0);
}

static bool is_like(const struct condition_term *term, const struct cell *cell)
{
	char *text;
	bool like;

	if (cell->type != CELL_TEXT)
		return false;
	text = mem_strndup(cell->bytes, cell->size);
	like = fnmatch(term->value, text, 0) == 0;
	free(text);
	return like;
}

static bool term_holds(const struct condition_term *term, const struct cell *cell)
{
	int order;

	if (term->op == OP_LIKE)
		return is_like(term, cell);
	order = compare(term, cell);
	if (order == 2)
		return false;
	switch (term->op) {
	case OP_EQUAL:
		return order == 0;
	case OP_OTHER:
		return order != 0;
	case OP_LESS:
		return order < 0;
	case OP_AT_MOST:
		return order <= 0;
	case OP_MORE:
		return order > 0;
	case OP_AT_LEAST:
		return order >= 0;
	case OP_LIKE:
		break;
	}
	return false;
}

bool condition_holds(const struct condition *condition, struct question *question,
		     const struct event_row *row)
{
	if (fnmatch(condition->class, row->class, 0) != 0)
		return false;
	for (size_t i = 0; i < condition->terms; i++) {
		struct cell cell = field_of(question, row, condition->term[i].place);

		if (!term_holds(&condition->term[i], &cell))
			return false;
	}
	return true;
}

void condition_clear(struct condition *condition)
{
	for (size_t i = 0; i < condition->terms; i++) {
		free(condition->term[i].field);
		free(condition->term[i].value);
	}
	free(condition->term);
	free(condition->class);
	*condition = (struct condition){0};
}
