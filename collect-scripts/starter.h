/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_COLLECT_STARTER_H
#define CT_COLLECT_STARTER_H

/* A recipe with comments to start from; it is valid as it stands. */
extern const char starter_recipe[];

#endif
