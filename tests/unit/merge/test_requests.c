/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made_spans.h"

#include "merge/requests.h"
#include "merge/tables.h"
#include "timeline/reader.h"

enum { SYN = 2, ACK = 16, HEADER = 52 };

static int64_t client_port = 40;

/* Facts of the messages' packets, as they are added. */
static struct request_send first[MADE_MESSAGES];
static uint8_t flag[MADE_MESSAGES];
static struct request_name sent_to[MADE_MESSAGES], received_from[MADE_MESSAGES];

/* A message of node 1's address a, client_port, to node 2's b, port 80, or back; sent by
 * an event of thread `tid` made for it, received 10 later. */
static void message(int64_t from, int64_t send_event, nsec_t sent_ns, int64_t seq,
		    int64_t bytes, int64_t tid)
{
	struct timeline_message row = {
	    .protocol = "tcp",
	    .src_node = from,
	    .dst_node = 3 - from,
	    .send_event = send_event,
	    .recv_event = TIMELINE_NONE,
	    .send_ns = sent_ns,
	    .recv_ns = sent_ns + 10,
	    .latency_ns = 10,
	    .src = from == 1 ? "a" : "b",
	    .sport = from == 1 ? client_port : 80,
	    .dst = from == 1 ? "b" : "a",
	    .dport = from == 1 ? 80 : client_port,
	    .seq = seq,
	    .bytes = bytes,
	};

	first[made_messages] = (struct request_send){
	    .ns = sent_ns,
	    .event = send_event,
	    .sent = {.origin = send_event, .origin_ns = sent_ns, .origin_tid = tid}};
	flag[made_messages] = 0;
	made_add_message(&row);
}

/* The same, of a packet whose headers were recorded, by thread `tid`. */
static void packet(int64_t from, nsec_t sent_ns, int64_t seq, int64_t data, int64_t flags,
		   int64_t tid)
{
	const struct cell cells[] = {INTEGER(HEADER + data), INTEGER(data),
				     INTEGER(flags)};

	made_node = from;
	message(from, made_event(PACKET, sent_ns, 0, tid, cells), sent_ns, seq,
		HEADER + data, tid);
	flag[made_messages - 1] = (uint8_t)flags;
}

/* One whose headers were not. */
static void bare(int64_t from, nsec_t sent_ns, int64_t seq, int64_t data, int64_t tid)
{
	made_node = from;
	message(from, name_at(SEND, sent_ns, 0, tid, "eth0"), sent_ns, seq, HEADER + data,
		tid);
}

static void write_requests(void)
{
	struct error error = ERROR_INIT;
	struct merge_source source[] = {{.id = 1, .kind = "trace", .node = 0},
					{.id = 2, .kind = "trace", .node = 1}};
	struct merge_run run = {.source = source, .count = 2, .nodes = 2};
	struct requests *requests = requests_new(&run);

	for (size_t i = 0; i < made_messages; i++) {
		if (!first[i].by)
			first[i].by = made_message[i].send_by;
		requests_message(requests,
				 &(struct request_message){
				     .row = made_message[i],
				     .send_source = made_message[i].src_node == 2,
				     .recv_source = made_message[i].dst_node == 2,
				     .sent_to = sent_to[i],
				     .received_from = received_from[i],
				     .data = made_message[i].bytes - HEADER,
				     .flags = flag[i],
				     .is_carrier = first[i].sent.is_carrier,
				     .first = first[i]});
	}
	assert_int_equal(requests_finish(requests, made_told, &error), 0);
	assert_int_equal(requests_write(requests, made_writer, &error), 0);
	requests_free(requests);
}

