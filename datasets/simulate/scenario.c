/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/scenario_keys.h"

enum { MOST_WORDS = 4 };

void scenario_init(struct scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	for (const struct scenario_key *key = scenario_keys; key->name; key++)
		scenario_key_store(key,
				   key->of_clock ? (void *)&scenario->clock : scenario,
				   key->preset);
}

void scenario_clear(struct scenario *scenario)
{
	free(scenario->name);
	free(scenario->summary);
	free(scenario->own);
	free(scenario->step);
	free(scenario->pair);
	free(scenario->idle);
	free(scenario->trace);
	memset(scenario, 0, sizeof(*scenario));
}

/* Times of a scenario are within a century, so that sums of them stay in range. */
enum { MOST_SECONDS = 100000000 };

static int parse_number(const char *what, const char *word, double most, double *value,
			struct error *error)
{
	const struct scenario_key number = {
	    .name = what, .kind = KEY_REAL, .least = -most, .most = most};

	return scenario_key_parse(&number, word, value, error);
}

static int parse_seconds(const char *what, const char *word, double *value,
			 struct error *error)
{
	return parse_number(what, word, MOST_SECONDS, value, error);
}

static int parse_node(const char *what, const char *word, int *node, struct error *error)
{
	const struct scenario_key number = {
	    .name = what, .kind = KEY_INT, .least = 1, .most = 1000};
	double value = 0;

	if (scenario_key_parse(&number, word, &value, error))
		return -1;
	*node = (int)value;
	return 0;
}

static int set_node(struct scenario *scenario, char **word, struct error *error)
{
	struct scenario_node own = {.key = scenario_key_find(word[1], strlen(word[1]))};

	if (parse_node("node", word[0], &own.node, error))
		return -1;
	if (!own.key || !own.key->of_clock)
		return error_set(error, "node: '%s' is no key of a clock", word[1]);
	if (scenario_key_parse(own.key, word[2], &own.value, error))
		return -1;
	scenario->own =
	    mem_grow(scenario->own, scenario->owns, &scenario->own_room, sizeof(own));
	scenario->own[scenario->owns++] = own;
	return 0;
}

static int set_step(struct scenario *scenario, char **word, struct error *error)
{
	struct scenario_step step;

	if (parse_node("step", word[0], &step.node, error) ||
	    parse_seconds("step", word[1], &step.at_s, error) ||
	    parse_number("step", word[2], MOST_SECONDS * 1e3, &step.amount_ms, error))
		return -1;
	scenario->step =
	    mem_grow(scenario->step, scenario->steps, &scenario->step_room, sizeof(step));
	scenario->step[scenario->steps++] = step;
	return 0;
}

static int set_pair(struct scenario *scenario, char **word, struct error *error)
{
	struct scenario_pair pair;

	if (parse_node("pair", word[0], &pair.a, error) ||
	    parse_node("pair", word[1], &pair.b, error) ||
	    parse_number("pair", word[2], 1e9, &pair.interval_ms, error))
		return -1;
	if (pair.a == pair.b)
		return error_set(error, "pair: %d cannot talk to itself", pair.a);
	if (pair.interval_ms < 0 || (pair.interval_ms > 0 && pair.interval_ms < 0.001))
		return error_set(
		    error, "pair: '%s' is no interval, want 0 or 0.001 ms up", word[2]);
	scenario->pair = mem_grow(scenario->pair, scenario->pairs_listed,
				  &scenario->pair_room, sizeof(pair));
	scenario->pair[scenario->pairs_listed++] = pair;
	return 0;
}

static int parse_window(const char *what, char **word, struct scenario_window *window,
			struct error *error)
{
	if (parse_seconds(what, word[0], &window->from_s, error) ||
	    parse_seconds(what, word[1], &window->to_s, error))
		return -1;
	if (window->from_s >= window->to_s)
		return error_set(error, "%s: %s is not before %s", what, word[0],
				 word[1]);
	return 0;
}

static int set_idle(struct scenario *scenario, char **word, struct error *error)
{
	struct scenario_window window = {0};

	if (parse_window("idle", word, &window, error))
		return -1;
	scenario->idle = mem_grow(scenario->idle, scenario->idles, &scenario->idle_room,
				  sizeof(window));
	scenario->idle[scenario->idles++] = window;
	return 0;
}

