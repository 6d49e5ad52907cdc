/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/bins.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/catalog.h"
#include "analyze/query_file.h"
#include "analyze/report/activity.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

const char bin_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

uint32_t bin_step(const struct bin_grid *grid, nsec_t at_ns)
{
	if (at_ns <= grid->begin_ns)
		return 0;
	at_ns = (at_ns - grid->begin_ns) / grid->step_ns;
	return (uint32_t)((size_t)at_ns < grid->steps ? (size_t)at_ns : grid->steps - 1);
}

/* Rows are mostly in the order of time, or in that order for each of some threads. */
static struct bin *bin_at(struct bin_series *series, uint32_t step, int64_t initial)
{
	size_t at = series->count;

	if (at && series->item[at - 1].step > step) {
		if (series->item[series->last].step == step)
			return &series->item[series->last];
		at = PARTITION_POINT(series->count, i, series->item[i].step <= step);
	}
	series->last = at - (at && series->item[at - 1].step == step);
	if (series->last < at)
		return &series->item[series->last];
	(void)MEM_NEXT(series->item, series->count, series->capacity);
	memmove(&series->item[at + 1], &series->item[at],
		(series->count - 1 - at) * sizeof(*series->item));
	series->item[at] = (struct bin){step, initial};
	return &series->item[at];
}

void bin_add(struct bin_series *series, uint32_t step, int64_t value)
{
	struct bin *bin = bin_at(series, step, 0);

	bin->value = nsec_add(bin->value, value);
}

bool bin_raise(struct bin_series *series, uint32_t step, int64_t value)
{
	struct bin *bin = bin_at(series, step, INT64_MIN);

	if (value <= bin->value)
		return false;
	bin->value = value;
	return true;
}

static void bin_set(struct bin_series *series, uint32_t step, int64_t value)
{
	bin_at(series, step, 0)->value = value;
}

void bin_spread(struct bin_series *series, const struct bin_grid *grid, nsec_t begin_ns,
		nsec_t end_ns)
{
	nsec_t at_ns = begin_ns > grid->begin_ns ? begin_ns : grid->begin_ns;

	end_ns = end_ns < grid->end_ns ? end_ns : grid->end_ns;
	while (at_ns < end_ns) {
		uint32_t step = bin_step(grid, at_ns);
		nsec_t to_ns = grid->begin_ns + (nsec_t)(step + 1) * grid->step_ns;

		to_ns = to_ns < end_ns ? to_ns : end_ns;
		bin_add(series, step, to_ns - at_ns);
		at_ns = to_ns;
	}
}

void bin_clear(struct bin_series *series)
{
	free(series->item);
}

static void add_number(struct bytes *text, int64_t number)
{
	bytes_add(text, &bin_digits[number / 64 % 64], 1);
	bytes_add(text, &bin_digits[number % 64], 1);
}

char *bin_text(const struct bin_series *series, bool raised)
{
	const int64_t longest_skip = 4095 - BIN_MOST;
	struct bytes text = {0};
	int64_t most = 0, unit, sum = 0, written = 0;
	uint32_t next = 0;
	char *all;

	for (size_t i = 0; i < series->count; i++)
		most = series->item[i].value > most ? series->item[i].value : most;
	unit = most / BIN_MOST + 1;
	for (size_t i = 0; i < series->count; i++) {
		const struct bin *bin = &series->item[i];
		int64_t number;

		for (int64_t skip = bin->step - next; skip > 0; skip -= longest_skip)
			add_number(&text,
				   BIN_MOST +
				       (skip < longest_skip ? skip : longest_skip));
		next = bin->step + 1;
		sum = nsec_add(sum, bin->value);
		number = raised ? nsec_add(bin->value, unit / 2) / unit
				: nsec_add(sum, unit / 2) / unit - written;
		number = number < 0 ? 0 : number > BIN_MOST ? BIN_MOST : number;
		written += number;
		add_number(&text, number);
	}
	bytes_add(&text, "", 1);
	all = most ? mem_printf("%" PRId64 ",%s", unit, (const char *)text.data)
		   : mem_strdup("");
	bytes_clear(&text);
	return all;
}

enum {
	KEYS_MOST = 4,
	KEYS_KEPT = 3, /* keys of tables that are not coarse */
	SUMS_MOST = 10,
	FINEST = 32
};

