/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-cluster [NODES PACKETS]...: what it costs to match and fit the packets of so many
 * nodes, each of which saw so many (default: 20 nodes, 20000 packets). They are made in
 * $TMPDIR as .packets files, the same each time, of clocks that are known; the true time
 * must lie within every bound. Each node talks with those that are 1, 4, 16, 64 and 256
 * places away on a ring, both ways.
 *
 * bench-cluster make NODES PACKETS DIR: make them in DIR, and no more.
 */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/process.h"
#include "clock/map.h"
#include "input/packets_file.h"
#include "launch.h"
#include "random.h"

enum {
	MOST_NODES = 20000,
	MOST_FLOWS = 20,
	RATE_PPB = 50000,
	PROCESSORS = 4,
	ROUNDING_NS = 2,
};

#define BEGIN_NS      (1700000000 * NSEC_PER_SEC) /* November 2023 */
#define LENGTH_NS     (300 * NSEC_PER_SEC)
#define LATEST_NS     NSEC_PER_SEC /* at which a node begins to record */
#define LEAST_WAY_NS  (50 * NSEC_PER_USEC)
#define QUEUE_TIME_NS (200 * NSEC_PER_USEC) /* mean */
#define DRIVER_NS     (10 * NSEC_PER_USEC)

struct cluster {
	uint32_t nodes;
	uint64_t packets; /* a node */
	char *directory;
};

/* A node's clock, and when it began to record. */
struct node_clock {
	nsec_t offset_ns, rate_ppb, begin_ns;
};

/* A seed that does not depend on the order of asking. */
static uint64_t seed_of(uint64_t a, uint64_t b)
{
	uint64_t state =
	    RANDOM_SEED ^ (a * 0x9e3779b97f4a7c15u) ^ ((b + 1) * 0xc2b2ae3d27d4eb4fu);

	for (int i = 0; i < 8; i++)
		random_next(&state);
	return state;
}

static struct node_clock clock_of(uint32_t node)
{
	uint64_t random = seed_of(node, UINT32_MAX);

	return (struct node_clock){
	    .offset_ns =
		(nsec_t)(random_next(&random) % (20 * NSEC_PER_SEC)) - 10 * NSEC_PER_SEC,
	    .rate_ppb = (nsec_t)(random_next(&random) % (2 * RATE_PPB)) - RATE_PPB,
	    .begin_ns = (nsec_t)(random_next(&random) % LATEST_NS),
	};
}

static nsec_t local_time(const struct node_clock *clock, nsec_t elapsed)
{
	__int128 drift = (__int128)elapsed * clock->rate_ppb / NSEC_PER_SEC;

	return BEGIN_NS + elapsed + clock->offset_ns + (nsec_t)drift;
}

/* When it was, since BEGIN_NS, to a nanosecond. */
static nsec_t elapsed_at(const struct node_clock *clock, nsec_t local_ns)
{
	nsec_t gone = local_ns - BEGIN_NS - clock->offset_ns;

	return (nsec_t)((__int128)gone * NSEC_PER_SEC / (NSEC_PER_SEC + clock->rate_ppb));
}

/* Exponentially distributed. */
static nsec_t draw_time(uint64_t *random, nsec_t mean)
{
	return nsec_round(-log(random_share(random)) * (double)mean);
}

/* The packets from one node to another; both draw the same. */
struct flow {
	uint32_t from, to;
	uint64_t random;
	uint64_t left;
	nsec_t gap_ns, send_ns, recv_ns;
	struct packet packet;
};

static void set_address(uint8_t address[16], uint32_t node)
{
	address[0] = 10;
	address[1] = (uint8_t)(node >> 16);
	address[2] = (uint8_t)(node >> 8);
	address[3] = (uint8_t)node;
}

