/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <math.h>

#include "simulate/scenario_keys.h"

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
