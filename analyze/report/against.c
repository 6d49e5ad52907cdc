/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

enum { SIDES = 2, KEYS = 4, LIMIT = 20 };

/* A change counts if it exceeds `deviations` of the noise and `least_share` of the larger
 * number; if it has a weight, it must also be 1 ms per second. */
static const double deviations = 4, least_share = 0.1, least_weight = 1e-3;
/* A fault in a part of one run makes its eighths differ. So the noise is taken from the
 * quieter side, times this, because eight values do not determine it exactly. */
static const double least_noise = 1.6;
/* A number without eighths must change by more. */
static const double least_share_alone = 0.5;

struct values {
	double *item;
	size_t count, capacity;
};

struct fact {
	char *key[KEYS]; /* kind, node, subject, measure, or NULL */
	enum unit unit;
	bool is_sum;
	double weight_ns[SIDES]; /* weight of a unit; 0: not weighed */
	struct values whole[SIDES], eighth[SIDES];
	double error_ns[SIDES]; /* bound of the clocks; NaN: no bound */
	double value[SIDES], noise, cost_ns;
};

struct side {
	size_t runs;
	char *path; /* file of the first run */
	nsec_t span_ns;
	struct texts kinds, places, measures; /* recorded; the others by kind */
};

struct against {
	struct side side[SIDES];
	struct texts keys;
	struct fact *fact;
	size_t count, capacity;
};

struct against *against_new(void)
{
	return mem_zalloc(sizeof(struct against));
}

static void add_value(struct values *values, double value)
{
	*MEM_NEXT(values->item, values->count, values->capacity) = value;
}

/* Return a key made from the strings of some cells. The caller frees it. */
static char *key_of(char *const *text, size_t count)
{
	struct bytes key = {0};

	for (size_t i = 0; i < count; i++)
		bytes_print(&key, "%s\n", text[i] ? text[i] : "");
	bytes_add_byte(&key, 0);
	return (char *)key.data;
}

static char *measure_of(const struct fact *fact)
{
	return mem_printf("%s\n%s", fact->key[0], fact->key[3]);
}

static struct fact *find_fact(struct against *against, const struct cell *row)
{
	char *text[KEYS];
	AUTOFREE char *key = NULL;
	struct fact *fact;
	size_t at;

	for (size_t i = 0; i < KEYS; i++)
		text[i] = row[i].type == CELL_TEXT ? cell_text(&row[i]) : NULL;
	key = key_of(text, KEYS);
	at = texts_put(&against->keys, key);
	if (at < against->count) {
		for (size_t i = 0; i < KEYS; i++)
			free(text[i]);
		return &against->fact[at];
	}
	fact = MEM_NEXT(against->fact, against->count, against->capacity);
	*fact = (struct fact){.unit = UNIT_NUMBER};
	memcpy(fact->key, text, sizeof(text));
	return fact;
}

/* Rows are kind, node, subject, measure, unit, eighth, value, weight_ns, is_sum,
 * error_ns. */
void against_add(struct against *against, const struct result_table *facts, int side,
		 const char *path, nsec_t span_ns)
{
	struct side *to = &against->side[side];

	if (!to->runs++) {
		to->path = mem_strdup(path);
		to->span_ns = span_ns;
	}
	for (size_t i = 0; i < facts->rows; i++) {
		const struct cell *row = &facts->cell[i * facts->columns];
		struct fact *fact = find_fact(against, row);
		AUTOFREE char *unit = cell_text(&row[4]), *place = key_of(fact->key, 2);
		AUTOFREE char *measure = measure_of(fact);
		const int found = unit_find(unit);

		texts_put(&to->kinds, fact->key[0]);
		texts_put(&to->places, place);
		texts_put(&to->measures, measure);
		fact->unit = found < 0 ? UNIT_NUMBER : (enum unit)found;
		fact->is_sum = cell_integer(&row[8], 0) != 0;
		fact->weight_ns[side] =
		    isfinite(cell_number(&row[7])) ? cell_number(&row[7]) : 0;
		fact->error_ns[side] = cell_number(&row[9]);
		if (isfinite(cell_number(&row[6])))
			add_value(cell_integer(&row[5], -1) < 0 ? &fact->whole[side]
								: &fact->eighth[side],
				  cell_number(&row[6]));
	}
}

