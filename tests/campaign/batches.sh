#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# batches.sh BUILD [COUNT [SEED [RUN]]]: end ctbatch by SIGKILL and SIGTERM, in turn, at random
# moments, by hand: COUNT (100) times. The same call again must write the tables that an undisturbed
# one writes, and leave no temporary file.
# shellcheck disable=SC2034 # for scratch.sh
set -eu
build=$(cd "$1" && pwd)
count=${2:-100}
seed=${3:-1}
source=$(cd "$(dirname "$0")/../.." && pwd)
run=$(cd "${4:-"$source"/tests/fixtures/requests/wireguard}" && pwd)
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/scratch.sh"

# batch: into `out`; sets status.
batch()
{
	status=0
	timeout -k 5 300 ctbatch -q -o out "$run" >said.txt 2>&1 </dev/null || status=$?
}

begin=$(date +%s%N)
batch
end=$(date +%s%N)
[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || {
	cat said.txt
	exit 2
}
undisturbed=$status
mv out whole
rm -rf out.work
us=$(((end - begin) / 1000))

wrong=0 killed=0 i=0
finding()
{
	wrong=$((wrong + 1))
	printf 'batch %d, SIG%s after %s s: %s\n' "$i" "$signal" "$delay" "$1"
	sed 's/^/    /' said.txt | head -n 5
}

while [ $i -lt "$count" ]; do
	i=$((i + 1))
	[ $((i % 2)) -eq 0 ] && signal=TERM || signal=KILL
	delay=$(awk -v seed=$(((seed * 100003 + i) % 2147483647)) -v us="$us" 'BEGIN {
		srand(seed); for (k = 0; k < 10; k++) rand(); printf "%.6f", rand() * us * 1.1 / 1e6 }')
	rm -rf out out.work
	status=0
	timeout -s "$signal" "$delay" ctbatch -q -o out "$run" >said.txt 2>&1 </dev/null || status=$?
	[ $status -lt 124 ] || killed=$((killed + 1))
	# The commands of one that got SIGKILL go on, and hold its lock.
	tries=0
	while batch && [ "$status" -eq 1 ] && grep -q 'in use by another' said.txt && [ $tries -lt 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	[ "$status" -eq "$undisturbed" ] || finding "the next call ends with $status"
	diff -r whole out >said.txt 2>&1 || finding "the next call writes other tables"
	left=$(find . -name '*unfinished*' | head -n 1)
	[ -z "$left" ] || finding "the next call leaves $left"
done
printf '%d batches, %d ended by a signal: %d wrong\n' "$count" "$killed" "$wrong"
[ "$wrong" -eq 0 ]
