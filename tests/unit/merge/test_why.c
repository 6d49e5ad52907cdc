/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Reasons by `why` for requests whose faults are known: of each three to one port, one
 * waits for a disk, or for a processor that others have, or its response is lost once.
 */
#include "made_spans.h"

#include "analyze/catalog.h"
#include "analyze/print.h"
#include "base/mem.h"

enum { NET_RX = 3, TIMER_VEC = 1, SERVER = 5 };

enum fault { NO_FAULT, SLOW_DISK, NOISY_NEIGHBOUR, LOST_RESPONSE };

static struct timeline_request served[16];
static size_t served_count;

static void add_message(int64_t from, int64_t port, const int64_t event[2],
			nsec_t send_ns, nsec_t recv_ns)
{
	const struct timeline_message message = {
	    .protocol = "tcp",
	    .src_node = from,
	    .dst_node = 3 - from,
	    .send_event = event[0],
	    .recv_event = event[1],
	    .send_ns = send_ns,
	    .recv_ns = recv_ns,
	    .latency_ns = recv_ns - send_ns,
	    .src = from == 1 ? "a" : "b",
	    .sport = from == 1 ? port : 40000,
	    .dst = from == 1 ? "b" : "a",
	    .dport = from == 1 ? 40000 : port,
	};

	made_add_message(&message);
}

/* The server's thread waits in a read of the disk. Return when it has ended. */
static nsec_t wait_for_disk(nsec_t at)
{
	switch_at(at + 10, 0, SERVER, 2, 0);
	irq_at(at + 58, 0, 0, 2, "disk");
	disk_at(COMPLETE, at + 59, 64, 8, 4, SERVER);
	wake_at(WAKING, at + 60, 0, 0, SERVER, 0);
	number_at(IRQ_END, at + 61, 0, 0, 2, 0);
	switch_at(at + 62, 0, 0, 0, SERVER);
	return at + 52;
}

/* Threads 9 and 7 have the processor, 9 for longer. Return when they have ended. */
static nsec_t wait_for_processor(nsec_t at)
{
	wake_at(WAKING, at + 44, 0, 9, 7, 0);
	switch_at(at + 46, 0, 9, 1, 7);
	switch_at(at + 56, 0, 7, 1, SERVER);
	return at + 48;
}

/* The request of node 2 and the response of node 1, which takes 24 ns without a fault. */
static nsec_t serve(int64_t port, nsec_t at, enum fault fault)
{
	const bool is_busy = fault == NOISY_NEIGHBOUR, is_lost = fault == LOST_RESPONSE;
	const nsec_t begin = at;
	int64_t there[2], back[2];
	nsec_t first;

	made_node = 2;
	there[0] = name_at(SEND, at, 0, 8, "eth0");
	made_node = 1;
	if (is_busy)
		switch_at(at + 1, 0, 0, 0, 9);
	number_at(SOFTIRQ, at + 4, 0, is_busy ? 9 : 0, NET_RX, 0);
	there[1] = name_at(RECEIVE, at + 5, 0, is_busy ? 9 : 0, "eth0");
	wake_at(WAKING, at + 6, 0, is_busy ? 9 : 0, SERVER, 0);
	number_at(SOFTIRQ_END, at + 7, 0, is_busy ? 9 : 0, NET_RX, 0);
	if (!is_busy)
		switch_at(at + 8, 0, 0, 0, SERVER);
	at = fault == SLOW_DISK ? wait_for_disk(at)
	     : is_busy          ? wait_for_processor(at)
				: at;
	first = at + 18;
	back[0] = name_at(SEND, first, 0, SERVER, "eth0");
	switch_at(at + 20, 0, SERVER, 1, 0);
	if (is_lost) {
		at += 40;
		number_at(SOFTIRQ, at + 17, 0, 0, TIMER_VEC, 0);
		back[0] = name_at(SEND, at + 18, 0, 0, "eth0");
		number_at(SOFTIRQ_END, at + 19, 0, 0, TIMER_VEC, 0);
	}
	made_node = 2;
	back[1] = name_at(RECEIVE, at + 24, 0, 0, "eth0");
	add_message(2, port, there, begin, begin + 5);
	add_message(1, port, back, at + 18, at + 24);
	served[served_count++] = (struct timeline_request){
	    .id = (int64_t)made_messages - 1,
	    .last_message = (int64_t)made_messages,
	    .protocol = "tcp",
	    .client = 2,
	    .server = 1,
	    .client_source = 2,
	    .server_source = 1,
	    .client_address = "b",
	    .client_port = 40000,
	    .server_address = "a",
	    .server_port = port,
	    .client_tid = TIMELINE_NONE,
	    .server_tid = SERVER,
	    .given_ns = first,
	    .begin_ns = begin,
	    .arrived_ns = begin + 5,
	    .responded_ns = first,
	    .end_ns = at + 24,
	    .there_ns = 5,
	    .back_ns = 6,
	    .resent_ns = is_lost ? 40 : 0,
	    .bound_ns = 3,
	};
	return at + 30;
}

