/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_TOLD_H
#define CT_TESTS_BENCH_TOLD_H

#include "base/table.h"
#include "recorded.h"

/*
 * The messages that ctsync makes of a run, by what the clocks really said: right, or
 * received before they were sent. Adds a row for each kind of packet. Without a truth,
 * all clocks are taken for one. 0, or -1 with error.
 */
int told_add(struct table *table, const struct recorded *run, bool has_truth,
	     uint64_t *reversed, struct error *error);

#endif
