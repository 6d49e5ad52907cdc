/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_INTERRUPT_H
#define CT_SIMULATE_INTERRUPT_H

#include "simulate/now.h"

/*
 * What comes to a processor from outside at world->now: with activity full it
 * interrupts what goes on there, else it is simply done.
 */
void interrupt_card(struct world *world, uint32_t node, uint32_t cpu);
void interrupt_resend(struct world *world, uint32_t flow, int side);
void interrupt_timer(struct world *world, uint32_t thread, uint32_t age);
void interrupt_disk(struct world *world, uint32_t thread);

/* Its thread has computed enough, or for so long that others get their turn. */
void interrupt_cpu(struct world *world, uint32_t node, uint32_t cpu, uint32_t age);

/* The node's tracer begins, with activity full. */
void interrupt_dump(struct world *world, uint32_t node);

/* Nobody looks any more at what a daemon's last child left: a grace period ended. */
void interrupt_free(struct world *world, uint32_t daemon);

/* Another processor woke a thread for it. */
void interrupt_kick(struct world *world, uint32_t node, uint32_t cpu);

#endif
