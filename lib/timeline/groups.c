/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/query.h"

/* The values of one group. */
struct quantile_values {
	double *value, share;
	size_t count, capacity;
};

static void swap(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/* Move the value of that rank to its place: what is before it is not greater, what is
 * behind it not less (Hoare 1961). */
static void place_rank(double *value, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double middle = value[low + (high - low) / 2];
		size_t i = low, k = high;

		for (;;) {
			while (value[i] < middle)
				i++;
			while (value[k] > middle)
				k--;
			if (i >= k)
				break;
			swap(&value[i++], &value[k--]);
		}
		/* Up to k nothing is greater, and from k + 1 on nothing less. */
		if (rank <= k)
			high = k;
		else
			low = k + 1;
	}
}

/*
 * The quantile of some values, which are put in another order: linear interpolation
 * between order statistics (type 7 of Hyndman, Fan 1996). No value is a NaN; there is one
 * at least.
 */
static double quantile_of(double *value, size_t count, double share)
{
	double at = share * (double)(count - 1), below;
	size_t rank = (size_t)floor(at);
	double least;

	place_rank(value, count, rank);
	below = value[rank];
	if (rank + 1 >= count || at == floor(at))
		return below;
	least = value[rank + 1];
	for (size_t i = rank + 2; i < count; i++)
		least = value[i] < least ? value[i] : least;
	return below + (least - below) * (at - floor(at));
}

static void take_value(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct quantile_values *quantile =
	    sqlite3_aggregate_context(context, sizeof(*quantile));

	(void)count;
	if (!quantile || sqlite3_value_numeric_type(value[0]) == SQLITE_NULL)
		return;
	if (!quantile->count)
		quantile->share = sqlite3_value_double(value[1]);
	*MEM_NEXT(quantile->value, quantile->count, quantile->capacity) =
	    sqlite3_value_double(value[0]);
}

static void give_quantile(sqlite3_context *context)
{
	struct quantile_values *quantile = sqlite3_aggregate_context(context, 0);

	if (!quantile || !quantile->count) {
		sqlite3_result_null(context);
		return;
	}
	if (quantile->share >= 0 && quantile->share <= 1)
		sqlite3_result_double(
		    context,
		    quantile_of(quantile->value, quantile->count, quantile->share));
	else
		sqlite3_result_error(context, "quantile: want a share from 0 to 1", -1);
	free(quantile->value);
	quantile->value = NULL;
}

int quantile_define(sqlite3 *db)
{
	return sqlite3_create_function_v2(
	    db, "quantile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
	    NULL, NULL, take_value, give_quantile, NULL);
}

/* What is asked of a column, so that nothing else is kept. */
struct groups_want {
	bool sum, extremes, values;
};

/* Of one column in one group; NULL does not count. */
struct group_sum {
	int64_t count, integer;
	double real; /* of all, good where is_real */
	bool is_real, overflowed;
	struct cell least, greatest;
	double *value;
	size_t capacity;
};

struct group {
	int64_t rows;
	struct cell *key;
	struct group_sum *sum;
};

void groups_init(struct groups *groups, size_t keys, size_t columns,
		 const struct aggregate *aggregate, size_t aggregates)
{
	*groups = (struct groups){.keys = keys,
				  .columns = columns,
				  .aggregate = aggregate,
				  .aggregates = aggregates};
	groups->want = mem_zalloc((columns + 1) * sizeof(*groups->want));
	for (size_t i = 0; i < aggregates; i++) {
		struct groups_want *want = &groups->want[aggregate[i].column];

		switch (aggregate[i].kind) {
		case AGGREGATE_SUM:
		case AGGREGATE_AVG:
			want->sum = true;
			break;
		case AGGREGATE_MIN:
		case AGGREGATE_MAX:
			want->extremes = true;
			break;
		case AGGREGATE_QUANTILE:
			want->values = true;
			break;
		case AGGREGATE_ROWS:
		case AGGREGATE_COUNT:
			break;
		}
	}
}

static struct cell cell_copy(const struct cell *cell)
{
	struct cell copy = *cell;

