/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_PRIVATE_H
#define CT_INPUT_RECIPE_PRIVATE_H

#include "input/recipe/fields.h"
#include "input/recipe/recipe.h"

/*
 * The sections of a recipe, each as a recipe_field_read with the recipe as its
 * target. Only for lib/input/recipe*.c.
 */
recipe_field_read recipe_read_hosts, recipe_read_gateway, recipe_read_ssh_options;
recipe_field_read recipe_read_events, recipe_read_contexts, recipe_read_channel;
recipe_field_read recipe_read_capture, recipe_read_process, recipe_read_sensors,
    recipe_read_filesystems, recipe_read_interfaces;
recipe_field_read recipe_read_execute, recipe_read_parameters, recipe_read_tasks;

/* What can be told only once all sections are read. */
void recipe_finish_roles(struct recipe_reader *reader);
void recipe_finish_events(struct recipe_reader *reader);
void recipe_finish_sar(struct recipe_reader *reader);
void recipe_check_commands(struct recipe_reader *reader);

/*
 * Roles whose nodes something is for, checked against those that there are; so
 * this works only after recipe_finish_roles.
 */
void recipe_check_role_names(struct recipe_reader *reader, const char *what,
			     const struct text_list *roles, struct recipe_place place);

#endif