/* The name of a disk is that of the analysis io, whose relation was read before. */
#define DISK_NAME                                                                        \
	"coalesce((SELECT d.name FROM disk_name AS d WHERE d.node = r.node AND d.disk "  \
	"= r.disk), r.disk)"

static const char *const pair_columns[] = {
    "src_node",   "dst_node", "send_ns",
    "latency_ns", "bytes",    "CASE WHEN latency_ns < 0 THEN 1 END",
    "id",         NULL};
static const char *const syscall_columns[] = {"s.name", "s.begin_ns", "duration_ns",
					      "error_code > 0", NULL};

/* The columns are: with `selects` a node that only selects, nodes, strings or numbers,
 * the start, the duration, further sums, and an id. A timeline's values can have any
 * type: those that are not integers count as 0. Without SQL,
 * they are read while an analysis computes its groups, or another module adds them. */
static const struct bin_source {
	const char *name;
	size_t nodes, keys, sums;
	bool united; /* the total is the time in which there was at least one */
	bool selects;
	bool is_coarse;    /* for the page alone, without histograms; such are the last */
	size_t size;       /* approximate size in the page; rows beyond it are left out */
	size_t histograms; /* size of all of them; beyond it they are coarser */
	const char *const *summed; /* columns of an analysis's rows; or: */
	const char *sql;
} sources[] = {
    {"pairs", 2, 2, 2, false, false, false, 300000, 150000, pair_columns, NULL},
    {"requests", 2, 3, 10, false, false, false, 300000, 110000, NULL,
     "SELECT " TIMELINE_ROW "(client, server, server_port, begin_ns, end_ns - begin_ns,"
     " resent_ns, there_ns, queue_ns, running_ns, runnable_ns, disk_ns, node_ns, "
     "other_ns,"
     " unknown_ns, back_ns) FROM request"
     " WHERE id >= ?3 AND begin_ns >= ?1 AND responded_ns <= ?2 AND end_ns IS NOT NULL"},
    {"disks", 1, 3, 1, false, false, false, 300000, 65000, NULL,
     "SELECT " TIMELINE_ROW "(r.node, " DISK_NAME ", operation, begin_ns, begin_ns + "
     "duration_ns - coalesce(issue_ns, begin_ns), bytes) FROM block_request AS r"
     " WHERE cut = 0 AND begin_ns >= ?1 AND begin_ns + duration_ns <= ?2"},
    {"busy", 1, 2, 0, true, false, false, 300000, 0, NULL,
     "SELECT " TIMELINE_ROW "(r.node, " DISK_NAME ", issued_ns, end_ns - issued_ns)"
     " FROM (SELECT node, disk, dev, coalesce(issue_ns, begin_ns) AS issued_ns, end_ns"
     "  FROM block_request WHERE begin_ns < ?2 AND end_ns > ?1"
     "  ORDER BY node, dev, issued_ns) AS r"},
    {"syscalls", 0, 1, 1, false, false, true, 140000, 0, syscall_columns, NULL},
    {"origins", 1, 4, 2, false, false, true, 130000, 0, NULL,
     "SELECT " TIMELINE_ROW "(r.node, p.pid, coalesce(p.comm, t.comm, r.comm), "
     "r.operation, r.begin_ns, r.end_ns - coalesce(r.issue_ns, r.begin_ns), r.bytes,"
     " r.error <> 0) FROM block_request AS r LEFT JOIN thread AS t ON t.id = r.thread"
     " LEFT JOIN process AS p ON p.id = t.process"
     " WHERE r.cut = 0 AND r.begin_ns >= ?1 AND r.begin_ns + r.duration_ns <= ?2"},
    /* sar's memory: kB (for the least available, the most that is missing from the
     * largest); pages of 4 KiB and faults per second, which become sums. */
    {"memory", 1, 3, 0, false, false, true, 130000, 0, NULL,
     "SELECT " TIMELINE_ROW "(s.node, m.name, CASE m.name WHEN 'kbavail' THEN "
     "CAST(b.most * 1024 AS INTEGER) END, s.ts_ns, CAST(CASE WHEN m.name = 'kbavail' "
     "THEN (b.most - s.value) * 1024 WHEN m.name = '%memused' THEN s.value * 1000 WHEN "
     "m.name LIKE 'kb%' THEN s.value * 1024 WHEN m.name LIKE 'pswp%' THEN s.value * "
     "s.interval_ns / 1e9 * 4096 ELSE s.value * s.interval_ns / 1e6 END AS INTEGER))"
     " FROM metric AS m JOIN sample AS s ON s.metric = m.id"
     " JOIN (SELECT node, metric, max(value) AS most FROM sample GROUP BY node, metric)"
     "  AS b ON b.node = s.node AND b.metric = s.metric"
     " WHERE m.name IN ('kbmemused', '%memused', 'kbavail', 'kbswpused', 'pswpin/s',"
     "  'pswpout/s', 'majflt/s') AND s.value IS NOT NULL AND s.ts_ns BETWEEN ?1 AND ?2"},
    {"resident", 1, 2, 0, false, false, true, 130000, 0, NULL,
     "SELECT " TIMELINE_ROW "(s.node, i.name, s.ts_ns, CAST(s.value * 1024 AS INTEGER))"
     " FROM metric AS m JOIN sample AS s ON s.metric = m.id JOIN metric_item AS i"
     " ON i.id = s.item WHERE m.activity = 'process' AND m.name = 'rss'"
     " AND s.value IS NOT NULL AND s.ts_ns BETWEEN ?1 AND ?2"},
    {"periods", 0, 2, 0, false, true, true, 130000, 0, NULL,
     "SELECT " TIMELINE_ROW "(node, from_name, to_name, begin_ns, duration_ns)"
     " FROM user_period WHERE begin_ns BETWEEN ?1 AND ?2"},
    {"interfaces", 0, 2, 4, false, false, true, 130000, 0, NULL, NULL},
    {"interrupts", 1, 4, 0, false, false, true, 60000, 0, NULL, NULL},
};
enum { SOURCES = sizeof(sources) / sizeof(*sources) };

