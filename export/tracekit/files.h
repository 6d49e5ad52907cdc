/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_TRACEKIT_FILES_H
#define CT_EXPORT_TRACEKIT_FILES_H

#include "base/json.h"
#include "export/format.h"

/*
 * One node of a Tracekit run: node_meta.json, link_meta.json and, below cctf/, what its
 * scripts read. Names of members and units are Tracekit's: ts_ms is milliseconds since
 * the epoch, rss_kb KiB, cpu_util percent, rx_Bps bytes a second. A member whose value is
 * not known is null where Tracekit's scripts want it there, and left out elsewhere.
 */
struct tracekit_node {
	struct export *export;
	const struct scope_node *node;
	const char *stage;
	char *directory; /* below the export's */
};

/* node_meta.json, link_meta.json, cctf/nodes.json, cctf/links.json. 0, or -1. */
int tracekit_write_facts(const struct tracekit_node *node, struct error *error);

/* cctf/invocations.jsonl, placement_events.jsonl, system_stats.jsonl. 0, or -1. */
int tracekit_write_invocations(const struct tracekit_node *node, struct error *error);

/* cctf/proc_metrics, proc_cpu, proc_rss, host_metrics, link_metrics.jsonl. 0, or -1. */
int tracekit_write_samples(const struct tracekit_node *node, struct error *error);

/* The interface of ?1 that moved the most, but for the loopback. */
#define TRACEKIT_NIC                                                                     \
	"SELECT i.name FROM sample AS s JOIN metric AS m ON m.id = s.metric "            \
	"JOIN metric_item AS i ON i.id = s.item "                                        \
	"WHERE s.node = ?1 AND m.activity = 'net' "                                      \
	"AND m.name IN ('rxkB/s', 'txkB/s') AND i.name <> 'lo' "                         \
	"GROUP BY i.id ORDER BY sum(s.value) DESC, i.name LIMIT 1"

/* A file of the node, as export_create has it. NULL with error. */
FILE *tracekit_create(const struct tracekit_node *node, const char *name,
		      struct error *error);

/* Note of a file to which nothing was written: what is missing, and what is empty. */
void tracekit_note_empty(const struct tracekit_node *node, FILE *file, const char *text);

/* A value on a line; takes it. */
void tracekit_line(FILE *file, json_t *value);

/* Nanoseconds to milliseconds, rounded down. */
int64_t tracekit_ms(int64_t ns);

/* Ask with the node's id and the scope's begin and end as ?1 to ?3, and hand on each
 * row: 0, or -1 with error. */
int tracekit_each(const struct tracekit_node *node, const char *sql, timeline_take *row,
		  void *context, struct error *error);

/* A cell as JSON; NULL is null. */
json_t *tracekit_json(const struct cell *cell);

#endif
