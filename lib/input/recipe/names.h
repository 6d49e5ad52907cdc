/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_NAMES_H
#define CT_INPUT_RECIPE_NAMES_H

/*
 * Names that end up in file names and on command lines. Each check returns NULL
 * where the name is well, else what is wanted. None lets a leading `-` pass,
 * which ssh and others would take for an option.
 */
const char *recipe_check_file(const char *name); /* a part of a file name */
const char *recipe_check_key(const char *name);  /* a parameter, a role */
const char *recipe_check_user(const char *name);
const char *recipe_check_address(const char *address); /* host name, IPv4, IPv6 */
const char *recipe_check_interface(const char *name);
const char *recipe_check_event(const char *name);  /* of a tracer, maybe with * */
const char *recipe_check_device(const char *name); /* sda, mapper/vg-root, / */
const char *recipe_check_sensor(const char *name);

/* A destination of ssh, taken apart; texts for free(). */
struct recipe_destination {
	char *user; /* or NULL */
	char *address;
	int port; /* or 0 */
};

/* [USER@]HOST[:PORT], with an IPv6 address in brackets where there is a port. */
const char *recipe_parse_destination(const char *text,
				     struct recipe_destination *destination);

void recipe_destination_clear(struct recipe_destination *destination);

#endif
