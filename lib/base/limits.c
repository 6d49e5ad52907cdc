/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/limits.h"

#include <sys/resource.h>

void limits_allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
