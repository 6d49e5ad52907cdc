/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_REQUESTS_H
#define CT_SIMULATE_REQUESTS_H

#include "simulate/now.h"

/*
 * Each request that a client had its reply to, as the model itself knows it: rows of
 * DIRECTORY/requests.csv in true time, in the order of their ends; docs/simulator.md has
 * the columns. Of pattern `request` with activity full.
 *
 * The model calls these when it happens; without world->requests they do nothing.
 */
struct requests;

/* NULL with error. */
struct requests *requests_open(const struct world *world, const char *directory,
			       struct error *error);

/* Data left its node. */
void requests_sent(const struct now *now, uint32_t flow, int side);

/* A packet with data came out of the card; and what it held was new. */
void requests_came(const struct now *now, uint32_t flow, int side);
void requests_is_new(const struct now *now, uint32_t thread);

/* A thread has what it awaited, or gave up. */
void requests_taken(const struct now *now, uint32_t thread, bool whole);

/* Finish the file. 0, or -1 with error. */
int requests_close(struct world *world, struct error *error);
void requests_discard(struct requests *requests); /* NULL is fine */

#endif
