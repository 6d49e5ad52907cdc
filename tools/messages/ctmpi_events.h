/* SPDX-License-Identifier: GPL-3.0-or-later */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mpi
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ctmpi_events.h"

#if !defined(CTMPI_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CTMPI_EVENTS_H

#include <lttng/tracepoint.h>

/* Ranks are those of the communicator. `seq` counts the messages between two ranks with
 * one tag, from 0; -1: not known. */
LTTNG_UST_TRACEPOINT_EVENT(
    mpi, send,
    LTTNG_UST_TP_ARGS(long, comm, int, rank, int, dest, int, tag, long, seq, long, bytes),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, comm, comm)
			    lttng_ust_field_integer(int, rank, rank)
				lttng_ust_field_integer(int, dest, dest)
				    lttng_ust_field_integer(int, tag, tag)
					lttng_ust_field_integer(long, seq, seq)
					    lttng_ust_field_integer(long, bytes, bytes)))

LTTNG_UST_TRACEPOINT_EVENT(
    mpi, recv,
    LTTNG_UST_TP_ARGS(long, comm, int, source, int, rank, int, tag, long, seq, long,
		      bytes),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, comm, comm)
			    lttng_ust_field_integer(int, source, source)
				lttng_ust_field_integer(int, rank, rank)
				    lttng_ust_field_integer(int, tag, tag)
					lttng_ust_field_integer(long, seq, seq)
					    lttng_ust_field_integer(long, bytes, bytes)))

#endif

#include <lttng/tracepoint-event.h>