static double mean_of(const struct values *values)
{
	double sum = 0;

	for (size_t i = 0; i < values->count; i++)
		sum += values->item[i];
	return sum / (double)values->count;
}

/* Return the standard deviation (n - 1), or NaN of fewer than `least` values. */
static double deviation_of(const struct values *values, size_t least)
{
	const double mean = mean_of(values);
	double sum = 0;

	if (values->count < least)
		return NAN;
	for (size_t i = 0; i < values->count; i++)
		sum += (values->item[i] - mean) * (values->item[i] - mean);
	return sqrt(sum / (double)(values->count - 1));
}

/* A sum without a row is 0 if others of its kind were recorded on the node, and its
 * measure elsewhere. Return true if the number is known on this side. */
static bool fill_side(struct against *against, struct fact *fact, int side)
{
	const struct side *of = &against->side[side];
	AUTOFREE char *place = key_of(fact->key, 2), *measure = measure_of(fact);

	if (fact->is_sum && texts_have(&of->places, place) &&
	    texts_have(&of->measures, measure)) {
		while (fact->whole[side].count < of->runs)
			add_value(&fact->whole[side], 0);
		while (fact->eighth[side].count < 4 && fact->eighth[!side].count >= 4)
			add_value(&fact->eighth[side], 0);
	}
	return fact->whole[side].count > 0;
}

/* Return true if a number changed by more than its noise. */
static bool compare_fact(struct against *against, struct fact *fact)
{
	const double error_ns = fact->error_ns[0] + fact->error_ns[1];
	const double weight_ns = fmax(fact->weight_ns[0], fact->weight_ns[1]);
	const double a = deviation_of(&fact->eighth[0], 4);
	const double b = deviation_of(&fact->eighth[1], 4);
	const bool is_alone = isnan(a) && isnan(b);
	const double least = is_alone ? least_share_alone : least_share;
	double noise = is_alone ? 0 : fmin(fmax(a, b), least_noise * fmin(a, b));
	double difference;

	for (int side = 0; side < SIDES; side++) {
		fact->value[side] = mean_of(&fact->whole[side]);
		noise = fmax(noise, deviation_of(&fact->whole[side], 2));
	}
	difference = fabs(fact->value[0] - fact->value[1]);
	fact->noise = noise;
	fact->cost_ns = weight_ns * difference;
	return difference > deviations * noise + error_ns &&
	       difference > least * fmax(fabs(fact->value[0]), fabs(fact->value[1])) &&
	       (weight_ns == 0 ||
		fact->cost_ns > least_weight * (double)against->side[0].span_ns);
}

static int compare_costs(const void *a, const void *b)
{
	const struct fact *const *x = a, *const *y = b;

	if ((*x)->cost_ns != (*y)->cost_ns)
		return (*x)->cost_ns > (*y)->cost_ns ? -1 : 1;
	for (size_t i = 0; i < KEYS; i++) {
		const int order = strcmp((*x)->key[i] ? (*x)->key[i] : "",
					 (*y)->key[i] ? (*y)->key[i] : "");

		if (order)
			return order;
	}
	return 0;
}

