/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_SWITCHES_H
#define CT_EXPORT_OPENDC_SWITCHES_H

#include "export/opendc/charge.h"
#include "export/opendc/opendc.h"

/* The speed of each processor: its steps, as the kernel told them. */
struct opendc_speed;

/*
 * Read all steps of frequency once: speeds of nodes rise to the highest, and what ran
 * before the first step is known. 0, or -1 with error; NULL *speed: none recorded.
 */
int opendc_speed_load(struct opendc_speed **speed, struct opendc_cluster *cluster,
		      struct export *export, struct error *error);

void opendc_speed_free(struct opendc_speed *speed);

/* Charge all that the processors ran, by the events of their schedulers, exactly. 0, or
 * -1 with error. */
int opendc_charge_switches(struct opendc_charger *charger, struct opendc_speed *speed,
			   const struct opendc_choice *choice, struct export *export,
			   struct error *error);

#endif
