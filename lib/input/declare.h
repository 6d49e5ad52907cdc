/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_DECLARE_H
#define CT_INPUT_DECLARE_H

#include "input/run.h"

/*
 * Give the traces the messages that are declared for them: by each of the files, and by
 * DECLARED_FILE in the run directory and in that of their node. Return 0, or -1 with
 * error, which names the file and the line.
 */
int source_list_declare(struct source_list *list, const struct text_list *files,
			struct error *error);

#endif
