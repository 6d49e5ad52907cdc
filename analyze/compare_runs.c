/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare_runs.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/print.h"
#include "base/mem.h"

static char *text_of(const struct cell *cell)
{
	char number[PRINT_TEXT];

	return mem_strdup(print_plain(number, cell));
}

static int take_fact(void *context, const struct cell *row)
{
	struct run *run = context;

	if (row[0].type != CELL_TEXT)
		return 0;
	if (!strcmp(row[0].bytes, "name") && row[1].type == CELL_TEXT) {
		free(run->name);
		run->name = text_of(&row[1]);
	}
	if (strncmp(row[0].bytes, "parameter.", 10) != 0)
		return 0;
	run->parameter = mem_grow(run->parameter, run->parameters, &run->parameter_room,
				  sizeof(*run->parameter));
	run->parameter[run->parameters++] = (struct parameter){
	    .name = mem_strdup(row[0].bytes + 10), .value = text_of(&row[1])};
	return 0;
}

static int take_events(void *context, const struct cell *row)
{
	((struct run *)context)->events =
	    row[0].type == CELL_INTEGER ? row[0].integer : 0;
	return 0;
}

/* "dir/a.db" is called a. */
static char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return mem_strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

const char *run_parameter(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->parameters; i++)
		if (!strcmp(run->parameter[i].name, name))
			return run->parameter[i].value;
	return NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Parameters that are not the same in all runs. */
static void find_names(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->run[i].parameters; k++) {
			const char *name = runs->run[i].parameter[k].name;
			const char *first = run_parameter(&runs->run[0], name);
			bool differs = false;

			for (size_t j = 1; j < runs->count; j++)
				differs |=
				    !is_same(first, run_parameter(&runs->run[j], name));
			if (differs && !text_list_has(&runs->names, name))
				text_list_add(&runs->names, name);
		}
}

static bool is_same_setting(const struct runs *runs, const struct run *a,
			    const struct run *b)
{
	for (size_t i = 0; i < runs->names.count; i++)
		if (!is_same(run_parameter(a, runs->names.item[i]),
			     run_parameter(b, runs->names.item[i])))
			return false;
	/* Where no parameter differs each run stands for itself. */
	return runs->names.count > 0;
}

static void find_settings(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct run *run = &runs->run[i];

		for (run->setting = 0; run->setting < runs->settings; run->setting++)
			if (is_same_setting(
				runs, run, &runs->run[runs->setting[run->setting].first]))
				break;
		if (run->setting == runs->settings) {
			runs->setting =
			    mem_grow(runs->setting, runs->settings, &runs->setting_room,
				     sizeof(*runs->setting));
			runs->setting[runs->settings++] = (struct setting){.first = i};
		}
		runs->setting[run->setting].runs++;
	}
}

static bool are_named(const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(runs->run[i].name, runs->run[k].name))
				return false;
	return true;
}

static void name_runs(struct runs *runs, char *(*name)(const char *path))
{
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->run[i].name);
		runs->run[i].name = name(runs->run[i].path);
	}
}

/* Runs of one name are told apart by their files, those of one name by their paths. */
static void tell_apart(struct runs *runs)
{
	if (!are_named(runs))
		name_runs(runs, name_of_file);
	if (!are_named(runs))
		name_runs(runs, mem_strdup);
}

int runs_open(const struct runs *runs, const struct run *run, struct question *question,
	      struct error *error)
{
	return question_open(question, runs->analysis, &runs->request, run->path, error);
}

int runs_read(struct runs *runs, struct error *error)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct run *run = &runs->run[i];
		struct question question;
		int status;

		run->name = name_of_file(run->path);
		if (runs_open(runs, run, &question, error))
			return -1;
		run->begin_ns = question.scope.begin_ns;
		run->end_ns = question.scope.end_ns;
		status =
		    question_ask(&question, "SELECT key, value FROM meta ORDER BY key",
				 NULL, take_fact, run, error) ||
		    question_ask(&question, "SELECT sum(events) FROM event_class", NULL,
				 take_events, run, error);
		question_close(&question);
		if (status)
			return -1;
	}
	tell_apart(runs);
	find_names(runs);
	find_settings(runs);
	return 0;
}

void runs_clear(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->run[i].name);
		for (size_t k = 0; k < runs->run[i].parameters; k++) {
			free(runs->run[i].parameter[k].name);
			free(runs->run[i].parameter[k].value);
		}
		free(runs->run[i].parameter);
	}
	free(runs->run);
	free(runs->setting);
	text_list_clear(&runs->names);
}
