/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "simulate/scenario_keys.h"

enum { MOST_BYTES = 1 << 20 };

/* Whether there is none of what would spoil a terminal when a message shows it. */
static bool is_text(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)bytes[i] < ' ' && !strchr("\t\n\r", bytes[i]))
			return false;
	return !memchr(bytes, '\0', length) && !memchr(bytes, '\177', length);
}

static char *read_text(const char *path, struct error *error)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t length;

	if (!file) {
		error_errno(error, path);
		return NULL;
	}
	output_protect(path);
	text = mem_alloc(MOST_BYTES + 1);
	length = fread(text, 1, MOST_BYTES + 1, file);
	if (ferror(file))
		error_errno(error, path);
	else if (length > MOST_BYTES || !is_text(text, length))
		error_set(error, "%s: no scenario, want a short text", path);
	else
		text[length] = '\0';
	fclose(file);
	if (error->text) {
		free(text);
		text = NULL;
	}
	return text;
}

static int load_file(struct scenario *scenario, const char *path, struct error *error)
{
	char *text = read_text(path, error);
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *suffix = strstr(name, ".scenario");
	int status;

	if (!text)
		return -1;
	free(scenario->name);
	scenario->name =
	    mem_strndup(name, suffix ? (size_t)(suffix - name) : strlen(name));
	status = scenario_parse(scenario, path, text, error);
	free(text);
	return status;
}

int scenario_load(struct scenario *scenario, const char *word, struct error *error)
{
	for (const struct scenario_entry *entry = scenario_library; entry->name; entry++)
		if (strcmp(entry->name, word) == 0) {
			free(scenario->name);
			scenario->name = mem_strdup(word);
			return scenario_parse(scenario, word, entry->text, error);
		}
	if (strchr(word, '/') || strchr(word, '.') || access(word, F_OK) == 0)
		return load_file(scenario, word, error);
	return error_set(error,
			 "no scenario '%s' (ctsim --list names them), want one of "
			 "them or a file",
			 word);
}

void scenario_print_keys(FILE *file)
{
	struct scenario scenario;
	struct scenario_value value;

	scenario_init(&scenario);
	for (size_t i = 0; scenario_describe(&scenario, i, &value); i++) {
		if (value.word)
			fprintf(file, "%-20s %-12s %s", value.key, value.word,
				scenario_keys[i].help);
		else
			fprintf(file, "%-20s %-12.12g %s", value.key, value.number,
				scenario_keys[i].help);
		for (size_t w = 0; scenario_keys[i].words && scenario_keys[i].words[w];
		     w++)
			fprintf(file, "%s%s",
				w                        ? ", "
				: *scenario_keys[i].help ? ": "
							 : "",
				scenario_keys[i].words[w]);
		putc('\n', file);
	}
	for (const struct scenario_form *form = scenario_forms; form->name; form++)
		fprintf(file, "%-4s %-28s %s\n", form->name, form->arguments, form->help);
	scenario_clear(&scenario);
}
