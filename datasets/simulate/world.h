/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WORLD_H
#define CT_SIMULATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "input/packet.h"
#include "simulate/clock.h"
#include "simulate/dice.h"
#include "simulate/scenario.h"
#include "simulate/writer.h"

/*
 * The state that the parts of the model share. Times are true time, in nanoseconds since
 * the epoch; only the written output uses the nodes' own clocks.
 */

enum pending_kind {
	PENDING_TIMER,   /* a thread's sleep, time limit or computation ends */
	PENDING_ARRIVAL, /* a packet in flight arrives */
	PENDING_RESEND,  /* an endpoint checks whether all was acknowledged */
	PENDING_POLL,    /* a processor reads the packets that the NIC queued for it */
	PENDING_CPU,     /* a processor's thread ends its computation or its slice */
	PENDING_KICK,    /* a processor schedules, as a thread waits for it */
	PENDING_DISK,    /* a thread's disk request is complete */
	PENDING_DUMP,    /* a host's tracer starts */
	PENDING_FREE,    /* a daemon's last child is freed */
};

enum thread_role {
	ROLE_CLIENT,
	ROLE_SERVER,
	ROLE_SENDER,
	ROLE_RECEIVER,
	ROLE_WORKER,  /* computes and uses the disk */
	ROLE_SAMPLER, /* sar's */
	ROLE_DAEMON,  /* starts processes */
	ROLE_CHILD,   /* those processes, one after the other */
	ROLE_HOG,     /* a fault: computes */
	ROLE_HOLDER,  /* a fault: holds the lock of its host's servers */
	THREAD_ROLES,
};

/*
 * A queue of future events in order of true time; events of the same time keep the order
 * in which they were added. It is a heap with four children per node, which touches less
 * memory than a binary one.
 */
struct pending {
	nsec_t due;
	void *what; /* the thread, packet in flight … concerned */
	uint64_t order : 36;
	uint64_t kind : 4;
	uint64_t age : 24; /* differs from its owner's if it was cancelled */
};

#define PENDING_ORDER UINT64_C(0xfffffffff)
#define PENDING_AGE   0xffffffu

struct queue {
	struct pending *item;
	size_t count, capacity;
	uint64_t order;
};

/* The uses of a processor's time that sar distinguishes. */
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
	uint32_t number;      /* in its host, from 0 */
	nsec_t free_ns;       /* true time of its last event */
	struct flight **ring; /* packets that wait for the next poll */
	size_t ringed, ring_capacity;
	bool polling; /* the next poll is on its way */
	/* With activity full: */
	struct thread *current; /* NULL if idle */
	uint32_t age;           /* age of the valid PENDING_CPU */
	bool resched;           /* switch threads after the current step */
	nsec_t since_ns;        /* start of the current thread's computation */
	nsec_t slice_ns;        /* end of the current thread's time slice */
	struct thread **runnable;
	size_t runnables, runnable_capacity;
	char idle_name[16], nic_name[24]; /* names of its idle thread, its NIC's IRQ */
	nsec_t charged_ns, used_ns[CPU_USES];
};

/* Counters that sar shows. */
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
	nsec_t trace_from, trace_to; /* true time of its tracer's start and end */
	struct cpu *cpu;
	struct sim_node *node; /* its description for the writers */
	uint32_t skbs;         /* socket buffers allocated so far */
	nsec_t disk_free_ns;
	uint32_t disk_waiting;          /* threads */
	uint64_t hogged_kib;            /* memory that a fault takes */
	bool locked;                    /* a holder has the lock */
	uint64_t cached_kib, dirty_kib; /* see host.h */
	uint32_t threads;               /* threads of the model */
	uint32_t alive;                 /* threads that exist in the kernel */
	uint32_t programs;              /* programs that children have executed */
	uint32_t members[THREAD_ROLES]; /* threads that have not ended */
	int32_t tids;                   /* thread ids used so far */
	int32_t pid[THREAD_ROLES];
	struct host_counts count;
	struct sar *sar;
};

