/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_PAGES_H
#define CT_EXPORT_OPENDC_PAGES_H

#include "export/opendc/charge.h"

/*
 * Memory of tasks by the kernel's events: rss_stat, which tells a process's resident
 * memory, and mm_page_alloc and mm_page_free, by which a task holds the pages that its
 * threads allocated since the trace began, until anybody frees them. 0, or -1 with
 * error.
 */
int opendc_hold_pages(struct opendc_charger *charger, struct export *export,
		      struct error *error);

#endif
