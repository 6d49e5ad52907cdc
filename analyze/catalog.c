/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/catalog.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/critical/critical_path.h"
#include "analyze/critical/why.h"
#include "analyze/query.h"
#include "analyze/query_text.h"
#include "analyze/report/facts.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/mem.h"
#include "base/names.h"

/* The analyses in C, in the order of the help. */
extern const struct analysis analysis_events, analysis_compare, analysis_all;

static const struct analysis *const analyses[] = {&analysis_events, &analysis_compare,
						  &analysis_all};

/* The analyses with both SQL and C. */
static const struct {
	const char *name;
	int (*run)(struct query *query, struct result *result, struct error *error);
	unsigned heeds;
	bool is_document;
} partly_sql[] = {
    {"critical-path", run_critical_path, HEEDS_THREAD | HEEDS_REQUEST | HEEDS_TABLES,
     false},
    {"why", run_why, HEEDS_THREAD | HEEDS_SPAN | HEEDS_TABLES, false},
    {"findings", run_findings, HEEDS_TABLES, false},
    {"facts", run_facts, HEEDS_TABLES, false},
    {"report", run_report, HEEDS_DETAIL | HEEDS_AGAINST, true},
};

/* From analyze/queries, by CMake. */
extern const struct built_query {
	const char *name, *text;
} built_queries[];
extern const size_t built_queries_count;

/* Return the options that a statement uses through its parameters and relations. */
static unsigned heeds_of_text(const char *text)
{
	static const struct {
		const char *word;
		unsigned heeds;
	} words[] = {
	    {"chosen_node", HEEDS_NODES},
	    {"chosen_cpu", HEEDS_CPU},
	    {"chosen_thread", HEEDS_THREAD},
	    {"chosen_irq", HEEDS_IRQ},
	    {"chosen_softirq", HEEDS_IRQ},
	    {"chosen_metric", HEEDS_METRIC},
	    {"chosen_item", HEEDS_METRIC},
	    {"begin_event", HEEDS_PERIOD | HEEDS_GROUP | HEEDS_CPU | HEEDS_THREAD},
	    {":begin_ns", HEEDS_SPAN_OF_TIME},
	    {":end_ns", HEEDS_SPAN_OF_TIME},
	    {":min_ns", HEEDS_SPAN},
	    {":max_ns", HEEDS_SPAN},
	    {":all_spans", HEEDS_SPAN},
	    {":min_bytes", HEEDS_SIZE},
	    {":max_bytes", HEEDS_SIZE},
	    {":interval_ns", HEEDS_INTERVAL},
	    {":request", HEEDS_REQUEST},
	};
	unsigned heeds = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (sql_has(text, words[i].word))
			heeds |= words[i].heeds;
	return heeds;
}

/* Make an analysis of what the file says: which options it heeds, and how it is run. */
static void define_analysis(struct query_file *file, bool is_ours)
{
	struct analysis *analysis = &file->analysis;

	analysis->heeds = HEEDS_TABLES;
	for (size_t i = 0; i < file->blocks; i++)
		if (file->block[i].sql)
			analysis->heeds |= heeds_of_text(file->block[i].sql);
	if (analysis->heeds & HEEDS_PERIOD)
		analysis->usage = "[OPTION...] --from EVENT --to EVENT TIMELINE";
	analysis->run = query_file_run;
	for (size_t i = 0; i < sizeof(partly_sql) / sizeof(*partly_sql); i++)
		if (is_ours && !strcmp(partly_sql[i].name, analysis->name)) {
			analysis->run = partly_sql[i].run;
			analysis->heeds = partly_sql[i].heeds;
			analysis->is_document = partly_sql[i].is_document;
		}
	analysis->own = file;
}

static void add_analysis(struct catalog *catalog, const struct analysis *analysis)
{
	*MEM_NEXT(catalog->item, catalog->count, catalog->capacity) = analysis;
}

static void add_query_file(struct catalog *catalog, struct query_file *file, bool is_ours)
{
	define_analysis(file, is_ours);
	file->shared = catalog->shared;
	*MEM_NEXT(catalog->file, catalog->files, catalog->file_capacity) = file;
}

static int add_file(struct catalog *catalog, const char *path, struct error *error)
{
	struct query_file *file = query_file_read(path, error);
	const char *name;

	if (!file)
		return -1;
	add_query_file(catalog, file, false);
	catalog->own++;
	name = file->analysis.name;
	for (size_t i = 0; i < catalog->count; i++)
		if (!strcmp(catalog->item[i]->name, name))
			return error_set(
			    error, "%s: duplicate analysis '%s'; choose another name",
			    path, name);
	add_analysis(catalog, &file->analysis);
	return 0;
}

static int is_sql(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + length - 4, ".sql");
}

