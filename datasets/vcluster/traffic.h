/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_TRAFFIC_H
#define CT_VCLUSTER_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Load for the network of the virtual cluster: small messages to and fro, as
 * pingpong of the LTTV days sent them, and bulk transfers. IPv4, and TCP unless
 * UDP is said; a host is a dotted address, since machines without a resolver run
 * this. Uses the C library only, so that it can be linked statically for any machine.
 *
 * All return 0, or -1 after a message to standard error. SIGPIPE has to be ignored.
 */
enum traffic_service { TRAFFIC_ECHO, TRAFFIC_SINK };

/* Serve every connection to `port`, each by a process of its own; only fails. */
int traffic_serve(int port, enum traffic_service service);

/* Send every UDP datagram to `port` back; only fails. */
int traffic_serve_udp(int port);

struct traffic_pings {
	double seconds;
	long interval_us; /* between an echo and the next message */
	int size;         /* bytes of a message */
	int port;
	char **hosts;
	int count; /* of hosts */
	bool udp;  /* a message is a datagram, up to 49 bytes larger */
};

struct traffic_times {
	long rounds;
	long lost; /* datagrams without an answer in a second; no rounds */
	int64_t least_ns, sum_ns;
};

/*
 * Send a message to each host in turn and wait for its echo, over connections
 * that stay open, until the time is up.
 */
int traffic_ping(const struct traffic_pings *pings, struct traffic_times *times);

/* Send so many bytes one way; sets how long it took until all was received. */
int traffic_send(const char *host, int port, int64_t bytes, int64_t *took_ns);

#endif
