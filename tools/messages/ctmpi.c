/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libctmpi.so: LTTng-UST events of MPI's point-to-point messages, by MPI's profiling
 * interface (MPI 3.1, chapter 14). Build it with the program's own MPI, and preload it:
 *
 *     mpicc -I. -shared -fPIC -O2 -o libctmpi.so ctmpi.c -llttng-ust -ldl -lpthread
 *     mpirun -x LD_PRELOAD=$PWD/libctmpi.so PROGRAM
 *
 * MPI does not number its messages. But those between two ranks with one tag and
 * communicator are received in the order in which they were sent, by receives in the
 * order in which they were posted (section 3.5), so both sides can count. A receive from
 * any rank or with any tag is counted when it completes. If it was posted without
 * blocking while others were, its place is unknown, and so is that of the messages with
 * its rank and tag from there on. Messages of functions that are not here would be
 * counted wrongly: after the first such call no message has a number.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ctmpi_events.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Messages between this rank and another one of a communicator, with one tag. */
struct lane {
	long comm, next; /* next: the number of the next message, -1: unknown */
	int peer, tag, is_receiving;
	struct lane *after;
};

/* A receive that was posted and has not completed. */
struct posted {
	MPI_Request request;
	MPI_Comm comm;
	long seq; /* -1: none yet */
	int is_any;
	struct posted *after;
};

enum { LANES = 4096 };

static struct lane *lanes[LANES];
static struct posted *posts;
static long anys;   /* receives from any rank or with any tag, among the posted ones */
static long comms;  /* communicators that were numbered here */
static int is_lost; /* messages were sent or received without being counted */
static int comm_key = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Return a communicator's number, the same in all of its ranks; -1: unknown. */
static long comm_number(MPI_Comm comm)
{
	void *number;
	int is_set = 0;

	if (comm == MPI_COMM_WORLD)
		return 0;
	if (comm_key != MPI_KEYVAL_INVALID)
		PMPI_Comm_get_attr(comm, comm_key, &number, &is_set);
	return is_set ? (long)number : -1;
}

/* Number a new communicator: by its first rank, and how many that one has numbered. */
static int number_comm(int status, const MPI_Comm *made)
{
	MPI_Comm comm = *made;
	long number;
	int rank;

	if (status != MPI_SUCCESS || comm == MPI_COMM_NULL)
		return status;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	number = (long)(rank + 1) << 32 | ++comms;
	if (comm_key == MPI_KEYVAL_INVALID)
		PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
					&comm_key, NULL);
	PMPI_Bcast(&number, 1, MPI_LONG, 0, comm);
	PMPI_Comm_set_attr(comm, comm_key, (void *)number);
	return status;
}

static struct lane *find_lane(long comm, int peer, int tag, int is_receiving)
{
	unsigned long hash = (unsigned long)comm * 31 + (unsigned)peer;
	struct lane **at = &lanes[(hash * 31 + (unsigned)tag) % LANES], *lane;

	for (lane = *at; lane; lane = lane->after)
		if (lane->comm == comm && lane->peer == peer && lane->tag == tag &&
		    lane->is_receiving == is_receiving)
			return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		abort();
	*lane = (struct lane){comm, 0, peer, tag, is_receiving, *at};
	return *at = lane;
}

/* Return the number of a message, or -1. */
static long number_message(MPI_Comm comm, int peer, int tag, int is_receiving)
{
	long number = comm_number(comm), seq;
	struct lane *lane;

	if (number < 0 || is_lost)
		return -1;
	lane = find_lane(number, peer, tag, is_receiving);
	if (is_receiving && anys)
		lane->next = -1;
	seq = lane->next;
	if (seq >= 0)
		lane->next++;
	return seq;
}

static void trace_send(MPI_Comm comm, int dest, int tag, int count, MPI_Datatype type)
{
	int rank, size;
	long seq;

	if (dest == MPI_PROC_NULL)
		return;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Type_size(type, &size);
	pthread_mutex_lock(&lock);
	seq = number_message(comm, dest, tag, 0);
	pthread_mutex_unlock(&lock);
	lttng_ust_tracepoint(mpi, send, comm_number(comm), rank, dest, tag, seq,
			     (long)count * size);
}

static int is_any(int source, int tag)
{
	return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
}

