/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_TICK_RATE_H
#define CT_VCLUSTER_TICK_RATE_H

#include "base/error.h"

/*
 * The rate of this machine's time stamp counter in kHz, by CLOCK_MONOTONIC_RAW over
 * one second. Under software emulation the machines of the virtual cluster count
 * the same. Fails where the processor has no such counter.
 */
int tick_rate_khz(long *khz, struct error *error);

#endif
