#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# memory.sh BUILD [LIMITS [RUN]]: limit the memory (`ulimit -v`) of every program and kind of
# output, by hand: to LIMITS (20) amounts each, spread from where it is loaded to what is
# enough. The program
# ends with 0 and its whole output, or with 1 and a message that names memory; then there is no
# output, nor a temporary one. BUILD is without
# sanitizers, which take memory of their own.
# shellcheck disable=SC2034,SC2154 # variables for forms.sh, and from it
set -eu
limits=${2:-20}
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/forms.sh"

calls=0 whole=0 ended=0 loader=0

# limited KIB: sets status.
limited()
{
	remove_outputs
	limit=$1
	status=0
	# shellcheck disable=SC2086,SC3045 # one word each; dash has it
	(ulimit -v "$limit" && exec timeout 60 $command) >printed 2>said.txt </dev/null || status=$?
}

names_memory()
{
	grep -q -i -E 'memory|Resource temporarily unavailable' said.txt
}

check_call()
{
	calls=$((calls + 1))
	place="$limit KiB"
	case $status in
	0 | 3)
		whole=$((whole + 1))
		is_whole || finding "ends with $status, but the output is not whole"
		;;
	1)
		ended=$((ended + 1))
		names_memory || finding "ends with 1 and no message that names memory"
		is_absent || finding "ends with 1 and leaves an output"
		;;
	126 | 127) loader=$((loader + 1)) ;;
	*) finding "ends with $status" ;;
	esac
	left=$(find . -name '.*unfinished*' | head -n 1)
	[ -z "$left" ] || finding "leaves $left"
	[ -z "$left" ] || rm -rf .*unfinished* tmp/.*unfinished*
}

while read -r name output command; do
	least=2048
	while limited $least && { [ "$status" -eq 126 ] || [ "$status" -eq 127 ]; }; do
		least=$((least * 17 / 16))
	done
	enough=$least
	while limited $enough && [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; do
		enough=$((enough * 17 / 16))
	done
	n=0
	while [ $n -lt "$limits" ]; do
		limited $((least + (enough - least) * n / limits))
		check_call
		n=$((n + 1))
	done
	printf '%s: %d to %d KiB; %d calls so far, %d findings\n' "$name" "$least" "$enough" "$calls" "$findings" >&2
done <forms
printf '%d calls: %d whole, %d ended with 1, %d not loaded; %d findings\n' \
	"$calls" "$whole" "$ended" "$loader" "$findings"
[ "$findings" -eq 0 ]
