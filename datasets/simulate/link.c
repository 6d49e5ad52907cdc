/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/link.h"

#include <math.h>
#include <string.h>

/* What would have to wait for its turn longer than this is dropped. */
static const nsec_t queue_ns = 500 * NSEC_PER_MSEC;

void network_init(struct network *network, const struct scenario *scenario)
{
	network->jitter = scenario->jitter;
	network->loss = dice_odds(scenario->loss);
	network->duplicate = dice_odds(scenario->duplicate);
	network->reorder = dice_odds(scenario->reorder);
	network->held_up_ns = nsec_round(scenario->reorder_us * 1e3);
	network->load_ns = nsec_round(scenario->load_us * 1e3);
	network->load_on_ns = nsec_round(scenario->load_on_s * 1e9);
	network->load_off_ns = nsec_round(scenario->load_off_s * 1e9);
	network->ps_per_byte = (uint64_t)(8e6 / scenario->bandwidth_mbit);
}

void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower)
{
	struct dice pair;
	double factor = lower ? scenario->asymmetry : 1;
	nsec_t spread;

	memset(link, 0, sizeof(*link));
	link->free_ns = link->last_ns = 0;
	/* Both directions of a pair are as long, but for the asymmetry. */
	dice_init(&pair, seed, DICE_PAIR, number << 2);
	dice_init(&link->dice, seed, DICE_PAIR, number << 2 | (lower ? 2 : 1));
	spread = dice_between(
	    &pair, 0, nsec_round(scenario->delay_us * scenario->delay_spread * 1e3));
	link->least_ns = nsec_round((scenario->delay_us * 1e3 + (double)spread) * factor);
	link->jitter_ns = nsec_round(scenario->jitter_us * factor * 1e3);
	/* What both directions share comes of equal dice. */
	dice_init(&link->load.dice, seed, DICE_LOAD,
		  number << 1 | (scenario->load_direction == LOADED_EACH && lower));
	link->load.until_ns = nsec_round(scenario->begin_s * 1e9);
	if (scenario->load_direction == LOADED_ONE && lower)
		link->load.until_ns = NSEC_MAX;
}

static nsec_t draw_jitter(struct link *link, int jitter)
{
	switch (jitter) {
	case SPREAD_UNIFORM:
		return dice_between(&link->dice, 0, link->jitter_ns);
	case SPREAD_EXPONENTIAL:
		return dice_exponential(&link->dice, link->jitter_ns);
	default:
		return link->jitter_ns;
	}
}

/* What load adds to the least delay at a time; times come in order. */
static nsec_t load_at(struct link_load *load, const struct network *network, nsec_t now)
{
	if (!network->load_ns)
		return 0;
	while (load->until_ns <= now) {
		bool begins = !load->level_ns;
		nsec_t mean = begins ? network->load_on_ns : network->load_off_ns;

		load->level_ns = 0;
		if (begins)
			load->level_ns = dice_between(&load->dice, network->load_ns / 2,
						      3 * network->load_ns / 2);
		load->until_ns += 1 + dice_exponential(&load->dice, mean);
	}
	return load->level_ns;
}

struct journey link_carry(struct link *link, const struct network *network,
			  nsec_t leaves_ns, uint32_t bytes)
{
	nsec_t begins = leaves_ns > link->free_ns ? leaves_ns : link->free_ns;
	struct journey journey = {.lost = dice_chance(&link->dice, network->loss)};
	nsec_t arrival;

	if (begins - leaves_ns > queue_ns) {
		journey.lost = true;
		return journey;
	}
	link->free_ns = begins + (nsec_t)(bytes * network->ps_per_byte / 1000);
	if (journey.lost)
		return journey;
	arrival = link->free_ns + link->least_ns +
		  load_at(&link->load, network, link->free_ns) +
		  draw_jitter(link, network->jitter);
	if (dice_chance(&link->dice, network->reorder)) {
		arrival += network->held_up_ns;
	} else {
		/* Queues keep their order, a few bits apart. */
		if (arrival <= link->last_ns)
			arrival = link->last_ns + 1;
		link->last_ns = arrival;
	}
	journey.arrival_ns = arrival;
	if (dice_chance(&link->dice, network->duplicate))
		journey.again_ns = arrival + 1 + draw_jitter(link, network->jitter);
	return journey;
}
