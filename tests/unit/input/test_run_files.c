/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_files.h"

#include "rows.h"

static const char *const kinds[] = {"node",    "clock",       "claims", "proc",
				    "sensors", "invocations", "sadf",   "sa"};

static void find(const char *path, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct error error = ERROR_INIT;
	struct run_files run = {NULL, NULL, 0, 0};
	struct source_list sources = {.files = &run};

	source_add_run(&sources, path, &rows.problems, &error);
	error_clear(&error);
	source_list_clear(&sources);
	if (run.run_json)
		rows_add(&rows, "%s\n", run.run_json);
	for (size_t i = 0; i < run.nodes; i++) {
		const struct run_node *node = &run.node[i];

		rows_add(&rows, "%s %d:", node->name, (int)node->sources);
		for (size_t k = 0; k < node->files; k++)
			rows_add(&rows, " %s=%s", kinds[node->file[k].kind],
				 node->file[k].path + strlen(node->path) + 1);
		rows_add(&rows, "\n");
	}
	run_files_clear(&run);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

#define STRAY "not directly in the node's directory, skipped (foreign, 1)\n"

SCRATCH_TEST(every_file_is_found)
{
	scratch_text("run/run.json", "{}");
	scratch_text("run/web/node.json", "{}");
	scratch_text("run/web/clock.csv", "");
	scratch_text("run/web/clock_claims.csv", "");
	scratch_text("run/web/tracking.log", "");
	scratch_text("run/web/more/ptp4l.log", "");
	scratch_text("run/web/proc.csv", "");
	scratch_text("run/web/sensors.csv", "");
	scratch_text("run/web/invocations.jsonl", "");
	scratch_text("run/web/sar.sadf", "");
	scratch_text("run/web/sar.sa", "");
	scratch_text("run/web/more/old.sa", "");
	scratch_text("run/web/more/clock.csv", "");
	scratch_text("run/web/eth0.pcap", "");
	scratch_text("run/db/kernel/metadata", "\x57\x1d\xd1\xc1");
	scratch_text("run/db/kernel/node.json", "");
	scratch_text("run/notes/a.txt", "");
	scratch_text("run/.hidden/node.json", "");
	for (int slashes = 0; slashes < 2; slashes++)
		find(slashes ? "run///" : "run",
		     "run/run.json\n"
		     "db 1:\n"
		     "web 1: clock=clock.csv claims=clock_claims.csv "
		     "invocations=invocations.jsonl sa=more/old.sa node=node.json "
		     "proc=proc.csv sadf=sar.sadf sensors=sensors.csv "
		     "claims=tracking.log\n",
		     "run/web/more/clock.csv: " STRAY "run/web/more/ptp4l.log: " STRAY);
}

/* Names are bytes, and what node.json calls the host changes nothing. */
SCRATCH_TEST(names_are_of_directories)
{
	scratch_text("run/NODE/node.json", "{\"hostname\": \"a\"}");
	scratch_text("run/node/node.json", "{\"hostname\": \"a\"}");
	scratch_text("run/node1/a.sa", "");
	scratch_text("run/node1/ab.sadf", "");
	find("run",
	     "NODE 0: node=node.json\nnode 0: node=node.json\n"
	     "node1 0: sa=a.sa sadf=ab.sadf\n",
	     "");
}

SCRATCH_TEST(links_make_no_further_nodes)
{
	scratch_text("run/web/node.json", "{}");
	assert_int_equal(symlink("web", "run/last"), 0);
	assert_int_equal(symlink("..", "run/web/up"), 0);
	assert_int_equal(symlink("nowhere", "run/web/gone"), 0);
	assert_int_equal(symlink("nowhere", "run/gone"), 0);
	find("run", "last 0: node=node.json\n",
	     "run/gone: No such file or directory, skipped (unreadable, 1)\n"
	     "run/last/gone: No such file or directory (dangling, 1)\n"
	     "run/web: the same directory under another name; skipped (twice, 1)\n");
}

SCRATCH_TEST(a_file_of_a_kind_is_told)
{
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct run_files run = {NULL, NULL, 0, 0};
	struct source_list sources = {.files = &run};

	scratch_text("run/web/clock.csv", "");
	assert_int_equal(source_add_run(&sources, "run", &problems, &error), -1);
	error_clear(&error);
	assert_int_equal(run.nodes, 1);
	assert_string_equal(run_node_file(&run.node[0], RUN_FILE_CLOCK),
			    "run/web/clock.csv");
	assert_null(run_node_file(&run.node[0], RUN_FILE_PROC));
	assert_null(run.run_json);
	run_files_clear(&run);
}