static void flow_next(struct flow *flow)
{
	struct packet *packet = &flow->packet;
	nsec_t way = LEAST_WAY_NS + draw_time(&flow->random, QUEUE_TIME_NS);
	uint64_t drawn = random_next(&flow->random);

	if (flow->left)
		flow->left--;
	flow->send_ns += draw_time(&flow->random, flow->gap_ns) + DRIVER_NS;
	/* One packet does not overtake another. */
	if (flow->send_ns + way > flow->recv_ns)
		flow->recv_ns = flow->send_ns + way;
	else
		flow->recv_ns += NSEC_PER_USEC;
	packet->id = (packet->id + 1) & 0xffff;
	packet->seq += packet->payload;
	packet->ack += drawn % 4 ? 0 : (uint32_t)(drawn >> 8) % 1448;
	packet->payload = drawn % 3 ? 1448 : (uint32_t)(drawn >> 32) % 1448;
	packet->length = packet->payload + 52;
}

static void flow_init(struct flow *flow, uint32_t from, uint32_t to)
{
	*flow = (struct flow){.from = from, .to = to, .random = seed_of(from, to)};
	flow->packet = (struct packet){
	    .known = PACKET_NETWORK | PACKET_TRANSPORT,
	    .family = 4,
	    .protocol = IPPROTO_TCP,
	    .flags = 0x18,
	    .id = (uint32_t)random_next(&flow->random) & 0xffff,
	    .sport = (uint16_t)(32768 + to % 16384),
	    .dport = 5001,
	    .window = 501,
	    .seq = (uint32_t)random_next(&flow->random),
	    .ack = (uint32_t)random_next(&flow->random),
	};
	set_address(flow->packet.src, from);
	set_address(flow->packet.dst, to);
	flow->send_ns = LATEST_NS;
}

/* All flows that a node takes part in; returns how many. */
static size_t flows_of(const struct cluster *cluster, uint32_t node, struct flow *flow)
{
	size_t flows = 0;

	for (uint32_t away = 1; 2 * away <= cluster->nodes && flows + 4 <= MOST_FLOWS;
	     away *= 4) {
		uint32_t next = (node + away) % cluster->nodes;
		uint32_t last = (node + cluster->nodes - away) % cluster->nodes;

		flow_init(&flow[flows++], node, next);
		flow_init(&flow[flows++], next, node);
		/* A ring's two sides may meet. */
		if (next == last)
			continue;
		flow_init(&flow[flows++], node, last);
		flow_init(&flow[flows++], last, node);
	}
	for (size_t i = 0; i < flows; i++) {
		flow[i].left = cluster->packets / flows + 1;
		flow[i].gap_ns = (LENGTH_NS - LATEST_NS) / (nsec_t)flow[i].left;
		flow_next(&flow[i]);
	}
	return flows;
}

static nsec_t time_at(const struct flow *flow, uint32_t node)
{
	return flow->from == node ? flow->send_ns : flow->recv_ns;
}

/* The flow of the next packet that a node sees, or NULL. */
static struct flow *earliest(struct flow *flow, size_t flows, uint32_t node)
{
	struct flow *best = NULL;

	for (size_t i = 0; i < flows; i++)
		if (flow[i].left &&
		    (!best || time_at(&flow[i], node) < time_at(best, node)))
			best = &flow[i];
	return best;
}

struct recorder {
	struct packets_writer *writer;
	struct node_clock clock;
	struct packet_source source;
	uint64_t ordinal[PROCESSORS];
	uint64_t random;
};

