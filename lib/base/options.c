/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <popt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/version.h"

enum { CODE_HELP = 1, CODE_VERSION = 2, CODE_ROWS = 16 };

void text_list_add(struct text_list *list, const char *text)
{
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = mem_strdup(text);
}

void text_list_clear(struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	memset(list, 0, sizeof(*list));
}

bool text_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->item[i], text))
			return true;
	return false;
}

bool text_list_matches(const struct text_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->count; i++)
		if (!fnmatch(globs->item[i], name, 0))
			return true;
	return false;
}

/* "a,b"; where there is no word at all, an empty one is told to be none. */
static void add_words(struct text_list *list, const char *words)
{
	char *copy = mem_strdup(words), *rest = NULL;
	char *word = strtok_r(copy, ",", &rest);

	text_list_add(list, word ? word : "");
	while (word && (word = strtok_r(NULL, ",", &rest)))
		text_list_add(list, word);
	free(copy);
}

static int set_number(const struct option_row *row, const char *word, struct error *error)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(word, &end);
	if (errno || end == word || *end ||
	    !(value >= row->least && value <= row->most) ||
	    (row->kind == OPTION_INT && value != (int)value))
		return error_misuse(error, "--%s: '%s' is no %s from %.16g to %.16g",
				    row->name, word,
				    row->kind == OPTION_INT ? "whole number" : "number",
				    row->least, row->most);
	if (row->kind == OPTION_INT)
		*(int *)row->target = (int)value;
	else
		*(double *)row->target = value;
	return 0;
}

/* "zstd, snappy or none": one after the other. */
static int refuse_word(const struct option_row *row, const char *words, const char *word,
		       struct error *error)
{
	struct bytes wanted = {0};

	for (const char *at = words; *at; at += strspn(at, "|")) {
		size_t size = strcspn(at, "|");

		if (at > words)
			bytes_add_text(&wanted, strchr(at, '|') ? ", " : " or ");
		bytes_add(&wanted, at, size);
		at += size;
	}
	error_misuse(error, "--%s: '%s', want %.*s", row->name, word, (int)wanted.size,
		     (char *)wanted.data);
	bytes_clear(&wanted);
	return -1;
}

static int set_word(const struct option_row *row, const char *word, struct error *error)
{
	const char *name = strchr(row->argument, '=');
	const char *words = name ? name + 1 : row->argument, *at = words;
	size_t size = strlen(word);

	for (int place = 0; at; place++, at = strchr(at, '|')) {
		at += place > 0;
		if (strcspn(at, "|") != size || memcmp(at, word, size) != 0)
			continue;
		*(int *)row->target = place;
		return 0;
	}
	return refuse_word(row, words, word, error);
}

static int set_target(const struct option_row *row, const char *word, struct error *error)
{
	char **text;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->target = true;
		return 0;
	case OPTION_STRING:
		text = row->target;
		free(*text);
		*text = mem_strdup(word);
		return 0;
	case OPTION_LIST:
		text_list_add(row->target, word);
		return 0;
	case OPTION_WORDS:
		add_words(row->target, word);
		return 0;
	case OPTION_WORD:
		return set_word(row, word, error);
	case OPTION_INT:
	case OPTION_DOUBLE:
		return set_number(row, word, error);
	}
	return -1;
}

/* popt's table from ours; one more for help, version and the end. */
static struct poptOption *make_table(const struct command *command)
{
	struct poptOption *table;
	size_t n = 0, k;

	while (command->rows[n].name)
		n++;
	table = mem_zalloc((n + 3) * sizeof(*table));
	for (k = 0; k < n; k++) {
		const struct option_row *row = &command->rows[k];

		table[k].longName = row->name;
		table[k].shortName = row->letter;
		table[k].argInfo =
		    row->kind == OPTION_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING;
		table[k].val = CODE_ROWS + (int)k;
		table[k].descrip = row->help;
		table[k].argDescrip =
		    row->kind == OPTION_WORD
			? mem_strndup(row->argument, strcspn(row->argument, "="))
			: row->argument;
	}
	table[n].longName = "help";
	table[n].shortName = 'h';
	table[n].val = CODE_HELP;
	table[n].descrip = "show this help and exit";
	table[n + 1].longName = "version";
	table[n + 1].shortName = 'V';
	table[n + 1].val = CODE_VERSION;
	table[n + 1].descrip =
	    "show the versions of the program and its libraries, and exit";
	return table;
}

