/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "simulate/writer.h"

#define AT(member) offsetof(struct scenario, member)
#define NUMBER(word, type, at, from, to, value, text)                                    \
	{                                                                                \
		.form = {word, NULL, (type) == KEY_INT, from, to}, .kind = type,         \
		.offset = at, .preset = value, .help = text                              \
	}
#define INT(key, from, to, value, text)                                                  \
	NUMBER(#key, KEY_INT, AT(key), from, to, value, text)
#define REAL(key, from, to, value, text)                                                 \
	NUMBER(#key, KEY_REAL, AT(key), from, to, value, text)
/* A clock's keys have the same offset in struct scenario, as `clock` is its first member.
 */
#define CLOCK(key, at, from, to, value, text)                                            \
	NUMBER(key, KEY_CLOCK, AT(clock.at), from, to, value, text)
#define WORD(key, value, text, words)                                                    \
	{                                                                                \
		.form = {#key, words, false, 0, 0}, .kind = KEY_WORD, .offset = AT(key), \
		.preset = value, .help = text                                            \
	}

_Static_assert(AT(clock) == 0, "the first member");

const struct scenario_key scenario_keys[] = {
    INT(nodes, 2, 1000, 2, "number of nodes"),
    INT(cpus, 1, 64, 2, "processors per node"),
    REAL(seconds, 1e-3, 1e7, 60, "duration of the run"),
    REAL(begin_s, 0, 4e9, 1767225600, "true time at the beginning, since the epoch"),

    CLOCK("offset_s", offset_s, -2e9, 2e9, 5, "clock against true time at the beginning"),
    CLOCK("uptime_s", uptime_s, 0, 1e8, 600, "CLOCK_MONOTONIC at the beginning"),
    CLOCK("drift_ppm", drift_ppm, -1e5, 1e5, 50,
	  "rate against true time at the beginning"),
    CLOCK("drift_change_ppb_s", drift_change_ppb, -1e5, 1e5, 0,
	  "change of the rate per second"),
    CLOCK("slew_ms", slew_ms, -1e6, 1e6, 0, "amplitude of a sine added to the clock"),
    CLOCK("slew_period_s", slew_period_s, 1e-3, 1e8, 3600, "period of the sine"),
    CLOCK("slew_phase", slew_phase, -1, 1, 1,
	  "phase of the sine at the beginning, in turns"),
    CLOCK("wander_ppm", wander_ppm, 0, 1e3, 0,
	  "random walk of the rate: its standard deviation after a minute"),
    WORD(trace_steps, 0, "whether steps affect the trace clock, or only CLOCK_REALTIME",
	 "no|yes"),
    REAL(claim_us, 0, 1e9, 0,
	 "bound that each node's clock daemon claims, truly; 0: there is no daemon"),

    REAL(delay_us, 0, 1e7, 100, "smallest one-way delay"),
    REAL(delay_spread, 0, 100, 0.5,
	 "a pair may have a delay_us larger by up to this share"),
    WORD(jitter, SPREAD_EXPONENTIAL, "distribution of the delay beyond that",
	 "fixed|uniform|exponential"),
    REAL(jitter_us, 0, 1e7, 200, "that delay: its value, its maximum, or its mean"),
    REAL(asymmetry, 1e-3, 1e3, 1,
	 "ratio of the delays towards the lower node to those towards the higher"),
    REAL(load_us, 0, 1e7, 0, "mean that load adds to the smallest delay while it lasts"),
    REAL(load_on_s, 1e-3, 1e7, 5, "mean duration of a load"),
    REAL(load_off_s, 1e-3, 1e7, 5, "mean time between loads"),
    WORD(load_direction, LOADED_BOTH,
	 "loads both directions of a pair at once, only the first, or each independently",
	 "both|one|each"),
    REAL(bandwidth_mbit, 0.01, 1e6, 1000, "of each pair and direction"),
    REAL(loss, 0, 0.9, 0, "share of packets lost"),
    REAL(duplicate, 0, 0.9, 0, "share of packets that arrive twice"),
    REAL(reorder, 0, 0.9, 0, "share of packets that are overtaken by later ones"),
    REAL(reorder_us, 0, 1e8, 1000, "how long those are delayed"),
    REAL(rto_ms, 1, 1e5, 200, "TCP retransmits what is unanswered for this long"),
    WORD(gso, 0, "senders pass large TCP segments to the network interface", "no|yes"),
    WORD(gro, 0, "receivers merge TCP packets that arrive together", "no|yes"),
    REAL(coalesce_us, 0, 1e6, 0,
	 "how long a network interface waits for more packets before it interrupts"),
    WORD(layers, LAYERS_NONE, "a second interface on which each packet is seen again",
	 "none|bond|bridge|vlan|routed|mixed|vxlan|echo"),
    INT(nat, 0, 999, 0,
	"number of nodes, from the first on, behind one translated address"),

    WORD(topology, TOPOLOGY_MESH, "which pairs of nodes talk",
	 "ring|star|mesh|chain|islands|clients|random|listed"),
    INT(islands, 1, 500, 2, "number of meshes (topology islands)"),
    INT(lone, 0, 999, 0, "number of nodes, up to the last, that talk to nobody"),
    INT(servers, 1, 999, 1,
	"number of nodes, from the first on, that serve the others (topology clients)"),
    INT(pairs, 1, 500000, 100,
	"number of pairs, which connect all nodes (topology random)"),
    WORD(pattern, PATTERN_REQUEST,
	 "requests and replies, one direction only, or both independently",
	 "request|oneway|both"),
    WORD(protocol, PROTOCOL_TCP, "", "tcp|udp|icmp|mixed"),
    WORD(family, FAMILY_4, "of IP", "4|6|mixed"),
    WORD(interval, SPREAD_EXPONENTIAL, "distribution of the time between requests",
	 "fixed|uniform|exponential"),
    REAL(interval_ms, 0.001, 1e9, 20, "its mean, from a reply to the next request"),
    REAL(request_bytes, 1, 1e9, 200, ""),
    REAL(reply_bytes, 1, 1e9, 200, ""),
    REAL(service_us, 0, 1e8, 100, "mean time that a server computes before it replies"),
    REAL(timeout_ms, 1, 1e6, 1000, "how long UDP and ICMP wait for a reply"),
    REAL(active_from_s, 0, 1e7, 0, "no request before this"),
    REAL(active_to_s, 0, 1e7, 1e7, "no request after this"),
    REAL(burst_on_ms, 0.001, 1e9, 1000,
	 "with burst_off_ms: requests are sent for this long"),
    REAL(burst_off_ms, 0, 1e9, 0, "and then none for this long"),

    REAL(messages, 0, 1e12, 0, "stop after this many messages (--messages); 0: no limit"),
    REAL(events, 0, 1e12, 0, "stop after this many events; 0: no limit"),
    REAL(false_matches, 0, 0.5, 0,
	 "share of messages received at the time of another one (--messages)"),
    WORD(false_direction, FALSE_BOTH, "both, or only towards the higher node",
	 "both|one"),
    WORD(promiscuous, 0, "captures also hold what other nodes receive (--captures)",
	 "no|yes"),
    REAL(captured_twice, 0, 1, 0,
	 "share of packets that captures hold twice (--captures)"),
    REAL(card_s, -2e9, 2e9, 0,
	 "received packets are stamped by a card's clock, this far ahead (--captures)"),
    WORD(card_free, 0, "that clock runs by itself, and is not kept at the system's",
	 "no|yes"),
    REAL(card_ppm, -500, 500, 0, "it is this fast if it runs by itself"),

    WORD(activity, ACTIVITY_NET,
	 "only network events, or also scheduler, interrupts, system calls and disk",
	 "net|full"),
    INT(workers, 0, 64, 2,
	"threads per node that compute and read the disk (activity full)"),
    REAL(sample_s, 0.1, 1e5, 1, "time between samples of sar (activity full)"),
    REAL(spawn_ms, 0, 1e9, 500,
	 "mean time between processes that a node starts (activity full); 0: none"),
    WORD(event_header, SIM_HEADER_FULL,
	 "time stamps of events have 64 bits, or 27 or 32 as in LTTng",
	 "full|compact|large"),
    {.help = NULL},
};

static void store_value(const struct scenario_key *key, void *base, double value)
{
	void *at = (char *)base + key->offset;

	if (key->kind == KEY_REAL || key->kind == KEY_CLOCK)
		*(double *)at = value;
	else
		*(int *)at = (int)value;
}

double scenario_key_load(const struct scenario_key *key, const struct scenario *scenario)
{
	const void *at = (const char *)scenario + key->offset;

	return key->kind == KEY_REAL || key->kind == KEY_CLOCK ? *(const double *)at
							       : *(const int *)at;
}

char *scenario_key_word(const struct scenario_key *key, double value)
{
	const char *word = key->form.words;

	for (int i = 0; word && i < (int)value; i++)
		word = strchr(word, '|') + 1;
	return word ? mem_strndup(word, strcspn(word, "|")) : NULL;
}

void scenario_init(struct scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	for (const struct scenario_key *key = scenario_keys; key->form.name; key++)
		store_value(key, scenario, key->preset);
}

void scenario_clear(struct scenario *scenario)
{
	free(scenario->name);
	free(scenario->summary);
	for (int i = 0; i < SCENARIO_FORMS; i++)
		free(scenario->lines[i].item);
	memset(scenario, 0, sizeof(*scenario));
}

static const struct scenario_key *find_key(const char *name)
{
	for (const struct scenario_key *key = scenario_keys; key->form.name; key++)
		if (strcmp(key->form.name, name) == 0)
			return key;
	return NULL;
}

/*
 * Keys with more than one value: of a node, a clock's key and its value; of seconds, of
 * milliseconds, of parts in a million, of an interval in milliseconds. Times of a
 * scenario are within some years, so that sums of them stay in range.
 */
static const struct form {
	const char *name, *types, *arguments, *help;
} forms[SCENARIO_FORMS] = {
    [SCENARIO_NODE] = {"node", "nkv", "NODE KEY VALUE",
		       "a key of the clock, for one node, exactly"},
    [SCENARIO_STEP] = {"step", "nsm", "NODE SECOND MS",
		       "the clock of the node steps, back if MS is negative"},
    [SCENARIO_SLEW] = {"slew", "nssp", "NODE FROM TO PPM",
		       "the clocks of the node run fast by PPM in these seconds"},
    [SCENARIO_PAIR] = {"pair", "nni", "A B MS",
		       "the pair talks, with this interval_ms; 0: it does not talk"},
    [SCENARIO_IDLE] = {"idle", "ss", "FROM TO", "no request in these seconds"},
    [SCENARIO_TRACE] = {"trace", "nss", "NODE FROM TO",
			"the node is traced only in these seconds"},
    [SCENARIO_DISK] = {"disk", "nssi", "NODE FROM TO TIMES",
		       "the disk of the node takes TIMES as long in these seconds"},
    [SCENARIO_SLOW] = {"slow", "nssi", "NODE FROM TO TIMES",
		       "threads of the node compute TIMES as long"},
    [SCENARIO_HOG] = {"hog", "nssi", "NODE FROM TO THREADS",
		      "THREADS more threads of the node compute without a pause"},
    [SCENARIO_LOCK] =
	{"lock", "nssi", "NODE FROM TO MS",
	 "a thread holds the lock of the node's servers for MS, again and again"},
    [SCENARIO_OFFLINE] = {"offline", "nssi", "NODE FROM TO CPUS",
			  "CPUS processors of the node are offline"},
    [SCENARIO_MEMORY] = {"memory", "nssi", "NODE FROM TO MIB",
			 "MIB more memory of the node is in use"},
    [SCENARIO_LOSE] = {"lose", "nnssi", "A B FROM TO SHARE",
		       "SHARE of the packets from A to B is lost"},
    [SCENARIO_DELAY] = {"delay", "nnssi", "A B FROM TO US",
			"packets from A to B take US longer"},
    [SCENARIO_LIE] =
	{"lie", "nssi", "NODE FROM TO US",
	 "the clock daemon of the node is wrong by US, and claims as before"},
};

enum { MOST_WORDS = 6 };

static int parse_argument(const char *name, char type, const char *word,
			  struct scenario_line *line, struct error *error)
{
	double most = type == 's' ? 1e8 : type == 'm' ? 1e11 : type == 'p' ? 1e5 : 1e9;
	struct value_form number = {name, NULL, false, -most, most};
	double value = 0;

	switch (type) {
	case 'n':
		number.is_whole = true;
		number.least = 1;
		number.most = 1000;
		if (value_parse(&number, word, &value, error))
			return -1;
		line->node[line->nodes++] = (int)value;
		return 0;
	case 'k':
		line->key = find_key(word);
		return line->key && line->key->kind == KEY_CLOCK
			   ? 0
			   : error_set(error, "node: '%s' is not a key of a clock", word);
	default:
		return value_parse(type == 'v' ? &line->key->form : &number, word,
				   &line->value[line->values++], error);
	}
}

static int check_line(enum scenario_form form, const struct scenario_line *line,
		      char **word, struct error *error)
{
	double interval = line->value[0];

	if (form == SCENARIO_PAIR && line->node[0] == line->node[1])
		return error_set(error, "pair: %d cannot talk to itself", line->node[0]);
	if (form == SCENARIO_PAIR && interval != 0 && !(interval >= 0.001))
		return error_set(
		    error,
		    "pair: invalid interval '%s' (expected 0, or 0.001 ms or more)",
		    word[2]);
	if ((form == SCENARIO_IDLE || form >= SCENARIO_TRACE || form == SCENARIO_SLEW) &&
	    line->value[0] >= line->value[1])
		return error_set(error, "%s: %s is not before %s", forms[form].name,
				 word[line->nodes], word[line->nodes + 1]);
	return 0;
}

static int set_form(struct scenario *scenario, enum scenario_form form, char **word,
		    struct error *error)
{
	struct scenario_lines *lines = &scenario->lines[form];
	struct scenario_line line = {0};

	for (size_t i = 0; forms[form].types[i]; i++)
		if (parse_argument(forms[form].name, forms[form].types[i], word[i], &line,
				   error))
			return -1;
	if (check_line(form, &line, word, error))
		return -1;
	lines->item = mem_grow(lines->item, lines->count, &lines->capacity, sizeof(line));
	lines->item[lines->count++] = line;
	return 0;
}

/* Cut a line into words at blanks, and at the first "=". Return their number. */
static size_t split_words(char *line, char **word)
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
	const struct scenario_key *key = find_key(word[0]);
	double value = 0;

	if (words > MOST_WORDS)
		return error_set(error, "%s: too many words (limit %d)", word[0],
				 MOST_WORDS);
	for (int i = 0; !key && i < SCENARIO_FORMS; i++)
		if (strcmp(forms[i].name, word[0]) == 0)
			return words == strlen(forms[i].types) + 1
				   ? set_form(scenario, (enum scenario_form)i, word + 1,
					      error)
				   : error_set(error, "%s: expected %s", word[0],
					       forms[i].arguments);
	if (!key)
		return error_set(error, "unknown key '%s' (ctsim --keys lists them)",
				 word[0]);
	if (words != 2)
		return error_set(error, "%s: expected one value", word[0]);
	if (value_parse(&key->form, word[1], &value, error))
		return -1;
	store_value(key, scenario, value);
	return 0;
}

int scenario_set(struct scenario *scenario, const char *line, struct error *error)
{
	AUTOFREE char *copy = mem_strndup(line, strcspn(line, "#\n"));
	char *word[MOST_WORDS];
	size_t words = split_words(copy, word);

	return words ? set_words(scenario, word, words, error) : 0;
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

static int load_file(struct scenario *scenario, const char *path, struct error *error)
{
	FILE *file = fopen(path, "r");
	AUTOFREE char *text = mem_zalloc(MOST_BYTES + 1);
	const char *name = file_name(path);
	const char *suffix = strstr(name, ".scenario");
	bool is_read;
	size_t length;

	if (!file)
		return error_errno(error, path);
	output_protect(path);
	length = fread(text, 1, MOST_BYTES, file);
	is_read = !ferror(file);
	if (!is_read)
		error_errno(error, path);
	fclose(file);
	if (!is_read)
		return -1;
	if (length == MOST_BYTES || strlen(text) < length)
		return error_set(error, "%s: not a scenario (expected a short text file)",
				 path);
	free(scenario->name);
	scenario->name =
	    mem_strndup(name, suffix ? (size_t)(suffix - name) : strlen(name));
	return scenario_parse(scenario, path, text, error);
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
			 "unknown scenario '%s' (expected a name that ctsim --list "
			 "prints, or a file)",
			 word);
}

void scenario_print_keys(FILE *file)
{
	for (const struct scenario_key *key = scenario_keys; key->form.name; key++) {
		AUTOFREE char *word = scenario_key_word(key, key->preset);

		if (word)
			fprintf(file, "%-20s %-12s %s%s", key->form.name, word, key->help,
				*key->help ? ": " : "");
		else
			fprintf(file, "%-20s %-12.12g %s", key->form.name, key->preset,
				key->help);
		for (const char *at = key->form.words; at && *at; at++)
			fprintf(file, "%.*s", *at == '|' ? 2 : 1, *at == '|' ? ", " : at);
		putc('\n', file);
	}
	for (size_t i = 0; i < SCENARIO_FORMS; i++)
		fprintf(file, "%-4s %-28s %s\n", forms[i].name, forms[i].arguments,
			forms[i].help);
}

static int check_nodes(const struct scenario *scenario, struct error *error)
{
	int most = 0;

	for (int form = 0; form < SCENARIO_FORMS; form++)
		for (size_t i = 0; i < scenario->lines[form].count; i++)
			for (int k = 0; k < 2; k++)
				if (scenario->lines[form].item[i].node[k] > most)
					most = scenario->lines[form].item[i].node[k];
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
		return error_set(error, "lone: %d of %d nodes (2 must exchange messages)",
				 scenario->lone, scenario->nodes);
	if (scenario->topology == TOPOLOGY_ISLANDS && 2 * scenario->islands > talking)
		return error_set(error, "islands: %d for %d nodes (each needs 2 nodes)",
				 scenario->islands, talking);
	if (scenario->topology == TOPOLOGY_CLIENTS && scenario->servers >= talking)
		return error_set(
		    error, "servers: all %d nodes are servers (one must be a client)",
		    talking);
	if (scenario->topology == TOPOLOGY_RANDOM &&
	    (scenario->pairs < talking - 1 || scenario->pairs > all))
		return error_set(error, "pairs: %d nodes have %d to %.0f pairs, not %d",
				 talking, talking - 1, all, scenario->pairs);
	if (scenario->nat >= scenario->nodes)
		return error_set(error,
				 "nat: all nodes are translated (one must not be)");
	return 0;
}

double scenario_fault(const struct scenario *scenario, enum scenario_form form, int node,
		      int other, double second)
{
	const struct scenario_lines *lines = &scenario->lines[form];

	for (size_t i = 0; i < lines->count; i++) {
		const struct scenario_line *line = &lines->item[i];

		if (line->node[0] == node &&
		    (line->nodes < 2 || line->node[1] == other) &&
		    second >= line->value[0] && second < line->value[1])
			return line->value[2];
	}
	return 0;
}

void scenario_own_clock(const struct scenario *scenario, int node,
			struct scenario_clock *clock)
{
	const struct scenario_lines *own = &scenario->lines[SCENARIO_NODE];

	for (size_t i = 0; i < own->count; i++)
		if (own->item[i].node[0] == node)
			store_value(own->item[i].key, clock, own->item[i].value[0]);
}

/* The steepest slew of a node, without unit. No two of them may overlap. */
static int check_slews(const struct scenario *scenario, int node, double *steepest,
		       struct error *error)
{
	const struct scenario_lines *slew = &scenario->lines[SCENARIO_SLEW];

	*steepest = 0;
	for (size_t i = 0; i < slew->count; i++) {
		const struct scenario_line *one = &slew->item[i];

		if (one->node[0] != node)
			continue;
		*steepest = fmax(*steepest, fabs(one->value[2]) * 1e-6);
		for (size_t k = 0; k < i; k++) {
			const struct scenario_line *other = &slew->item[k];

			if (other->node[0] == node && other->value[0] < one->value[1] &&
			    one->value[0] < other->value[1])
				return error_set(
				    error, "slew: two of node %d overlap at %g s", node,
				    fmax(one->value[0], other->value[0]));
		}
	}
	return 0;
}

/* The steepest that a clock may run; local time must go forward. */
static int check_clocks(const struct scenario *scenario, struct error *error)
{
	for (int node = 1; node <= scenario->nodes; node++) {
		struct scenario_clock clock = scenario->clock;
		double rate, slew;

		if (check_slews(scenario, node, &slew, error))
			return -1;
		scenario_own_clock(scenario, node, &clock);
		rate = slew + fabs(clock.drift_ppm) * 1e-6 +
		       fabs(clock.drift_change_ppb) * 1e-9 * scenario->seconds +
		       fabs(clock.slew_ms) * 1e-3 * 6.2832 / clock.slew_period_s +
		       clock.wander_ppm * 1e-6 * 6 * sqrt(scenario->seconds / 60 + 1);
		if (rate > 0.25)
			return error_set(error,
					 "clocks may be off by %.0f ppm (limit 250000)",
					 rate * 1e6);
	}
	return 0;
}

/* Steps must not lead out of what 64 bits of nanoseconds hold. */
static int check_steps(const struct scenario *scenario, struct error *error)
{
	const struct scenario_lines *step = &scenario->lines[SCENARIO_STEP];
	double sum = 0;

	for (size_t i = 0; i < step->count; i++)
		sum += fabs(step->item[i].value[1]);
	if (sum > 1e12)
		return error_set(error, "step: %g ms in total (limit 1e12)", sum);
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
	return check_steps(scenario, error) ? -1 : check_clocks(scenario, error);
}
