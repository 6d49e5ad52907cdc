#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Typing errors, and the messages that they cause.
load common

@test "a timeline where the analysis is wanted, and one that is not there" {
	ctmerge -q datasets/sample/node1 -o node1.db
	fails_with 2 'ctanalyze: node1.db: the analysis comes first: ctanalyze cpu node1.db' ctanalyze node1.db cpu
	fails_with 1 'ctanalyze: nod1.db: No such file or directory' ctanalyze nod1.db
	fails_with 1 'ctanalyze: away/run: No such file or directory' ctanalyze away/run
	fails_with 2 "ctanalyze: unknown analysis 'cup'; did you mean 'cpu'?" ctanalyze cup node1.db
	fails_with 2 "ctanalyze: --events: unknown class 'sched_swich'; did you mean 'sched_switch'?" \
		ctanalyze events --events sched_swich node1.db
	fails_with 2 "ctanalyze: --begin: invalid time 'noon' (expected nanoseconds, seconds, +seconds, or UTC such as 2026-11-21T02:38:57.7)" \
		ctanalyze cpu --begin noon node1.db
	ends_with 0 ctanalyze metrics --metric 'no such*' node1.db
	grep -qx "no metric that was sampled in the selected time matches (--metric '\*' shows all)" "$scratch/stdout"
}

@test "lists and helps" {
	ends_with 0 ctanalyze --list
	grep -qE '^  critical-path  [a-z]' "$scratch/stdout"
	[ "$(wc -l <"$scratch/stdout")" -ge 20 ]
	fails_with 2 "ctexport: unknown format 'run.db' (expected one of opendc, parquet, csv, json, graphite, perfetto, tracekit)" \
		ctexport run.db perfetto
	fails_with 2 "ctsync: unknown trace 'nod2'; did you mean 'node2'?" ctsync -q -r nod2 datasets/sample
	for program in ctcollect ctbatch; do
		ends_with 0 "$program" help
		mv "$scratch/stdout" help
		ends_with 0 "$program" --help
		diff help "$scratch/stdout"
	done
	fails_with 2 'ctcollect: --paralel: unknown option
Try "ctcollect --help"' ctcollect --paralel=3 run run.yaml
	ends_with 2 ctcollect record
	grep -qF 'record: unknown command, expected one of init, validate, plan,' "$scratch/stderr"
}
