/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources.h"

SCRATCH_TEST(a_trace_alone_is_named_by_its_host)
{
	put_trace("t/kernel");
	SOURCES(source_add_trace, "t/kernel", {NULL, "t/kernel"});
	SOURCES(source_add_trace, "t/kernel/", {NULL, "t/kernel"});
	SOURCES(source_add_trace, "t", {NULL, "t/kernel"});
	SOURCES(source_add_run, "t/kernel", {NULL, "t/kernel"});
}

SCRATCH_TEST(a_name_may_be_given)
{
	put_trace("t/kernel");
	SOURCES(source_add_trace, "web=t/kernel", {"web", "t/kernel"});
	SOURCES(source_add_trace, "web 1=t/kernel/", {"web 1", "t/kernel"});
	assert_no_source(source_add_trace, "web=none", "none: No such file or directory");
	assert_no_source(source_add_trace, "=t/kernel",
			 "=t/kernel: No such file or directory");
	assert_no_source(source_add_trace, "web=", ": No such file or directory");
}

SCRATCH_TEST(equals_signs_may_stand_in_paths)
{
	put_trace("size=4/kernel");
	SOURCES(source_add_trace, "size=4/kernel", {NULL, "size=4/kernel"});
	SOURCES(source_add_trace, "web=size=4/kernel", {"web", "size=4/kernel"});
	/* Both a name and a part of a path: what is there is a path. */
	put_trace("4/kernel");
	SOURCES(source_add_trace, "size=4", {NULL, "size=4/kernel"});
}

SCRATCH_TEST(its_node_names_a_trace)
{
	put_trace("run/web/kernel");
	put_trace("run/web/ust/uid/0");
	put_capture("run/web/eth0.pcap");
	scratch_text("run/web/node.json", "{}");
	SOURCES(source_add_trace, "run/web/kernel", {"web", "run/web/kernel"});
	SOURCES(source_add_trace, "run/web/ust/uid/0", {"web", "run/web/ust/uid/0"});
	SOURCES(source_add_trace, "run/web/eth0.pcap", {"web", "run/web/eth0.pcap"});
	SOURCES(source_add_trace, "db=run/web/kernel", {"db", "run/web/kernel"});
}

SCRATCH_TEST(a_capture_alone_is_named_by_its_file)
{
	put_capture("c/eth0.pcap");
	put_capture("c/no-suffix");
	SOURCES(source_add_trace, "c/eth0.pcap", {"eth0", "c/eth0.pcap"});
	SOURCES(source_add_trace, "c/no-suffix", {"no-suffix", "c/no-suffix"});
	SOURCES(source_add_trace, "web=c/eth0.pcap", {"web", "c/eth0.pcap"});
	SOURCES(source_add_run, "c/eth0.pcap", {"eth0", "c/eth0.pcap"});
	/* Found by its first bytes where only a directory was given. */
	SOURCES(source_add_trace, "c", {"eth0", "c/eth0.pcap"},
		{"no-suffix", "c/no-suffix"});
}

/* Beside traces a directory's captures are not asked for. */
SCRATCH_TEST(traces_come_before_captures)
{
	put_trace("t/a/kernel");
	put_trace("t/b/kernel");
	put_capture("t/eth0.pcap");
	SOURCES(source_add_trace, "t", {NULL, "t/a/kernel"}, {NULL, "t/b/kernel"});
}

SCRATCH_TEST(what_is_neither_is_an_error)
{
	scratch_text("d/a.txt", "hello, this is a text and no capture");
	scratch_text("d/empty", "");
	assert_no_source(source_add_trace, "d/a.txt",
			 "d/a.txt: neither a trace nor a capture; expected a directory "
			 "with a metadata file, a trace.dat, pcap or pcapng");
	assert_no_source(source_add_run, "d/empty",
			 "d/empty: neither a trace nor a capture; expected a directory "
			 "with a metadata file, a trace.dat, pcap or pcapng");
	assert_no_source(source_add_trace, "d",
			 "d: no trace below it (expected a metadata file)");
	assert_no_source(source_add_trace, "none", "none: No such file or directory");
}

/* One after the other into one list. */
SCRATCH_TEST(sources_add_up)
{
	struct found_sources found;

	put_trace("a");
	put_trace("b");
	find_sources(&found, source_add_trace, "a");
	for (int i = 0; i < 40; i++)
		assert_int_equal(source_add_trace(&found.list, i % 2 ? "x=a" : "b",
						  &found.problems, &found.error),
				 0);
	assert_int_equal(found.list.count, 41);
	assert_string_equal(found.list.item[40].name, "x");
	sources_clear(&found);
}