static void record(struct recorder *recorder, const struct flow *flow, bool received)
{
	uint32_t processor = (flow->from + flow->to) % PROCESSORS;
	nsec_t at =
	    local_time(&recorder->clock, received ? flow->recv_ns : flow->send_ns);
	struct packet_event packet_event = {
	    .packet = flow->packet,
	    .ns = at,
	    .event_ns = at,
	    .whole_ns = at,
	    .device = 1,
	    .received = received,
	    .hops = 64,
	    .stream = processor,
	};

	recorder->ordinal[processor] += 1 + random_next(&recorder->random) % 16;
	packet_event.ordinal = recorder->ordinal[processor];
	if (!received)
		packet_event.whole_ns +=
		    (nsec_t)(random_next(&recorder->random) % DRIVER_NS);
	++*(received ? &recorder->source.counts.received : &recorder->source.counts.sent);
	recorder->source.facts.end_ns = at;
	packets_writer_add(recorder->writer, 0, &packet_event,
			   recorder->source.facts.begin_ns);
}

static char *path_of(const struct cluster *cluster, uint32_t node)
{
	return mem_printf("%s/n%u" PACKETS_SUFFIX, cluster->directory, node + 1);
}

static void make_node(void *context, size_t index)
{
	const struct cluster *cluster = context;
	uint32_t node = (uint32_t)index;
	struct recorder recorder = {.clock = clock_of(node),
				    .random = seed_of(node, node)};
	struct flow flow[MOST_FLOWS], *next;
	size_t flows = flows_of(cluster, node, flow);
	char *path = path_of(cluster, node);
	FILE *file = fopen(path, "wb");

	if (!file) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	recorder.writer = packets_writer_new(file, 1);
	recorder.source.facts.begin_ns =
	    local_time(&recorder.clock, recorder.clock.begin_ns);
	packets_writer_describe(recorder.writer, 0,
				&(struct source){.kind = SOURCE_TRACE}, &recorder.source);
	while ((next = earliest(flow, flows, node))) {
		record(&recorder, next, next->from != node);
		flow_next(next);
	}
	recorder.source.counts.network_events =
	    recorder.source.counts.sent + recorder.source.counts.received;
	recorder.source.facts.events = recorder.source.counts.network_events;
	packets_writer_finish(recorder.writer, 0, &recorder.source);
	packets_writer_end(recorder.writer);
	if (ferror(file) | fclose(file)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	free(path);
}

static void make_all(struct cluster *cluster)
{
	parallel_run((int)sysconf(_SC_NPROCESSORS_ONLN), cluster->nodes, make_node,
		     cluster);
}

/* Return the distance of the truth from the bounds; negative if it is within them. */
static nsec_t beyond(const struct clock_map *map, const struct clock *clock,
		     const struct clock_bound *bound)
{
	struct node_clock own = clock_of((uint32_t)atoi(clock->trace + 1) - 1);
	struct node_clock axis = clock_of((uint32_t)atoi(map->reference + 1) - 1);
	nsec_t truth = local_time(&axis, elapsed_at(&own, bound->local_ns));
	nsec_t error = truth - clock_correct(clock, bound->local_ns);
	nsec_t low = bound->low_ns == NSEC_MIN ? NSEC_MIN : bound->low_ns - ROUNDING_NS;
	nsec_t high =
	    bound->high_ns == NSEC_MAX ? NSEC_MAX : bound->high_ns + ROUNDING_NS;

	return error < low ? low - error : error > high ? error - high : -1;
}

struct verdict {
	uint64_t bounds, broken, open;
	nsec_t widest; /* half of it */
};

static void judge(const struct clock_map *map, struct verdict *verdict)
{
	for (size_t i = 0; i < map->clocks; i++)
		for (size_t k = 0; k < map->clock[i].bounds; k++) {
			const struct clock_bound *bound = &map->clock[i].bound[k];
			nsec_t half = nsec_sub(bound->high_ns, bound->low_ns) / 2;

			verdict->bounds++;
			verdict->broken += beyond(map, &map->clock[i], bound) >= 0;
			if (half > NSEC_PER_SEC)
				verdict->open++;
			else if (half > verdict->widest)
				verdict->widest = half;
		}
}

static uint64_t size_of(const struct cluster *cluster)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cluster->nodes; i++) {
		char *path = path_of(cluster, i);
		FILE *file = fopen(path, "rb");

		if (file && fseeko(file, 0, SEEK_END) == 0)
			bytes += (uint64_t)ftello(file);
		if (file)
			fclose(file);
		free(path);
	}
	return bytes;
}

