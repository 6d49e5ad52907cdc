/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an analysis in SQL is to the program, and those that are built in. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/query.h"
#include "base/mem.h"

/* From analyze/queries, by CMake. */
extern const struct built_query {
	const char *name, *text;
} built_queries[];
extern const size_t built_queries_count;

static const char relations_name[] = "relations";

/* Which options a text's parameters and relations ask for. */
static unsigned heeds_of_text(const char *text)
{
	static const struct {
		const char *word;
		unsigned heeds;
	} words[] = {
	    {"chosen_node", HEEDS_NODES},      {"chosen_cpu", HEEDS_CPU},
	    {"chosen_thread", HEEDS_THREAD},   {"chosen_irq", HEEDS_IRQ},
	    {"chosen_softirq", HEEDS_IRQ},     {"chosen_metric", HEEDS_METRIC},
	    {"chosen_item", HEEDS_METRIC},     {"begin_event", HEEDS_PERIOD},
	    {":begin_ns", HEEDS_SPAN_OF_TIME}, {":end_ns", HEEDS_SPAN_OF_TIME},
	    {":nodes", HEEDS_NODES},           {":min_ns", HEEDS_SPAN},
	    {":max_ns", HEEDS_SPAN},           {":all_spans", HEEDS_SPAN},
	    {":min_bytes", HEEDS_SIZE},        {":max_bytes", HEEDS_SIZE},
	    {":interval_ns", HEEDS_INTERVAL},  {":request", HEEDS_REQUEST},
	};
	unsigned heeds = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (*words[i].word == ':' ? sql_has_value(text, words[i].word)
					  : sql_has_word(text, words[i].word))
			heeds |= words[i].heeds;
	return heeds;
}

void query_define(struct query_file *file)
{
	struct analysis *analysis = &file->analysis;
	const struct {
		const char *word;
		unsigned heeds;
	} options[] = {{"time", HEEDS_SPAN_OF_TIME}, {"node", HEEDS_NODES},
		       {"cpu", HEEDS_CPU},           {"thread", HEEDS_THREAD},
		       {"group", HEEDS_GROUP},       {"metric", HEEDS_METRIC},
		       {"period", HEEDS_PERIOD}};

	analysis->heeds = HEEDS_TABLES;
	for (size_t i = 0; i < file->blocks; i++)
		if (file->block[i].sql)
			analysis->heeds |= heeds_of_text(file->block[i].sql);
	for (size_t i = 0; file->options && i < sizeof(options) / sizeof(*options); i++)
		if (query_words_have(file->options, options[i].word))
			analysis->heeds |= options[i].heeds;
	analysis->name = file->name;
	analysis->summary = file->summary;
	analysis->description = file->description;
	analysis->groups = file->groups;
	if (analysis->heeds & HEEDS_PERIOD)
		analysis->usage = "[OPTION...] --from EVENT --to EVENT TIMELINE";
	analysis->run = query_run;
	analysis->own = file;
}

size_t query_builtin_count(void)
{
	return built_queries_count - 1;
}

struct query_file *query_builtin(size_t n)
{
	struct error error = ERROR_INIT;
	struct query_file *file;

	for (size_t i = 0; i <= n; i++) /* relations.sql is none */
		n += !strcmp(built_queries[i].name, relations_name);
	file = query_file_parse(built_queries[n].name, built_queries[n].text, &error);
	if (!file)
		error_tell(&error, "ctanalyze", stderr);
	error_clear(&error);
	return file;
}

char *query_help(const struct query_file *file)
{
	char *text;
	size_t size;
	FILE *help = open_memstream(&text, &size);

	for (size_t i = 0; i < file->blocks; i++) {
		const struct query_block *block = &file->block[i];

		if (block->kind != QUERY_TABLE || !block->columns)
			continue;
		for (size_t k = 0; k < block->tables; k++)
			fprintf(help, "%s: %s\n", block->table[k].key,
				block->table[k].title);
		for (size_t k = 0; k < block->columns; k++) {
			const struct query_column *column = &block->column[k];

			fprintf(help, "  %-24s %s%s%s\n", column->key, column->title,
				column->unit == UNIT_TEXT ? "" : ", ",
				unit_name(column->unit));
		}
	}
	if (file->example)
		fprintf(help, "Example: %s\n", file->example);
	fclose(help);
	if (size)
		text[size - 1] = '\0';
	return text;
}

struct query_file *query_builtin_relations(struct error *error)
{
	for (size_t i = 0; i < built_queries_count; i++)
		if (!strcmp(built_queries[i].name, relations_name))
			return query_file_parse(built_queries[i].name,
						built_queries[i].text, error);
	error_set(error, "no file of relations is built in");
	return NULL;
}

/* A class, or a pattern with * of several. */
static bool is_class(const char *word, size_t length, const char *name)
{
	char *pattern = mem_strndup(word, length);
	bool is = length && !fnmatch(pattern, name, 0);

	free(pattern);
	return is;
}

bool query_is_recorded(const struct text_list *recorded, const char *classes)
{
	for (const char *at = classes; *at;) {
		size_t length = strcspn(at, " (");

		for (size_t i = 0; i < recorded->count; i++)
			if (is_class(at, length, recorded->item[i]))
				return true;
		at += length;
		if (*at == '(')
			at += strcspn(at, ")");
		at += *at != '\0';
	}
	return false;
}
