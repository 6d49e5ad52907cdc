/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "merge/node_messages.h"
#include "timeline/names.h"
#include "timeline/query.h"
#include "timeline/writer.h"

const char *const part_tables[] = {
    "event",   "thread_state", "syscall",    "irq", "block_request", "recorded", "sample",
    "process", "thread",       "invocation", NULL,
};

const char *const part_short_tables[] = {
    "meta",       "node",        "source",       "clock",       "clock_bound",
    "clock_pair", "event_class", "metric",       "metric_item", "problem",
    "message",    "request",     "event_column", NULL,
};

/* What the join needs besides, in part.db alone. */
static const char *const tables_sql[] = {
    "DROP INDEX message_send_event",
    "DROP INDEX message_recv_event",
    "CREATE TABLE class_begin (class INTEGER PRIMARY KEY, ts_ns INTEGER)",
    "CREATE TABLE tunnel (protocol TEXT, a INTEGER, a_address TEXT, a_port INTEGER, "
    "b INTEGER, b_address TEXT, b_port INTEGER, messages INTEGER)",
};

static bool has_file(const char *directory, const char *name)
{
	char *path = mem_printf("%s/%s", directory, name);
	struct stat status;
	bool is_there = lstat(path, &status) == 0;

	free(path);
	return is_there;
}

int part_output_open(struct part_output *output, const char *path, const char *list,
		     const char *mark, struct error *error)
{
	*output = (struct part_output){
	    .kind = {.rule = has_file(path, list) ? OUTPUT_REPLACE : OUTPUT_EMPTY,
		     .list = list,
		     .want = "one that ctmerge made, an empty or a new directory",
		     .parents = true},
	    .mark = mark,
	};
	return output_directory_open(&output->directory, path, &output->kind, error);
}

/* The mark of what was there goes first; the new one's comes by itself where the files
 * come one by one. */
int part_output_commit(struct part_output *output, struct error *error)
{
	struct output_directory *directory = &output->directory;
	char *old = mem_printf("%s/%s", directory->path, output->mark);
	char *kept = mem_printf("%s/.%s", directory->path, output->mark);
	char *new = mem_printf("%s/%s", directory->temporary, output->mark);
	char *hidden = mem_printf("%s/.%s", directory->temporary, output->mark);
	bool is_new = directory->is_new;
	int status = 0;

	if (!is_new)
		status = (unlink(old) && errno != ENOENT) || rename(new, hidden)
			     ? error_errno(error, old)
			     : 0;
	if (!status)
		status = output_directory_commit(directory, error);
	if (!status && !is_new && rename(kept, old))
		status = error_errno(error, old);
	free(old);
	free(kept);
	free(new);
	free(hidden);
	return status;
}

void part_output_discard(struct part_output *output)
{
	output_directory_discard(&output->directory);
}

char *part_table_file(const char *directory, const char *table)
{
	char *name = dataset_escape(table, strlen(table));
	char *path = mem_printf("%s/%s.parquet", directory, name);

	free(name);
	return path;
}

struct cell part_text(const char *text)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text};
}

int part_run(struct timeline_reader *timeline, const char *sql, const struct cell *value,
	     size_t values, struct error *error)
{
	struct timeline_query *query = timeline_query_new(timeline, sql, error);
	int status = !query || timeline_query_ask(query, value, values, error) ||
			     timeline_query_next(query, error)
			 ? -1
			 : 0;

	timeline_query_free(query);
	return status;
}

static struct timeline_query *insert_of(const struct part_copy *copy, size_t columns,
					struct error *error)
{
	struct timeline_query *query;
	char *text;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	fprintf(sql, "%s INTO %s VALUES (", copy->how, copy->table);
	for (size_t i = 0; i < columns; i++)
		fputs(i ? ", ?" : "?", sql);
	fputc(')', sql);
	fclose(sql);
	query = timeline_query_new(copy->to, text, error);
	free(text);
	return query;
}