/* Make the timeline's requests, and return a query's result. The caller frees it. */
static char *asked(const char *sql)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *timeline;
	struct timeline_query *query;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	made_before_end = write_requests;
	made_end();
	assert_int_equal(tables_derive("t", NULL, &error), 0);
	timeline = timeline_reader_open("t", &error);
	query = timeline_query_new(timeline, sql, &error);
	assert_int_equal(timeline_query_ask(query, NULL, 0, &error), 0);
	while (timeline_query_next(query, &error) > 0) {
		const struct cell *cell = timeline_query_row(query);

		for (size_t i = 0; i < timeline_query_columns(query); i++)
			if (cell[i].type == CELL_TEXT)
				fprintf(out, "%.*s ", (int)cell[i].size, cell[i].bytes);
			else if (cell[i].type == CELL_INTEGER)
				fprintf(out, "%" PRId64 " ", cell[i].integer);
			else
				fputs("- ", out);
		fputc('\n', out);
	}
	assert_string_equal(error_text(&error), "");
	fclose(out);
	timeline_query_free(query);
	timeline_reader_free(timeline);
	return text;
}

#define assert_asked(sql, wanted)                                                        \
	do {                                                                             \
		char *told_ = asked(sql);                                                \
		assert_string_equal(told_, (wanted));                                    \
		free(told_);                                                             \
	} while (0)

/* Number, when it was sent and had come, when the response was sent and had come. */
#define TIMES "SELECT id, begin_ns, arrived_ns, responded_ns, end_ns FROM request"

TEST(data_one_way_and_then_the_other_is_an_exchange)
{
	made_begin_spans();
	bare(1, 100, 1000, 200, 5); /* 1: a request in two parts */
	bare(1, 110, 1200, 50, 5);
	bare(2, 125, 7000, 0, 0); /* acknowledged */
	bare(2, 150, 7000, 300, 8);
	bare(2, 160, 7300, 300, 8);
	bare(1, 180, 1250, 0, 0);
	bare(1, 200, 1250, 10, 5); /* 7: the next one */
	bare(2, 250, 7600, 20, 9);
	bare(1, 300, 1260, 10, 5); /* never answered */
	assert_asked(
	    "SELECT id, begin_ns, arrived_ns, responded_ns, end_ns, client, server,"
	    " client_tid, server_tid, request_bytes, response_bytes, last_message,"
	    " client_address, server_port, there_ns, back_ns FROM request",
	    "1 100 120 150 170 1 2 5 8 250 600 5 a 80 20 20 \n"
	    "7 200 210 250 260 1 2 5 9 10 20 8 a 80 10 10 \n"
	    "9 300 310 - - 1 2 5 - 10 - - a 80 - - \n");
}

TEST(what_came_before_is_no_news)
{
	made_begin_spans();
	bare(1, 100, 0xfffffff0, 0x20, 5); /* numbers go round */
	bare(2, 150, 7000, 300, 8);
	bare(1, 155, 0xfffffff0, 0x20, 5); /* sent again, as its answer was late */
	bare(2, 160, 7300, 100, 8);
	bare(1, 170, 0x10, 8, 5); /* but this is new */
	bare(2, 180, 7400, 10, 8);
	assert_asked(TIMES, "1 100 110 150 170 \n5 170 180 180 190 \n");
}

/* Let the last message go to `to`, which its sender knows, and come from `from`, which
 * its receiver sees. */
static void translate(const char *to, int64_t to_port, const char *from,
		      int64_t from_port)
{
	sent_to[made_messages - 1] = (struct request_name){to, to_port};
	received_from[made_messages - 1] = (struct request_name){from, from_port};
}

/* The client asks v:8080 and is n:1 to the server, which is b:80. */
TEST(either_end_finds_a_translated_flow)
{
	made_begin_spans();
	bare(1, 100, 1000, 200, 5);
	translate("v", 8080, "n", 1);
	bare(2, 150, 7000, 300, 8);
	translate("n", 1, "v", 8080);
	/* The response was seen where it was translated on its client's node. */
	bare(1, 200, 1200, 10, 5);
	translate("v", 8080, "n", 1);
	bare(2, 250, 7300, 20, 8);
	made_message[made_messages - 1].dst = "outer";
	translate("n", 1, "v", 8080);
	/* Another client of the node. */
	client_port = 41;
	bare(1, 300, 5000, 10, 6);
	translate("v", 8080, "n", 2);
	bare(1, 310, 1210, 10, 5);
	made_message[made_messages - 1].sport = 40;
	translate("v", 8080, "n", 1);
	bare(2, 350, 9000, 10, 9);
	translate("n", 2, "v", 8080);
	client_port = 40;
	assert_asked("SELECT id, end_ns, client_address, client_port, server_address,"
		     " server_port FROM request",
		     "1 160 a 40 b 80 \n3 260 a 40 b 80 \n5 360 a 41 b 80 \n"
		     "6 - a 40 b 80 \n");
	memset(sent_to, 0, sizeof(sent_to));
	memset(received_from, 0, sizeof(received_from));
}

