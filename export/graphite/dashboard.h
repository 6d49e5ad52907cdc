/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_DASHBOARD_H
#define CT_EXPORT_GRAPHITE_DASHBOARD_H

#include <stdio.h>

#include "base/nsec.h"

/*
 * Write a dashboard for Grafana (its JSON model, schemaVersion 39) over what this format
 * sends: gauges and graphs of processors, memory, swap, disks and network, every node in
 * one picture. It asks which data source to take when it is imported; nodes, disks and
 * interfaces are chosen on it. `begin_ns` and `end_ns` are what it shows first.
 */
void graphite_dashboard(FILE *file, const char *cluster, nsec_t begin_ns, nsec_t end_ns);

#endif
