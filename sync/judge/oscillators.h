/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_JUDGE_OSCILLATORS_H
#define CT_SYNC_JUDGE_OSCILLATORS_H

#include "sync/piecewise/segments.h"

/*
 * Return true if the clock of a capture, whose messages do not tie it to its host's
 * trace, contradicts that trace's clock although both count one oscillator. `clock` has
 * all clocks with their bounds, and `events` their steps and slews.
 */
bool oscillator_is_contradicted(const struct network *net, const struct clock *clock,
				const struct curve_event_list *events, uint32_t capture);

#endif
