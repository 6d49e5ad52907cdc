/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/sql.h"

#include "timeline.h"

SCRATCH_TEST(the_numbers_are_those_of_the_header)
{
	char *wanted = mem_printf("%d", SCHEMA_APPLICATION_ID);

	finish_timeline(write_timeline("t", true));
	assert_answer("t", "PRAGMA application_id", wanted);
	free(wanted);
	wanted = mem_printf("%d", SCHEMA_VERSION);
	assert_answer("t", "PRAGMA user_version", wanted);
	free(wanted);
	assert_answer("t", "PRAGMA page_size", "8192");
	assert_answer("t", "PRAGMA encoding", "UTF-8");
}

/* Every table and column is in docs/schema.md, as `column` or `table.column`. */
SCRATCH_TEST(the_document_is_complete)
{
	const char *source = getenv("CT_SOURCE");
	char *path, *document, *names, *rest, *name;

	if (!source)
		skip();
	path = mem_printf("%s/docs/schema.md", source);
	document = scratch_read(path, NULL);
	finish_timeline(write_timeline("t", true));
	names = ask("t", "SELECT '`' || m.name || '`' FROM sqlite_master AS m"
			 " WHERE type IN ('table', 'view') AND name <> 'sqlite_stat1'"
			 " UNION SELECT p.name || '`' FROM sqlite_master AS m,"
			 " pragma_table_xinfo(m.name) AS p"
			 " WHERE m.type = 'table' AND m.name <> 'sqlite_stat1'"
			 /* those of classes.sql have their fields' names */
			 " AND m.sql NOT LIKE '%PRIMARY KEY REFERENCES event (id)%'");
	assert_true(strlen(names) > 500);
	for (name = strtok_r(names, "\n", &rest); name;
	     name = strtok_r(NULL, "\n", &rest))
		if (!strstr(document, name))
			fail_msg("docs/schema.md: %s is not there", name);
	free(names);
	free(document);
	free(path);
}

/* Programs rely on each index; there is no other. */
SCRATCH_TEST(the_indexes_are_made)
{
	finish_timeline(write_timeline("t", true));
	assert_answer("t",
		      "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master"
		      " WHERE type = 'index' AND sql IS NOT NULL ORDER BY name)",
		      "clock_bound_source,clock_source,event_ts_ns,invocation_begin_ns,"
		      "message_observation_message,message_recv_event,message_send_event,"
		      "process_pid,"
		      "sample_metric,thread_process,thread_tid");
}