static void print_changes(struct fact *const *changed, size_t count,
			  struct result *result)
{
	static const struct result_column columns[] = {
	    {"kind", "WHAT", UNIT_TEXT},
	    {"node", "NODE", UNIT_TEXT},
	    {"subject", "OF", UNIT_TEXT},
	    {"measure", "MEASURE", UNIT_TEXT},
	    {"unit", "UNIT", UNIT_TEXT},
	    {"before", "BEFORE", UNIT_OF_ROW},
	    {"now", "NOW", UNIT_OF_ROW},
	    {"difference", "DIFFERENCE", UNIT_OF_ROW},
	    {"noise", "NOISE", UNIT_OF_ROW},
	    {"weight_ns", "WEIGHT", UNIT_SPAN},
	    {NULL, NULL, 0},
	};
	struct result_table *table =
	    result_table_new(result, "changes", "What changed", columns);

	table->is_optional = true;
	result_table_limit(table, LIMIT);
	for (size_t i = 0; i < count; i++) {
		const struct fact *fact = changed[i];

		result_add(table,
			   (const struct cell[]){
			       cell_of_text(fact->key[0]), cell_of_text(fact->key[1]),
			       cell_of_text(fact->key[2]), cell_of_text(fact->key[3]),
			       cell_of_text(unit_name(fact->unit)),
			       cell_of_real(fact->value[1]), cell_of_real(fact->value[0]),
			       cell_of_real(fact->value[0] - fact->value[1]),
			       fact->eighth[0].count + fact->eighth[1].count
				   ? cell_of_real(fact->noise)
				   : cell_of_null(),
			       fact->cost_ns > 0 ? cell_of_real(fact->cost_ns)
						 : cell_of_null()});
	}
}

/* Note what only one side has recorded: of the other side it is unknown. */
static void note_unknown(const struct against *against, struct result *result)
{
	for (int side = 0; side < SIDES; side++) {
		const struct side *of = &against->side[side],
				  *other = &against->side[!side];
		struct bytes kinds = {0};

		for (size_t i = 0; i < other->kinds.count; i++)
			if (!texts_have(&of->kinds, other->kinds.entry[i].text))
				bytes_print(&kinds, "%s%s", kinds.size ? ", " : "",
					    other->kinds.entry[i].text);
		bytes_add_byte(&kinds, 0);
		if (kinds.size > 1)
			result_note(result, "%s: not recorded in %s, so not compared",
				    (char *)kinds.data, of->path);
		bytes_clear(&kinds);
	}
}

void against_print(struct against *against, struct result *result)
{
	struct fact **changed = mem_zalloc((against->count + 1) * sizeof(struct fact *));
	size_t count = 0, same = 0;

	for (size_t i = 0; i < against->count; i++) {
		struct fact *fact = &against->fact[i];
		const bool is_new = fill_side(against, fact, 0);

		if (!fill_side(against, fact, 1) || !is_new)
			continue;
		if (compare_fact(against, fact))
			changed[count++] = fact;
		else
			same++;
	}
	qsort(changed, count, sizeof(struct fact *), compare_costs);
	print_changes(changed, count, result);
	if (!count && !same)
		result_note(result, "nothing was recorded that both have");
	else if (!count)
		result_note(result,
			    "nothing changed beyond the runs' own noise: %zu numbers "
			    "were compared",
			    same);
	else
		result_note(result, "%zu other numbers did not change beyond the noise",
			    same);
	note_unknown(against, result);
	if (against->side[0].runs == 1 && against->side[1].runs == 1 && count)
		result_note(result,
			    "one run of each: how much runs of one kind differ is "
			    "unknown; repeat --against, or give more runs");
	free(changed);
}

void against_free(struct against *against)
{
	for (int side = 0; side < SIDES; side++) {
		free(against->side[side].path);
		texts_clear(&against->side[side].kinds);
		texts_clear(&against->side[side].places);
		texts_clear(&against->side[side].measures);
	}
	for (size_t i = 0; i < against->count; i++) {
		struct fact *fact = &against->fact[i];

		for (size_t k = 0; k < KEYS; k++)
			free(fact->key[k]);
		for (int side = 0; side < SIDES; side++) {
			free(fact->whole[side].item);
			free(fact->eighth[side].item);
		}
	}
	texts_clear(&against->keys);
	free(against->fact);
	free(against);
}
