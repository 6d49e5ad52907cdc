/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/directory.h"
#include "export/query.h"
#include "export/tracekit/files.h"

FILE *tracekit_create(const struct tracekit_node *node, const char *name,
		      struct error *error)
{
	char *path = mem_printf("%s/%s", node->directory, name);
	FILE *file = export_create(node->export->directory, path, error);

	free(path);
	return file;
}

void tracekit_note_empty(const struct tracekit_node *node, FILE *file, const char *text)
{
	if (ftell(file) == 0)
		problem_add(&node->export->notes, node->node->name, "empty", 1, "%s",
			    text);
}

void tracekit_line(FILE *file, json_t *value)
{
	char *line = json_one_line(value);

	fputs(line, file);
	putc('\n', file);
	free(line);
	json_decref(value);
}

int64_t tracekit_ms(int64_t ns)
{
	return ns / NSEC_PER_MSEC - (ns % NSEC_PER_MSEC < 0);
}

json_t *tracekit_json(const struct cell *cell)
{
	json_t *value = NULL;

	if (cell->type == CELL_INTEGER)
		value = json_integer(cell->integer);
	else if (cell->type == CELL_REAL)
		value = json_real(cell->real);
	else if (cell->type == CELL_TEXT)
		value = json_stringn(cell->bytes, cell->size);
	return value ? value : json_null(); /* no UTF-8, or not finite */
}

int tracekit_each(const struct tracekit_node *node, const char *sql, timeline_take *row,
		  void *context, struct error *error)
{
	const struct scope *scope = &node->export->scope;
	const struct cell value[] = {cell_of_integer(node->node->id),
				     cell_of_integer(scope->begin_ns),
				     cell_of_integer(scope->end_ns)};

	return query_rows(node->export->timeline, sql, value, row, context, error);
}

/* What the facts of a node hold besides the columns of `node`. */
struct facts {
	json_t *run_id, *host, *cpu_model, *iface;
};

static int take_facts(void *context, const struct cell *cell, struct error *error)
{
	struct facts *facts = context;

	(void)error;
	facts->run_id = tracekit_json(&cell[0]);
	facts->host = tracekit_json(&cell[1]);
	facts->cpu_model = tracekit_json(&cell[2]);
	facts->iface = tracekit_json(&cell[3]);
	return 0;
}

/* The interface is the one of sar that moved the most. */
static int read_facts(const struct tracekit_node *node, struct facts *facts,
		      struct error *error)
{
	static const char sql[] =
	    "SELECT (SELECT value FROM meta WHERE key = 'name'), n.hostname,"
	    " (SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.cpu_model')"
	    "  END FROM meta WHERE key = 'node.json.' || n.name),"
	    " (" TRACEKIT_NIC ") "
	    "FROM node AS n WHERE n.id = ?1";

	return tracekit_each(node, sql, take_facts, facts, error);
}

static json_t *known(int64_t number)
{
	return number > 0 ? json_integer(number) : json_null();
}

static json_t *known_mhz(const struct scope_node *node)
{
	return node->cpu_mhz > 0 ? json_real(node->cpu_mhz) : json_null();
}

static int write_one(const struct tracekit_node *node, const char *name, json_t *value,
		     struct error *error)
{
	FILE *file = tracekit_create(node, name, error);

	if (!file) {
		json_decref(value);
		return -1;
	}
	tracekit_line(file, value);
	return export_close(file, name, error);
}

int tracekit_write_facts(const struct tracekit_node *node, struct error *error)
{
	const struct scope_node *scope = node->node;
	int64_t mem_mb = scope->mem_kib / 1024;
	struct facts facts = {0};
	json_t *model, *iface;
	char *net = mem_printf("%s.net", scope->name);
	int status;

	if (read_facts(node, &facts, error) || !facts.run_id) {
		free(net);
		return -1;
	}
	model = json_incref(facts.cpu_model);
	iface = json_incref(facts.iface);
	status =
	    write_one(node, "node_meta.json",
		      json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "run_id",
				facts.run_id, "node", scope->name, "stage", node->stage,
				"host", facts.host, "iface", facts.iface, "cpu_cores",
				known(scope->cpus), "mem_mb", known(mem_mb), "cpu_model",
				facts.cpu_model, "cpu_freq_mhz", known_mhz(scope)),
		      error) ||
	    /* No source of a timeline knows what a link can carry. */
	    write_one(node, "link_meta.json",
		      json_pack("{s:O, s:n, s:n}", "iface", iface, "BW_bps", "PR_s"),
		      error) ||
	    write_one(node, "cctf/nodes.json",
		      json_pack("[{s:s, s:s, s:o, s:o, s:O, s:o}]", "node_id",
				scope->name, "stage", node->stage, "cpu_cores",
				known(scope->cpus), "mem_mb", known(mem_mb), "cpu_model",
				model, "cpu_freq_mhz", known_mhz(scope)),
		      error) ||
	    write_one(node, "cctf/links.json",
		      json_pack("[{s:s, s:s, s:n, s:n}]", "u", scope->name, "v", net,
				"BW_bps", "PR_s"),
		      error);
	json_decref(model);
	json_decref(iface);
	free(net);
	return status ? -1 : 0;
}