int part_copy_rows(const struct part_copy *copy, const char *select,
		   const struct cell *value, size_t values, struct error *error)
{
	struct timeline_query *rows = timeline_query_new(copy->from, select, error);
	size_t columns = rows ? timeline_query_columns(rows) : 0;
	struct timeline_query *insert = rows ? insert_of(copy, columns, error) : NULL;
	int more = insert && !timeline_query_ask(rows, value, values, error) ? 1 : -1;

	while (more > 0 && (more = timeline_query_next(rows, error)) > 0)
		if (timeline_query_ask(insert, timeline_query_row(rows), columns,
				       error) ||
		    timeline_query_next(insert, error))
			more = -1;
	timeline_query_free(insert);
	timeline_query_free(rows);
	return more;
}

struct writing {
	const struct part *part;
	struct timeline_reader *from, *to;
	const char *directory; /* of the tables */
	struct error *error;
	int64_t first; /* id before the first row */
};

int part_write_tables(struct table_work *work, struct timeline_reader *timeline,
		      const struct part_files *files, struct error *error)
{
	static const struct table_style style = {.parquet = true, .extension = "parquet"};
	static const struct scope all = {.all_time = true, .all_nodes = true};
	int status = 0;

	work->style = &style;
	work->scope = &all;
	for (size_t i = 0; i < files->tables->count && !status; i++) {
		const char *name = files->tables->item[i];
		struct question *question =
		    question_of_part(timeline, name, files->first, error);

		status = question ? 0 : -1;
		if (question)
			table_work_add(work, question)->name =
			    part_table_file(files->below, name);
	}
	if (!status) {
		table_work_plan(work, files->threads);
		status = table_work_run(work, error);
	}
	table_work_clear(work);
	return status;
}

static int write_tables(struct writing *writing)
{
	const struct part *part = writing->part;
	struct text_list tables = {0};
	const struct part_files files = {&tables, "tables", writing->first,
					 part->threads};
	struct table_work work = {.timeline = part->timeline,
				  .directory = writing->directory,
				  .progress = part->progress};
	int status;

	for (size_t i = 0; part_tables[i]; i++)
		text_list_add(&tables, part_tables[i]);
	status = query_texts(writing->from,
			     "SELECT table_name FROM event_class "
			     "WHERE table_name IS NOT NULL ORDER BY table_name",
			     NULL, &tables, writing->error) ||
		 part_write_tables(&work, writing->from, &files, writing->error);
	text_list_clear(&tables);
	return status ? -1 : 0;
}

static int copy_short_table(struct writing *writing, const char *name)
{
	const struct part_copy copy = {writing->from, writing->to, "INSERT", name};
	struct question *question =
	    question_of_part(writing->from, name, writing->first, writing->error);
	int status =
	    question ? part_copy_rows(&copy, question->sql, NULL, 0, writing->error) : -1;

	question_free(question);
	return status;
}

/* When a class came first, by which the join puts the classes in order. */
static int copy_class_begin(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;
	const struct part_copy copy = {writing->from, writing->to, "INSERT",
				       "class_begin"};
	char *table = cell_text(&row[1]), *quoted = name_quote(table);
	char *select = mem_printf("SELECT ?, e.ts_ns FROM %s AS t JOIN event AS e "
				  "ON e.id = t.id ORDER BY t.id LIMIT 1",
				  quoted);
	int status = part_copy_rows(&copy, select, row, 1, error);

	free(table);
	free(quoted);
	free(select);
	return status;
}

