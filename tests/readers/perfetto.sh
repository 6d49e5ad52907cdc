#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# perfetto.sh [SEED...]: traces of simulated and recorded runs, read as JSON, hold what
# the timeline does. With --processor first: Perfetto's own trace processor finds the
# same in both forms.
set -eu
readers=$CT_SOURCE/tests/readers
processor=
if [ "${1:-}" = --processor ]; then
	shift
	processor=$CT_SOURCE/build-node/trace_processor
	if [ ! -d "$processor" ]; then
		echo "no trace processor in $processor, want the one that ./check installs"
		exit 77
	fi
fi
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs node sqlite3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
[ $# -gt 0 ] || set -- 1
echo "seeds: $*"

# compare RUN.db [OPTION...] -- [WORD...]: options of ctexport, words of the check
compare()
{
	timeline=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	echo "$timeline$options"
	# shellcheck disable=SC2086 # words
	ctexport perfetto -q --format json $options "$timeline" >trace.json 2>notes
	if [ -z "$processor" ]; then
		node "$readers/perfetto.mjs" "$timeline" trace.json "$@"
		return
	fi
	# shellcheck disable=SC2086
	ctexport perfetto -q $options "$timeline" -o trace.pftrace 2>notes
	node "$readers/perfetto_processor.mjs" "$timeline" trace.pftrace trace.json "$processor" "$@"
}

for seed; do
	ctsim --seed "$seed" --set seconds=2 clients -o "run-$seed" 2>notes
	ctmerge -q "run-$seed" -o "$seed.db" 2>notes
	compare "$seed.db" --
done
compare "$1.db" --begin +0.3 --end +0.6 --node node1 --node node3 -- \
	300000000 600000000 node1 node3
# Holes everywhere: threads whose states begin and end from and into the unknown.
if [ -n "$processor" ]; then
	cp "$1.db" holes.db
	sqlite3 holes.db "DELETE FROM thread_state WHERE (id * 2654435761) % 7 < 2"
	compare holes.db --
fi
ctmerge -q "$CT_SOURCE/tests/fixtures/net3" -o net3.db 2>notes
compare net3.db --begin +10 --end +14 -- 10000000000 14000000000
# Declared messages of user space; with times, Perfetto's tables of threads may be empty.
ctmerge -q "$CT_SOURCE/tests/fixtures/mpi" -o mpi.db 2>notes
# shellcheck disable=SC2086
compare mpi.db -- ${processor:+0 9000000000000000000}
