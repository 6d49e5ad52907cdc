/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WORLD_H
#define CT_SIMULATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "input/packet.h"
#include "simulate/clock.h"
#include "simulate/scenario.h"
#include "simulate/writer.h"

/*
 * Everything that the parts of the model share. Times are true time, in
 * nanoseconds since the epoch; only what is written down is put on a node's
 * own clock.
 */

enum pending_kind {
	PENDING_TIMER, /* of a thread: its sleep, its time limit or its computing ends */
	PENDING_ARRIVAL, /* of a packet in flight: it comes out of the network */
	PENDING_RESEND,  /* of an endpoint: look whether all was acknowledged */
	PENDING_POLL,    /* of a processor: take what the NIC holds for it */
	PENDING_CPU,     /* of a processor: its thread has computed, or for long enough */
	PENDING_KICK,    /* of a processor: a thread waits there */
	PENDING_DISK,    /* of a thread: its request is done */
	PENDING_DUMP,    /* of a host: its tracer begins */
	PENDING_FREE,    /* of a daemon: what its last child left is freed */
};

enum thread_role {
	ROLE_CLIENT,
	ROLE_SERVER,
	ROLE_SENDER,
	ROLE_RECEIVER,
	ROLE_WORKER,  /* computes and uses the disk */
	ROLE_SAMPLER, /* sar's */
	ROLE_DAEMON,  /* begins processes */
	ROLE_CHILD,   /* all of those, one after the other */
	THREAD_ROLES,
};

/*
 * What is going to happen, in order of true time; what is due at the same
 * time comes in the order in which it was put there. A heap with four
 * children a parent, which touches less memory than one with two.
 */
struct pending {
	nsec_t due;
	void *what; /* the thread, packet in flight ... that it is about */
	uint64_t order : 36;
	uint64_t kind : 4;
	uint64_t age : 24; /* to tell one that was given up meanwhile */
};

#define PENDING_ORDER UINT64_C(0xfffffffff)
#define PENDING_AGE   0xffffffu

struct queue {
	struct pending *item;
	size_t count, capacity;
	uint64_t order;
};

/* What a processor's time went into. */
enum cpu_use {
	USE_USER,
	USE_SYSTEM,
	USE_IOWAIT,
	USE_IRQ,
	USE_SOFTIRQ,
	USE_IDLE,
	CPU_USES
};

struct cpu {
	struct host *host;
	uint32_t number;      /* of the host's, from 0 */
	nsec_t free_ns;       /* true: when its last event was */
	struct flight **ring; /* packets that wait for the next poll */
	size_t ringed, ring_capacity;
	bool polling; /* the next poll is on its way */
	/* With activity full: */
	struct thread *current; /* NULL: none */
	uint32_t age;           /* of the PENDING_CPU that counts */
	bool resched;           /* switch when it is done with what it does */
	nsec_t since_ns;        /* the current thread computes since then */
	nsec_t slice_ns;        /* when others get their turn */
	struct thread **runnable;
	size_t runnables, runnable_capacity;
	char idle_name[16], nic_name[24]; /* of its idle thread, its NIC's interrupt */
	nsec_t charged_ns, used_ns[CPU_USES];
};

/* What sar counts. */
struct host_counts {
	uint64_t switches, interrupts, softirqs, forks;
	uint64_t received, received_bytes, sent, sent_bytes;
	uint64_t reads, read_sectors, writes, written_sectors;
	nsec_t disk_busy_ns, disk_wait_ns;
};

/* A node. */
struct host {
	uint32_t number; /* from 0 */
	char *name;
	struct sim_clock clock;
	struct dice dice;
	nsec_t trace_from, trace_to; /* true: its tracer runs */
	struct cpu *cpu;
	struct sim_node *node; /* what is written of it */
	uint32_t skbs;         /* how many there were */
	nsec_t disk_free_ns;
	uint32_t disk_waiting;          /* threads */
	uint64_t cached_kib, dirty_kib; /* see host.h */
	uint32_t threads;               /* of the model */
	uint32_t alive;                 /* that the kernel has */
	uint32_t programs;              /* that children execute */
	uint32_t members[THREAD_ROLES]; /* that have not ended */
	int32_t tids;                   /* that were given away */
	int32_t pid[THREAD_ROLES];
	struct host_counts count;
	struct sar *sar;
};