/* A segment was lost, so that only what was sent again in its place is a message. */
TEST(what_was_lost_comes_when_it_is_sent_again)
{
	made_begin_spans();
	bare(1, 100, 1000, 30, 5);
	bare(2, 150, 7000, 100, 8);
	bare(2, 160, 7300, 100, 8); /* 7100 to 7300 were lost */
	bare(2, 170, 7100, 100, 8);
	bare(2, 180, 7300, 100, 8); /* this was not */
	bare(2, 190, 7200, 100, 8);
	bare(2, 195, 7200, 100, 8); /* once more */
	assert_asked(
	    "SELECT id, begin_ns, arrived_ns, responded_ns, end_ns, response_bytes"
	    " FROM request",
	    "1 100 110 150 200 400 \n");
}

/* The data of the last message was first sent before, by an event of that thread. */
static void sent_before(nsec_t ns, int64_t tid)
{
	first[made_messages - 1].ns = ns;
	first[made_messages - 1].by = "thread";
	first[made_messages - 1].sent.origin_ns = ns;
	first[made_messages - 1].sent.origin_tid = tid;
}

#define RESENT                                                                           \
	"SELECT id, begin_ns, arrived_ns, responded_ns, end_ns, resent_ns, there_ns, "   \
	"back_ns, client_tid, server_tid FROM request"

/* Lost data delays a request and its response from when it was first sent. */
TEST(a_request_begins_when_it_was_first_sent)
{
	made_begin_spans();
	bare(1, 130, 1000, 200, 0); /* 1: lost at 100 */
	sent_before(100, 5);
	bare(2, 190, 7000, 300, 0); /* lost at 150 */
	sent_before(150, 8);
	/* 3: of two parts the first is lost at 250 */
	bare(1, 260, 1250, 50, 5);
	bare(1, 290, 1200, 50, 0);
	sent_before(250, 5);
	bare(2, 310, 7300, 300, 8);
	/* 6: of two responses the first is lost, and comes with more */
	bare(1, 400, 1300, 10, 5);
	bare(2, 420, 7600, 100, 8);
	bare(2, 480, 7600, 200, 8);
	sent_before(420, 8);
	assert_asked(RESENT, "1 100 140 150 200 70 10 10 5 8 \n"
			     "3 250 300 310 320 40 10 10 5 8 \n"
			     "6 400 410 420 490 0 10 70 5 8 \n");
}

/* A connection's lost SYNs delay its first request, but not one that comes later. */
TEST(lost_syns_delay_the_first_request)
{
	made_begin_spans();
	packet(1, 200, 99, 0, SYN, 5);
	sent_before(100, 5);
	packet(2, 210, 499, 0, SYN | ACK, 0);
	packet(1, 220, 100, 10, ACK, 5); /* 3 */
	packet(2, 240, 500, 10, ACK, 8);
	packet(1, 260, 110, 10, ACK, 5); /* 5 */
	packet(2, 280, 510, 10, ACK, 8);
	client_port = 41;
	packet(1, 300, 99, 0, SYN, 5);
	sent_before(290, 5);
	packet(1, 500, 100, 10, ACK, 5); /* 8 */
	packet(2, 520, 500, 10, ACK, 8);
	client_port = 40;
	assert_asked(RESENT, "3 100 230 240 250 100 30 10 5 8 \n"
			     "5 260 270 280 290 0 10 10 5 8 \n"
			     "8 500 510 520 530 0 10 10 5 8 \n");
}