/* TCP's send state at one end of a flow. */
struct sender {
	uint32_t base;      /* sequence number of the last window's first byte */
	uint32_t una, next; /* first byte not acknowledged; first byte not sent */
	nsec_t rto_ns, deadline_ns;
	bool armed;      /* a PENDING_RESEND is in the queue */
	bool recovering; /* resend at each partial acknowledgement */
	uint8_t repeats; /* repetitions of the last acknowledgement */
};

/* TCP's receive state at one end of a flow. */
struct receiver {
	uint32_t window; /* the sender's base, from the last data received */
	uint32_t next;   /* first byte not received */
	uint64_t came;   /* received segments from `window` on, one bit each */
	uint8_t unanswered;
};

/* The varying load of a link: its addition to the least delay, and the end of that. */
struct link_load {
	struct dice dice;
	nsec_t level_ns, until_ns; /* true */
};

/* One direction of the connection between two nodes. */
struct link {
	struct dice dice;
	int from, to; /* nodes, from 1 */
	struct link_load load;
	nsec_t least_ns, jitter_ns;
	nsec_t free_ns; /* true time at which the last packet was sent completely */
	nsec_t last_ns; /* true arrival of the last packet that was not overtaken */
};

struct endpoint {
	struct flow *flow;
	struct endpoint *peer;
	bool replies; /* the flow's second end */
	struct host *host;
	struct cpu *cpu;                /* handles its received packets */
	struct link link;               /* to the peer */
	struct thread *reader, *writer; /* the same thread except with pattern both */
	uint16_t ip_id;
	uint16_t tcp_window;
	uint32_t serial;      /* UDP, ICMP: number of the last packet sent */
	uint32_t last_serial; /* and of the last one received */
	uint64_t unread;      /* received bytes that no thread has read */
	nsec_t came_ns;       /* true arrival of the last data */
	nsec_t answered_ns;   /* true time at which everything was acknowledged */
	struct sender sender;
	struct receiver receiver;
	/* Its own name, and the one that the other end sees if NAT is between them. */
	struct socket_name {
		uint8_t address[16]; /* as in struct packet */
		uint16_t port;
	} near, far;
	/* A message whose receive time will be used for a false match; `wait` 0: none. */
	struct held_message {
		nsec_t send_ns, recv_ns;
		uint32_t wait;
	} held;
};

/* Two nodes that talk. */
struct flow {
	uint32_t number;
	struct endpoint end[2]; /* end 0 sends the requests */
	struct dice dice;
	uint8_t protocol, family;
	uint32_t label;   /* IPv6 flow label; ICMP: identifier */
	uint32_t segment; /* most data bytes in one TCP packet */
	nsec_t interval_ns;
};

/* A packet in flight. */
struct flight {
	struct packet packet; /* as its sender sees it */
	nsec_t sent_ns;
	struct endpoint *from;
	uint32_t window; /* TCP: the sender's base; others: serial */
	uint32_t total;  /* TCP: bytes of the window */
	uint8_t index;   /* TCP: the segment's number in the window */
	bool copy;       /* a duplicate that the network made */
};

enum thread_wait {
	WAIT_NONE,
	WAIT_TIME,
	WAIT_DATA,
	WAIT_SENT,
	WAIT_DISK,
	WAIT_CHILD,
	WAIT_LOCK,
	WAIT_FOREVER
};