/* What one end of a flow has sent and not been answered, TCP. */
struct sender {
	uint32_t base;      /* sequence number of what was sent last, first byte */
	uint32_t una, next; /* first byte not acknowledged; behind the last sent */
	nsec_t rto_ns, deadline_ns;
	bool armed;      /* a PENDING_RESEND is in the queue */
	bool recovering; /* resend at each partial acknowledgement */
	uint8_t repeats; /* of the last acknowledgement */
};

/* What one end has received, TCP. */
struct receiver {
	uint32_t window; /* the sender's base, of the last data seen */
	uint32_t next;   /* all before came */
	uint64_t came;   /* segments since window, one bit each */
	uint8_t unanswered;
};

/* Load that comes and goes: what it adds to the least delay, and until when. */
struct link_load {
	struct dice dice;
	nsec_t level_ns, until_ns; /* true */
};

/* From one node to another, one direction. */
struct link {
	struct dice dice;
	struct link_load load;
	nsec_t least_ns, jitter_ns;
	nsec_t free_ns; /* true: when the last bit of the last packet was sent */
	nsec_t last_ns; /* true: when the last packet came that was not held up */
};

struct endpoint {
	struct flow *flow;
	struct endpoint *peer;
	bool replies; /* the flow's second end */
	struct host *host;
	struct cpu *cpu;                /* that takes its packets */
	struct link link;               /* to the peer */
	struct thread *reader, *writer; /* the same but with pattern both */
	uint16_t ip_id;
	uint16_t tcp_window;
	uint32_t serial;             /* UDP, ICMP: number of the last one sent */
	uint32_t last_serial;        /* and received */
	uint64_t unread;             /* bytes that came and no thread has read */
	nsec_t came_ns, answered_ns; /* true: when the last ones did, or all was */
	struct sender sender;
	struct receiver receiver;
	/* As it knows itself, and as the other end does behind a translation. */
	struct socket_name {
		uint8_t address[16]; /* as in struct packet */
		uint16_t port;
	} near, far;
	/* A message whose receipt another one will be given; `wait` 0: none. */
	struct held_message {
		nsec_t send_ns, recv_ns;
		uint32_t wait;
	} held;
};

/* Two nodes that talk. */
struct flow {
	uint32_t number;
	struct endpoint end[2]; /* 0 asks */
	struct dice dice;
	uint8_t protocol, family;
	uint32_t label;   /* of IPv6; ICMP: its id */
	uint32_t segment; /* most bytes of data in one TCP packet */
	nsec_t interval_ns;
};

/* A packet in flight. */
struct flight {
	struct packet packet; /* as its sender sees it */
	nsec_t sent_ns;
	struct endpoint *from;
	uint32_t window, total; /* TCP: sender's base, bytes sent with it; else: serial */
	uint8_t index;          /* TCP: which segment of those */
	bool copy;              /* the network made it */
};

enum thread_wait {
	WAIT_NONE,
	WAIT_TIME,
	WAIT_DATA,
	WAIT_SENT,
	WAIT_DISK,
	WAIT_CHILD,
	WAIT_FOREVER
};

struct thread {
	struct host *host;
	struct cpu *cpu;
	struct endpoint *end; /* that it reads or writes, or NULL */
	uint32_t age;
	int32_t tid, pid;
	uint8_t role;  /* enum thread_role */
	uint8_t wait;  /* enum thread_wait */
	uint8_t stage; /* where its program is */
	bool begun;
	uint64_t left; /* bytes to send, or to await */
	nsec_t due_ns; /* sampler: of the last sample */
	/* With activity full: */
	uint8_t call;     /* enum event_kind: the exit of what it is inside of, or 0 */
	nsec_t ready_ns;  /* since when it waits for its processor */
	nsec_t asleep_ns; /* since when it does not */
	nsec_t work_ns;   /* that it still has to compute */
	uint64_t sector, bytes;        /* of its disk request */
	struct thread *child, *parent; /* of a daemon, of its child */
	const char *name;              /* as traces show it */
	bool exited;                   /* child: and was not waited for */
	nsec_t ended_ns;
};

