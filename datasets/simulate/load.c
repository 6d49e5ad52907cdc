/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/load.h"

static const nsec_t step_ns = 5 * NSEC_PER_SEC;

void load_advance(struct load *load, nsec_t now_ns, uint32_t active)
{
	/* LOAD_ONE times exp(-5 s / 1, 5 and 15 minutes). */
	static const uint32_t decay[LOAD_AVERAGES] = {1884, 2014, 2037};

	for (; load->due_ns <= now_ns; load->due_ns += step_ns)
		for (int i = 0; i < LOAD_AVERAGES; i++)
			load->average[i] = (load->average[i] * decay[i] +
					    active * LOAD_ONE * (LOAD_ONE - decay[i])) /
					   LOAD_ONE;
}
