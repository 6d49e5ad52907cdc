/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
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
	*MEM_NEXT(list->item, list->count, list->capacity) = mem_strdup(text);
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

/* Add words that are separated by commas. If there are none, add "", which the caller
 * will report as unknown. */
static void add_words(struct text_list *list, const char *words)
{
	AUTOFREE char *copy = mem_strdup(words);
	char *rest = NULL, *word = strtok_r(copy, ",", &rest);

	text_list_add(list, word ? word : "");
	while (word && (word = strtok_r(NULL, ",", &rest)))
		text_list_add(list, word);
}

/* Set an error that lists the expected words: "zstd, snappy or none". Return -1. */
static int refuse_word(const struct value_form *form, const char *word,
		       struct error *error)
{
	struct bytes expected = {0};

	for (const char *at = form->words; *at; at += strspn(at, "|")) {
		size_t size = strcspn(at, "|");

		if (at > form->words)
			bytes_add_text(&expected, strchr(at, '|') ? ", " : " or ");
		bytes_add(&expected, at, size);
		at += size;
	}
	error_set(error, "%s: invalid value '%s' (expected %.*s)", form->name, word,
		  (int)expected.size, (char *)expected.data);
	bytes_clear(&expected);
	return -1;
}

int value_parse(const struct value_form *form, const char *text, double *value,
		struct error *error)
{
	size_t size = strlen(text);
	const char *at = form->words;
	char *end;

	for (*value = 0; at; ++*value, at = strchr(at, '|')) {
		at += at > form->words;
		if (strcspn(at, "|") == size && memcmp(at, text, size) == 0)
			return 0;
	}
	if (form->words)
		return refuse_word(form, text, error);
	errno = 0;
	*value = strtod(text, &end);
	if (errno || end == text || *end ||
	    !(*value >= form->least && *value <= form->most) ||
	    (form->is_whole && *value != floor(*value)))
		return error_set(
		    error, "%s: invalid value '%s' (expected a %s from %.16g to %.16g)",
		    form->name, text, form->is_whole ? "whole number" : "number",
		    form->least, form->most);
	return 0;
}

static bool is_word(const struct option_row *row)
{
	return row->kind == OPTION_WORD || row->kind == OPTION_OPTIONAL_WORD;
}

static int set_value(const struct option_row *row, const char *text, struct error *error)
{
	const char *equals = is_word(row) ? strchr(row->argument, '=') : NULL;
	AUTOFREE char *name = mem_printf("--%s", row->name);
	const struct value_form form = {name,
					equals         ? equals + 1
					: is_word(row) ? row->argument
						       : NULL,
					row->kind == OPTION_INT, row->least, row->most};
	double value;

	if (value_parse(&form, text, &value, error)) {
		error->misuse = true;
		return -1;
	}
	if (row->kind == OPTION_DOUBLE)
		*(double *)row->target = value;
	else
		*(int *)row->target = (int)value;
	return 0;
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
	case OPTION_OPTIONAL_WORD:
		if (!*word) {
			*(int *)row->target = 0;
			return 0;
		}
		return set_value(row, word, error);
	case OPTION_WORD:
	case OPTION_INT:
	case OPTION_DOUBLE:
		return set_value(row, word, error);
	}
	return -1;
}

struct parser {
	const struct command *command;
	struct option_row *row; /* the rows of both tables */
	struct poptOption *table;
	size_t rows, capacity;
	char *bare; /* "--print-sql=" */
	poptContext context;
};

static void add_rows(struct parser *parser, const struct option_row *rows)
{
	for (; rows && rows->name; rows++) {
		*MEM_NEXT(parser->row, parser->rows, parser->capacity) = *rows;
	}
}

/* Make popt's table from ours, with rows for --help, --version and the end. */
static void make_table(struct parser *parser)
{
	static const struct poptOption own[] = {
	    {"help", 'h', POPT_ARG_NONE, NULL, CODE_HELP, "show this help and exit",
	     NULL},
	    {"version", 'V', POPT_ARG_NONE, NULL, CODE_VERSION,
	     "show the versions of the program and its libraries, and exit", NULL},
	};
	size_t n = parser->rows;

	parser->table = mem_zalloc((n + 3) * sizeof(*parser->table));
	for (size_t k = 0; k < n; k++) {
		const struct option_row *row = &parser->row[k];

		parser->table[k] = (struct poptOption){
		    .longName = row->name,
		    .shortName = row->letter,
		    .argInfo = row->kind == OPTION_FLAG ? POPT_ARG_NONE
			       : row->kind == OPTION_OPTIONAL_WORD
				   ? POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL
				   : POPT_ARG_STRING,
		    .val = CODE_ROWS + (int)k,
		    .descrip = row->help,
		    .argDescrip = row->argument,
		};
		if (is_word(row))
			parser->table[k].argDescrip =
			    mem_strndup(row->argument, strcspn(row->argument, "="));
	}
	memcpy(&parser->table[n], own, sizeof(own));
}

