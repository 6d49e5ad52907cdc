/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_WRITE_H
#define CT_EXPORT_OPENDC_WRITE_H

#include "export/opendc/charge.h"

/*
 * Charge all tasks and write their fragments, with what these came to the tasks
 * themselves, and the topology. Holds what was charged against what was written, and
 * against what processors ran. 0, or -1 with error.
 */
int opendc_write(struct opendc_charger *charger, struct error *error);

#endif
