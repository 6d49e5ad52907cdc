/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_PARCEL_H
#define CT_SIMULATE_PARCEL_H

#include "simulate/world.h"

/* A new parcel's index; what it holds is undefined. Others may move. */
uint32_t parcel_new(struct world *world);
void parcel_free(struct world *world, uint32_t index);

#endif