static int set_trace(struct scenario *scenario, char **word, struct error *error)
{
	struct scenario_window window = {0};

	if (parse_node("trace", word[0], &window.node, error) ||
	    parse_window("trace", word + 1, &window, error))
		return -1;
	scenario->trace = mem_grow(scenario->trace, scenario->traces,
				   &scenario->trace_room, sizeof(window));
	scenario->trace[scenario->traces++] = window;
	return 0;
}

static int set_form(struct scenario *scenario, char **word, size_t words,
		    struct error *error)
{
	static const struct {
		const char *name;
		size_t words;
		int (*set)(struct scenario *scenario, char **word, struct error *error);
	} form[] = {{"node", 4, set_node},
		    {"step", 4, set_step},
		    {"pair", 4, set_pair},
		    {"idle", 3, set_idle},
		    {"trace", 4, set_trace}};

	for (size_t i = 0; i < sizeof(form) / sizeof(*form); i++) {
		if (strcmp(form[i].name, word[0]) != 0)
			continue;
		if (words == form[i].words)
			return form[i].set(scenario, word + 1, error);
		for (const struct scenario_form *row = scenario_forms; row->name; row++)
			if (strcmp(row->name, word[0]) == 0)
				return error_set(error, "%s: want %s", word[0],
						 row->arguments);
	}
	return error_set(error, "no key '%s' (ctsim --keys lists them)", word[0]);
}

/* Cut a line into words at blanks, and at the first "=". Returns how many. */
static size_t split(char *line, char **word)
{
	char *save = NULL, *equals = strpbrk(line, "= \t");
	size_t words = 0;

	if (equals && *equals == '=')
		*equals = ' ';
	for (char *at = strtok_r(line, " \t\r", &save); at;
	     at = strtok_r(NULL, " \t\r", &save)) {
		if (words < MOST_WORDS)
			word[words] = at;
		words++;
	}
	return words;
}

static int set_words(struct scenario *scenario, char **word, size_t words,
		     struct error *error)
{
	const struct scenario_key *key = scenario_key_find(word[0], strlen(word[0]));
	double value = 0;

	if (words > MOST_WORDS)
		return error_set(error, "%s: more than %d words", word[0], MOST_WORDS);
	if (!key)
		return set_form(scenario, word, words, error);
	if (words != 2)
		return error_set(error, "%s: want one value", word[0]);
	if (scenario_key_parse(key, word[1], &value, error))
		return -1;
	scenario_key_store(key, key->of_clock ? (void *)&scenario->clock : scenario,
			   value);
	return 0;
}

int scenario_set(struct scenario *scenario, const char *line, struct error *error)
{
	char *copy = mem_strndup(line, strcspn(line, "#\n"));
	char *word[MOST_WORDS];
	size_t words = split(copy, word);
	int status = words ? set_words(scenario, word, words, error) : 0;

	free(copy);
	return status;
}

int scenario_parse(struct scenario *scenario, const char *name, const char *text,
		   struct error *error)
{
	/* The first line says what it is: "# one line". */
	if (*text == '#') {
		size_t blank = 1 + strspn(text + 1, " \t");

		free(scenario->summary);
		scenario->summary =
		    mem_strndup(text + blank, strcspn(text + blank, "\r\n"));
	}
	for (size_t line = 1; *text; line++) {
		if (scenario_set(scenario, text, error))
			return error_prefix(error, "%s:%zu", name, line);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return 0;
}

bool scenario_describe(const struct scenario *scenario, size_t index,
		       struct scenario_value *value)
{
	const struct scenario_key *key = &scenario_keys[index];

	if (!key->name)
		return false;
	value->key = key->name;
	value->number = scenario_key_load(
	    key, key->of_clock ? (const void *)&scenario->clock : scenario);
	value->word = key->kind == KEY_WORD     ? key->words[(int)value->number]
		      : key->kind != KEY_SWITCH ? NULL
		      : value->number != 0      ? "yes"
						: "no";
	return true;
}
