/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/natural.h"

#include <string.h>

int natural_compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

int natural_entries(const struct dirent **a, const struct dirent **b)
{
	return natural_compare((*a)->d_name, (*b)->d_name);
}