/* Trace a receive that has completed; `seq` -1: it is numbered now. */
static void trace_receive(MPI_Comm comm, long seq, int is_numbered,
			  const MPI_Status *status)
{
	int rank, bytes = 0;

	if (status->MPI_SOURCE == MPI_PROC_NULL)
		return;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Get_count(status, MPI_BYTE, &bytes);
	if (!is_numbered) {
		pthread_mutex_lock(&lock);
		seq = number_message(comm, status->MPI_SOURCE, status->MPI_TAG, 1);
		pthread_mutex_unlock(&lock);
	}
	lttng_ust_tracepoint(mpi, recv, comm_number(comm), status->MPI_SOURCE, rank,
			     status->MPI_TAG, seq, (long)bytes);
}

static void note_posted(MPI_Request request, MPI_Comm comm, long seq, int source, int tag)
{
	struct posted *posted = malloc(sizeof(*posted));

	if (!posted)
		abort();
	pthread_mutex_lock(&lock);
	*posted = (struct posted){request, comm, seq, is_any(source, tag), posts};
	posts = posted;
	anys += posted->is_any;
	pthread_mutex_unlock(&lock);
}

/* Return the posted receive of a request, no longer in the list, or NULL. */
static struct posted *take_posted(MPI_Request request)
{
	struct posted **at = &posts, *posted;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->request != request)
		at = &(*at)->after;
	posted = *at;
	if (posted) {
		*at = posted->after;
		anys -= posted->is_any;
	}
	pthread_mutex_unlock(&lock);
	return posted;
}

/* A request has completed, if it is one of a receive. */
static void complete(MPI_Request request, const MPI_Status *status)
{
	struct posted *posted = take_posted(request);

	if (posted)
		trace_receive(posted->comm, posted->seq, !posted->is_any, status);
	free(posted);
}

#define SEND(name)                                                                       \
	int MPI_##name(const void *data, int count, MPI_Datatype type, int dest,         \
		       int tag, MPI_Comm comm)                                           \
	{                                                                                \
		trace_send(comm, dest, tag, count, type);                                \
		return PMPI_##name(data, count, type, dest, tag, comm);                  \
	}
SEND(Send)
SEND(Ssend)
SEND(Bsend)
SEND(Rsend)

#define ISEND(name)                                                                      \
	int MPI_##name(const void *data, int count, MPI_Datatype type, int dest,         \
		       int tag, MPI_Comm comm, MPI_Request *request)                     \
	{                                                                                \
		trace_send(comm, dest, tag, count, type);                                \
		return PMPI_##name(data, count, type, dest, tag, comm, request);         \
	}
ISEND(Isend)
ISEND(Issend)
ISEND(Ibsend)
ISEND(Irsend)

#define RECEIVE                                                                          \
	void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm

int MPI_Recv(RECEIVE, MPI_Status *status)
{
	MPI_Status own;
	MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
	int result = PMPI_Recv(data, count, type, source, tag, comm, used);

	if (result == MPI_SUCCESS)
		trace_receive(comm, -1, 0, used);
	return result;
}

int MPI_Irecv(RECEIVE, MPI_Request *request)
{
	int result = PMPI_Irecv(data, count, type, source, tag, comm, request);
	long seq = -1;

	if (result != MPI_SUCCESS || source == MPI_PROC_NULL)
		return result;
	if (!is_any(source, tag)) {
		pthread_mutex_lock(&lock);
		seq = number_message(comm, source, tag, 1);
		pthread_mutex_unlock(&lock);
	}
	note_posted(*request, comm, seq, source, tag);
	return result;
}

#define SEND_OF_BOTH                                                                     \
	const void *sent, int sent_count, MPI_Datatype sent_type, int dest, int sent_tag

int MPI_Sendrecv(SEND_OF_BOTH, RECEIVE, MPI_Status *status)
{
	MPI_Status own;
	MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
	int result;

	trace_send(comm, dest, sent_tag, sent_count, sent_type);
	result = PMPI_Sendrecv(sent, sent_count, sent_type, dest, sent_tag, data, count,
			       type, source, tag, comm, used);
	if (result == MPI_SUCCESS)
		trace_receive(comm, -1, 0, used);
	return result;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	MPI_Request before = *request;
	MPI_Status own;
	MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
	int result = PMPI_Wait(request, used);

	if (result == MPI_SUCCESS)
		complete(before, used);
	return result;
}

