/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/writer.h"

static const char *const topologies[] = {
    "ring", "star", "mesh", "chain", "islands", "clients", "random", "listed", NULL};
static const char *const patterns[] = {"request", "oneway", "both", NULL};
static const char *const protocols[] = {"tcp", "udp", "icmp", "mixed", NULL};
static const char *const families[] = {"4", "6", "mixed", NULL};
static const char *const spreads[] = {"fixed", "uniform", "exponential", NULL};
static const char *const loads[] = {"both", "one", "each", NULL};
static const char *const layers[] = {"none",  "bond",  "bridge", "vlan", "routed",
				     "mixed", "vxlan", "echo",   NULL};
static const char *const activities[] = {"net", "full", NULL};
static const char *const headers[] = {"full", "compact", "large", NULL};
static const char *const switches[] = {"no", "yes", NULL};
static const char *const directions[] = {"both", "one", NULL};

#define AT(member)       offsetof(struct scenario, member)
#define OF_CLOCK(member) true, offsetof(struct scenario_clock, member)

const struct scenario_key scenario_keys[] = {
    {"nodes", KEY_INT, false, AT(nodes), 2, 1000, 2, NULL, "how many nodes"},
    {"cpus", KEY_INT, false, AT(cpus), 1, 64, 2, NULL, "processors a node"},
    {"seconds", KEY_REAL, false, AT(seconds), 1e-3, 1e7, 60, NULL, "how long it lasts"},
    {"begin_s", KEY_REAL, false, AT(begin_s), 0, 4e9, 1767225600, NULL,
     "true time at the begin, since the epoch"},

    {"offset_s", KEY_REAL, OF_CLOCK(offset_s), -2e9, 2e9, 5, NULL,
     "clock against true time at the begin"},
    {"uptime_s", KEY_REAL, OF_CLOCK(uptime_s), 0, 1e8, 600, NULL,
     "CLOCK_MONOTONIC at the begin"},
    {"drift_ppm", KEY_REAL, OF_CLOCK(drift_ppm), -1e5, 1e5, 50, NULL,
     "rate against true time at the begin"},
    {"drift_change_ppb_s", KEY_REAL, OF_CLOCK(drift_change_ppb), -1e5, 1e5, 0, NULL,
     "change of the rate a second"},
    {"slew_ms", KEY_REAL, OF_CLOCK(slew_ms), -1e6, 1e6, 0, NULL,
     "amplitude of a sine on top"},
    {"slew_period_s", KEY_REAL, OF_CLOCK(slew_period_s), 1e-3, 1e8, 3600, NULL,
     "how long one sine takes"},
    {"slew_phase", KEY_REAL, OF_CLOCK(slew_phase), -1, 1, 1, NULL,
     "phase at the begin, in turns"},
    {"wander_ppm", KEY_REAL, OF_CLOCK(wander_ppm), 0, 1e3, 0, NULL,
     "random walk of the rate: its deviation after a minute"},
    {"trace_steps", KEY_WORD, false, AT(trace_steps), 0, 0, 0, switches,
     "steps show in the trace clock, not in CLOCK_REALTIME alone"},

    {"delay_us", KEY_REAL, false, AT(delay_us), 0, 1e7, 100, NULL, "least one-way delay"},
    {"delay_spread", KEY_REAL, false, AT(delay_spread), 0, 100, 0.5, NULL,
     "pairs have up to this share more of it"},
    {"jitter", KEY_WORD, false, AT(jitter), 0, 0, SPREAD_EXPONENTIAL, spreads,
     "how the delay beyond that is distributed"},
    {"jitter_us", KEY_REAL, false, AT(jitter_us), 0, 1e7, 200, NULL,
     "that delay: all of it, the most, or the mean"},
    {"asymmetry", KEY_REAL, false, AT(asymmetry), 1e-3, 1e3, 1, NULL,
     "delays towards the lower node over those towards the higher"},
    {"load_us", KEY_REAL, false, AT(load_us), 0, 1e7, 0, NULL,
     "mean of what load adds to the least delay while it lasts"},
    {"load_on_s", KEY_REAL, false, AT(load_on_s), 1e-3, 1e7, 5, NULL,
     "how long load lasts, on average"},
    {"load_off_s", KEY_REAL, false, AT(load_off_s), 1e-3, 1e7, 5, NULL,
     "how long there is none, on average"},
    {"load_direction", KEY_WORD, false, AT(load_direction), 0, 0, LOADED_BOTH, loads,
     "of both directions of a pair at once, the first alone, or each by itself"},
    {"bandwidth_mbit", KEY_REAL, false, AT(bandwidth_mbit), 0.01, 1e6, 1000, NULL,
     "of each pair and direction"},
    {"loss", KEY_REAL, false, AT(loss), 0, 0.9, 0, NULL, "share of packets lost"},
    {"duplicate", KEY_REAL, false, AT(duplicate), 0, 0.9, 0, NULL,
     "share of packets that arrive twice"},
    {"reorder", KEY_REAL, false, AT(reorder), 0, 0.9, 0, NULL,
     "share of packets that later ones overtake"},
    {"reorder_us", KEY_REAL, false, AT(reorder_us), 0, 1e8, 1000, NULL,
     "how much those are held up"},
    {"rto_ms", KEY_REAL, false, AT(rto_ms), 1, 1e5, 200, NULL,
     "TCP sends again what is unanswered for so long"},
    {"mtu", KEY_INT, false, AT(mtu), 576, 9000, 1500, NULL, "bytes of an IP packet"},
    {"gso", KEY_WORD, false, AT(gso), 0, 0, 0, switches,
     "senders hand TCP to the card in large pieces"},
    {"gro", KEY_WORD, false, AT(gro), 0, 0, 0, switches,
     "receivers merge TCP packets that come together"},
    {"coalesce_us", KEY_REAL, false, AT(coalesce_us), 0, 1e6, 0, NULL,
     "a card waits so long for more before it interrupts"},
    {"layers", KEY_WORD, false, AT(layers), 0, 0, LAYERS_NONE, layers,
     "a second interface that shows each packet again"},
    {"nat", KEY_INT, false, AT(nat), 0, 999, 0, NULL,
     "the first so many nodes stand behind one translated address"},

    {"topology", KEY_WORD, false, AT(topology), 0, 0, TOPOLOGY_MESH, topologies,
     "which pairs of nodes talk"},
    {"islands", KEY_INT, false, AT(islands), 1, 500, 2, NULL,
     "meshes of topology islands"},
    {"lone", KEY_INT, false, AT(lone), 0, 999, 0, NULL,
     "the last so many nodes talk to nobody"},
    {"servers", KEY_INT, false, AT(servers), 1, 999, 1, NULL,
     "the first so many nodes of topology clients serve the others"},
    {"pairs", KEY_INT, false, AT(pairs), 1, 500000, 100, NULL,
     "pairs of topology random, which connects all"},
    {"pattern", KEY_WORD, false, AT(pattern), 0, 0, PATTERN_REQUEST, patterns,
     "requests and replies, one direction only, or both on their own"},
    {"protocol", KEY_WORD, false, AT(protocol), 0, 0, PROTOCOL_TCP, protocols, ""},
    {"family", KEY_WORD, false, AT(family), 0, 0, FAMILY_4, families, "of IP"},
    {"interval", KEY_WORD, false, AT(interval), 0, 0, SPREAD_EXPONENTIAL, spreads,
     "how the time between requests is distributed"},
    {"interval_ms", KEY_REAL, false, AT(interval_ms), 0.001, 1e9, 20, NULL,
     "its mean, from the reply to the next request"},
    {"request_bytes", KEY_REAL, false, AT(request_bytes), 1, 1e9, 200, NULL, ""},
    {"reply_bytes", KEY_REAL, false, AT(reply_bytes), 1, 1e9, 200, NULL, ""},
    {"service_us", KEY_REAL, false, AT(service_us), 0, 1e8, 100, NULL,
     "mean time that a server computes before it replies"},
    {"timeout_ms", KEY_REAL, false, AT(timeout_ms), 1, 1e6, 1000, NULL,
     "UDP and ICMP give a reply up after so long"},
    {"active_from_s", KEY_REAL, false, AT(active_from_s), 0, 1e7, 0, NULL,
     "no request before"},
    {"active_to_s", KEY_REAL, false, AT(active_to_s), 0, 1e7, 1e7, NULL,
     "no request after"},
    {"burst_on_ms", KEY_REAL, false, AT(burst_on_ms), 0.001, 1e9, 1000, NULL,
     "with burst_off_ms: requests come for so long"},
    {"burst_off_ms", KEY_REAL, false, AT(burst_off_ms), 0, 1e9, 0, NULL,
     "and then none for so long"},

    {"messages", KEY_REAL, false, AT(messages), 0, 1e12, 0, NULL,
     "end with this message; 0: go on to the end"},
    {"events", KEY_REAL, false, AT(events), 0, 1e12, 0, NULL,
     "end with this event; 0: go on to the end"},
    {"false_matches", KEY_REAL, false, AT(false_matches), 0, 0.5, 0, NULL,
     "share of --messages received at another one's time"},
    {"false_direction", KEY_WORD, false, AT(false_direction), 0, 0, FALSE_BOTH,
     directions, "both, or one: towards the higher node only"},

    {"activity", KEY_WORD, false, AT(activity), 0, 0, ACTIVITY_NET, activities,
     "network events alone, or scheduler, interrupts, system calls and disk too"},
    {"workers", KEY_INT, false, AT(workers), 0, 64, 2, NULL,
     "threads a node that compute and read the disk, with activity full"},
    {"sample_s", KEY_REAL, false, AT(sample_s), 0.1, 1e5, 1, NULL,
     "between sar's samples, with activity full"},
    {"spawn_ms", KEY_REAL, false, AT(spawn_ms), 0, 1e9, 500, NULL,
     "mean time to the next process that a node begins, with activity full; 0: none"},
    {"event_header", KEY_WORD, false, AT(event_header), 0, 0, SIM_HEADER_FULL, headers,
     "stamps of a trace's events have 64 bits, or as LTTng has it 27 or 32"},
    {0},
};

