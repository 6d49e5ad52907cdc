/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made_spans.h"

#include "timeline/path.h"

enum { NET_RX = 3, TIMER_VEC = 1 };

static int64_t port; /* of the server, node 2 */

static void message_at(int64_t from, int64_t to, int64_t send_event, int64_t recv_event,
		       nsec_t send_ns, nsec_t recv_ns)
{
	const struct timeline_message message = {
	    .protocol = "tcp",
	    .src_node = from,
	    .dst_node = to,
	    .send_event = send_event,
	    .recv_event = recv_event,
	    .send_ns = send_ns,
	    .recv_ns = recv_ns,
	    .latency_ns = recv_ns - send_ns,
	    .src = from == 1 ? "a" : "b",
	    .sport = from == 1 ? 40000 : port,
	    .dst = from == 1 ? "b" : "a",
	    .dport = from == 1 ? port : 40000,
	};

	made_add_message(&message);
}

/* Interrupts have to be recorded for it to be known that a wakeup is of none. */
static void begin(void)
{
	made_begin_spans();
	port = 80;
	for (nsec_t at = 1; at < 9; at += 4) {
		made_node = at / 4 + 1;
		irq_at(at, 0, 0, 1, "nic");
		number_at(IRQ_END, at + 1, 0, 0, 1, 0);
		number_at(SOFTIRQ, at + 2, 0, 0, NET_RX, 0);
		number_at(SOFTIRQ_END, at + 3, 0, 0, NET_RX, 0);
	}
	made_node = 1;
}

/* A packet is received and wakes a thread, all in a softirq; the packet's event. */
static int64_t receive_at(nsec_t ts_ns, int64_t current, int64_t woken)
{
	int64_t event;

	number_at(SOFTIRQ, ts_ns - 2, 0, current, NET_RX, 0);
	event = name_at(RECEIVE, ts_ns, 0, current, "eth0");
	if (woken)
		wake_at(WAKING, ts_ns + 1, 0, current, woken, 0);
	number_at(SOFTIRQ_END, ts_ns + 2, 0, current, NET_RX, 0);
	return event;
}

static void tell(FILE *out, const struct path_segment *at)
{
	fprintf(out, "%" PRId64, at->node);
	if (at->tid >= 0)
		fprintf(out, "/%" PRId64, at->tid);
	fprintf(out, " %s %" PRId64 "-%" PRId64, path_state_name(at->state), at->begin_ns,
		at->end_ns);
	if (at->cpu >= 0)
		fprintf(out, " cpu%" PRId64, at->cpu);
	if (at->other_tid >= 0)
		fprintf(out, " other %" PRId64, at->other_tid);
	if (at->message)
		fprintf(out, " from %" PRId64 " #%" PRId64 " sent %" PRId64,
			at->from_node, at->message, at->sent_ns);
	fputc('\n', out);
}

/* The path as text; its segments follow each other from begin to end. For free(). */
static char *walk(const struct path_start *start, struct path *path)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct history *history;
	nsec_t at_ns = start->begin_ns;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	made_end();
	reader = timeline_reader_open("t", &error);
	history = history_new(reader, &error);
	assert_string_equal(error_text(&error), "");
	assert_int_equal(path_walk(path, history, start), 0);
	for (size_t i = 0; i < path->count; i++) {
		assert_int_equal(path->segment[i].begin_ns, at_ns);
		assert_true(path->segment[i].end_ns > at_ns);
		at_ns = path->segment[i].end_ns;
		tell(out, &path->segment[i]);
	}
	assert_int_equal(at_ns, start->end_ns);
	fclose(out);
	history_free(history);
	timeline_reader_free(reader);
	return text;
}

#define assert_path(tid_, begin_, end_, wanted)                                          \
	assert_path_of(1, tid_, begin_, end_, wanted)
#define assert_path_of(node_, tid_, begin_, end_, wanted)                                \
	do {                                                                             \
		const struct path_start start_ = {.node = (node_),                       \
						  .tid = (tid_),                         \
						  .begin_ns = (begin_),                  \
						  .end_ns = (end_)};                     \
		struct path path_;                                                       \
		char *told_ = walk(&start_, &path_);                                     \
		assert_string_equal(told_, (wanted));                                    \
		free(told_);                                                             \
		path_clear(&path_);                                                      \
	} while (0)