int MPI_Waitall(int count, MPI_Request request[], MPI_Status status[])
{
	int result = MPI_SUCCESS;

	/* One after the other: each receive is traced soon after it completes. */
	for (int i = 0; i < count && result == MPI_SUCCESS; i++)
		result = MPI_Wait(&request[i], status == MPI_STATUSES_IGNORE
						   ? MPI_STATUS_IGNORE
						   : &status[i]);
	return result;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	MPI_Request before = *request;
	MPI_Status own;
	MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
	int result = PMPI_Test(request, flag, used);

	if (result == MPI_SUCCESS && *flag)
		complete(before, used);
	return result;
}

/* Complete `done` requests of those that were waited for or tested; `which` has their
 * indexes, NULL: all. */
static void complete_some(const MPI_Request *before, int done, const int *which,
			  const MPI_Status *status)
{
	for (int i = 0; i < done; i++)
		complete(before[which ? which[i] : i], &status[i]);
}

#define MANY(name, parameters, arguments, done, which, has_status)                       \
	int MPI_##name parameters                                                        \
	{                                                                                \
		MPI_Request *before = malloc(((size_t)count + 1) * sizeof(*before));     \
		MPI_Status *used = malloc(((size_t)count + 1) * sizeof(*used));          \
		int result;                                                              \
                                                                                         \
		if (!before || !used)                                                    \
			abort();                                                         \
		memcpy(before, request, (size_t)count * sizeof(*before));                \
		result = PMPI_##name arguments;                                          \
		if (result == MPI_SUCCESS && (done) > 0) {                               \
			complete_some(before, done, which, used);                        \
			if (has_status)                                                  \
				memcpy(status, used, (size_t)(done) * sizeof(*used));    \
		}                                                                        \
		free(before);                                                            \
		free(used);                                                              \
		return result;                                                           \
	}
MANY(Waitany, (int count, MPI_Request request[], int *index, MPI_Status *status),
     (count, request, index, used), *index != MPI_UNDEFINED, index,
     status != MPI_STATUS_IGNORE)
MANY(Testany,
     (int count, MPI_Request request[], int *index, int *flag, MPI_Status *status),
     (count, request, index, flag, used), *flag &&*index != MPI_UNDEFINED, index,
     status != MPI_STATUS_IGNORE)
MANY(Waitsome,
     (int count, MPI_Request request[], int *some, int which[], MPI_Status status[]),
     (count, request, some, which, used), *some == MPI_UNDEFINED ? 0 : *some, which,
     status != MPI_STATUSES_IGNORE)
MANY(Testsome,
     (int count, MPI_Request request[], int *some, int which[], MPI_Status status[]),
     (count, request, some, which, used), *some == MPI_UNDEFINED ? 0 : *some, which,
     status != MPI_STATUSES_IGNORE)
MANY(Testall, (int count, MPI_Request request[], int *flag, MPI_Status status[]),
     (count, request, flag, used), *flag ? count : 0, NULL, status != MPI_STATUSES_IGNORE)

int MPI_Request_free(MPI_Request *request)
{
	struct posted *posted = take_posted(*request);

	free(posted);
	return PMPI_Request_free(request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
	return number_comm(PMPI_Comm_dup(comm, made), made);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
	return number_comm(PMPI_Comm_split(comm, color, key, made), made);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
	return number_comm(PMPI_Comm_create(comm, group, made), made);
}

/* Functions after which nothing can be counted. */
#define UNCOUNTED(name, parameters, arguments)                                           \
	int MPI_##name parameters                                                        \
	{                                                                                \
		is_lost = 1;                                                             \
		return PMPI_##name arguments;                                            \
	}
UNCOUNTED(Send_init,
	  (const void *data, int count, MPI_Datatype type, int dest, int tag,
	   MPI_Comm comm, MPI_Request *request),
	  (data, count, type, dest, tag, comm, request))
UNCOUNTED(Recv_init,
	  (void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	   MPI_Request *request),
	  (data, count, type, source, tag, comm, request))
UNCOUNTED(Sendrecv_replace,
	  (void *data, int count, MPI_Datatype type, int dest, int sent_tag, int source,
	   int tag, MPI_Comm comm, MPI_Status *status),
	  (data, count, type, dest, sent_tag, source, tag, comm, status))
UNCOUNTED(Mrecv,
	  (void *data, int count, MPI_Datatype type, MPI_Message *message,
	   MPI_Status *status),
	  (data, count, type, message, status))
UNCOUNTED(Imrecv,
	  (void *data, int count, MPI_Datatype type, MPI_Message *message,
	   MPI_Request *request),
	  (data, count, type, message, request))
UNCOUNTED(Cancel, (MPI_Request * request), (request))
