/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/run.h"

#include "../scratch.h"

static void open_run(struct merge_run *run, const char *path)
{
	struct error error = ERROR_INIT;
	struct text_list paths = {0};

	text_list_add(&paths, path);
	assert_int_equal(merge_run_open(run, &paths, NULL, &error), 0);
	assert_null(error.text);
	text_list_clear(&paths);
}

static void cannot_open(const char *path, const char *message)
{
	struct error error = ERROR_INIT;
	struct text_list paths = {0};
	struct merge_run run;

	text_list_add(&paths, path);
	assert_int_equal(merge_run_open(&run, &paths, NULL, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	text_list_clear(&paths);
	merge_run_clear(&run);
}

static void trace(const char *path, const char *domain)
{
	char *file = mem_printf("%s/metadata", path);
	char *text = mem_printf("/* CTF 1.8 */\nenv {\n\tdomain = \"%s\";\n};\n", domain);

	scratch_text(file, text);
	free(text);
	free(file);
}

static void check_source(const struct merge_run *run, size_t index, const char *name,
			 const char *kind, uint32_t node)
{
	const struct merge_source *source = &run->source[index];

	assert_string_equal(run->sources.item[source - run->source].name, name);
	assert_string_equal(source->kind, kind);
	assert_int_equal(source->node, node);
	assert_int_equal(source->island, -1);
}

SCRATCH_TEST(a_run_is_nodes_and_sources)
{
	struct merge_run run;

	trace("run/web/kernel", "kernel");
	trace("run/web/ust/uid/0/64-bit", "ust");
	trace("run/db/trace", "bare");
	scratch_text("run/db/eth0.pcap", "");
	scratch_text("run/idle/sar.sadf", "");
	scratch_text("run/web/node.json", "{\"hostname\": \"w\", \"cpus\": 4}");
	scratch_text("run/run.json", "{\"name\": \"r\"}");
	for (int slashes = 0; slashes < 2; slashes++) {
		open_run(&run, slashes ? "run//" : "run");
		assert_int_equal(run.problems.count, 0);
		assert_int_equal(run.nodes, 3);
		assert_string_equal(run.node[0].name, "db");
		assert_string_equal(run.node[1].name, "idle");
		assert_string_equal(run.node[2].name, "web");
		assert_string_equal(run.node[2].facts.hostname, "w");
		assert_int_equal(run.node[2].facts.cpus, 4);
		assert_string_equal(run.facts.item[0].text, "r");
		assert_int_equal(run.count, 4);
		check_source(&run, 0, "db", "trace", 0);
		check_source(&run, 1, "db:eth0.pcap", "capture", 0);
		check_source(&run, 2, "web", "kernel", 2);
		check_source(&run, 3, "web:ust/uid/0/64-bit", "user", 2);
		merge_run_clear(&run);
	}
}

SCRATCH_TEST(samples_alone_are_a_run)
{
	struct merge_run run;

	scratch_text("run/a/sar.sadf", "");
	open_run(&run, "run");
	assert_int_equal(run.nodes, 1);
	assert_int_equal(run.count, 0);
	assert_int_equal(run.problems.count, 0);
	merge_run_clear(&run);
}

SCRATCH_TEST(what_is_nothing_is_refused)
{
	mkdir("empty", 0777);
	scratch_text("text", "no capture");
	cannot_open("nowhere", "nowhere: No such file or directory");
	cannot_open("empty", "empty: no trace and no capture below it (expected "
			     "NODE/.../metadata or NODE/*.pcap)");
	cannot_open("text", "text: neither a trace nor a capture; expected a directory "
			    "with a metadata file, a trace.dat, pcap or pcapng");
}

/* A link to a node, or within it, doubles no event. */
SCRATCH_TEST(links_are_one_source)
{
	struct merge_run run;

	trace("run/a/kernel", "kernel");
	assert_int_equal(symlink("a", "run/b"), 0);
	open_run(&run, "run");
	assert_int_equal(run.nodes, 1);
	assert_int_equal(run.count, 1);
	assert_int_equal(run.problems.count, 1);
	assert_int_equal(run.problems.item[0].kind, PROBLEM_TWICE);
	assert_string_equal(run.problems.item[0].place, "run/b");
	merge_run_clear(&run);
}

/* Traces that are opened twice are odd twice. */
SCRATCH_TEST(what_is_odd_is_told_once)
{
	struct merge_run run;

	trace("run/a/kernel", "kernel");
	scratch_text("run/a/node.json", "{\"cpus\": \"four\"}");
	scratch_text("run/b/node.json", "no JSON");
	scratch_text("run/run.json", "[]");
	open_run(&run, "run");
	assert_int_equal(run.problems.count, 3);
	merge_run_clear(&run);
}

SCRATCH_TEST(a_trace_alone_is_a_node)
{
	struct merge_run run;

	trace("here/kernel", "kernel");
	open_run(&run, "here/kernel");
	assert_int_equal(run.nodes, 1);
	assert_string_equal(run.node[0].name, "kernel");
	check_source(&run, 0, "kernel", "kernel", 0);
	merge_run_clear(&run);
}