static void add_rows(void)
{
	static const int64_t tids[] = {SERVER, 7, 9};
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < sizeof(tids) / sizeof(*tids); i++) {
		char name[24];
		const struct timeline_thread thread = {
		    .id = (int64_t)i + 1,
		    .process = TIMELINE_NONE,
		    .node = 1,
		    .tid = tids[i],
		    .comm = (made_comm(tids[i], name), name),
		    .begin_ns = TIMELINE_NONE,
		    .end_ns = TIMELINE_NONE};

		assert_int_equal(timeline_add_thread(made_writer, &thread, &error), 0);
	}
	for (size_t i = 0; i < served_count; i++)
		assert_int_equal(timeline_add_request(made_writer, &served[i], &error),
				 0);
}

static void make_timeline(void)
{
	static const enum fault faults[] = {SLOW_DISK, NOISY_NEIGHBOUR, LOST_RESPONSE};
	nsec_t at = 20;

	served_count = 0;
	made_begin_spans();
	irq_at(1, 0, 0, 1, "nic");
	number_at(IRQ_END, 2, 0, 0, 1, 0);
	switch_at(10, 0, 0, 0, SERVER);
	switch_at(12, 0, SERVER, 1, 0);
	for (int64_t i = 0; i < 3; i++)
		for (int64_t k = 0; k < 3; k++)
			at = serve(80 + i, at, k == i ? faults[i] : NO_FAULT);
	assert_true(at < MADE_END);
	made_before_end = add_rows;
	made_end();
	made_before_end = NULL;
}

/* A table of the analysis of "t", as CSV. For free(). */
static char *print_why(const char *table, const char *sort)
{
	struct error error = ERROR_INIT;
	struct text_list none = {0};
	struct catalog catalog;
	struct request request;
	struct result result;
	struct query query;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	request_init(&request);
	request.format = FORMAT_CSV;
	request.quiet = true;
	request.limit_given = 0;
	request.table = mem_strdup(table);
	request.sort = mem_strdup(sort);
	assert_int_equal(catalog_init(&catalog, &none, &error), 0);
	request.catalog = &catalog;
	assert_int_equal(request_check(&request, &error), 0);
	assert_int_equal(query_open(&query, catalog_find(&catalog, "why", &error),
				    &request, "t", &error),
			 0);
	assert_int_equal(query_run(&query, &result, &error), 0);
	print_result(&query, &result, file);
	fclose(file);
	result_clear(&result);
	query_close(&query);
	catalog_clear(&catalog);
	request_clear(&request);
	return text;
}

/* Each fault has its node, thread and cause. */
TEST(faults_are_named)
{
	char *slow;

	make_timeline();
	slow = print_why("slow", "port");
	assert_string_equal(
	    slow,
	    "client,server,protocol,port,process,requests,p50_ns,slow,slowest_ns,"
	    "more_ns,why,bound_ns,node,comm,state,from,other,other_percent\r\n"
	    "n2,n1,tcp,80,t5,3,24,1,76,50,n1 t5 waits for a disk,3,n1,t5,disk,,,\r\n"
	    "n2,n1,tcp,81,t5,3,24,1,72,48,\"n1 t5 waits for a processor, 80 % behind "
	    "t9\",3,n1,t5,runnable,,t9,80\r\n"
	    "n2,n1,tcp,82,t5,3,24,1,64,40,\"data lost from n1 to n2, until sent "
	    "again\",3,n2,,resent,n1,,\r\n");
	free(slow);
}

/* The number in a field of a line of CSV that has no quotes. */
static int64_t read_field(const char *line, int field)
{
	while (field--)
		line = strchr(line, ',') + 1;
	return strtoll(line, NULL, 10);
}

/* The parts of a group add up to the time of its requests. */
TEST(parts_are_exact)
{
	int64_t sum_ns[3] = {0};
	char *parts;

	make_timeline();
	parts = print_why("parts", "port,state,other");
	for (const char *line = strchr(parts, '\n') + 1; *line;
	     line = strchr(line, '\n') + 1)
		sum_ns[read_field(line, 3) - 80] += read_field(line, 11);
	for (size_t i = 0; i < 9; i++)
		sum_ns[i % 3] -= served[i].end_ns - served[i].begin_ns;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sum_ns[i], 0);
	/* The thread that had the processor, in all and in the slow one; a response
	 * that was lost counts for the thread that sent it first. */
	assert_non_null(strstr(parts, ",81,t5,120,n1,t5,runnable,,t9,40,"));
	assert_non_null(strstr(parts, ",81,t5,120,n1,t5,runnable,,t7,10,"));
	assert_non_null(strstr(parts, ",82,t5,112,n2,,resent,n1,,40,"));
	assert_non_null(strstr(parts, ",82,t5,112,n1,t5,running,,,30,"));
	assert_null(strstr(parts, "unknown"));
	free(parts);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
