/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"

enum { MOST_WORDS = 4 };

/* A clock's keys are those of the scenario. */
_Static_assert(offsetof(struct scenario, clock) == 0, "the first member");

void scenario_init(struct scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	for (const struct scenario_key *key = scenario_keys; key->name; key++)
		scenario_key_store(key, scenario, key->preset);
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

/* Keys with more than one value. */
static const struct {
	const char *name;
	size_t words;
	int (*set)(struct scenario *scenario, char **word, struct error *error);
	const char *arguments, *help;
} forms[] = {
    {"node", 4, set_node, "NODE KEY VALUE", "a clock key for one node, exactly"},
    {"step", 4, set_step, "NODE SECOND MS",
     "the node's clock steps, back where MS is negative"},
    {"pair", 4, set_pair, "A B MS",
     "the pair talks, with this interval_ms; 0: it does not"},
    {"idle", 3, set_idle, "FROM TO", "no request in these seconds"},
    {"trace", 4, set_trace, "NODE FROM TO", "the node is traced in these seconds only"},
};

enum { FORMS = sizeof(forms) / sizeof(*forms) };

static int set_form(struct scenario *scenario, char **word, size_t words,
		    struct error *error)
{
	for (size_t i = 0; i < FORMS; i++)
		if (strcmp(forms[i].name, word[0]) == 0)
			return words == forms[i].words
				   ? forms[i].set(scenario, word + 1, error)
				   : error_set(error, "%s: want %s", word[0],
					       forms[i].arguments);
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
	scenario_key_store(key, scenario, value);
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
	for (const struct scenario_key *key = scenario_keys; key->name; key++) {
		const char *word = scenario_key_word(key, key->preset);

		if (word)
			fprintf(file, "%-20s %-12s %s", key->name, word, key->help);
		else
			fprintf(file, "%-20s %-12.12g %s", key->name, key->preset,
				key->help);
		for (size_t w = 0; word && key->words[w]; w++)
			fprintf(file, "%s%s",
				w            ? ", "
				: *key->help ? ": "
					     : "",
				key->words[w]);
		putc('\n', file);
	}
	for (size_t i = 0; i < FORMS; i++)
		fprintf(file, "%-4s %-28s %s\n", forms[i].name, forms[i].arguments,
			forms[i].help);
}

static int check_nodes(const struct scenario *scenario, struct error *error)
{
	int most = 0;

	for (size_t i = 0; i < scenario->owns; i++)
		most = scenario->own[i].node > most ? scenario->own[i].node : most;
	for (size_t i = 0; i < scenario->steps; i++)
		most = scenario->step[i].node > most ? scenario->step[i].node : most;
	for (size_t i = 0; i < scenario->traces; i++)
		most = scenario->trace[i].node > most ? scenario->trace[i].node : most;
	for (size_t i = 0; i < scenario->pairs_listed; i++) {
		most = scenario->pair[i].a > most ? scenario->pair[i].a : most;
		most = scenario->pair[i].b > most ? scenario->pair[i].b : most;
	}
	if (most > scenario->nodes)
		return error_set(error, "node %d is named, but there are %d nodes", most,
				 scenario->nodes);
	return 0;
}

static int check_topology(const struct scenario *scenario, struct error *error)
{
	int talking = scenario->nodes - scenario->lone;
	double all = 0.5 * talking * (talking - 1);

	if (talking < 2)
		return error_set(error, "lone: %d of %d nodes, want 2 that talk",
				 scenario->lone, scenario->nodes);
	if (scenario->topology == TOPOLOGY_ISLANDS && 2 * scenario->islands > talking)
		return error_set(error, "islands: %d of %d nodes, want 2 nodes an island",
				 scenario->islands, talking);
	if (scenario->topology == TOPOLOGY_CLIENTS && scenario->servers >= talking)
		return error_set(error, "servers: all %d nodes serve, want a client",
				 talking);
	if (scenario->topology == TOPOLOGY_RANDOM &&
	    (scenario->pairs < talking - 1 || scenario->pairs > all))
		return error_set(error, "pairs: %d nodes have %d to %.0f pairs, not %d",
				 talking, talking - 1, all, scenario->pairs);
	if (scenario->nat >= scenario->nodes)
		return error_set(error, "nat: all nodes are translated, want one that "
					"is not");
	return 0;
}

/* The steepest that a clock may run; local time must go forward. */
static int check_clock(const struct scenario *scenario, struct error *error)
{
	struct scenario_clock clock = scenario->clock;
	double rate;

	for (size_t i = 0; i < scenario->owns; i++)
		if (fabs(scenario->own[i].value) >
			fabs(scenario_key_load(scenario->own[i].key, &clock)) &&
		    scenario->own[i].key->offset !=
			offsetof(struct scenario_clock, slew_period_s))
			scenario_key_store(scenario->own[i].key, &clock,
					   scenario->own[i].value);
	for (size_t i = 0; i < scenario->owns; i++)
		if (scenario->own[i].key->offset ==
			offsetof(struct scenario_clock, slew_period_s) &&
		    scenario->own[i].value < clock.slew_period_s)
			clock.slew_period_s = scenario->own[i].value;
	rate = fabs(clock.drift_ppm) * 1e-6 +
	       fabs(clock.drift_change_ppb) * 1e-9 * scenario->seconds +
	       fabs(clock.slew_ms) * 1e-3 * 6.2832 / clock.slew_period_s +
	       clock.wander_ppm * 1e-6 * 6 * sqrt(scenario->seconds / 60 + 1);
	if (rate > 0.25)
		return error_set(error,
				 "clocks may run wrong by %.0f ppm, want up to 250000",
				 rate * 1e6);
	return 0;
}

/* Steps must not lead out of what 64 bits of nanoseconds hold. */
static int check_steps(const struct scenario *scenario, struct error *error)
{
	double sum = 0;

	for (size_t i = 0; i < scenario->steps; i++)
		sum += fabs(scenario->step[i].amount_ms);
	if (sum > 1e12)
		return error_set(error, "step: %g ms in all, want up to 1e12", sum);
	return 0;
}

int scenario_check(const struct scenario *scenario, struct error *error)
{
	if (scenario->protocol == PROTOCOL_ICMP && scenario->pattern != PATTERN_REQUEST)
		return error_set(error, "pattern: icmp has requests and replies only");
	if (scenario->active_from_s >= scenario->active_to_s)
		return error_set(error, "active_from_s: %g is not before active_to_s %g",
				 scenario->active_from_s, scenario->active_to_s);
	if (check_nodes(scenario, error) || check_topology(scenario, error))
		return -1;
	return check_steps(scenario, error) ? -1 : check_clock(scenario, error);
}