/* The one who connects is the client, though the other one speaks first. */
TEST(who_connects_is_the_client)
{
	made_begin_spans();
	packet(2, 100, 500, 0, SYN, 8);
	packet(1, 120, 900, 0, SYN | ACK, 5);
	packet(1, 140, 901, 30, ACK, 5); /* a greeting */
	packet(2, 160, 501, 40, ACK, 8);
	packet(1, 180, 931, 50, ACK, 5);
	assert_asked("SELECT id, begin_ns, arrived_ns, responded_ns, end_ns, client,"
		     " request_bytes, client_address FROM request",
		     "4 160 170 180 190 2 40 b \n");
}

/* The ports may tell of a connection that was there before the recording. */
TEST(an_ephemeral_port_is_a_clients)
{
	client_port = 32768;
	made_begin_spans();
	bare(2, 100, 7000, 300, 8); /* answers what was asked before */
	bare(1, 120, 1000, 30, 5);
	bare(2, 140, 7300, 30, 8);
	client_port = 40;
	assert_asked("SELECT id, begin_ns, arrived_ns, responded_ns, end_ns, client"
		     " FROM request",
		     "2 120 130 140 150 1 \n");
}

/* The same ports once more: numbers begin anew. */
TEST(a_new_connection_forgets_the_old_one)
{
	made_begin_spans();
	packet(1, 100, 0, 0, SYN, 5);
	packet(1, 110, 5000, 30, ACK, 5);
	packet(1, 200, 100, 0, SYN, 5);
	packet(1, 210, 101, 30, ACK, 5);
	packet(2, 250, 700, 30, ACK, 8);
	assert_asked(TIMES, "2 110 120 - - \n4 210 220 250 260 \n");
}

/* Number, by whom, queue, running, runnable, disk, node, other, unknown. */
#define PARTS                                                                            \
	"SELECT id, server_tid, queue_ns, running_ns, runnable_ns, disk_ns, node_ns,"    \
	" other_ns, unknown_ns FROM request WHERE queue_ns + running_ns + runnable_ns"   \
	" + disk_ns + node_ns + other_ns + unknown_ns = responded_ns - arrived_ns"

static void read_until(nsec_t begin_ns, nsec_t end_ns, int64_t fd)
{
	number_at(READ, begin_ns, 0, 8, fd, 1);
	number_at(READ_END, end_ns, 0, 8, 1, 0);
}

/* Thread 8 replies on a file. */
static void reply(nsec_t begin_ns, int64_t seq, int64_t fd)
{
	number_at(WRITE, begin_ns, 0, 8, fd, 300);
	bare(2, begin_ns + 10, seq, 300, 8);
	number_at(WRITE_END, begin_ns + 20, 0, 8, 300, 0);
}

static void begin_server(void)
{
	made_begin_spans();
	made_node = 2;
	irq_at(1, 0, 0, 1, "nic");
	number_at(IRQ_END, 2, 0, 0, 1, 0);
	number_at(SOFTIRQ, 3, 0, 0, 3, 0);
	number_at(SOFTIRQ_END, 4, 0, 0, 3, 0);
	switch_at(50, 0, 0, 0, 8);
}

/* Thread 8 works on something else when the request comes, then takes it from file 4,
 * reads a disk and replies on file 4. */
TEST(the_queue_ends_when_the_request_is_read)
{
	begin_server();
	bare(1, 100, 1000, 200, 5); /* arrives at 110 */
	made_node = 2;
	read_until(115, 130, 3); /* another file */
	switch_at(140, 0, 8, 0, 9);
	switch_at(150, 0, 9, 1, 8);
	read_until(155, 160, 4); /* taken */
	switch_at(180, 0, 8, 2, 0);
	irq_at(185, 0, 0, 2, "disk");
	disk_at(COMPLETE, 190, 64, 8, 4, 8);
	wake_at(WAKING, 200, 0, 0, 8, 0);
	number_at(IRQ_END, 205, 0, 0, 2, 0);
	switch_at(212, 0, 0, 0, 8);
	read_until(215, 220, 4);
	reply(240, 7000, 4);
	switch_at(300, 0, 8, 1, 0);
	assert_asked(PARTS, "1 8 50 58 12 20 0 0 0 \n");
}

