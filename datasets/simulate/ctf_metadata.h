/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_METADATA_H
#define CT_SIMULATE_CTF_METADATA_H

#include "simulate/writer.h"

/* Write a trace's metadata in the node's format. Return 0, or -1 with error. */
int sim_metadata_write(const struct sim_trace *trace, struct error *error);

#endif
