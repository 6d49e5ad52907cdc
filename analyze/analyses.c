/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/analysis.h"

/* An analysis is declared here, and listed below where the help shall have it. */
extern const struct analysis analysis_nodes;
extern const struct analysis analysis_clocks;
extern const struct analysis analysis_problems;
extern const struct analysis analysis_cpu;
extern const struct analysis analysis_sched;
extern const struct analysis analysis_syscalls;
extern const struct analysis analysis_irq;
extern const struct analysis analysis_io;
extern const struct analysis analysis_messages;

const struct analysis *const analyses[] = {
    &analysis_nodes,
    &analysis_clocks,
    &analysis_problems,
    &analysis_cpu,
    &analysis_sched,
    &analysis_syscalls,
    &analysis_irq,
    &analysis_io,
    &analysis_messages,
};

const size_t analyses_count = sizeof(analyses) / sizeof(*analyses);
