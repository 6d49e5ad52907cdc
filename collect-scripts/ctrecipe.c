/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrecipe: reads and checks recipes, and hands them on as plain lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/output.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct request {
	struct text_list words; /* the subcommand and the recipe */
	char *output, *run;
	int point;
};

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	struct option_row rows[] = {
	    {'o', "output", OPTION_STRING, &request->output, "FILE",
	     "init: write to FILE, which must not exist", 0, 0},
	    {0, "point", OPTION_INT, &request->point, "N",
	     "plan, json: of this point of the parameters", 1, 1e9},
	    {0, "run", OPTION_STRING, &request->run, "NAME",
	     "plan, json: the run directory's name, for %(run)s", 0, 0},
	    {0},
	};
	struct command command = {
	    .name = "ctrecipe",
	    .usage = "validate|points|nodes|plan|json RECIPE | init | sensors | events",
	    .summary = "check a recipe of ctcollect, or print it as plain lines",
	    .rows = rows,
	};

	request->point = 1;
	return options_parse(&command, argc, argv, &request->words, error);
}

static void clear_request(struct request *request)
{
	text_list_clear(&request->words);
	free(request->output);
	free(request->run);
}

int main(int argc, const char **argv)
{
	struct request request = {0};
	struct error error = ERROR_INIT;
	enum exit_status status = EXIT_DONE;

	switch (parse(&request, argc, argv, &error)) {
	case OPTIONS_SHOWN:
		if (output_flush_stdout(&error))
			status = EXIT_FAILED;
		break;
	case OPTIONS_WRONG:
		status = EXIT_MISUSE;
		break;
	case OPTIONS_GO:
		error_set(&error, "no recipe is read yet");
		status = EXIT_MISUSE;
		break;
	}
	if (error.text)
		fprintf(stderr, "ctrecipe: %s\n", error.text);
	error_clear(&error);
	clear_request(&request);
	return (int)status;
}
