/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that exchange messages for some seconds: talk SECONDS PAUSE_US. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TAG_RING, TAG_PAIR, TAG_WORK, TAG_DONE, WORDS = 4096 };

static int data[WORDS], other[WORDS];

/* Every rank to the next one, without blocking. */
static void ring(int rank, int size, int words)
{
	MPI_Request request[2];

	MPI_Irecv(other, WORDS, MPI_INT, (rank + size - 1) % size, TAG_RING,
		  MPI_COMM_WORLD, &request[0]);
	MPI_Isend(data, words, MPI_INT, (rank + 1) % size, TAG_RING, MPI_COMM_WORLD,
		  &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* Each rank with its neighbour in a communicator of two. */
static void pair(MPI_Comm comm, int words)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (size == 2)
		MPI_Sendrecv(data, words, MPI_INT, 1 - rank, TAG_PAIR, other, WORDS,
			     MPI_INT, 1 - rank, TAG_PAIR, comm, MPI_STATUS_IGNORE);
}

/* The first rank hears from all others, in any order, and answers. */
static void gather(int rank, int size, int words)
{
	MPI_Status status;

	if (rank) {
		MPI_Send(data, words, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD);
		MPI_Recv(other, WORDS, MPI_INT, 0, TAG_DONE, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		return;
	}
	for (int i = 1; i < size; i++) {
		MPI_Recv(other, WORDS, MPI_INT, MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD,
			 &status);
		MPI_Send(data, 0, MPI_INT, status.MPI_SOURCE, TAG_DONE, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, begin;
	useconds_t pause = argc > 2 ? (useconds_t)atoi(argv[2]) : 1000;
	int rank, size, go = 1;
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	begin = MPI_Wtime();
	for (int round = 0; go; round++) {
		int words = round % 3 ? round % WORDS : 0;

		ring(rank, size, words);
		pair(half, words);
		gather(rank, size, words);
		usleep(pause);
		go = MPI_Wtime() - begin < seconds;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