static int write_tunnel(void *context, const struct request_tunnel *tunnel)
{
	struct writing *writing = context;
	int order = strcmp(tunnel->address[0], tunnel->address[1]);
	int a = order ? order > 0 : tunnel->port[0] > tunnel->port[1];
	struct cell cell[8] = {part_text(tunnel->protocol)};

	for (int i = 0; i < 2; i++) {
		int end = i ? !a : a;

		cell[1 + 3 * i] = cell_of_integer(tunnel->node[end]);
		cell[2 + 3 * i] = part_text(tunnel->address[end]);
		cell[3 + 3 * i] = cell_of_integer(tunnel->port[end]);
	}
	cell[7] = cell_of_integer(tunnel->messages);
	return part_run(writing->to, "INSERT INTO tunnel VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			cell, 8, writing->error);
}

/* By which the join knows what goes together. */
static int write_marks(struct writing *writing)
{
	char clocks[17];
	struct cell cell[2] = {part_text("part.node"),
			       cell_of_integer(writing->part->run->node[0].id)};
	static const char sql[] = "INSERT INTO meta VALUES (?, ?)";

	if (part_run(writing->to, sql, cell, 2, writing->error))
		return -1;
	snprintf(clocks, sizeof(clocks), "%016" PRIx64,
		 clock_map_fingerprint(&writing->part->run->map));
	cell[0] = part_text("part.clocks");
	cell[1] = part_text(clocks);
	return part_run(writing->to, sql, cell, 2, writing->error);
}

static int fill_db(struct writing *writing)
{
	struct error *error = writing->error;
	int status = 0;

	for (size_t i = 0; i < sizeof(tables_sql) / sizeof(*tables_sql) && !status; i++)
		status = part_run(writing->to, tables_sql[i], NULL, 0, error);
	for (size_t i = 0; part_short_tables[i] && !status; i++)
		status = copy_short_table(writing, part_short_tables[i]);
	if (!status)
		status =
		    query_rows(writing->from,
			       "SELECT id, table_name FROM event_class "
			       "WHERE table_name IS NOT NULL",
			       NULL, copy_class_begin, writing, error) ||
		    requests_tunnels(writing->part->requests, write_tunnel, writing) ||
		    write_marks(writing) || timeline_update_commit(writing->to, error);
	return status ? -1 : 0;
}

static int write_db(struct writing *writing, const char *path)
{
	struct timeline_writer *empty =
	    timeline_writer_new(path, NULL, true, writing->error);
	int status = empty ? timeline_writer_finish(empty, writing->error) : -1;

	timeline_writer_free(empty);
	if (status)
		return -1;
	writing->to = timeline_update_open(path, NULL, writing->error);
	status = writing->to ? fill_db(writing) : -1;
	timeline_reader_free(writing->to);
	return status;
}

int part_write(const struct part *part, struct part_output *output, struct error *error)
{
	const char *directory = output->directory.temporary;
	struct writing writing = {.part = part,
				  .from = timeline_reader_open(part->timeline, error),
				  .directory = directory,
				  .error = error,
				  .first = node_first_id(part->run->node[0].id)};
	char *path = mem_printf("%s/%s", directory, PART_DB);
	int status =
	    writing.from && !write_tables(&writing) && !write_db(&writing, path) ? 0 : -1;

	timeline_reader_free(writing.from);
	if (status)
		output_directory_explain(&output->directory, error);
	free(path);
	return status;
}

int part_link_table(const struct part_link *part, const char *own, const char *table,
		    struct error *error)
{
	char *escaped = dataset_escape(table, strlen(table));
	char *node = dataset_escape(part->node, strlen(part->node));
	char *tables = mem_printf("%s/tables", part->part);
	char *from = part_table_file(tables, own);
	char *above = mem_printf("%s/%s", part->top, escaped);
	char *directory = mem_printf("%s/part=%s", above, node);
	char *to = mem_printf("%s/"
			      "part-0.parquet",
			      directory);
	int status = 0;

	if ((mkdir(above, 0777) && errno != EEXIST) ||
	    (mkdir(directory, 0777) && errno != EEXIST))
		status = error_errno(error, directory);
	else if (link(from, to))
		status = errno == EXDEV ? error_set(error,
						    "%s: on another file system than %s, "
						    "want the parts on the same one",
						    part->part, part->output)
					: error_errno(error, from);
	free(escaped);
	free(node);
	free(tables);
	free(from);
	free(above);
	free(directory);
	free(to);
	return status;
}