static void print(const struct cluster *cluster, const struct launched *launched,
		  const struct clock_map *map, const struct verdict *verdict)
{
	uint64_t packets = map->matching.sent + map->matching.received;

	printf(
	    "%u nodes, %zu pairs, %.1f million packets, %.1f bytes each\n"
	    "  ctsync: %.1f s, %.1f s of processors, %ld MiB at most; %.0f ns a packet\n"
	    "  %.2f %% matched, %zu islands; %llu bounds, %llu without the truth, %llu "
	    "open, +-%.0f us at most\n",
	    cluster->nodes, map->pairs, (double)packets / 1e6,
	    (double)size_of(cluster) / (double)packets, launched->wall_s, launched->cpu_s,
	    launched->peak_kib / 1024, 1e9 * launched->cpu_s / (double)packets,
	    200.0 * (double)map->matching.matched / (double)packets, map->islands,
	    (unsigned long long)verdict->bounds, (unsigned long long)verdict->broken,
	    (unsigned long long)verdict->open, (double)verdict->widest / 1e3);
}

static int measure(const struct cluster *cluster, struct error *error)
{
	char *file = mem_printf("%s/clocks.json", cluster->directory);
	struct text_list words = {0};
	struct launched launched;
	struct clock_map map = {0};
	struct verdict verdict = {0};
	int status;

	launch_words(&words, "ctsync", "-q", "-o", file, cluster->directory, NULL);
	status = launch(&words, NULL, &launched, error);
	if (!status && launched.status)
		status = error_set(error, "ctsync: status %d", launched.status);
	if (!status)
		status = clock_map_read(&map, file, error);
	if (!status) {
		judge(&map, &verdict);
		print(cluster, &launched, &map, &verdict);
	}
	if (!status && (verdict.broken || !verdict.bounds))
		status = error_set(error, "the truth lies beyond %llu of %llu bounds",
				   (unsigned long long)verdict.broken,
				   (unsigned long long)verdict.bounds);
	remove(file);
	free(file);
	clock_map_clear(&map);
	text_list_clear(&words);
	return status;
}

static int run(uint32_t nodes, uint64_t packets, struct error *error)
{
	const char *parent = getenv("TMPDIR");
	struct cluster cluster = {
	    nodes, packets,
	    mem_printf("%s/clustertrace-XXXXXX", parent && *parent ? parent : P_tmpdir)};
	int status;

	if (!mkdtemp(cluster.directory))
		return error_errno(error, cluster.directory);
	make_all(&cluster);
	status = measure(&cluster, error);
	for (uint32_t i = 0; i < nodes; i++) {
		char *path = path_of(&cluster, i);

		remove(path);
		free(path);
	}
	remove(cluster.directory);
	free(cluster.directory);
	return status;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	int status = argc == 1 ? run(20, 20000, &error) : 0;

	raise_open_file_limit();
	if (argc == 5 && strcmp(argv[1], "make") == 0) {
		struct cluster cluster = {(uint32_t)atoi(argv[2]),
					  (uint64_t)atoll(argv[3]), argv[4]};

		make_all(&cluster);
		return EXIT_SUCCESS;
	}
	for (int i = 1; !status && i < argc; i += 2) {
		nsec_t nodes, packets;

		if (i + 1 == argc || number_integer(argv[i], &nodes) ||
		    number_integer(argv[i + 1], &packets) || nodes < 2 ||
		    nodes > MOST_NODES || packets < 1) {
			fprintf(stderr, "bench-cluster: want [NODES PACKETS]...\n");
			return EXIT_MISUSE;
		}
		status = run((uint32_t)nodes, (uint64_t)packets, &error);
	}
	error_print(&error, "bench-cluster", stderr);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