struct thread {
	struct host *host;
	struct cpu *cpu;
	struct endpoint *end; /* the endpoint that it reads or writes, or NULL */
	uint32_t age;
	int32_t tid, pid;
	const struct scenario_line *fault; /* the fault that it simulates, or NULL */
	uint8_t role;                      /* enum thread_role */
	uint8_t wait;                      /* enum thread_wait */
	uint8_t stage;                     /* position in its program */
	bool begun;
	uint64_t left; /* bytes to send, or to await */
	nsec_t due_ns; /* sampler: time of the last sample */
	/* With activity full: */
	uint8_t call;     /* enum event_kind: exit of its current system call, or 0 */
	nsec_t ready_ns;  /* start of its wait for the processor */
	nsec_t asleep_ns; /* start of its sleep */
	nsec_t work_ns;   /* computation that is left */
	uint64_t sector, bytes;        /* its disk request */
	struct thread *child, *parent; /* a daemon's child; the child's daemon */
	const char *name;              /* its name in traces */
	bool exited;                   /* child: a zombie */
	nsec_t ended_ns;
};

struct message_sink;
struct truth;

struct world {
	const struct scenario *scenario;
	uint64_t seed;
	nsec_t begin_ns, end_ns, now;
	struct host *host;
	struct sim_node *node; /* one per host */
	size_t hosts;
	struct cpu *cpu; /* the processors of all hosts */
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
	bool real_stamps;              /* the writer's timestamps are CLOCK_REALTIME */
	bool promiscuous;              /* captures contain what others receive */
	bool full;                     /* activity full */
	uint64_t events_most;
	uint64_t events; /* passed to the writer */
	uint64_t messages_written, false_matches;
	bool stopped;        /* the limit of messages or events is reached */
	struct error *error; /* the first failure */
	bool failed;
};

/*
 * A place and time of activity: a processor, and a true time that advances with
 * everything done there. One activity of a processor is never interrupted; whatever
 * arrives in the meantime starts after it. So the times of one processor only grow, while
 * those of two processors can overlap.
 */
struct context {
	struct world *world;
	struct host *host;
	struct cpu *cpu;
	nsec_t ns;
	uint8_t routers;      /* number of routers that the next event's packet passed */
	struct thread *about; /* subject of the next event, or NULL */
};

/* Start an activity on a processor, at `ns` or after its last activity. */
static inline struct context context_begin(struct world *world, struct cpu *cpu,
					   nsec_t ns)
{
	return (struct context){.world = world,
				.host = cpu->host,
				.cpu = cpu,
				.ns = ns > cpu->free_ns ? ns : cpu->free_ns};
}

/* Advance the time by a random duration from `least` to `most` ns. */
static inline void pass_time(struct context *ctx, nsec_t least, nsec_t most)
{
	ctx->ns += dice_between(&ctx->host->dice, least, most);
}

/* Spin until after another processor's activity at `ns`. */
static inline void wait_until(struct context *ctx, nsec_t ns)
{
	if (ctx->ns <= ns)
		ctx->ns = ns + 1;
}

static inline nsec_t from_us(double us)
{
	return nsec_round(us * 1e3);
}

/* Return a thread's id; 0 for NULL, the idle thread. */
static inline int32_t tid_of(const struct thread *thread)
{
	return thread ? thread->tid : 0;
}

void queue_add(struct queue *queue, nsec_t due, enum pending_kind kind, void *what,
	       uint32_t age);

/* Remove the earliest item. Return false if the queue is empty. */
bool queue_pop(struct queue *queue, struct pending *pending);

void queue_clear(struct queue *queue);

/* A pair of nodes, numbered from 0, that exchange messages. The first sends the requests.
 */
struct topology_pair {
	uint32_t a, b;
	double interval_ms;
};

/* Return each pair that exchanges messages once, in order. The caller frees the result.
 */
struct topology_pair *topology_pairs(const struct scenario *scenario, uint64_t seed,
				     size_t *count);

/* Create the scenario's hosts, flows and threads. */
void world_init(struct world *world, const struct scenario *scenario, uint64_t seed);
void world_clear(struct world *world);

/*
 * Run the model until the scenario's end, its limit of messages or events, or a writer's
 * failure (world->failed, world->error).
 */
void world_run(struct world *world, bool quiet);

#endif
