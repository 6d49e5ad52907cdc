/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_STATEDUMP_H
#define CT_SIMULATE_STATEDUMP_H

#include "simulate/now.h"

/* A node's tracer begins: it tells which threads there are, and what they do. */
void statedump(struct now *now);

#endif