TEST(a_wait_is_what_the_waker_did_meanwhile)
{
	begin();
	switch_at(50, 1, 0, 0, 6);
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 1, 0);
	switch_at(250, 1, 6, 0, 7); /* 6 is preempted by 7 */
	switch_at(280, 1, 7, 0, 6);
	wake_at(WAKING, 300, 1, 6, 5, 0);
	switch_at(320, 0, 0, 0, 5);
	switch_at(400, 0, 5, 1, 0);
	/* 6 ran before 200, too, but nobody waited for that. */
	assert_path(5, 100, 400,
		    "1/5 running 100-200 cpu0\n"
		    "1/6 running 200-250 cpu1\n"
		    "1/6 runnable 250-280 cpu1 other 7\n"
		    "1/6 running 280-300 cpu1\n"
		    "1/5 runnable 300-320 cpu0 other 0\n"
		    "1/5 running 320-400 cpu0\n");
	/* Any part of it. */
	assert_path(5, 260, 310,
		    "1/6 runnable 260-280 cpu1 other 7\n"
		    "1/6 running 280-300 cpu1\n"
		    "1/5 runnable 300-310 cpu0 other 0\n");
	/* The end stands in a wait, of which then only the kind is told. */
	assert_path(5, 150, 290,
		    "1/5 running 150-200 cpu0\n"
		    "1/5 thread 200-290 other 6\n");
}

TEST(waits_end_by_disks_and_timers)
{
	begin();
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 2, 0);
	irq_at(290, 0, 0, 2, "disk");
	disk_at(COMPLETE, 295, 64, 8, 4, 5);
	wake_at(WAKING, 300, 0, 0, 5, 0);
	number_at(IRQ_END, 305, 0, 0, 2, 0);
	switch_at(310, 0, 0, 0, 5);
	switch_at(400, 0, 5, 1, 0);
	number_at(SOFTIRQ, 495, 0, 0, TIMER_VEC, 0);
	wake_at(WAKING, 500, 0, 0, 5, 0);
	number_at(SOFTIRQ_END, 505, 0, 0, TIMER_VEC, 0);
	switch_at(510, 0, 0, 0, 5);
	assert_path(5, 150, 600,
		    "1/5 running 150-200 cpu0\n"
		    "1/5 disk 200-300\n"
		    "1/5 runnable 300-310 cpu0 other 0\n"
		    "1/5 running 310-400 cpu0\n"
		    "1/5 timer 400-500\n"
		    "1/5 runnable 500-510 cpu0 other 0\n"
		    "1/5 running 510-600 cpu0\n");
}

/* Thread 5 of node 1 asks thread 8 of node 2, which reads a disk and replies. */
static void two_nodes(nsec_t sent_ns)
{
	int64_t asked, came, replied, back;

	begin();
	made_node = 2;
	switch_at(50, 0, 0, 0, 8);
	switch_at(60, 0, 8, 1, 0); /* awaits a request */
	made_node = 1;
	switch_at(100, 0, 0, 0, 5);
	asked = name_at(SEND, 180, 0, 5, "eth0");
	switch_at(200, 0, 5, 1, 0);
	made_node = 2;
	came = receive_at(250, 0, 8);
	switch_at(260, 0, 0, 0, 8);
	switch_at(300, 0, 8, 2, 0);
	irq_at(390, 0, 0, 2, "disk");
	disk_at(COMPLETE, 395, 64, 8, 4, 8);
	wake_at(WAKING, 400, 0, 0, 8, 0);
	number_at(IRQ_END, 405, 0, 0, 2, 0);
	switch_at(410, 0, 0, 0, 8);
	replied = name_at(SEND, 450, 0, 8, "eth0");
	switch_at(460, 0, 8, 1, 0);
	made_node = 1;
	back = receive_at(550, 0, 5);
	switch_at(560, 0, 0, 0, 5);
	message_at(1, 2, asked, came, sent_ns, 250);
	message_at(2, 1, replied, back, 450, 549);
}

TEST(a_message_leads_to_its_sender_on_the_other_node)
{
	two_nodes(180);
	assert_path(5, 100, 600,
		    "1/5 running 100-200 cpu0\n"
		    "2 network 200-250 from 1 #1 sent 180\n"
		    "2 interrupt 250-251\n"
		    "2/8 runnable 251-260 cpu0 other 0\n"
		    "2/8 running 260-300 cpu0\n"
		    "2/8 disk 300-400\n"
		    "2/8 runnable 400-410 cpu0 other 0\n"
		    "2/8 running 410-450 cpu0\n"
		    "1 network 450-549 from 2 #2 sent 450\n"
		    "1 interrupt 549-551\n"
		    "1/5 runnable 551-560 cpu0 other 0\n"
		    "1/5 running 560-600 cpu0\n");
}

