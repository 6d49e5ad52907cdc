/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NATURAL_H
#define CT_BASE_NATURAL_H

#include <dirent.h>

/*
 * The order in which names are shown: numbers in them go by their value, so that node2
 * comes before node10, the rest by its bytes. Two names that differ are never equal;
 * leading zeros are told apart as strverscmp(3) does.
 *
 * Nodes of a run directory are taken in this order, so that it is the order of their ids
 * in a timeline, of tables, pictures and clock maps.
 */
int natural_compare(const char *a, const char *b);

/* The same of names of files, for scandir(3). */
int natural_entries(const struct dirent **a, const struct dirent **b);

#endif
