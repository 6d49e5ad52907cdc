/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CPU_STEPS_H
#define CT_ANALYZE_CPU_STEPS_H

#include "activity/activity.h"
#include "analyze/question.h"
#include "analyze/result.h"

/* How busy each processor was over time, in steps of --interval from the scope's begin:
 * 24 bytes a step and processor. */
struct cpu_steps {
	const struct question *question;
	size_t steps; /* of the scope */
	struct cpu_row {
		int64_t node, cpu;
		nsec_t *busy_ns, *idle_ns; /* a step */
		nsec_t *known_ns;          /* of which it is recorded who ran */
	} * row;
	size_t rows, room;
};

enum { CPU_STEPS_MOST = 100000 };

/* 0, or -1 with error where there are more steps than CPU_STEPS_MOST. */
int cpu_steps_init(struct cpu_steps *steps, const struct question *question,
		   struct error *error);

/* Who ran; whether it is use that was asked for, where it is not idle. */
void cpu_steps_add(struct cpu_steps *steps, const struct thread_span *span, bool is_use);

void cpu_steps_print(struct cpu_steps *steps, struct result *result);

void cpu_steps_clear(struct cpu_steps *steps);

#endif