/* From the message that brings the response back to the sending of the request. */
TEST(a_request_is_walked_from_its_last_message)
{
	const struct path_start start = {
	    .node = 1, .tid = 5, .begin_ns = 180, .end_ns = 549, .message = 2};
	struct path path;
	char *told;

	two_nodes(180);
	told = walk(&start, &path);
	assert_string_equal(told, "2 network 180-250 from 1 #1 sent 180\n"
				  "2 interrupt 250-251\n"
				  "2/8 runnable 251-260 cpu0 other 0\n"
				  "2/8 running 260-300 cpu0\n"
				  "2/8 disk 300-400\n"
				  "2/8 runnable 400-410 cpu0 other 0\n"
				  "2/8 running 410-450 cpu0\n"
				  "1 network 450-549 from 2 #2 sent 450\n");
	free(told);
	path_clear(&path);
}

TEST(a_message_from_the_future_takes_no_time)
{
	const struct path_start start = {
	    .node = 1, .tid = 5, .begin_ns = 100, .end_ns = 600, .message = 0};
	struct path path;
	char *told;

	two_nodes(255);
	told = walk(&start, &path);
	assert_int_equal(path.backward, 1);
	/* At 250 thread 5 slept, so nobody is known to have sent it. */
	assert_non_null(strstr(told, "1/5 running 100-200 cpu0\n"
				     "1 unknown 200-250\n"
				     "2 interrupt 250-251\n"));
	free(told);
	path_clear(&path);
}

/* The sender waits for an acknowledgement, by which the other kernel answered its data.
 */
TEST(what_a_kernel_answers_leads_on)
{
	int64_t data, came, ack, back;

	begin();
	switch_at(100, 0, 0, 0, 5);
	data = name_at(SEND, 180, 0, 5, "eth0");
	switch_at(200, 0, 5, 1, 0);
	made_node = 2;
	number_at(SOFTIRQ, 240, 0, 0, NET_RX, 0);
	came = name_at(RECEIVE, 250, 0, 0, "eth0");
	ack = name_at(SEND, 260, 0, 0, "eth0");
	number_at(SOFTIRQ_END, 270, 0, 0, NET_RX, 0);
	made_node = 1;
	back = receive_at(350, 0, 5);
	switch_at(360, 0, 0, 0, 5);
	message_at(1, 2, data, came, 180, 250);
	message_at(2, 1, ack, back, 260, 350);
	assert_path(5, 100, 400,
		    "1/5 running 100-200 cpu0\n"
		    "2 network 200-250 from 1 #1 sent 180\n"
		    "2 interrupt 250-260\n"
		    "1 network 260-350 from 2 #2 sent 260\n"
		    "1 interrupt 350-351\n"
		    "1/5 runnable 351-360 cpu0 other 0\n"
		    "1/5 running 360-400 cpu0\n");
}

/*
 * Two packets come in one softirq, and then two threads are woken: each goes with the
 * packet of the flow in which it sends; 9, who sends nothing, with none.
 */
TEST(a_wakeup_is_of_the_packet_of_the_threads_flow)
{
	int64_t came[2], sent[2];

	begin();
	made_node = 2;
	switch_at(50, 0, 0, 0, 8);
	switch_at(60, 0, 8, 1, 7);
	switch_at(70, 0, 7, 1, 9);
	switch_at(80, 0, 9, 1, 0);
	number_at(SOFTIRQ, 240, 0, 0, NET_RX, 0);
	came[0] = name_at(RECEIVE, 250, 0, 0, "eth0");
	came[1] = name_at(RECEIVE, 252, 0, 0, "eth0");
	wake_at(WAKING, 254, 0, 0, 8, 0);
	wake_at(WAKING, 255, 0, 0, 7, 0);
	wake_at(WAKING, 256, 0, 0, 9, 0);
	number_at(SOFTIRQ_END, 260, 0, 0, NET_RX, 0);
	switch_at(270, 0, 0, 0, 8);
	sent[0] = name_at(SEND, 290, 0, 8, "eth0");
	switch_at(300, 0, 8, 1, 7);
	sent[1] = name_at(SEND, 310, 0, 7, "eth0");
	switch_at(320, 0, 7, 1, 9);
	message_at(1, 2, 0, came[0], 100, 250);
	message_at(2, 1, sent[0], 0, 290, 350);
	port = 81;
	message_at(1, 2, 0, came[1], 230, 252);
	message_at(2, 1, sent[1], 0, 310, 350);
	made_node = 1;
	assert_path_of(2, 8, 200, 300,
		       "2 network 200-250 from 1 #1 sent 100\n"
		       "2 interrupt 250-254\n"
		       "2/8 runnable 254-270 cpu0 other 0\n"
		       "2/8 running 270-300 cpu0\n");
	assert_path_of(2, 7, 200, 320,
		       "1 unknown 200-230\n"
		       "2 network 230-252 from 1 #3 sent 230\n"
		       "2 interrupt 252-255\n"
		       "2/7 runnable 255-300 cpu0 other 8\n"
		       "2/7 running 300-320 cpu0\n");
	assert_path_of(2, 9, 200, 330,
		       "2/9 network 200-256\n"
		       "2/9 runnable 256-320 cpu0 other 7\n"
		       "2/9 running 320-330 cpu0\n");
}