static void show_help(const struct command *command, poptContext context)
{
	printf("%s: %s\n\n", command->name, command->summary);
	fflush(stdout);
	poptPrintHelp(context, stdout, 0);
	if (command->more)
		printf("\n%s\n", command->more);
}

static void show_version(const struct command *command)
{
	printf("%s (clustertrace) %s\n", command->name, CT_VERSION);
	if (command->versions)
		printf("%s\n", command->versions);
}

/* "--jsno=FILE: unknown option", and what may be meant. */
static void tell_bad_option(const struct command *command, const char *word,
			    const char *reason, struct error *error)
{
	char *name = mem_strdup(strncmp(word, "--", 2) ? "" : word + 2);
	const char **names;
	const char *near;
	size_t n = 0;

	while (command->rows[n].name)
		n++;
	names = mem_zalloc((n + 2) * sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = command->rows[i].name;
	names[n] = "help";
	names[n + 1] = "version";
	name[strcspn(name, "=")] = '\0';
	near = near_find(name, names, n + 2);
	if (near && strcmp(near, name) != 0)
		error_misuse(error, "%s: %s, did you mean --%s?", word, reason, near);
	else
		error_misuse(error, "%s: %s", word, reason);
	free(names);
	free(name);
}

/* One pass over the options. Negative popt codes other than the end are misuse. */
static enum options_status walk(const struct command *command, poptContext context,
				struct error *error)
{
	int code;

	while ((code = poptGetNextOpt(context)) > 0) {
		char *word = poptGetOptArg(context);
		int status = 0;

		if (code == CODE_HELP)
			show_help(command, context);
		else if (code == CODE_VERSION)
			show_version(command);
		else
			status = set_target(&command->rows[code - CODE_ROWS],
					    word ? word : "", error);
		free(word);
		if (status)
			return OPTIONS_WRONG;
		if (code < CODE_ROWS)
			return OPTIONS_SHOWN;
	}
	if (code < -1) {
		tell_bad_option(command, poptBadOption(context, POPT_BADOPTION_NOALIAS),
				poptStrerror(code), error);
		return OPTIONS_WRONG;
	}
	return OPTIONS_GO;
}

void options_take_help(int argc, const char **argv)
{
	if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0)
		return;
	argv[1] = argv[argc - 1];
	argv[argc - 1] = "--help";
}

enum options_status options_parse(const struct command *command, int argc,
				  const char **argv, struct text_list *rest,
				  struct error *error)
{
	struct poptOption *table = make_table(command);
	poptContext context;
	enum options_status status;
	const char *word;

	options_take_help(argc, argv);
	context = poptGetContext(command->name, argc, argv, table, 0);
	poptSetOtherOptionHelp(context, command->usage);
	status = walk(command, context, error);
	while (status == OPTIONS_GO && (word = poptGetArg(context)))
		text_list_add(rest, word);
	poptFreeContext(context);
	for (size_t i = 0; command->rows[i].name; i++)
		if (command->rows[i].kind == OPTION_WORD)
			free((char *)table[i].argDescrip);
	free(table);
	return status;
}

int options_end(enum options_status parsed, struct error *error)
{
	switch (parsed) {
	case OPTIONS_SHOWN:
		return output_flush_stdout(error) ? 1 : 0;
	case OPTIONS_WRONG:
		return 2;
	case OPTIONS_GO:
		break;
	}
	return -1;
}

char *options_command_line(const char *name, int argc, const char **argv)
{
	struct bytes all = {0};

	bytes_add_text(&all, name);
	for (int i = 1; i < argc; i++) {
		bytes_add_byte(&all, ' ');
		bytes_add_shell_word(&all, argv[i], "\n");
	}
	bytes_add_byte(&all, 0);
	return (char *)all.data;
}