struct bin_row {
	struct cell key[KEYS_MOST];
	nsec_t until_ns; /* end of the spans so far */
	struct bin_series count, took, longest, sum[SUMS_MOST];
	struct bin_series longest_id; /* ids of the pairs' messages */
	uint32_t *value;              /* how long: step << 12 | FINEST * log2 */
	size_t values, value_capacity;
};

struct bin_table {
	const struct bin_source *source;
	const struct bin_grid *grid;
	const struct scope *scope;
	struct texts keys;
	struct bytes key; /* key of the current row */
	struct bin_row *row;
	size_t rows, capacity;
	size_t *of_group; /* by group of a listener: the index of its row + 1, or 0 */
	size_t groups, group_capacity;
};

struct bin_tables {
	const struct bin_grid *grid;
	struct bin_table table[SOURCES];
};

static int64_t integer_of(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer : 0;
}

/* Return the row of a key. Copies the key's strings. */
static struct bin_row *row_of(struct bin_table *table, const struct cell *key)
{
	struct bin_row *row;
	size_t at;

	table->key.size = 0;
	for (size_t i = 0; i < table->source->keys; i++)
		cell_add_key(&key[i], &table->key);
	at =
	    texts_put_bytes(&table->keys, (const char *)table->key.data, table->key.size);
	if (at < table->rows)
		return &table->row[at];
	row = MEM_NEXT(table->row, table->rows, table->capacity);
	*row = (struct bin_row){.until_ns = NSEC_MIN};
	for (size_t i = 0; i < table->source->keys; i++) {
		row->key[i] = key[i];
		if (key[i].type == CELL_TEXT)
			row->key[i].bytes = mem_strndup(key[i].bytes, key[i].size);
		else if (key[i].type != CELL_INTEGER)
			row->key[i] = cell_of_null();
	}
	return row;
}

static uint32_t bucket_of(int64_t took_ns)
{
	return took_ns > 1 ? (uint32_t)(FINEST * log2((double)took_ns)) : 0;
}

void bin_row_count(struct bin_row *row, const struct bin_grid *grid, nsec_t at_ns,
		   nsec_t took_ns)
{
	const uint32_t step = bin_step(grid, at_ns);

	bin_add(&row->count, step, 1);
	bin_add(&row->took, step, took_ns > 0 ? took_ns : 0);
	bin_raise(&row->longest, step, took_ns);
}

