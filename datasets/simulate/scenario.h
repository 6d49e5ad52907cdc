/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SCENARIO_H
#define CT_SIMULATE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * What is to be simulated: a text of lines "KEY VALUE" and "# comment", and a
 * few keys with more words ("step NODE SECOND MS"). All of a scenario stands
 * in this struct; what can be said stands in one table, scenario_keys.c.
 */
enum scenario_topology {
	TOPOLOGY_RING,
	TOPOLOGY_STAR,
	TOPOLOGY_MESH,
	TOPOLOGY_CHAIN,
	TOPOLOGY_ISLANDS,
	TOPOLOGY_CLIENTS,
	TOPOLOGY_RANDOM,
	TOPOLOGY_LISTED,
};

enum scenario_pattern { PATTERN_REQUEST, PATTERN_ONEWAY, PATTERN_BOTH };

enum scenario_protocol { PROTOCOL_TCP, PROTOCOL_UDP, PROTOCOL_ICMP, PROTOCOL_MIXED };

enum scenario_family { FAMILY_4, FAMILY_6, FAMILY_MIXED };

enum scenario_spread { SPREAD_FIXED, SPREAD_UNIFORM, SPREAD_EXPONENTIAL };
enum scenario_load { LOADED_BOTH, LOADED_ONE, LOADED_EACH };

enum scenario_layers {
	LAYERS_NONE,
	LAYERS_BOND,
	LAYERS_BRIDGE,
	LAYERS_VLAN,
	LAYERS_ROUTED, /* every node's peers are in containers, which it routes */
	LAYERS_MIXED,  /* those of every other node */
	LAYERS_VXLAN,  /* in containers that are bridged by a tunnel */
	LAYERS_ECHO,   /* a hub gives back what it gets */
};

enum scenario_activity { ACTIVITY_NET, ACTIVITY_FULL };

enum scenario_false { FALSE_BOTH, FALSE_ONE };

/* One that some nodes have otherwise than the rest. */
struct scenario_clock {
	double offset_s, drift_ppm, drift_change_ppb, slew_ms, slew_period_s;
	double slew_phase, wander_ppm, uptime_s;
};

/* A line with more than one value: nodes from 1 up, then numbers in the line's units. */
struct scenario_line {
	int node[2];
	const struct scenario_key *key; /* "node": a clock's */
	double value[3];
	uint8_t nodes, values;
};

struct scenario_lines {
	struct scenario_line *item;
	size_t count, capacity;
};

enum scenario_form {
	SCENARIO_NODE,
	SCENARIO_STEP,
	SCENARIO_SLEW,
	SCENARIO_PAIR,
	SCENARIO_IDLE,
	SCENARIO_TRACE,
	SCENARIO_FORMS
};

struct scenario {
	struct scenario_clock clock; /* drawn from up to these, either sign */
	char *name, *summary;
	int nodes, cpus;
	double seconds, begin_s;

	int trace_steps;

	double delay_us, delay_spread, jitter_us, asymmetry;
	int jitter; /* enum scenario_spread */
	double load_us, load_on_s, load_off_s;
	int load_direction; /* enum scenario_load */
	double loss, duplicate, reorder, reorder_us, bandwidth_mbit, rto_ms;
	int mtu, layers, nat;
	int gso, gro;
	double coalesce_us;

	int topology, islands, lone, servers, pairs;
	int pattern, protocol, family, interval;
	double interval_ms, request_bytes, reply_bytes, service_us, timeout_ms;
	double active_from_s, active_to_s, burst_on_ms, burst_off_ms;

	double messages, events; /* at most so many are written; 0: all */
	double false_matches;
	int false_direction;
	int promiscuous;
	double captured_twice, card_s;

	int activity, workers;
	int event_header; /* enum sim_event_header */
	double sample_s, spawn_ms;

	struct scenario_lines lines[SCENARIO_FORMS]; /* in order given */
};

void scenario_init(struct scenario *scenario); /* with all defaults */
void scenario_clear(struct scenario *scenario);

/*
 * Take one line, "KEY VALUE..." or "KEY=VALUE...". 0, or -1 with error; later
 * lines stand above earlier ones.
 */
int scenario_set(struct scenario *scenario, const char *line, struct error *error);

/* Take a whole text; errors are placed "NAME:LINE: ...". */
int scenario_parse(struct scenario *scenario, const char *name, const char *text,
		   struct error *error);

/* What the lines say together. 0, or -1 with error. */
int scenario_check(const struct scenario *scenario, struct error *error);

/* The named scenarios that come with the program; name is NULL behind the last. */
struct scenario_entry {
	const char *name, *text;
};
extern const struct scenario_entry scenario_library[];

/* Take a named scenario, or a file where the word is a path. 0, or -1 with error. */
int scenario_load(struct scenario *scenario, const char *word, struct error *error);

/* One line a key: what it is called, its default and what it means. */
void scenario_print_keys(FILE *file);

/* KEY_CLOCK: a number that may be a single node's, "node 2 drift_ppm -60". */
enum scenario_kind { KEY_INT, KEY_REAL, KEY_WORD, KEY_CLOCK };

/* A key with one value. */
struct scenario_key {
	const char *name;
	enum scenario_kind kind;
	size_t
	    offset; /* in struct scenario; of KEY_CLOCK in struct scenario_clock, too */
	double least, most, preset;
	const char *const *words; /* of KEY_WORD, which is an int: NULL behind the last */
	const char *help;
};

/* All keys; name is NULL behind the last. */
extern const struct scenario_key scenario_keys[];

/* Set what the scenario says of this node's clock alone. */
void scenario_own_clock(const struct scenario *scenario, int node,
			struct scenario_clock *clock);

double scenario_key_load(const struct scenario_key *key, const struct scenario *scenario);

/* A key's value as a word of its own; NULL: it is a number. */
const char *scenario_key_word(const struct scenario_key *key, double value);

#endif