/* The packet that came belongs to no message, or its sender was not recorded. */
TEST(what_is_not_known_is_not_guessed)
{
	int64_t back, sent;

	begin();
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 1, 0);
	receive_at(350, 0, 5);
	switch_at(360, 0, 0, 0, 5);
	assert_path(5, 100, 400,
		    "1/5 running 100-200 cpu0\n"
		    "1/5 network 200-351\n"
		    "1/5 runnable 351-360 cpu0 other 0\n"
		    "1/5 running 360-400 cpu0\n");
	begin();
	switch_at(100, 0, 0, 0, 5);
	sent = name_at(SEND, 180, 0, 5, "eth0");
	switch_at(200, 0, 5, 1, 0);
	back = receive_at(350, 0, 5);
	switch_at(360, 0, 0, 0, 5);
	switch_at(450, 0, 7, 1, 0); /* what happened to 5 was lost */
	message_at(1, 2, sent, 0, 180, 200);
	message_at(2, 1, 0, back, 300, 350);
	assert_path(5, 90, 500,
		    "1/5 unknown 90-100\n"
		    "1/5 running 100-200 cpu0\n"
		    "2 unknown 200-300\n"
		    "1 network 300-350 from 2 #2 sent 300\n"
		    "1 interrupt 350-351\n"
		    "1/5 runnable 351-360 cpu0 other 0\n"
		    "1/5 unknown 360-500\n");
}

/* Two threads that wake each other are no endless way; each wait ends where it began. */
TEST(threads_that_wake_each_other)
{
	begin();
	switch_at(100, 0, 0, 0, 5);
	for (nsec_t at = 100; at < 500; at += 100) {
		wake_at(WAKING, at + 40, 0, 5, 6, 1);
		switch_at(at + 50, 0, 5, 1, 0);
		switch_at(at + 50, 1, 0, 0, 6);
		wake_at(WAKING, at + 90, 1, 6, 5, 0);
		switch_at(at + 95, 1, 6, 1, 0);
		switch_at(at + 100, 0, 0, 0, 5);
	}
	assert_path(6, 260, 380,
		    "1/6 running 260-295 cpu1\n"
		    "1/5 runnable 295-300 cpu0 other 0\n"
		    "1/5 running 300-340 cpu0\n"
		    "1/6 runnable 340-350 cpu1 other 0\n"
		    "1/6 running 350-380 cpu1\n");
}

/* A hundred threads that each wait for the next one, one after the other. */
TEST(waits_within_waits_end_somewhere)
{
	const struct path_start start = {
	    .node = 1, .tid = 10, .begin_ns = 150, .end_ns = 500, .message = 0};
	struct path path;
	char *told;

	begin();
	switch_at(100, 0, 0, 0, 10);
	for (int64_t i = 0; i < 100; i++)
		switch_at(101 + i, 0, 10 + i, 1, 11 + i);
	for (int64_t i = 0; i < 100; i++) {
		wake_at(WAKING, 300 + 2 * i, 0, 110 - i, 109 - i, 0);
		switch_at(301 + 2 * i, 0, 110 - i, 1, 109 - i);
	}
	told = walk(&start, &path);
	assert_int_equal(path.deep, 1);
	assert_non_null(strstr(told, "thread"));
	free(told);
	path_clear(&path);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