struct message_sink;
struct truth;

struct world {
	const struct scenario *scenario;
	uint64_t seed;
	nsec_t begin_ns, end_ns, now;
	struct host *host;
	struct sim_node *node; /* one a host */
	size_t hosts;
	struct cpu *cpu; /* of all hosts */
	size_t cpus;
	struct flow *flow;
	size_t flows;
	struct thread *thread;
	size_t threads;
	struct queue queue;
	nsec_t service_ns, rto_ns;
	uint64_t request_bytes, reply_bytes;
	struct message_sink *messages; /* or NULL */
	struct truth *truth;           /* or NULL */
	struct sim_writer *writer;     /* or NULL */
	bool real_stamps;              /* it stamps with CLOCK_REALTIME */
	bool promiscuous;              /* captures hold what others receive */
	bool full;                     /* activity full */
	uint64_t events_most;
	uint64_t events; /* handed to the writer */
	uint64_t messages_written, false_matches;
	bool stopped;        /* all that was wanted is there */
	struct error *error; /* of the first that failed */
	bool failed;
};

/*
 * Where and when something happens: on which processor, and at what true time, which goes
 * on with all that is done there. What a processor does in one go is never interrupted;
 * what comes meanwhile begins after it. So times of one processor only grow, while those
 * of two may overlap.
 */
struct context {
	struct world *world;
	struct host *host;
	struct cpu *cpu;
	nsec_t ns;
	uint8_t routers;      /* that the packet of the next event has passed */
	struct thread *about; /* what the next event is about, or NULL */
};

/* Begin something on a processor, not before it is through with the last. */
static inline struct context context_begin(struct world *world, struct cpu *cpu,
					   nsec_t ns)
{
	return (struct context){.world = world,
				.host = cpu->host,
				.cpu = cpu,
				.ns = ns > cpu->free_ns ? ns : cpu->free_ns};
}

/* Something takes from least to most ns. */
static inline void pass_time(struct context *ctx, nsec_t least, nsec_t most)
{
	ctx->ns += dice_between(&ctx->host->dice, least, most);
}

/* Wait, spinning, for what another processor does at that time. */
static inline void wait_until(struct context *ctx, nsec_t ns)
{
	if (ctx->ns <= ns)
		ctx->ns = ns + 1;
}

static inline nsec_t from_us(double us)
{
	return nsec_round(us * 1e3);
}

/* The idle thread, NULL, has 0. */
static inline int32_t tid_of(const struct thread *thread)
{
	return thread ? thread->tid : 0;
}

void queue_add(struct queue *queue, nsec_t due, enum pending_kind kind, void *what,
	       uint32_t age);

/* Take the earliest; false when there is none. */
bool queue_take(struct queue *queue, struct pending *pending);

void queue_clear(struct queue *queue);

/* Two nodes that talk, numbered from 0. The first one asks. */
struct topology_pair {
	uint32_t a, b;
	double interval_ms;
};

/* All pairs that talk, each once, in order, for free(). */
struct topology_pair *topology_pairs(const struct scenario *scenario, uint64_t seed,
				     size_t *count);

/* Make all that the scenario asks for. */
void world_init(struct world *world, const struct scenario *scenario, uint64_t seed);
void world_clear(struct world *world);

/*
 * Let happen what happens, up to the end of the scenario, the last message that
 * was wanted, or a writer's failure (world->failed, world->error).
 */
void world_run(struct world *world, bool quiet);

/* One run: what happens, and what is written about it. */
struct simulation {
	const struct scenario *scenario; /* checked */
	uint64_t seed;
	const char *directory;        /* which is there, and empty */
	bool messages;                /* messages.csv alone, or else: */
	bool captures;                /* NODE/NODE.pcap instead of NODE/kernel */
	enum sim_trace_format format; /* of traces */
	bool spans; /* spans.csv, requests.csv; with activity full and traces */
	bool quiet; /* no progress */
};

struct simulation_counts {
	uint64_t messages, events;
	double seconds; /* that it took */
};

/* 0, or -1 with error; then what was written is not complete. */
int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error);

#endif