/* One of the last two reads is of this request, one cannot be known, both are; or they
 * are of another file. */
TEST(the_first_read_after_the_arrival_counts)
{
	begin_server();
	read_until(60, 70, 4);
	bare(1, 100, 1000, 200, 5); /* arrives at 110 */
	made_node = 2;
	read_until(115, 130, 4);
	reply(140, 7000, 4);
	bare(1, 200, 1200, 200, 5);
	made_node = 2;
	read_until(215, 220, 4);
	read_until(225, 230, 8); /* its place is the same */
	read_until(235, 240, 4);
	reply(250, 7300, 4);
	bare(1, 300, 1400, 200, 5);
	made_node = 2;
	read_until(315, 320, 4);
	read_until(325, 330, 4);
	reply(340, 7600, 4);
	bare(1, 400, 1600, 200, 5);
	made_node = 2;
	read_until(415, 420, 4);
	reply(430, 7900, 5);
	switch_at(500, 0, 8, 1, 0);
	assert_asked(PARTS, "1 8 20 20 0 0 0 0 0 \n3 8 10 40 0 0 0 0 0 \n"
			    "5 8 10 30 0 0 0 0 0 \n7 8 0 30 0 0 0 0 0 \n");
}

/* The second one comes while the thread has the first, and is answered before it. */
TEST(a_thread_serves_two_requests_at_once)
{
	begin_server();
	bare(1, 100, 1000, 200, 5); /* arrives at 110 */
	client_port = 41;
	bare(1, 120, 1000, 200, 5); /* arrives at 130 */
	made_node = 2;
	read_until(135, 140, 4);
	read_until(145, 150, 5);
	reply(160, 7000, 5);
	switch_at(190, 0, 8, 0, 9);
	switch_at(210, 0, 9, 1, 8);
	client_port = 40;
	reply(220, 7000, 4);
	switch_at(300, 0, 8, 1, 0);
	assert_asked(PARTS, "1 8 30 70 20 0 0 0 0 \n2 8 20 20 0 0 0 0 0 \n");
}

/* Without system calls it ends when the thread runs. */
TEST(the_queue_ends_when_the_thread_runs)
{
	begin_server();
	switch_at(60, 0, 8, 1, 0);
	bare(1, 100, 1000, 200, 5); /* arrives at 110 */
	made_node = 2;
	number_at(SOFTIRQ, 111, 0, 0, 3, 0);
	name_at(RECEIVE, 112, 0, 0, "eth0");
	wake_at(WAKING, 115, 0, 0, 8, 0);
	number_at(SOFTIRQ_END, 118, 0, 0, 3, 0);
	switch_at(120, 0, 0, 0, 8);
	bare(2, 170, 7000, 300, 8);
	switch_at(200, 0, 8, 1, 0);
	bare(1, 210, 1200, 200,
	     5); /* answered at once, by a thread of which all is lost */
	bare(2, 230, 7300, 300, 77);
	assert_asked(PARTS, "1 8 10 50 0 0 0 0 0 \n3 77 0 0 0 0 0 0 10 \n");
}

/* An echo that the kernel sends in the softirq that received; thread 8 has no part. */
TEST(a_kernel_replies_by_itself)
{
	begin_server();
	bare(1, 100, 1000, 200, 5);
	made_node = 2;
	number_at(SOFTIRQ, 111, 0, 8, 3, 0);
	name_at(RECEIVE, 112, 0, 8, "eth0");
	bare(2, 125, 7000, 300, 8);
	number_at(SOFTIRQ_END, 130, 0, 8, 3, 0);
	assert_asked(PARTS, "1 - 0 0 0 0 0 15 0 \n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
