#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each external library is included by one module. A header that stands
# neither here nor in the C library gets a row of its own: who owns it?
. "$(dirname "$0")/common.sh"

# The files that may include <HEADER>, as patterns; "any" for the C library.
owner()
{
	case $1 in
	babeltrace2/* | babeltrace2-ctf-writer/*) echo 'tests/unit/reference/babeltrace2*.[ch]' ;;
	pcap/*) echo 'tests/unit/input/test_capture.c' ;;
	glpk.h) echo 'sync/fit/lp.c' ;;
	gsl/*) echo 'sync/fit/regression.c' ;;
	popt.h) echo 'lib/base/options.c' ;;
	jansson.h) echo 'lib/base/json.h' ;;
	sqlite3.h) echo 'lib/timeline/*.[ch] tests/readers/sql_texts.c' ;;
	zlib.h)
		echo 'lib/base/chunk_file.c lib/base/gzip.c lib/trace/ftrace/trace_dat.c' \
			'lib/input/capture/unpack.c tests/unit/input/test_ftrace.c'
		;;
	zstd.h)
		echo 'lib/base/chunk_file.c lib/trace/ftrace/trace_dat.c lib/input/capture/unpack.c' \
			'lib/parquet/chunk.c'
		;;
	snappy-c.h) echo 'lib/parquet/chunk.c' ;;
	yaml.h) echo 'lib/input/recipe/*.c' ;;
	lttng/*) echo 'tests/collect/traced.c tools/messages/*.[ch] tests/mpi/clock.c' ;;
	mpi.h) echo 'tools/messages/ctmpi.c tests/mpi/talk.c' ;;
	cmocka.h) echo 'tests/*.[ch]' ;;
	sys/*.h | linux/*.h | net/*.h | netinet/*.h | arpa/*.h) echo any ;;
	assert.h | ctype.h | dirent.h | endian.h | errno.h | fcntl.h | fenv.h | float.h | \
		fnmatch.h | fts.h | ftw.h | getopt.h | glob.h | ifaddrs.h | inttypes.h | \
		langinfo.h | libgen.h | limits.h | locale.h | malloc.h | math.h | netdb.h | obstack.h | \
		poll.h | \
		pthread.h | regex.h | sched.h | search.h | semaphore.h | setjmp.h | \
		signal.h | spawn.h | stdalign.h | stdarg.h | stdatomic.h | stdbool.h | stddef.h | \
		stdint.h | stdio.h | stdlib.h | stdnoreturn.h | string.h | strings.h | \
		tgmath.h | threads.h | time.h | unistd.h | utime.h | wchar.h | wctype.h)
		echo any
		;;
	*) echo none ;;
	esac
}

# is_owned FILE PATTERN...
is_owned()
{
	owned=$1
	shift
	for pattern; do
		# shellcheck disable=SC2254 # a pattern, not a text
		case $owned in
		$pattern) return 0 ;;
		esac
	done
	return 1
}

includes()
{
	tree_files '*.c' '*.h' | while IFS= read -r file; do
		sed -n 's/^[ 	]*#[ 	]*include[ 	]*<\([^>]*\)>.*/\1/p' "$file" |
			sed "s|^|$file |"
	done
}

complaints=$(includes | while read -r file header; do
	set -f # patterns stay as they are
	wanted=$(owner "$header")
	case $wanted in
	any) continue ;;
	none)
		echo "$file: <$header> has no owner, want a row in tests/lint/headers.sh"
		continue
		;;
	esac
	# Tests of the capture reader may make captures with the library itself.
	case $file:$header in
	tests/unit/input/test_capture*.c:pcap*) continue ;;
	esac
	# shellcheck disable=SC2086 # one word a pattern
	is_owned "$file" $wanted && continue
	echo "$file: includes <$header>, want that in $wanted only"
done)
verdict "$complaints" "each library's header has its one module"