/* Count a row: the start, the duration, further sums, and an id. */
static void count_row(const struct bin_table *table, struct bin_row *row,
		      const struct cell *value)
{
	const struct bin_source *source = table->source;
	const int64_t took_ns = integer_of(&value[1]);
	const uint32_t step = bin_step(table->grid, integer_of(&value[0]));

	bin_add(&row->count, step, 1);
	if (source->united) {
		const nsec_t begin_ns = integer_of(&value[0]);
		const nsec_t end_ns = nsec_add(begin_ns, took_ns);

		bin_spread(&row->took, table->grid,
			   begin_ns > row->until_ns ? begin_ns : row->until_ns, end_ns);
		row->until_ns = end_ns > row->until_ns ? end_ns : row->until_ns;
		return;
	}
	bin_add(&row->took, step, took_ns > 0 ? took_ns : 0);
	if (bin_raise(&row->longest, step, took_ns) && source == sources)
		bin_set(&row->longest_id, step, integer_of(&value[2 + source->sums]));
	if (!source->is_coarse)
		*MEM_NEXT(row->value, row->values, row->value_capacity) =
		    step << 12 | bucket_of(took_ns);
	for (size_t i = 0; i < source->sums; i++)
		if (integer_of(&value[2 + i]) > 0)
			bin_add(&row->sum[i], step, integer_of(&value[2 + i]));
}

/* A request or message of a node that was not selected is left out. */
static int add_row(void *context, const struct cell *cell, struct error *error)
{
	struct bin_table *table = context;
	const struct bin_source *source = table->source;
	const struct cell *key = &cell[source->selects];
	bool selected = source->nodes + source->selects == 0;

	(void)error;
	for (size_t i = 0; i < source->nodes + source->selects; i++)
		selected |= scope_has_node(table->scope, integer_of(&cell[i]));
	if (selected)
		count_row(table, row_of(table, key), &key[source->keys]);
	return 0;
}

/* The keys of such tables are those of the groups, of selected nodes. Leave out messages
 * of a node to itself, and spans without a duration. */
static int add_group_row(void *context, size_t group, const struct cell *cell,
			 struct error *error)
{
	struct bin_table *table = context;
	const struct bin_source *source = table->source;
	const struct cell *value = &cell[source->keys];

	(void)error;
	if (value[1].type == CELL_NULL ||
	    (source->nodes == 2 &&
	     (cell[0].type != CELL_INTEGER || cell[1].type != CELL_INTEGER ||
	      cell[0].integer == cell[1].integer)))
		return 0;
	while (table->groups <= group)
		*MEM_NEXT(table->of_group, table->groups, table->group_capacity) = 0;
	if (!table->of_group[group])
		table->of_group[group] = (size_t)(row_of(table, cell) - table->row) + 1;
	count_row(table, &table->row[table->of_group[group] - 1], value);
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

struct bin_tables *bin_tables_new(const struct bin_grid *grid, const struct scope *scope)
{
	struct bin_tables *tables = mem_zalloc(sizeof(*tables));

	tables->grid = grid;
	for (size_t i = 0; i < SOURCES; i++)
		tables->table[i] = (struct bin_table){
		    .source = &sources[i], .grid = grid, .scope = scope};
	return tables;
}

static struct bin_table *find_table(struct bin_tables *tables, const char *name)
{
	struct bin_table *table = tables->table;

	while (strcmp(table->source->name, name) != 0)
		table++;
	return table;
}

/* Return the SQL of a table, or NULL with error. The caller frees it. */
static char *table_sql(const struct bin_source *source, const struct query *query,
		       struct error *error)
{
	const struct analysis *io;

	if (!strstr(source->sql, "disk_name"))
		return mem_strdup(source->sql);
	io = catalog_find(query->request->catalog, "io", error);
	return io ? mem_printf("WITH disk_name AS MATERIALIZED (%s) %s",
			       query_file_sql(io->own, "disk_name"), source->sql)
		  : NULL;
}

struct group_listener bin_tables_listener(struct bin_tables *tables, const char *name)
{
	struct bin_table *table = find_table(tables, name);

	return (struct group_listener){"summed", table->source->summed, add_group_row,
				       table};
}

void bin_tables_sort(struct bin_tables *tables, const char *name)
{
	struct bin_table *table = find_table(tables, name);

	for (size_t i = 0; i < table->rows; i++) {
		struct bin_row *row = &table->row[i];

		SORT(row->value, row->values, compare_values);
	}
}

int bin_tables_read_one(struct bin_tables *tables, const char *name, struct query *query,
			struct error *error)
{
	struct bin_table *table = find_table(tables, name);
	int64_t id[2];
	int status = scope_message_ids(&query->scope, query->reader, id, error);
	const struct cell span[] = {cell_of_integer(tables->grid->begin_ns),
				    cell_of_integer(tables->grid->end_ns),
				    cell_of_integer(id[0]), cell_of_integer(id[1])};
	AUTOFREE char *sql = table_sql(table->source, query, error);