	if (cell_has_bytes(cell))
		copy.bytes = mem_strndup(cell->size ? cell->bytes : "", cell->size);
	return copy;
}

static void cell_drop(struct cell *cell)
{
	if (cell_has_bytes(cell))
		free((char *)cell->bytes);
}

/* SQLite's order: NULL, numbers, texts, blobs. */
static int compare_cells(const struct cell *a, const struct cell *b)
{
	static const int rank[] = {[CELL_NULL] = 0,
				   [CELL_INTEGER] = 1,
				   [CELL_REAL] = 1,
				   [CELL_TEXT] = 2,
				   [CELL_BLOB] = 3};
	uint32_t size = a->size < b->size ? a->size : b->size;
	double x, y;
	int order;

	if (rank[a->type] != rank[b->type])
		return rank[a->type] < rank[b->type] ? -1 : 1;
	if (a->type == CELL_NULL)
		return 0;
	if (cell_has_bytes(a)) {
		order = size ? memcmp(a->bytes, b->bytes, size) : 0;
		return order ? order : (a->size > b->size) - (a->size < b->size);
	}
	if (a->type == CELL_INTEGER && b->type == CELL_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	x = a->type == CELL_INTEGER ? (double)a->integer : a->real;
	y = b->type == CELL_INTEGER ? (double)b->integer : b->real;
	return (x > y) - (x < y);
}

/* The keys of a row as bytes, by which groups are told apart. */
static void pack_keys(struct bytes *to, const struct cell *key, size_t keys)
{
	to->size = 0;
	for (size_t i = 0; i < keys; i++) {
		bytes_add_byte(to, (uint8_t)key[i].type);
		if (cell_has_bytes(&key[i])) {
			bytes_add(to, &key[i].size, sizeof(key[i].size));
			bytes_add(to, key[i].bytes, key[i].size);
		} else if (key[i].type != CELL_NULL) {
			bytes_add(to, &key[i].integer, sizeof(key[i].integer));
		}
	}
}

/* Rows often come by group. */
static struct group *find_group(struct groups *groups, const struct cell *row)
{
	struct bytes *keys = &groups->keys_now;
	const struct texts_entry *last =
	    groups->count ? &groups->texts.entry[groups->last] : NULL;
	struct group *group;

	pack_keys(keys, row, groups->keys);
	if (!last || last->size != keys->size ||
	    memcmp(last->text, keys->data, keys->size) != 0)
		groups->last =
		    texts_put_bytes(&groups->texts, (const char *)keys->data, keys->size);
	if (groups->last < groups->count)
		return &groups->group[groups->last];
	group = MEM_NEXT(groups->group, groups->count, groups->capacity);
	group->rows = 0;
	group->key = mem_zalloc((groups->keys + 1) * sizeof(*group->key));
	group->sum = mem_zalloc((groups->columns + 1) * sizeof(*group->sum));
	for (size_t i = 0; i < groups->keys; i++)
		group->key[i] = cell_copy(&row[i]);
	return group;
}

static void add_number(struct group_sum *sum, const struct cell *cell)
{
	if (cell->type == CELL_REAL)
		sum->is_real = true;
	else if (__builtin_add_overflow(sum->integer, cell->integer, &sum->integer))
		sum->overflowed = true;
	sum->real += cell->type == CELL_REAL ? cell->real : (double)cell->integer;
}

static void add_extremes(struct group_sum *sum, const struct cell *cell)
{
	if (!sum->count || compare_cells(cell, &sum->least) < 0) {
		cell_drop(&sum->least);
		sum->least = cell_copy(cell);
	}
	if (!sum->count || compare_cells(cell, &sum->greatest) > 0) {
		cell_drop(&sum->greatest);
		sum->greatest = cell_copy(cell);
	}
}

static void add_cell(struct group_sum *sum, const struct groups_want *want,
		     const struct cell *cell)
{
	if (want->sum)
		add_number(sum, cell);
	if (want->extremes)
		add_extremes(sum, cell);
	if (want->values) {
		sum->value = mem_grow(sum->value, (size_t)sum->count, &sum->capacity,
				      sizeof(*sum->value));
		sum->value[sum->count] =
		    cell->type == CELL_REAL ? cell->real : (double)cell->integer;
	}
	sum->count++;
}

/* Of keys a real number may equal an integer, and SQLite makes numbers of texts. */
static bool is_odd(const struct groups *groups, const struct cell *row)
{
	for (size_t i = 0; i < groups->keys; i++)
		if (row[i].type == CELL_REAL && row[i].real == floor(row[i].real))
			return true;
	for (size_t i = 0; i < groups->columns; i++)
		if ((groups->want[i].sum || groups->want[i].values) &&
		    cell_has_bytes(&row[groups->keys + i]))
			return true;
	return false;
}

int groups_take(void *context, const struct cell *row, struct error *error)
{
	struct groups *groups = context;
	struct group *group;

	groups->is_odd = is_odd(groups, row);
	if (groups->is_odd)
		return error_set(error, "a number that is no integer, or a text");
	group = find_group(groups, row);
	group->rows++;
	for (size_t i = 0; i < groups->columns; i++)
		if (row[groups->keys + i].type != CELL_NULL)
			add_cell(&group->sum[i], &groups->want[i],
				 &row[groups->keys + i]);
	return 0;
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct groups *groups = context;
	const struct cell *x = groups->group[*(const size_t *)a].key;
	const struct cell *y = groups->group[*(const size_t *)b].key;

	for (size_t i = 0; i < groups->keys; i++) {
		int order = compare_cells(&x[i], &y[i]);

		if (order)
			return order;
	}
	return 0;
}

void groups_sort(struct groups *groups)
{
	free(groups->order);
	groups->order = mem_alloc((groups->count + 1) * sizeof(*groups->order));
	for (size_t i = 0; i < groups->count; i++)
		groups->order[i] = i;
	qsort_r(groups->order, groups->count, sizeof(*groups->order), compare_groups,
		groups);
}

static int give_aggregate(const struct aggregate *aggregate, const struct group *group,
			  struct cell *cell, struct error *error)
{
	const struct group_sum *sum = &group->sum[aggregate->column];

	*cell = (struct cell){.type = CELL_NULL};
	if (aggregate->kind == AGGREGATE_ROWS)
		*cell = cell_of_integer(group->rows);
	else if (aggregate->kind == AGGREGATE_COUNT)
		*cell = cell_of_integer(sum->count);
	else if (!sum->count)
		return 0;
	else if (aggregate->kind == AGGREGATE_MIN)
		*cell = sum->least;
	else if (aggregate->kind == AGGREGATE_MAX)
		*cell = sum->greatest;
	else if (aggregate->kind == AGGREGATE_QUANTILE)
		*cell = cell_of_real(
		    quantile_of(sum->value, (size_t)sum->count, aggregate->share));
	else if (aggregate->kind == AGGREGATE_AVG)
		*cell = cell_of_real(
		    (sum->is_real || sum->overflowed ? sum->real : (double)sum->integer) /
		    (double)sum->count);
	else if (sum->is_real)
		*cell = cell_of_real(sum->real);
	else if (sum->overflowed)
		return error_set(error, "integer overflow");
	else
		*cell = cell_of_integer(sum->integer);
	return 0;
}

int groups_row(const struct groups *groups, size_t n, struct cell *row,
	       struct error *error)
{
	const struct group *group = &groups->group[groups->order[n]];

	memcpy(row, group->key, groups->keys * sizeof(*row));
	for (size_t i = 0; i < groups->aggregates; i++)
		if (give_aggregate(&groups->aggregate[i], group, &row[groups->keys + i],
				   error))
			return -1;
	return 0;
}

void groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->group[i];

		for (size_t k = 0; k < groups->keys; k++)
			cell_drop(&group->key[k]);
		for (size_t k = 0; k < groups->columns; k++) {
			cell_drop(&group->sum[k].least);
			cell_drop(&group->sum[k].greatest);
			free(group->sum[k].value);
		}
		free(group->key);
		free(group->sum);
	}
	free(groups->group);
	free(groups->order);
	free(groups->want);
	texts_clear(&groups->texts);
	bytes_clear(&groups->keys_now);
	*groups = (struct groups){.keys = 0};
}
