/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_CONNECTION_H
#define CT_EXPORT_CONNECTION_H

#include <stddef.h>

#include "base/error.h"

/*
 * Send bytes to a TCP server that reads them and closes: connect, send, close our side,
 * wait until the server has closed its own, which it does when it has read all. 0 when
 * all of that went well; -1 with error, and then nothing is known of what was read.
 * `address` is HOST, HOST:PORT or [HOST]:PORT; `silence_s` is how long the server may do
 * nothing.
 */
int connection_deliver(const char *address, const char *port, const void *data,
		       size_t size, int silence_s, struct error *error);

/* Host and port of an address; `port` stays where there is none in it. For free(). -1
 * with error where it is none. */
int connection_split(const char *address, char **host, char **port, struct error *error);

#endif
