# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Helpers of the command line tests: `load common`. Each test runs in an empty
# directory of its own, in which datasets/ and fixtures/ are those of the
# sources, so that file names in messages are the same everywhere.
#
# By hand: PATH=$PWD/build-check/bin:$PATH bats tests/golden/NAME.bats

export LC_ALL=C TZ=UTC
: "${CT_SOURCE:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${CT_EXPECT:=$CT_SOURCE/tests/golden/expect}"

setup()
{
	set +T # bats looks at every command below a test, which took nine tenths of the time of some
	scratch=$(mktemp -d)
	mkdir "$scratch/run"
	cd "$scratch/run" || return
	ln -s "$CT_SOURCE/datasets" datasets
	ln -s "$CT_SOURCE/tests/fixtures" fixtures
}

teardown()
{
	cd / && rm -rf "$scratch"
}

# recorded RUN FILE: FILE is the timeline of this run in the sources, to be read only. It is made
# once for all tests of a build.
recorded()
{
	local place=${CT_BUILD:-$BATS_RUN_TMPDIR}/recorded made program
	made=$place/${1##*/}.db
	program=$(command -v ctmerge)
	mkdir -p "$place"
	(
		flock 9
		[ "$made" -nt "$program" ] ||
			(cd "$CT_SOURCE" && ctmerge -q --force -o "$made" "$1" 2>/dev/null)
	) 9>"$made.lock" && ln -s "$made" "$2"
}

# Run a command into $scratch/stdout and $scratch/stderr; it must end with STATUS.
ends_with()
{
	local wanted=$1 status=0
	shift
	"$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null || status=$?
	[ "$status" -eq "$wanted" ] && return
	printf '%s: exit status %d, want %d; it said:\n' "$*" "$status" "$wanted"
	cat "$scratch/stderr"
	return 1
}

# golden [-s STATUS] NAME COMMAND...: standard output is that of expect/NAME,
# the exit status STATUS or 0. CT_UPDATE=1 writes expect/NAME anew.
golden()
{
	local wanted=0 name
	if [ "$1" = -s ]; then
		wanted=$2
		shift 2
	fi
	name=$1
	shift
	ends_with "$wanted" "$@" || return
	if [ "${CT_UPDATE:-0}" = 1 ]; then
		mkdir -p "$CT_EXPECT" && cp "$scratch/stdout" "$CT_EXPECT/$name"
		return
	fi
	diff -u "$CT_EXPECT/$name" "$scratch/stdout"
}

# fails_with STATUS MESSAGE COMMAND...: exit status and standard error are
# exactly these.
fails_with()
{
	local wanted=$1 message=$2
	shift 2
	ends_with "$wanted" "$@" || return
	printf '%s\n' "$message" | diff -u --label wanted --label got - "$scratch/stderr"
}

# page_data FILE: what a report's page gives its script, as JSON.
page_data()
{
	sed -n '/id="data">/,/<\/script>/p' "$1" | sed '1d;$d' | base64 -d | gzip -dc
}