/* Give an OPTION_OPTIONAL_WORD that has no argument an empty one; otherwise popt would
 * use the next word. */
static void end_bare_options(struct parser *parser, int argc, const char **argv)
{
	for (size_t k = 0; k < parser->rows; k++)
		for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 &&
				parser->row[k].kind == OPTION_OPTIONAL_WORD;
		     i++)
			if (!strncmp(argv[i], "--", 2) &&
			    !strcmp(argv[i] + 2, parser->row[k].name)) {
				if (!parser->bare)
					parser->bare = mem_printf("%s=", argv[i]);
				argv[i] = parser->bare;
			}
}

static void parser_init(struct parser *parser, const struct command *command, int argc,
			const char **argv)
{
	*parser = (struct parser){.command = command};
	unsetenv("POSIXLY_CORRECT"); /* options may follow operands, whatever it says */
	add_rows(parser, command->rows);
	add_rows(parser, command->more_rows);
	make_table(parser);
	end_bare_options(parser, argc, argv);
	parser->context = poptGetContext(command->name, argc, argv, parser->table, 0);
	poptSetOtherOptionHelp(parser->context, command->usage);
}

static void parser_clear(struct parser *parser)
{
	poptFreeContext(parser->context);
	for (size_t i = 0; i < parser->rows; i++)
		if (is_word(&parser->row[i]))
			free((char *)parser->table[i].argDescrip);
	free(parser->table);
	free(parser->row);
	free(parser->bare);
}

static int show_help(const struct parser *parser)
{
	const struct command *command = parser->command;

	printf("%s: %s\n\n", command->name, command->summary);
	fflush(stdout);
	poptPrintHelp(parser->context, stdout, 0);
	if (command->more)
		printf("\n%s\n", command->more);
	return EXIT_DONE;
}

static int show_version(const struct command *command)
{
	printf("%s (clustertrace) %s\n", command->name, CT_VERSION);
	if (command->versions)
		command->versions(stdout);
	return EXIT_DONE;
}

/* Set an error such as "--jsno=FILE: unknown option; did you mean --json?" */
static int refuse_option(const struct parser *parser, int code, struct error *error)
{
	const char *word = poptBadOption(parser->context, POPT_BADOPTION_NOALIAS);
	AUTOFREE const char **names = mem_zalloc((parser->rows + 2) * sizeof(*names));
	AUTOFREE char *name = mem_strdup(strncmp(word, "--", 2) ? "" : word + 2);
	const char *near;

	for (size_t i = 0; i < parser->rows + 2; i++)
		names[i] = parser->table[i].longName;
	name[strcspn(name, "=")] = '\0';
	near = find_similar_word(name, names, parser->rows + 2);
	error_misuse(error, "%s: %s", word, poptStrerror(code));
	if (near && strcmp(near, name) != 0)
		error_misuse(error, "%s: %s; did you mean --%s?", word,
			     poptStrerror(code), near);
	return EXIT_MISUSE;
}

/* Parse all options. popt's negative codes other than -1, the end, are misuse. */
static int parse_options(const struct parser *parser, struct error *error)
{
	int code;

	while ((code = poptGetNextOpt(parser->context)) > 0) {
		AUTOFREE char *word = poptGetOptArg(parser->context);

		if (code == CODE_HELP && parser->command->help) {
			*parser->command->help = true;
			continue;
		}
		if (code == CODE_HELP)
			return show_help(parser);
		if (code == CODE_VERSION)
			return show_version(parser->command);
		if (set_target(&parser->row[code - CODE_ROWS], word ? word : "", error))
			return EXIT_MISUSE;
	}
	return code < -1 ? refuse_option(parser, code, error) : OPTIONS_GO;
}

int options_show_help(const struct command *command, const char *program)
{
	struct parser parser;
	int status;

	parser_init(&parser, command, 1, &program);
	status = show_help(&parser);
	parser_clear(&parser);
	return status;
}

void options_expand_help(int argc, const char **argv)
{
	if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0)
		return;
	argv[1] = argv[argc - 1];
	argv[argc - 1] = "--help";
}

int options_parse(const struct command *command, int argc, const char **argv,
		  struct text_list *rest, struct error *error)
{
	struct parser parser;
	const char *word;
	int status;

	options_expand_help(argc, argv);
	parser_init(&parser, command, argc, argv);
	status = parse_options(&parser, error);
	while (status == OPTIONS_GO && (word = poptGetArg(parser.context)))
		text_list_add(rest, word);
	parser_clear(&parser);
	return status;
}

int program_end(const char *program, int status, struct error *error)
{
	if (!error->text && output_flush_stdout(error))
		status = EXIT_FAILED;
	if (error->misuse)
		status = EXIT_MISUSE;
	error_print(error, program, stderr);
	return status < 0 ? EXIT_FAILED : status;
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