const struct scenario_key *scenario_key_find(const char *name, size_t length)
{
	for (const struct scenario_key *key = scenario_keys; key->name; key++)
		if (strlen(key->name) == length && memcmp(key->name, name, length) == 0)
			return key;
	return NULL;
}

static int parse_word(const struct scenario_key *key, const char *word, double *value,
		      struct error *error)
{
	for (size_t i = 0; key->words[i]; i++)
		if (strcmp(key->words[i], word) == 0) {
			*value = (double)i;
			return 0;
		}
	error_set(error, "%s: no '%s', want %s", key->name, word, key->words[0]);
	for (size_t i = 1; key->words[i]; i++) {
		struct error longer = ERROR_INIT;

		error_set(&longer, "%s%s%s", error_text(error),
			  key->words[i + 1] ? ", " : " or ", key->words[i]);
		error_clear(error);
		*error = longer;
	}
	return -1;
}

int scenario_key_parse(const struct scenario_key *key, const char *word, double *value,
		       struct error *error)
{
	char *end;

	if (key->kind == KEY_WORD)
		return parse_word(key, word, value, error);
	errno = 0;
	*value = strtod(word, &end);
	if (end == word || *end || !(*value >= key->least && *value <= key->most) ||
	    (key->kind == KEY_INT && *value != floor(*value)))
		return error_set(error, "%s: '%s' is no %s from %.15g to %.15g",
				 key->name, word,
				 key->kind == KEY_INT ? "whole number" : "number",
				 key->least, key->most);
	return 0;
}

void scenario_key_store(const struct scenario_key *key, void *base, double value)
{
	void *at = (char *)base + key->offset;

	if (key->kind == KEY_REAL)
		*(double *)at = value;
	else
		*(int *)at = (int)value;
}

double scenario_key_load(const struct scenario_key *key, const void *base)
{
	const void *at = (const char *)base + key->offset;

	return key->kind == KEY_REAL ? *(const double *)at : *(const int *)at;
}

const char *scenario_key_word(const struct scenario_key *key, double value)
{
	return key->kind == KEY_WORD ? key->words[(int)value] : NULL;
}
