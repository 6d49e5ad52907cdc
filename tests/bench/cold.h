/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_COLD_H
#define CT_TESTS_BENCH_COLD_H

#include "base/error.h"
#include "input/run.h"

/*
 * ctsync on the traces of some sources against dd on the same files, one after the other
 * and two at once, so many times each; before each run the system drops what it has of
 * the files in its page cache. Prints a table of bytes a second. 0, or -1 with error.
 */
int cold_measure(const struct source_list *sources, int repeats, struct error *error);

#endif
