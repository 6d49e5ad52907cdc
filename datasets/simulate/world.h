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

enum occasion_kind {
	OCCASION_TIMER,   /* a thread's sleep, its patience or its computing ends */
	OCCASION_ARRIVAL, /* a packet in flight comes out of the network */
	OCCASION_RESEND,  /* flow * 2 + side: look whether all was answered */
	OCCASION_POLL,    /* node * cpus + cpu: take what the card holds for it */
	OCCASION_CPU,     /* the same: its thread has computed, or long enough */
	OCCASION_KICK,    /* the same: a thread waits there */
	OCCASION_DISK,    /* a thread's request is done */
	OCCASION_DUMP,    /* a node's tracer begins */
	OCCASION_FREE,    /* what a daemon's last child left is freed */
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
struct occasion {
	nsec_t at;
	uint64_t order;
	uint32_t what; /* number of the thread, packet in flight ... that it is about */
	uint32_t kind : 8;
	uint32_t age : 24; /* to tell one that was given up meanwhile */
};

#define OCCASION_AGE 0xffffffu

struct queue {
	struct occasion *item;
	size_t count, capacity;
	uint64_t order;
};

#define NO_THREAD UINT32_MAX

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
	nsec_t free_ns; /* true: when its last event was */
	uint32_t *ring; /* packets in flight that wait for the next poll */
	size_t ringed, ring_room;
	bool polling; /* the next poll is on its way */
	/* With activity full: */
	uint32_t current; /* thread, or NO_THREAD */
	uint32_t age;     /* of the OCCASION_CPU that counts */
	bool resched;     /* switch when it is done with what it does */
	nsec_t since_ns;  /* the current thread computes since then */
	nsec_t slice_ns;  /* when others get their turn */
	uint32_t *runnable;
	size_t runnables, runnable_room;
	char idle_name[16], card_name[24]; /* of its idle thread, its card's interrupt */
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
	char *name;
	struct sim_clock clock;
	struct dice dice;
	nsec_t trace_from, trace_to; /* true: its tracer runs */
	struct cpu *cpu;
	struct sim_node *node; /* what is written of it */
	uint32_t skbs;         /* how many there were */
	nsec_t disk_free_ns;
	uint32_t disk_waiting;          /* threads */
	uint64_t cached_kib, dirty_kib; /* see memory.h */
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
	bool armed;      /* an OCCASION_RESEND is in the queue */
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

struct endpoint {
	uint32_t node;
	uint32_t reader, writer; /* threads */
	uint16_t ip_id;
	uint16_t tcp_window;
	uint32_t serial;             /* UDP, ICMP: number of the last one sent */
	uint32_t last_serial;        /* and received */
	uint64_t unread;             /* bytes that came and nobody took */
	nsec_t came_ns, answered_ns; /* true: when the last ones did, or all was */
	struct sender sender;
	struct receiver receiver;
	/* As it knows itself, and as the other end does behind a translation. */
	struct socket_name {
		uint8_t address[16]; /* as in struct packet */
		uint16_t port;
	} near, far;
};

/* Load that comes and goes: what it adds to the least delay, and until when. */
struct link_load {
	struct dice dice;
	nsec_t level_ns, until_ns; /* true */
};

/* The way from one node to another, one direction. */
struct link {
	struct dice dice;
	struct link_load load;
	nsec_t least_ns, jitter_ns;
	nsec_t free_ns; /* true: when the last bit of the last packet was sent */
	nsec_t last_ns; /* true: when the last packet came that was not held up */
};

/* Two nodes that talk: what goes on between them and the way it takes. */
struct flow {
	struct endpoint end[2]; /* 0 asks */
	struct link link[2];    /* from end[0], from end[1] */
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
	uint32_t flow;
	uint32_t window, total; /* TCP: sender's base, bytes sent with it; else: serial */
	uint8_t index;          /* TCP: which segment of those */
	uint8_t side;           /* of its sender */
	bool copy;              /* the network made it */
	uint32_t next_free;
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
	uint32_t node, flow, age, cpu;
	int32_t tid, pid;
	uint8_t side;
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
	uint64_t sector, bytes; /* of its disk request */
	uint32_t child, parent; /* threads: of a daemon, of its child */
	const char *name;       /* as traces show it */
	bool exited;            /* child: and was not waited for */
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
	struct flow *flow;
	size_t flows;
	struct thread *thread;
	size_t threads, thread_capacity;
	struct flight *flight;
	size_t flights, flight_capacity;
	uint32_t free_flight; /* index + 1 */
	struct queue queue;
	nsec_t service_ns, rto_ns;
	uint64_t request_bytes, reply_bytes;
	struct message_sink *messages; /* or NULL */
	struct truth *truth;           /* or NULL */
	struct sim_writer *writer;     /* or NULL */
	bool real_stamps;              /* it stamps with CLOCK_REALTIME */
	bool full;                     /* activity full */
	uint64_t events_most;
	uint64_t events; /* handed to the writer */
	uint64_t messages_written, false_matches;
	bool stopped;        /* all that was wanted is there */
	struct error *error; /* of the first that failed */
	bool failed;
};

/*
 * Where and when something happens: on which processor of which node, and at
 * what true time, which goes on with all that is done there. What a processor
 * does in one go is never interrupted; what comes meanwhile begins after it.
 * So times of one processor only grow, while those of two may overlap.
 */
struct now {
	struct world *world;
	uint32_t node, cpu;
	nsec_t ns;
	uint8_t routers; /* that the packet of the next event has passed */
	uint32_t about;  /* thread that the next event is about, if one is */
};

static inline uint32_t cpu_number(const struct world *world, uint32_t node, uint32_t cpu)
{
	return node * (uint32_t)world->scenario->cpus + cpu;
}

static inline struct host *now_host(const struct now *now)
{
	return &now->world->host[now->node];
}

static inline struct cpu *now_cpu(const struct now *now)
{
	return &now_host(now)->cpu[now->cpu];
}

/* 0 is the idle thread's. */
static inline int32_t now_tid(const struct now *now, uint32_t number)
{
	return number == NO_THREAD ? 0 : now->world->thread[number].tid;
}

/* Begin something on a processor, not before it is through with the last. */
static inline struct now now_begin(struct world *world, uint32_t node, uint32_t cpu,
				   nsec_t ns)
{
	nsec_t free_ns = world->host[node].cpu[cpu].free_ns;

	return (struct now){world, node, cpu, ns > free_ns ? ns : free_ns, 0, NO_THREAD};
}

static inline void now_end(const struct now *now)
{
	now_cpu(now)->free_ns = now->ns;
}

/* Something takes from least to most ns. */
static inline void now_pass(struct now *now, nsec_t least, nsec_t most)
{
	now->ns += dice_between(&now_host(now)->dice, least, most);
}

/* Wait, spinning, for what another processor does at that time. */
static inline void now_wait(struct now *now, nsec_t ns)
{
	if (now->ns <= ns)
		now->ns = ns + 1;
}

void queue_add(struct queue *queue, nsec_t at, unsigned kind, uint32_t what,
	       uint32_t age);

/* Take the earliest; false when there is none. */
bool queue_take(struct queue *queue, struct occasion *occasion);

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
