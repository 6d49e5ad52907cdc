/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_CLOCK_ANSWER_H
#define CT_VCLUSTER_CLOCK_ANSWER_H

#include "vcluster/clock_page.h"

/*
 * The machine's side: answer the host's questions on `page` whenever `port`
 * wakes us. Returns when the port fails: 0 at its end, -1 with errno. A port
 * that nobody holds open at the other side ends, too: ask again later.
 */
int clock_answer(int port, struct clock_page *page);

#endif
