/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/analysis.h"

/* Every analysis, a line each, in the order of the help. */
/* clang-format off */
#define ANALYSES(each) \
	each(critical_path) \
	each(events) \
	each(report) \
	each(compare) \
	each(all)
/* clang-format on */

#define DECLARE(name) extern const struct analysis analysis_##name;
ANALYSES(DECLARE)

#define LIST(name) &analysis_##name,
const struct analysis *const analyses[] = {ANALYSES(LIST)};

const size_t analyses_count = sizeof(analyses) / sizeof(*analyses);
