/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analyses of a timeline made by hand, against what it says. */
#include "../timeline/timeline.h"
#include "analyze/catalog.h"
#include "analyze/print.h"

/* An event of a class with one column of integers. */
static void add_event(struct timeline_writer *writer, const char *name,
		      const char *column, nsec_t ts_ns, int64_t tid, int64_t value)
{
	const struct timeline_column columns[] = {
	    {.name = column, .type = CELL_INTEGER, .context = false}};
	const struct timeline_class class = {
	    .kind = "kernel", .name = name, .column = columns, .columns = 1};
	const struct cell cell = INTEGER(value);
	struct timeline_event event = {.ts_ns = ts_ns,
				       .node = 1,
				       .source = 1,
				       .tid = tid,
				       .cpu = (int32_t)(tid % 2),
				       .cell = &cell};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_class(writer, &class, &event.class, &error), 0);
	assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
}

/* Return a table of an analysis as CSV without carriage returns. */
static char *answer(const char *name, struct request *request, const char *table)
{
	struct error error = ERROR_INIT;
	struct text_list none = {0};
	struct query query;
	struct catalog catalog;
	struct result result;
	char *text, *to;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(catalog_init(&catalog, &none, &error), 0);
	request->format = FORMAT_CSV;
	request->table = mem_strdup(table);
	assert_int_equal(request_check(request, &error), 0);
	assert_int_equal(query_open(&query, catalog_find(&catalog, name, &error), request,
				    "run.db", &error),
			 0);
	result_init(&result, request);
	assert_int_equal(query.analysis->run(&query, &result, &error), 0);
	assert_int_equal(result_finish(&result, &error), 0);
	print_result(&query, &result, file);
	fclose(file);
	to = text;
	for (const char *from = text; *from; from++)
		if (*from != '\r')
			*to++ = *from;
	*to = '\0';
	result_clear(&result);
	query_close(&query);
	catalog_clear(&catalog);
	request_clear(request);
	return text;
}

static void expect(char *got, const char *wanted)
{
	assert_string_equal(got, wanted);
	free(got);
}

SCRATCH_TEST(test_pages)
{
	struct timeline_writer *writer = write_timeline("run.db", true);
	const struct timeline_process process = {.id = 1,
						 .node = 1,
						 .pid = 7,
						 .ppid = 1,
						 .comm = "proc",
						 .begin_ns = TIMELINE_NONE,
						 .end_ns = TIMELINE_NONE,
						 .exit_status = TIMELINE_NONE};
	const struct timeline_thread thread = {.id = 1,
					       .process = 1,
					       .node = 1,
					       .tid = 8,
					       .comm = "taker",
					       .begin_ns = TIMELINE_NONE,
					       .end_ns = TIMELINE_NONE};
	struct error error = ERROR_INIT;
	struct request request;

	add_event(writer, "kmem_mm_page_alloc", "order", 1000, 8, 0);
	add_event(writer, "kmem_mm_page_alloc", "order", 2000, 8, 3);
	add_event(writer, "kmem_mm_page_free", "order", 3000, 8, 0);
	add_event(writer, "kmem_mm_page_free", "order", 4000, 9, 3);
	assert_int_equal(timeline_add_process(writer, &process, &error), 0);
	assert_int_equal(timeline_add_thread(writer, &thread, &error), 0);
	finish_timeline(writer);
	request_init(&request);
	expect(
	    answer("mem", &request, "pages"),
	    "node,process,tid,allocations,allocated_bytes,frees,freed_bytes,net_bytes\n"
	    "n1,taker,8,2,36864,1,4096,32768\n"
	    "n1,\"\",9,0,0,1,32768,-32768\n");
	/* The process's name, and its number, stand for its threads. */
	text_list_add(&request.names, "pr?c");
	text_list_add(&request.pid_words, "7");
	expect(
	    answer("mem", &request, "pages"),
	    "node,process,tid,allocations,allocated_bytes,frees,freed_bytes,net_bytes\n"
	    "n1,taker,8,2,36864,1,4096,32768\n");
	text_list_add(&request.cpu_words, "1");
	expect(
	    answer("mem", &request, "pages"),
	    "node,process,tid,allocations,allocated_bytes,frees,freed_bytes,net_bytes\n"
	    "n1,\"\",9,0,0,1,32768,-32768\n");
}