/* Every .sql of a directory, by name. */
static int add_directory(struct catalog *catalog, const char *path, struct error *error)
{
	struct dirent **entry;
	int count = scandir(path, &entry, is_sql, alphasort), status = 0;

	if (count < 0)
		return error_errno(error, path);
	for (int i = 0; i < count; i++) {
		AUTOFREE char *file = mem_printf("%s/%s", path, entry[i]->d_name);

		if (!status)
			status = add_file(catalog, file, error);
		free(entry[i]);
	}
	free(entry);
	if (!status && count == 0)
		return error_set(error, "%s: contains no file NAME.sql", path);
	return status;
}

int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error)
{
	struct stat about;

	*catalog = (struct catalog){0};
	for (size_t i = 0; i < built_queries_count && !catalog->shared; i++)
		if (!strcmp(built_queries[i].name, "relations"))
			catalog->shared = query_file_parse(built_queries[i].name,
							   built_queries[i].text, error);
	if (!catalog->shared)
		return -1;
	for (size_t i = 0; i < built_queries_count; i++) {
		struct query_file *file;

		if (!strcmp(built_queries[i].name, "relations"))
			continue;
		file =
		    query_file_parse(built_queries[i].name, built_queries[i].text, error);
		if (!file)
			return -1;
		add_query_file(catalog, file, true);
		file->analysis.heeds |= HEEDS_SCOPE;
		add_analysis(catalog, &file->analysis);
	}
	for (size_t i = 0; i < sizeof(analyses) / sizeof(*analyses); i++)
		add_analysis(catalog, analyses[i]);
	for (size_t i = 0; i < sql->count; i++) {
		const char *path = sql->item[i];

		if (stat(path, &about))
			return error_errno(error, path);
		if (S_ISDIR(about.st_mode) ? add_directory(catalog, path, error)
					   : add_file(catalog, path, error))
			return -1;
	}
	return 0;
}

const struct analysis *catalog_find(const struct catalog *catalog, const char *name,
				    struct error *error)
{
	AUTOFREE const char **names = mem_zalloc((catalog->count + 1) * sizeof(*names));
	const struct analysis *found = NULL;

	for (size_t i = 0; i < catalog->count; i++) {
		names[i] = catalog->item[i]->name;
		if (!strcmp(names[i], name))
			found = catalog->item[i];
	}
	if (!found)
		error_unknown_word(error, "unknown analysis", name, names, catalog->count,
				   "see ctanalyze --help");
	return found;
}

void catalog_print(const struct catalog *catalog, FILE *file)
{
	int width = 0;

	for (size_t i = 0; i < catalog->count; i++)
		if ((int)strlen(catalog->item[i]->name) > width)
			width = (int)strlen(catalog->item[i]->name);
	for (size_t i = 0; i < catalog->count; i++)
		fprintf(file, "  %-*s  %s\n", width, catalog->item[i]->name,
			catalog->item[i]->summary);
}

static void print_columns(const struct query_file *file, const struct query_block *block,
			  FILE *help)
{
	struct text_list names = {0};

	sql_columns(block->sql, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *key = names.item[i];
		const struct result_column *column = query_file_column(file, block, key);
		enum unit unit = column ? column->unit : unit_guess(key, NULL);
		AUTOFREE char *title = column && column->title ? mem_strdup(column->title)
							       : result_title(key);

		fprintf(help, "  %-24s %s%s%s\n", key, title,
			unit == UNIT_TEXT ? "" : ", ", unit_name(unit));
	}
	text_list_clear(&names);
}

char *catalog_help(const struct query_file *file)
{
	char *text;
	size_t size;
	FILE *help = mem_stream(&text, &size);

	for (size_t i = 0; i < file->blocks && !file->analysis.is_document; i++) {
		const struct query_block *block = &file->block[i];

		if (block->kind != QUERY_TABLE || !block->sql ||
		    (block->table->when && !strcmp(block->table->when, "plot")))
			continue;
		for (size_t k = 0; k < block->tables; k++)
			fprintf(help, "%s: %s\n", block->table[k].key,
				block->table[k].title);
		print_columns(file, block, help);
	}
	if (file->example)
		fprintf(help, "Example: %s\n", file->example);
	fclose(help);
	if (size)
		text[size - 1] = '\0';
	return text;
}

unsigned analysis_heeds(const struct analysis *analysis)
{
	unsigned heeds = analysis->heeds;

	/* The options of a user's file are those that its text uses. */
	if (analysis->run && !analysis->own && !analysis->many)
		heeds |= HEEDS_SCOPE | (analysis->is_document ? 0 : HEEDS_TABLES);
	if (analysis->forms)
		heeds |= HEEDS_FORMS;
	if (analysis->groups)
		heeds |= HEEDS_GROUP;
	return heeds;
}

void catalog_clear(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->files; i++)
		query_file_free(catalog->file[i]);
	query_file_free(catalog->shared);
	free(catalog->file);
	free(catalog->item);
	*catalog = (struct catalog){0};
}
