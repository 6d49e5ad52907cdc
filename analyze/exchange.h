/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_EXCHANGE_H
#define CT_ANALYZE_EXCHANGE_H

#include "analyze/bounds.h"
#include "analyze/keys.h"
#include "analyze/question.h"

/*
 * Requests between nodes and their responses, from the messages alone: in each flow (two
 * addresses and ports of a protocol), the messages with data one way up to the first one
 * the other way are a request, those the other way up to the next one back its response.
 * The client is who sent the SYN, else who sent data first. TCP's segments without data,
 * and those of which all was received before, do not count.
 *
 * Who sends a second request before the first is answered has both taken for one. What a
 * tunnel sends, which carries the packets of others, is no request.
 */
struct exchange {
	int64_t number;         /* message.id of the request's first message */
	int64_t last_message;   /* of the response's that came last */
	int64_t client, server; /* nodes */
	int64_t client_source, server_source;
	int64_t client_tid, server_tid;     /* who gave the first to the kernel; -1 */
	int64_t ask_event, reply_event;     /* when they did; event.id */
	nsec_t given_ns;                    /* when the server did; <= replied_ns */
	nsec_t begin_ns;                    /* the request's first message was sent, */
	nsec_t arrived_ns;                  /* its last one came; <= replied_ns */
	nsec_t replied_ns;                  /* the response's first one was sent, */
	nsec_t end_ns;                      /* its last one came */
	int64_t asked_bytes, replied_bytes; /* of data where TCP's headers are known */
	uint32_t flow;
	bool wanted; /* one of its messages is the wanted one */
};

struct exchange_flow {
	char *protocol;
	char *address[2]; /* the client's is that of end 0 unless `turned` */
	int64_t port[2];  /* -1: none */
	uint64_t messages[2], carriers[2]; /* from each end */
	uint64_t unanswered;
	bool turned;
};

struct exchanges {
	int64_t wanted;        /* message.id; set it before reading; 0: none */
	struct exchange *item; /* by begin_ns, then by number */
	size_t count, room;
	uint64_t unanswered; /* requests without a response */
	uint64_t carriers;   /* messages of tunnels, that carry others */
	uint64_t messages;   /* that were looked at */
	struct exchange_flow *flow;
	size_t flow_room;
	struct exchange_state *state; /* of the flows, while reading */
	size_t state_room;
	struct keys keys;
};

/* Read all messages that were sent in the scope, whatever its nodes. Zero it before. 0,
 * or -1 with error. Memory: 150 bytes an exchange, 250 a flow. */
int exchanges_read(struct exchanges *exchanges, struct question *question,
		   const struct scope *scope, const struct bounds *bounds,
		   struct error *error);

/* The client's (0) and the server's (1) address and port. */
const char *exchange_address(const struct exchanges *exchanges,
			     const struct exchange *exchange, int end);
int64_t exchange_port(const struct exchanges *exchanges, const struct exchange *exchange,
		      int end);

void exchanges_clear(struct exchanges *exchanges);

#endif
