/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/dashboard.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* A row of the dashboard is 24 wide (Grafana's grid); these are heights. */
enum { WIDTH = 24, GAUGE_WIDTH = 6, HEIGHT = 8 };

/* In targets $c is the cluster; aliasByNode counts parts of the path from the node on. */
struct panel {
	const char *title;
	const char *gauge;             /* target of the gauge on the left, NULL: none */
	const char *graph;             /* target of the graph */
	const char *more;              /* a second target of the graph, or NULL */
	const char *gauge_unit, *unit; /* Grafana's names of units */
};

static const struct panel panels[] = {
    {"CPU utilization", "offset(scale($c.$node.cpu.all.percent_idle, -1), 100)",
     "offset(scale($c.$node.cpu.all.percent_idle, -1), 100)", NULL, "percent", "percent"},
    {"CPU waiting for disks", "$c.$node.cpu.all.percent_iowait",
     "$c.$node.cpu.all.percent_iowait", NULL, "percent", "percent"},
    {"CPU busy, by scheduler events", "$c.$node.events.all.percent_busy",
     "$c.$node.events.cpu*.percent_busy", NULL, "percent", "percent"},
    {"Memory", "$c.$node.memory.node.percent_memused", "$c.$node.memory.node.kbmemused",
     NULL, "percent", "deckbytes"},
    {"Swap", "$c.$node.swap.node.percent_swpused", "$c.$node.swap.node.kbswpused", NULL,
     "percent", "deckbytes"},
    {"Disks: read and written", NULL, "$c.$node.disk.$disk.rkB_per_s",
     "$c.$node.disk.$disk.wkB_per_s", NULL, "KBs"},
    {"Disks: utilization", "$c.$node.disk.$disk.percent_util",
     "$c.$node.disk.$disk.percent_util", NULL, "percent", "percent"},
    {"Network: received and sent", "$c.$node.net.$interface.percent_ifutil",
     "$c.$node.net.$interface.rxkB_per_s", "$c.$node.net.$interface.txkB_per_s",
     "percent", "KBs"},
    {"Messages between nodes", NULL, "$c.$node.messages.*.bytes_per_s", NULL, NULL,
     "Bps"},
};

/* A template variable that is a part of all paths below a query. */
struct variable {
	const char *name, *query;
};

static const struct variable variables[] = {
    {"node", "$c.*"}, {"disk", "$c.$node.disk.*"}, {"interface", "$c.$node.net.*"}};

/* "$c." becomes the cluster's name; for free(). */
static char *with_cluster(const char *target, const char *cluster)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *at;

	while ((at = strstr(target, "$c."))) {
		fprintf(out, "%.*s%s.", (int)(at - target), target, cluster);
		target = at + strlen("$c.");
	}
	fputs(target, out);
	fclose(out);
	return text;
}

/* Legends are the path from the node on. */
static json_t *make_target(const char *target, const char *cluster, const char *ref)
{
	char *whole = with_cluster(target, cluster);
	int parts = 1;
	char *aliased;
	json_t *object;

	for (const char *at = cluster; *at; at++)
		parts += *at == '.';
	aliased = mem_printf("aliasByNode(%s, %d, %d, %d, %d)", whole, parts, parts + 1,
			     parts + 2, parts + 3);
	object = json_pack("{s:s, s:s}", "refId", ref, "target", aliased);
	free(whole);
	free(aliased);
	return object;
}

static json_t *make_panel(const struct panel *panel, bool is_gauge, const char *cluster,
			  int number)
{
	const char *target = is_gauge ? panel->gauge : panel->graph;
	json_t *targets = json_pack("[o]", make_target(target, cluster, "A"));
	json_t *defaults = json_pack(
	    "{s:s, s:i}", "unit", is_gauge ? panel->gauge_unit : panel->unit, "min", 0);
	int x = !is_gauge && panel->gauge ? GAUGE_WIDTH : 0;

	if (is_gauge)
		json_object_set_new(defaults, "max", json_integer(100));
	else if (panel->more)
		json_array_append_new(targets, make_target(panel->more, cluster, "B"));
	return json_pack(
	    "{s:i, s:s, s:s, s:{s:s, s:s}, s:{s:i, s:i, s:i, s:i}, s:{s:o, s:[]}, s:o, "
	    "s:{}}",
	    "id", 2 * number + 1 + is_gauge, "title", panel->title, "type",
	    is_gauge ? "gauge" : "timeseries", "datasource", "type", "graphite", "uid",
	    "${datasource}", "gridPos", "x", x, "y", number * HEIGHT, "w",
	    is_gauge ? GAUGE_WIDTH : WIDTH - x, "h", HEIGHT, "fieldConfig", "defaults",
	    defaults, "overrides", "targets", targets, "options");
}

static json_t *make_panels(const char *cluster)
{
	json_t *all = json_array();

	for (int i = 0; i < (int)(sizeof(panels) / sizeof(*panels)); i++) {
		if (panels[i].gauge)
			json_array_append_new(all,
					      make_panel(&panels[i], true, cluster, i));
		json_array_append_new(all, make_panel(&panels[i], false, cluster, i));
	}
	return all;
}

static json_t *make_variables(const char *cluster)
{
	json_t *all = json_array();

	json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name", "datasource",
					     "type", "datasource", "query", "graphite"));
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		char *query = with_cluster(variables[i].query, cluster);

		json_array_append_new(
		    all,
		    json_pack("{s:s, s:s, s:s, s:{s:s, s:s}, s:b, s:b, s:i, "
			      "s:{s:b, s:[s], s:[s]}}",
			      "name", variables[i].name, "type", "query", "query", query,
			      "datasource", "type", "graphite", "uid", "${datasource}",
			      "multi", 1, "includeAll", 1, "refresh", 1, "current",
			      "selected", 1, "text", "All", "value", "$__all"));
		free(query);
	}
	return all;
}

/* "2026-11-21T02:38:57.738Z", as Grafana has times. */
static char *instant(nsec_t ns)
{
	char text[NSEC_TEXT];

	nsec_format_utc(text, ns);
	return mem_printf("%.10sT%.12sZ", text, text + 11);
}

void graphite_dashboard(FILE *file, const char *cluster, nsec_t begin_ns, nsec_t end_ns)
{
	char *from = instant(begin_ns), *to = instant(end_ns);
	char *title = mem_printf("clustertrace: %s", cluster);
	json_t *dashboard =
	    json_pack("{s:s, s:[s], s:i, s:s, s:b, s:{s:s, s:s}, s:{s:o}, s:o}", "title",
		      title, "tags", "clustertrace", "schemaVersion", 39, "timezone",
		      "utc", "editable", 1, "time", "from", from, "to", to, "templating",
		      "list", make_variables(cluster), "panels", make_panels(cluster));
	char *text = json_dumps(dashboard, JSON_INDENT(2));

	fprintf(file, "%s\n", text ? text : "");
	json_decref(dashboard);
	free(text);
	free(title);
	free(from);
	free(to);
}
