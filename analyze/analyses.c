/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/analysis.h"

/* An analysis is declared here, and listed below where the help shall have it. */
extern const struct analysis analysis_nodes;

const struct analysis *const analyses[] = {
    &analysis_nodes,
};

const size_t analyses_count = sizeof(analyses) / sizeof(*analyses);
