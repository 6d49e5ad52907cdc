/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/analysis.h"

/* An analysis is declared here, and listed below where the help shall have it. */
extern const struct analysis analysis_nodes;
extern const struct analysis analysis_clocks;
extern const struct analysis analysis_problems;
extern const struct analysis analysis_messages;
extern const struct analysis analysis_net;

const struct analysis *const analyses[] = {
    &analysis_nodes,    &analysis_clocks, &analysis_problems,
    &analysis_messages, &analysis_net,
};

const size_t analyses_count = sizeof(analyses) / sizeof(*analyses);
