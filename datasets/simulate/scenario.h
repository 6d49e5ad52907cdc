/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SCENARIO_H
#define CT_SIMULATE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"

/*
 * A scenario: lines "KEY VALUE" and "# comment", and some keys with more words ("step
 * NODE SECOND MS"). struct scenario holds a whole scenario; the table scenario_keys lists
 * the keys with one value.
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
	LAYERS_ROUTED, /* the endpoints are in containers, for which their node routes */
	LAYERS_MIXED,  /* the same on every other node */
	LAYERS_VXLAN,  /* in containers that a tunnel bridges */
	LAYERS_ECHO,   /* a hub sends each packet back to its sender as well */
};

enum scenario_activity { ACTIVITY_NET, ACTIVITY_FULL };

enum scenario_false { FALSE_BOTH, FALSE_ONE };

/* The keys that single nodes can set for themselves. */
struct scenario_clock {
	double offset_s, drift_ppm, drift_change_ppb, slew_ms, slew_period_s;
	double slew_phase, wander_ppm, uptime_s;
};

/* A line with more than one value: nodes from 1 up, then numbers in the line's units. */
struct scenario_line {
	int node[2];
	const struct scenario_key *key; /* in a line "node": a key of the clock */
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
	/* Faults, from the second in value[0] to that in value[1]; value[2] is how much.
	 */
	SCENARIO_DISK,
	SCENARIO_SLOW,
	SCENARIO_HOG,
	SCENARIO_LOCK,
	SCENARIO_OFFLINE,
	SCENARIO_MEMORY,
	SCENARIO_LOSE,
	SCENARIO_DELAY,
	SCENARIO_LIE, /* the clock's daemon claims a wrong time */
	SCENARIO_FORMS
};

struct scenario {
	struct scenario_clock clock; /* largest values, of either sign, to draw from */
	char *name, *summary;
	int nodes, cpus;
	double seconds, begin_s;

	int trace_steps;
	double claim_us;

	double delay_us, delay_spread, jitter_us, asymmetry;
	int jitter; /* enum scenario_spread */
	double load_us, load_on_s, load_off_s;
	int load_direction; /* enum scenario_load */
	double loss, duplicate, reorder, reorder_us, bandwidth_mbit, rto_ms;
	int layers, nat;
	int gso, gro;
	double coalesce_us;

	int topology, islands, lone, servers, pairs;
	int pattern, protocol, family, interval;
	double interval_ms, request_bytes, reply_bytes, service_us, timeout_ms;
	double active_from_s, active_to_s, burst_on_ms, burst_off_ms;

	double messages, events; /* the most to write; 0: no limit */
	double false_matches;
	int false_direction;
	int promiscuous;
	double captured_twice, card_s, card_ppm;
	int card_free;

	int activity, workers;
	int event_header; /* enum sim_event_header */
	double sample_s, spawn_ms;

	struct scenario_lines lines[SCENARIO_FORMS]; /* in the scenario's order */
};

void scenario_init(struct scenario *scenario); /* with all defaults */
void scenario_clear(struct scenario *scenario);

/*
 * Set what one line says, "KEY VALUE..." or "KEY=VALUE...". Later lines override earlier
 * ones. Return 0, or -1 with error.
 */
int scenario_set(struct scenario *scenario, const char *line, struct error *error);

/* Set all lines of a string. Errors begin with "NAME:LINE: ". Return 0, or -1 with error.
 */
int scenario_parse(struct scenario *scenario, const char *name, const char *text,
		   struct error *error);

/* Check that the values fit together. Return 0, or -1 with error. */
int scenario_check(const struct scenario *scenario, struct error *error);

/* The named scenarios of the program; the last entry's name is NULL. */
struct scenario_entry {
	const char *name, *text;
};
extern const struct scenario_entry scenario_library[];

/* Load a named scenario, or a file if `word` is a path. Return 0, or -1 with error. */
int scenario_load(struct scenario *scenario, const char *word, struct error *error);

/* Print a line for each key: name, default and meaning. */
void scenario_print_keys(FILE *file);

/* KEY_CLOCK: a number that a node can set for itself, "node 2 drift_ppm -60". */
enum scenario_kind { KEY_INT, KEY_REAL, KEY_WORD, KEY_CLOCK };

/* A key with one value. */
struct scenario_key {
	struct value_form form; /* its words if it is a KEY_WORD, which is an int */
	enum scenario_kind kind;
	size_t
	    offset; /* in struct scenario; KEY_CLOCK's is also that in scenario_clock */
	double preset;
	const char *help;
};

/* All keys; the last entry's name is NULL. */
extern const struct scenario_key scenario_keys[];

/* Overwrite the values that the scenario sets for this node (from 1) alone. */
void scenario_own_clock(const struct scenario *scenario, int node,
			struct scenario_clock *clock);

/* Return the amount of a fault at a second, at a node or from node to node, or 0. */
double scenario_fault(const struct scenario *scenario, enum scenario_form form, int node,
		      int other, double second);

double scenario_key_load(const struct scenario_key *key, const struct scenario *scenario);

/* Return the word for a value of a KEY_WORD, or NULL for the other kinds. The caller
 * frees it. */
char *scenario_key_word(const struct scenario_key *key, double value);

#endif