/* Begins and ends of two keys, a begin that comes twice, an end without a begin. */
static void make_periods(void)
{
	struct timeline_writer *writer = write_timeline("run.db", true);

	add_event(writer, "end", "key", 500, 8, 1);
	add_event(writer, "begin", "key", 1000, 8, 1);
	add_event(writer, "begin", "key", 2000, 8, 2);
	add_event(writer, "end", "key", 3000, 8, 1);
	add_event(writer, "begin", "key", 4000, 8, 2);
	add_event(writer, "end", "key", 4500, 9, 2);
	add_event(writer, "begin", "key", 5000, 8, 1);
	finish_timeline(writer);
}

static void ask_periods(struct request *request, const char *from, const char *to,
			const char *group)
{
	request_init(request);
	request->from = mem_strdup(from);
	request->to = mem_strdup(to);
	request->group = group ? mem_strdup(group) : NULL;
	request->log = true;
}

SCRATCH_TEST(test_periods)
{
	struct request request;

	make_periods();
	ask_periods(&request, "begin", "end", "key");
	expect(answer("periods", &request, "log"),
	       "group,begin_ns,end_ns,duration_ns,bound_ns,from_node,to_node,begin_event,"
	       "end_event\n"
	       "key=1,1000,3000,2000,0,n1,n1,2,4\n"
	       "key=2,4000,4500,500,0,n1,n1,5,6\n");
	ask_periods(&request, "begin", "end", NULL);
	expect(answer("periods", &request, "log"),
	       "group,begin_ns,end_ns,duration_ns,bound_ns,from_node,to_node,begin_event,"
	       "end_event\n"
	       "\"\",2000,3000,1000,0,n1,n1,3,4\n"
	       "\"\",4000,4500,500,0,n1,n1,5,6\n");
	ask_periods(&request, "beg*[ key >= 2 && tid = 8 && node ~ \"n?\" ]",
		    "end[key != 1]", "key");
	expect(answer("periods", &request, "log"),
	       "group,begin_ns,end_ns,duration_ns,bound_ns,from_node,to_node,begin_event,"
	       "end_event\n"
	       "key=2,4000,4500,500,0,n1,n1,5,6\n");
	ask_periods(&request, "begin", "end", "key");
	request.min = mem_strdup("1us");
	request.stats = true;
	request.log = false;
	expect(answer("periods", &request, "periods"),
	       "group,count,sum_ns,min_ns,mean_ns,p50_ns,p95_ns,p99_ns,max_ns\n"
	       "all,1,2000,2000,2000,2000,2000,2000,2000\n"
	       "key=1,1,2000,2000,2000,2000,2000,2000,2000\n");
}

/* From an event to the next of its kind, which ends one period and begins another. */
SCRATCH_TEST(test_periods_of_one_class)
{
	struct request request;

	make_periods();
	ask_periods(&request, "begin[tid=8]", "begin[tid=8]", "key");
	expect(answer("periods", &request, "log"),
	       "group,begin_ns,end_ns,duration_ns,bound_ns,from_node,to_node,begin_event,"
	       "end_event\n"
	       "key=1,1000,5000,4000,0,n1,n1,2,7\n"
	       "key=2,2000,4000,2000,0,n1,n1,3,5\n");
}

static void refuse_periods(const char *from, const char *to, const char *message)
{
	struct error error = ERROR_INIT;
	struct text_list none = {0};
	struct request request;
	struct query query;
	struct catalog catalog;
	struct result result;

	ask_periods(&request, from, to, NULL);
	assert_int_equal(catalog_init(&catalog, &none, &error), 0);
	assert_int_equal(query_open(&query, catalog_find(&catalog, "periods", &error),
				    &request, "run.db", &error),
			 0);
	result_init(&result, &request);
	assert_int_equal(query.analysis->run(&query, &result, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	result_clear(&result);
	query_close(&query);
	catalog_clear(&catalog);
	request_clear(&request);
}

SCRATCH_TEST(test_wrong_conditions)
{
	make_periods();
	refuse_periods("begin[key]", "end",
		       "--from: invalid condition 'key' (expected FIELD = VALUE)");
	refuse_periods("begin[key = 1", "end", "--from: missing ] in 'begin[key = 1'");
	refuse_periods("begin", " [key = 1]",
		       "--to: missing event class in ' [key = 1]'");
	refuse_periods("begin[kee = 1]", "end", "no field 'kee' in begin or end");
}