	status = !status && sql
		     ? query_each(query->reader, sql, span, add_row, table, error)
		     : -1;
	bin_tables_sort(tables, name);
	return status;
}

int bin_tables_read(struct bin_tables *tables, struct query *query, bool only_kept,
		    struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < SOURCES && !status; i++)
		if (sources[i].sql && strcmp(sources[i].name, "periods") != 0 &&
		    !(only_kept && sources[i].is_coarse))
			status =
			    bin_tables_read_one(tables, sources[i].name, query, error);
	return status;
}

struct bin_row *bin_tables_row(struct bin_tables *tables, const char *name,
			       const struct cell *key)
{
	return row_of(find_table(tables, name), key);
}

void bin_tables_add(struct bin_tables *tables, const char *name,
		    const struct result_table *rows)
{
	struct bin_table *table = find_table(tables, name);
	const size_t keys = table->source->keys;
	struct cell cell[KEYS_MOST + 2 + SUMS_MOST];

	for (size_t i = 0; i < rows->rows; i++) {
		const struct cell *row = &rows->cell[i * rows->columns];

		memcpy(cell, &row[1], keys * sizeof(*cell));
		cell[keys] = row[0];
		cell[keys + 1] = cell_of_integer(0);
		memcpy(&cell[keys + 2], &row[1 + keys],
		       table->source->sums * sizeof(*cell));
		add_row(table, cell, NULL);
	}
}

/* Write a number in digits: each `most` says that the next one adds to it. The flag is of
 * the last. */
static void add_digits(struct bytes *text, uint32_t number, uint32_t flag, uint32_t most)
{
	for (; number >= most; number -= most)
		bytes_add(text, &bin_digits[most], 1);
	bytes_add(text, &bin_digits[number + flag], 1);
}

static uint32_t lowest_bucket(const struct bin_row *row, uint32_t fine)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < row->values; i++)
		least = (row->value[i] & 4095) < least ? row->value[i] & 4095 : least;
	return row->values ? least / (FINEST / fine) : 0;
}

enum { AGAIN = 32, MANY = 32, MOST = 31 };

/* Write the digits that lead from the next step to another one, which may also be the
 * one before it. */
static void add_skip(struct bytes *text, uint32_t next, uint32_t step)
{
	if (step < next)
		bytes_add(text, &bin_digits[AGAIN], 1);
	for (uint32_t skip; next < step; next += skip) {
		skip = step - next < MOST ? step - next : MOST;
		bytes_add(text, &bin_digits[AGAIN + skip], 1);
	}
}

/*
 * Write the histograms of durations, with `fine` buckets per octave: the lowest bucket in
 * two digits, then digits below AGAIN: how many buckets of the next step follow. AGAIN
 * says that these are more of the same step; a digit above it skips steps. A bucket is
 * its distance from the one before it, and with MANY added the digits after it say how
 * many values more than two it has.
 */
static void add_histogram(struct bytes *text, const struct bin_row *row, uint32_t fine)
{
	const uint32_t base = lowest_bucket(row, fine);
	uint32_t next = 0;

	if (row->values)
		add_number(text, base);
	for (size_t i = 0; i < row->values;) {
		const uint32_t step = row->value[i] >> 12;
		uint32_t from = base, buckets = 0;
		size_t head;

		add_skip(text, next, step);
		head = text->size;
		bytes_add(text, bin_digits, 1);
		for (; i < row->values && row->value[i] >> 12 == step && buckets < MOST;
		     buckets++) {
			const uint32_t bucket = (row->value[i] & 4095) / (FINEST / fine);
			uint32_t count = 0;

			for (; i < row->values && row->value[i] >> 12 == step &&
			       (row->value[i] & 4095) / (FINEST / fine) == bucket;
			     i++)
				count++;
			add_digits(text, bucket - from, count > 1 ? MANY : 0, MOST);
			if (count > 1)
				add_digits(text, count - 2, 0, 63);
			from = bucket;
		}
		text->data[head] = (uint8_t)bin_digits[buckets];
		next = step + 1;
	}
}

