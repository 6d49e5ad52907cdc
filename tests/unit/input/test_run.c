/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources.h"

SCRATCH_TEST(every_directory_is_a_node)
{
	put_trace("run/web/kernel");
	put_trace("run/db/kernel");
	put_trace("run/.hidden/kernel");
	scratch_text("run/run.json", "{}");
	scratch_text("run/notes/a.txt", "");
	SOURCES(source_add_run, "run", {"db", "run/db/kernel"},
		{"web", "run/web/kernel"});
	SOURCES(source_add_run, "run///", {"db", "run/db/kernel"},
		{"web", "run/web/kernel"});
}

/* Given where a run is wanted. A node that is called kernel is known by its node.json. */
SCRATCH_TEST(a_nodes_directory_is_that_node)
{
	put_trace("run/web/kernel");
	put_trace("run/web/ust/uid/1000/64-bit");
	scratch_text("run/db/node.json", "{}");
	put_capture("run/db/eth0.pcap");
	put_trace("named/kernel");
	scratch_text("named/kernel/node.json", "{}");
	put_trace("named/other/kernel");
	SOURCES(source_add_run, "run/web/", {"web", "run/web/kernel"},
		{"web:ust/uid/1000/64-bit", "run/web/ust/uid/1000/64-bit"});
	SOURCES(source_add_run, "run/db", {"db", "run/db/eth0.pcap"});
	SOURCES(source_add_run, "named", {"kernel", "named/kernel"},
		{"other", "named/other/kernel"});
}

SCRATCH_TEST(the_kernel_bears_the_nodes_name)
{
	put_trace("run/web/app/ust");
	put_trace("run/web/kernel");
	put_capture("run/web/eth0.pcap");
	put_capture("run/web/more/eth1.pcapng");
	scratch_text("run/web/sar.sadf", "");
	SOURCES(source_add_run, "run", {"web", "run/web/kernel"},
		{"web:app/ust", "run/web/app/ust"},
		{"web:eth0.pcap", "run/web/eth0.pcap"},
		{"web:more/eth1.pcapng", "run/web/more/eth1.pcapng"});
}

/* The user's name of a run must not make any trace a kernel's. */
SCRATCH_TEST(only_the_node_tells_which_is_the_kernel)
{
	put_trace("kernel-runs/kernel/web/app");
	put_trace("kernel-runs/kernel/web/kernel");
	SOURCES(source_add_run, "kernel-runs/kernel",
		{"web", "kernel-runs/kernel/web/kernel"},
		{"web:app", "kernel-runs/kernel/web/app"});
}

SCRATCH_TEST(without_a_kernel_the_first_trace_bears_it)
{
	put_capture("run/web/a.pcap");
	put_trace("run/web/ust/uid/0");
	put_trace("run/web/ust/uid/1000");
	put_capture("run/db/eth0.pcap");
	SOURCES(source_add_run, "run", {"db", "run/db/eth0.pcap"},
		{"web", "run/web/ust/uid/0"}, {"web:a.pcap", "run/web/a.pcap"},
		{"web:ust/uid/1000", "run/web/ust/uid/1000"});
}

/* A node may itself be the trace. */
SCRATCH_TEST(traces_may_stand_anywhere)
{
	put_trace("run/web");
	put_trace("run/db/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/kernel");
	SOURCES(source_add_run, "run",
		{"db", "run/db/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/kernel"},
		{"web", "run/web"});
}

/* Files in a trace belong to it. */
SCRATCH_TEST(a_trace_is_not_looked_into)
{
	put_trace("run/web/kernel");
	put_trace("run/web/kernel/index");
	put_capture("run/web/kernel/odd.pcap");
	SOURCES(source_add_run, "run", {"web", "run/web/kernel"});
}

SCRATCH_TEST(loops_of_links_end)
{
	put_trace("run/web/kernel");
	assert_int_equal(symlink("..", "run/web/up"), 0);
	assert_int_equal(symlink(".", "run/web/self"), 0);
	assert_int_equal(symlink("../web", "run/web/z"), 0);
	SOURCES(source_add_run, "run/web/../../run",
		{"web", "run/web/../../run/web/kernel"});
}

SCRATCH_TEST(links_lead_to_sources)
{
	put_trace("elsewhere/kernel");
	assert_int_equal(mkdir("run", 0777), 0);
	assert_int_equal(symlink("../elsewhere", "run/web"), 0);
	SOURCES(source_add_run, "run", {"web", "run/web/kernel"});
}

SCRATCH_TEST(a_broken_link_is_a_problem)
{
	struct found_sources found;

	put_trace("run/web/kernel");
	assert_int_equal(symlink("nowhere", "run/web/gone"), 0);
	assert_int_equal(symlink("nowhere", "run/web/lost.pcap"), 0);
	find_sources(&found, source_add_run, "run");
	assert_int_equal(found.status, 0);
	assert_int_equal(found.list.count, 1);
	assert_int_equal(found.problems.count, 2);
	assert_string_equal(found.problems.item[0].place, "run/web/gone");
	assert_string_equal(found.problems.item[0].text, "No such file or directory");
	assert_false(problem_is_failure(found.problems.item[0].kind));
	/* By its name it was a capture, which is missing now. */
	assert_string_equal(found.problems.item[1].place, "run/web/lost.pcap");
	assert_true(problem_is_failure(found.problems.item[1].kind));
	sources_clear(&found);
}

SCRATCH_TEST(captures_know_their_nodes_addresses)
{
	struct found_sources found;

	put_trace("run/web/kernel");
	put_capture("run/web/eth0.pcap");
	scratch_text("run/web/node.json",
		     "{\"interfaces\": [{\"addresses\": [\"10.7.0.1\", \"fe80::1\"]}]}");
	find_sources(&found, source_add_run, "run");
	assert_int_equal(found.list.count, 2);
	assert_int_equal(found.list.item[0].kind, SOURCE_TRACE);
	assert_int_equal(found.list.item[0].locals, 0);
	assert_int_equal(found.list.item[1].kind, SOURCE_CAPTURE);
	assert_int_equal(found.list.item[1].locals, 2);
	assert_int_equal(found.list.item[1].local[1].family, 6);
	sources_clear(&found);
}

SCRATCH_TEST(broken_facts_cost_no_source)
{
	struct found_sources found;

	put_trace("run/web/kernel");
	scratch_text("run/web/node.json", "[]");
	find_sources(&found, source_add_run, "run");
	assert_int_equal(found.status, 0);
	assert_int_equal(found.list.count, 1);
	assert_int_equal(found.problems.count, 1);
	assert_string_equal(found.problems.item[0].text,
			    "run/web/node.json: not a JSON object; skipped");
	sources_clear(&found);
}

SCRATCH_TEST(no_source_is_an_error)
{
	scratch_text("run/web/sar.sadf", "");
	assert_no_source(source_add_run, "run",
			 "run: no trace and no capture below it (expected "
			 "NODE/.../metadata or NODE/*.pcap)");
	assert_no_source(source_add_run, "none", "none: No such file or directory");
	assert_no_source(source_add_run, "", ": No such file or directory");
}
