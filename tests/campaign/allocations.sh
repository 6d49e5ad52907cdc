#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# allocations.sh BUILD [COUNT [RUN]]: let one allocation of memory fail, also within libraries, for
# every program and kind of output: COUNT (50) of them in turn, spread over all that it makes. The
# program ends with 0 and its whole output, or with 1, a message and no output. A directory of a
# run that cannot be read is an exception: what is left of the run is used, with 1. The first
# allocations are left out, as popt does not check those of the options. BUILD is without
# sanitizers, which replace the allocator.
# shellcheck disable=SC2034,SC2154 # variables for forms.sh, and from it
set -eu
count=${2:-50}
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/forms.sh"
library=$build/tests/campaign/liballocations.so
first=100

calls=0 whole=0 ended=0

# call: with what is in the environment; sets status.
call()
{
	remove_outputs
	status=0
	# shellcheck disable=SC2086 # one word each
	timeout 60 env LD_PRELOAD="$library" $command >printed 2>said.txt </dev/null || status=$?
}

check_call()
{
	calls=$((calls + 1))
	place="allocation $at"
	case $status in
	0 | 3)
		whole=$((whole + 1))
		is_whole || finding "ends with $status, but the output is not whole"
		;;
	1)
		ended=$((ended + 1))
		[ -s said.txt ] || finding "ends with 1 and no message"
		is_absent || grep -q ': Cannot allocate memory$' said.txt ||
			finding "ends with 1 and leaves an output"
		;;
	*) finding "ends with $status" ;;
	esac
}

while read -r name output command; do
	at=-1
	COUNTED=$PWD/counted call
	check_call
	all=$(cat counted)
	n=0
	while [ $n -lt "$count" ] && [ "$all" -gt $first ]; do
		at=$((first + (all - first) * n / count))
		FAILING=$at call
		check_call
		n=$((n + 1))
	done
	printf '%s: %d allocations; %d calls so far, %d findings\n' "$name" "$all" "$calls" "$findings" >&2
done <forms
printf '%d calls: %d whole, %d ended with 1; %d findings\n' "$calls" "$whole" "$ended" "$findings"
[ "$findings" -eq 0 ]