static void add_series(FILE *page, const struct bin_series *series, bool raised)
{
	AUTOFREE char *text = bin_text(series, raised);

	fprintf(page, ",\"%s\"", text);
}

static void write_key(const struct scope *scope, FILE *page, const struct cell *key,
		      bool is_node)
{
	if (is_node)
		fprintf(page, "%d",
			scope_has_node(scope, key->integer)
			    ? (int)scope_place(scope, key->integer)
			    : -1);
	else if (key->type == CELL_INTEGER)
		fprintf(page, "%" PRId64, key->integer);
	else
		html_json(page, key->type == CELL_TEXT ? key->bytes : "");
}

/* Return a row without its histogram. The caller frees it. */
static char *row_text(const struct scope *scope, const struct bin_table *table,
		      const struct bin_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *page = mem_stream(&text, &size);

	for (size_t i = 0; i < table->source->keys; i++) {
		fputc(i ? ',' : '[', page);
		write_key(scope, page, &row->key[i], i < table->source->nodes);
	}
	add_series(page, &row->count, false);
	add_series(page, &row->took, false);
	add_series(page, &row->longest, true);
	for (size_t i = 0; i < table->source->sums; i++)
		add_series(page, &row->sum[i], false);
	fclose(page);
	return text;
}

/* A row as it is written, and by what it is kept if there are too many. */
struct written_row {
	char *text;
	int64_t weight;
	size_t place, histogram_end;
	bool is_kept;
};

static int64_t sum_of(const struct bin_series *series)
{
	int64_t sum = 0;

	for (size_t i = 0; i < series->count; i++)
		sum = nsec_add(sum, series->item[i].value);
	return sum;
}

static int compare_weights(const void *a, const void *b)
{
	const struct written_row *x = a, *y = b;

	return COMPARE(y->weight, x->weight) ?: COMPARE(x->place, y->place);
}

static int compare_places(const void *a, const void *b)
{
	const struct written_row *x = a, *y = b;

	return COMPARE(x->place, y->place);
}

/* Return all rows, and mark the ones with the longest total that fit into the page. */
static struct written_row *choose_rows(const struct bin_table *table,
				       const struct scope *scope)
{
	struct written_row *row = mem_zalloc((table->rows + 1) * sizeof(*row));
	size_t size = 0;

	for (size_t i = 0; i < table->rows; i++)
		row[i] =
		    (struct written_row){.text = row_text(scope, table, &table->row[i]),
					 .weight = nsec_add(sum_of(&table->row[i].took),
							    sum_of(&table->row[i].count)),
					 .place = i};
	SORT(row, table->rows, compare_weights);
	for (size_t i = 0; i < table->rows; i++) {
		row[i].is_kept = size < table->source->size;
		size += strlen(row[i].text);
	}
	SORT(row, table->rows, compare_places);
	return row;
}

/* Write the histograms of all rows as fine as they fit, and set where each one ends.
 * Return the buckets per octave, or 0 if they do not fit: then there are no percentiles.
 */
static uint32_t write_histograms(struct bytes *text, struct written_row *row,
				 const struct bin_table *table)
{
	const size_t most = table->source->histograms;

	for (uint32_t fine = FINEST; fine >= 2; fine /= 2) {
		text->size = 0;
		for (size_t i = 0; i < table->rows && text->size < most; i++) {
			if (row[i].is_kept)
				add_histogram(text, &table->row[i], fine);
			row[i].histogram_end = text->size;
		}
		if (text->size < most)
			return fine;
	}
	text->size = 0;
	for (size_t i = 0; i < table->rows; i++)
		row[i].histogram_end = 0;
	return 0;
}

static void write_table(const struct bin_table *table, const struct scope *scope,
			FILE *page)
{
	struct written_row *row = choose_rows(table, scope);
	struct bytes text = {0};
	const uint32_t fine =
	    table->source->is_coarse ? 0 : write_histograms(&text, row, table);
	size_t kept = 0, begin = 0;

	fprintf(page, "\"%s\":{\"fine\":%u,\"rows\":[", table->source->name, fine);
	for (size_t i = 0; i < table->rows; i++) {
		if (row[i].is_kept)
			fprintf(page, "%s%s,\"%.*s\"]", kept++ ? ",\n" : "", row[i].text,
				(int)(row[i].histogram_end - begin),
				row[i].histogram_end > begin
				    ? (const char *)text.data + begin
				    : "");
		begin = row[i].histogram_end;
		free(row[i].text);
	}
	fprintf(page, "],\"left\":%zu}", table->rows - kept);
	bytes_clear(&text);
	free(row);
}

