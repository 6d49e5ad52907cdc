/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* How the rows of a table lie in time and space; NODES is the list of chosen ids. */
struct extent {
	const char *table, *time, *node;
};

#define SPAN "t.end_ns >= ?1 AND t.begin_ns <= ?2"

static const struct extent extents[] = {
    {"event", "t.ts_ns BETWEEN ?1 AND ?2", "t.node IN NODES"},
    {"sample", "t.ts_ns BETWEEN ?1 AND ?2", "t.node IN NODES"},
    {"message", "t.recv_ns >= ?1 AND t.send_ns <= ?2",
     "(t.src_node IN NODES OR t.dst_node IN NODES)"},
    {"process", "coalesce(t.end_ns, ?2) >= ?1 AND coalesce(t.begin_ns, ?1) <= ?2",
     "t.node IN NODES"},
    {"thread", "coalesce(t.end_ns, ?2) >= ?1 AND coalesce(t.begin_ns, ?1) <= ?2",
     "t.node IN NODES"},
    {"thread_state", SPAN, "t.node IN NODES"},
    {"syscall", SPAN, "t.node IN NODES"},
    {"irq", SPAN, "t.node IN NODES"},
    {"block_request", SPAN, "t.node IN NODES"},
    {"recorded", SPAN, "t.node IN NODES"},
    {"request", "coalesce(t.end_ns, ?2) >= ?1 AND t.begin_ns <= ?2",
     "(t.client IN NODES OR t.server IN NODES)"},
    {"invocation",
     "coalesce(t.end_ns, ?2) >= ?1 AND coalesce(t.enqueue_ns, t.begin_ns, ?1) <= ?2",
     "t.node IN NODES"},
    {"node", NULL, "t.id IN NODES"},
    {"source", NULL, "t.node IN NODES"},
};

static const struct extent class_table = {
    NULL, "t.id BETWEEN ?1 AND ?2",
    "(SELECT e.node FROM event AS e WHERE e.id = t.id) IN NODES"};

static const struct extent event_view = {
    NULL, "t.id BETWEEN ?1 AND ?2",
    "t.node IN (SELECT n.name FROM node AS n WHERE n.id IN NODES)"};

static const struct extent *find(enum question_kind kind, const char *table)
{
	if (kind == QUESTION_CLASS_TABLE)
		return &class_table;
	if (kind == QUESTION_EVENT_VIEW)
		return &event_view;
	for (size_t i = 0; i < sizeof(extents) / sizeof(*extents); i++)
		if (strcmp(extents[i].table, table) == 0)
			return &extents[i];
	return NULL;
}

/* Ids of the chosen nodes: numbers of our own, so they may stand in the text. */
static void put_nodes(FILE *sql, const struct scope *scope)
{
	const char *comma = "";

	putc('(', sql);
	for (size_t i = 0; i < scope->nodes; i++) {
		if (!scope->node[i].chosen)
			continue;
		fprintf(sql, "%s%" PRId64, comma, scope->node[i].id);
		comma = ", ";
	}
	putc(')', sql);
}

static void put_condition(FILE *sql, const char *condition, const struct scope *scope)
{
	const char *at;

	while ((at = strstr(condition, "NODES"))) {
		fwrite(condition, 1, (size_t)(at - condition), sql);
		put_nodes(sql, scope);
		condition = at + strlen("NODES");
	}
	fputs(condition, sql);
}

char *question_scope(const struct scope *scope, enum question_kind kind,
		     const char *table, enum question_bounds *bounds)
{
	const struct extent *extent = find(kind, table);
	const char *word = " WHERE ";
	char *text;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	*bounds = QUESTION_UNBOUND;
	if (extent && extent->time && !scope->all_time) {
		*bounds = kind == QUESTION_TABLE ? QUESTION_BY_TIME : QUESTION_BY_ID;
		fprintf(sql, "%s%s", word, extent->time);
		word = " AND ";
	}
	if (extent && !scope->all_nodes) {
		fputs(word, sql);
		put_condition(sql, extent->node, scope);
	}
	fclose(sql);
	return text;
}
