/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_EXCHANGE_WORK_H
#define CT_ANALYZE_EXCHANGE_WORK_H

#include "activity/activity.h"
#include "analyze/exchange.h"

/* What a server's time from a request's arrival to its response went into. */
enum work_part {
	WORK_QUEUE, /* from the arrival until the serving thread took the request */
	WORK_RUNNING,
	WORK_RUNNABLE, /* the thread waited for a processor */
	WORK_DISK,     /* it was blocked, and that is what ended it */
	WORK_NODE,     /* a message of another node did */
	WORK_OTHER,    /* a thread, a timer, another interrupt did; or a kernel replied by
			  itself */
	WORK_UNKNOWN,  /* not recorded */
	WORK_PARTS
};

struct exchange_work {
	nsec_t part[WORK_PARTS]; /* add up to replied_ns - arrived_ns */
	/* No thread sent the response, or the request, but an interrupt: in answer to
	 * another packet, or a timer, as it was sent again. */
	bool by_kernel, asked_by_kernel;
};

/*
 * For each exchange what its server did; `work` has one an exchange, zeroed. The serving
 * thread is who sent the response. It took the request with the first successful
 * receiving system call that ended after the arrival, of the file descriptor on which it
 * then sent; where there is no such call, when it first ran after the arrival.
 *
 * One pass over the scope; memory goes with the spans of the requests that are being
 * served. 0, or -1 with error.
 */
int exchange_work_read(struct exchange_work *work, const struct exchanges *exchanges,
		       struct question *question, const struct scope *scope,
		       struct error *error);

#endif