void bin_tables_write(const struct bin_tables *tables, const struct scope *scope,
		      FILE *page)
{
	for (size_t i = 0; i < SOURCES; i++) {
		fputs(i ? ",\n" : "", page);
		write_table(&tables->table[i], scope, page);
	}
}

int64_t bin_value(const struct bin_series *series, uint32_t step)
{
	size_t at = PARTITION_POINT(series->count, i, series->item[i].step < step);

	return at < series->count && series->item[at].step == step
		   ? series->item[at].value
		   : 0;
}

/* Add the nonempty steps of a row: key, step, count, total and longest duration, all
 * sums, and the id of the longest. */
static void add_steps(struct timeline_rows *rows, const struct bin_source *source,
		      const struct bin_row *row)
{
	struct cell cell[9 + SUMS_MOST];

	cell[0] = cell_of_text(source->name);
	for (size_t i = 0; i < KEYS_KEPT; i++)
		cell[1 + i] = i < source->keys ? row->key[i] : cell_of_null();
	for (size_t k = 0; k < row->took.count; k++) {
		const uint32_t step = row->took.item[k].step;

		cell[4] = cell_of_integer(step);
		cell[5] = cell_of_integer(bin_value(&row->count, step));
		cell[6] = cell_of_integer(row->took.item[k].value);
		cell[7] = cell_of_integer(bin_value(&row->longest, step));
		for (size_t i = 0; i < SUMS_MOST; i++)
			cell[8 + i] = cell_of_integer(bin_value(&row->sum[i], step));
		cell[8 + SUMS_MOST] = cell_of_integer(bin_value(&row->longest_id, step));
		timeline_rows_add(rows, cell);
	}
}

int bin_tables_keep(const struct bin_tables *tables, struct timeline_reader *reader,
		    struct error *error)
{
	struct timeline_rows *rows =
	    timeline_rows_begin(reader,
				"page_bin (kind, a, b, c, step, count, took_ns, most_ns, "
				"first_sum, there_ns, "
				"queue_ns, ran_ns, ready_ns, disk_ns, node_ns, other_ns, "
				"unknown_ns, back_ns, "
				"longest_id)",
				9 + SUMS_MOST, error);

	for (size_t i = 0; i < SOURCES && !sources[i].is_coarse; i++)
		for (size_t k = 0; k < tables->table[i].rows; k++)
			add_steps(rows, &sources[i], &tables->table[i].row[k]);
	return timeline_rows_end(rows);
}

void bin_tables_each(const struct bin_tables *tables, bin_duration_fn *add, void *context)
{
	for (size_t i = 0; i < SOURCES && !sources[i].is_coarse; i++)
		for (size_t k = 0; k < tables->table[i].rows; k++) {
			const struct bin_row *row = &tables->table[i].row[k];

			for (size_t n = 0; n < row->values; n++)
				add(context, sources[i].name, row->key,
				    row->value[n] >> 12, row->value[n] & 4095);
		}
}

double bin_bucket_ns(uint32_t bucket)
{
	return exp2((bucket + 0.5) / FINEST);
}

static void clear_row(struct bin_row *row)
{
	for (size_t i = 0; i < KEYS_MOST; i++)
		if (row->key[i].type == CELL_TEXT)
			free((char *)row->key[i].bytes);
	bin_clear(&row->count);
	bin_clear(&row->took);
	bin_clear(&row->longest);
	bin_clear(&row->longest_id);
	for (size_t i = 0; i < SUMS_MOST; i++)
		bin_clear(&row->sum[i]);
	free(row->value);
}

void bin_tables_free(struct bin_tables *tables)
{
	for (size_t i = 0; tables && i < SOURCES; i++) {
		for (size_t k = 0; k < tables->table[i].rows; k++)
			clear_row(&tables->table[i].row[k]);
		free(tables->table[i].row);
		texts_clear(&tables->table[i].keys);
		bytes_clear(&tables->table[i].key);
		free(tables->table[i].of_group);
	}
	free(tables);
}
