/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TSDL_NUMBERS_H
#define CT_INPUT_TSDL_NUMBERS_H

#include "input/tsdl/private.h"

/* Types without members, from what follows their keyword; NULL where it is wrong. */
struct field_class *tsdl_integer(struct tsdl_parser *parser);
struct field_class *tsdl_real(struct tsdl_parser *parser);
struct field_class *tsdl_string(struct tsdl_parser *parser);

/* `{ label = value, ... }` of an enumeration over this integer. */
int tsdl_labels(struct tsdl_parser *parser, struct field_class *class);

int tsdl_set_align(struct tsdl_parser *parser, struct field_class *class,
		   const struct tsdl_value *value);

#endif
