#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# shellcheck disable=SC2016 # files are written word for word
#
# Every lint can fail: each finds a violation in a small tree made for it.

: "${CT_SOURCE:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
spdx='SPDX-License-Identifier: GPL-3.0-or-later'

setup()
{
	set +T # as in tests/golden/common.bash
	tree=$(mktemp -d)
	mkdir -p "$tree/lib/base" "$tree/lib/input" "$tree/sync" "$tree/analyze"
}

teardown()
{
	rm -rf "$tree"
}

# put FILE LINE...: a file of the tree.
put()
{
	local file=$tree/$1
	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >"$file"
}

# lint NAME [ARGUMENT...]
lint()
{
	local name=$1
	shift
	sh "$CT_SOURCE/tests/lint/$name.sh" "$tree" "$@"
}

# complains 'MESSAGE' NAME [ARGUMENT...]: the lint fails with just this.
complains()
{
	local wanted=$1
	shift
	run lint "$@"
	[ "$status" -eq 1 ] && [ "$output" = "$wanted" ] && return
	printf 'exit status %d, wanted 1 and\n%s\ngot\n%s\n' "$status" "$wanted" "$output"
	return 1
}

@test "headers: a library's header outside its module" {
	put lib/base/options.c '#include <popt.h>' '#include <stdio.h>'
	put tests/unit/reference/babeltrace2_walk.c '#include <babeltrace2/babeltrace.h>'
	put tests/unit/input/test_capture_cut.c '#include <pcap/pcap.h>' '#include <cmocka.h>'
	lint headers
	put sync/apply/apply.c '#include <babeltrace2/babeltrace.h>'
	complains 'sync/apply/apply.c: includes <babeltrace2/babeltrace.h>, want that in tests/unit/reference/babeltrace2*.[ch] only' \
		headers
}

@test "headers: a library that nobody owns" {
	put sync/fit/fit.c '# include <openssl/md5.h>'
	complains 'sync/fit/fit.c: <openssl/md5.h> has no owner, want a row in tests/lint/headers.sh' \
		headers
}

@test "headers: libraries in tests" {
	put tests/unit/sync/test_lp.c '#include <glpk.h>'
	complains 'tests/unit/sync/test_lp.c: includes <glpk.h>, want that in sync/fit/lp.c only' headers
}

@test "layers: a folder that looks up or sideways" {
	put sync/fit/fit.c '#include "sync/fit/fit.h"' '#include <stdio.h>' '#include "sync/network/network.h"'
	put sync/fit/fit.h '#include "base/error.h"'
	lint layers
	put sync/pair/line.c '#include "sync/pair/line_private.h"' '#include "sync/fit/fit.h"'
	complains 'sync/pair/line.c:2: includes sync/fit/fit.h, may use only: base input sync/pair ' layers
	put sync/pair/line.c '#include <math.h>'
	complains 'sync/pair/line.c:1: includes math.h first, want a header of its own or of its module' layers
	rm "$tree/sync/pair/line.c"
	put lib/base/table.c '#include "input/packet.h"'
	complains 'lib/base/table.c:1: includes input/packet.h, may use only: base ' layers
	put lib/base/table.c '#include "base/error.h"'
	put analyze/cpu.h '#include "sync/fit/fit.h"'
	complains 'analyze/cpu.h:1: includes sync/fit/fit.h, may use only: base problem timeline analyze ' \
		layers
	rm "$tree/analyze/cpu.h"
	put datasets/simulate/world.h '#include "input/packet.h"' '#include "clock/map.h"'
	complains 'datasets/simulate/world.h:2: includes clock/map.h, may use only: base problem trace input simulate ' \
		layers
}

@test "layers: own header not first, include without a folder" {
	put sync/fit/fit.h '#include "base/error.h"'
	put sync/fit/fit.c '#include <stdio.h>' '#include "sync/fit/fit.h"'
	complains 'sync/fit/fit.c:1: includes stdio.h first, want its own sync/fit/fit.h' layers
	put sync/fit/fit.c '#include "sync/fit/fit.h"' '#include "hull.h"'
	complains 'sync/fit/fit.c:2: includes "hull.h", want its folder in front' layers
	put sync/fit/fit.c 'int x;'
	complains 'sync/fit/fit.c: includes nothing, want its own sync/fit/fit.h first' layers
}

@test "declared: a function in another file's header, a ruler" {
	put analyze/query.h 'int query_run(int a);' 'int print_all(' '	int a);' 'static inline int g(int a)'
	put analyze/query.c 'int query_run(int a)' '{' '}'
	lint declared
	put analyze/print.c 'int print_all(' '	int a)' '{' '}'
	complains 'analyze/query.h:2: declares print_all, which is in analyze/print.c; declare it in analyze/print.h' \
		declared
	put analyze/query_private.h 'int print_all(int a);'
	put analyze/query.h '/* ---- print.c */'
	complains 'analyze/query.h:1: a ruler; give each subject a file of its own' declared
}

@test "spdx: a file without its licence" {
	put sync/fit/fit.c "/* $spdx */"
	put sync/CMakeLists.txt "# $spdx"
	put tool '#!/bin/sh' "# $spdx"
	lint spdx
	put sync/pair/hull.c '/* hulls */' "/* $spdx */"
	complains "sync/pair/hull.c: want \"/* $spdx */\" first" spdx
	rm "$tree/sync/pair/hull.c"
	put tool '#!/bin/sh' 'exit'
	complains "tool: want \"# $spdx\" first" spdx
	rm "$tree/tool"
	put sync/CMakeLists.txt 'project(x)'
	complains "sync/CMakeLists.txt: want \"# $spdx\" first" spdx
}

@test "conflicts: marks of a merge" {
	put docs/a.md 'one' '=======' 'two'
	lint conflicts
	put docs/a.md 'one' "$(printf '<%.0s' 1 2 3 4 5 6 7) HEAD" 'two' \
		"$(printf '>%.0s' 1 2 3 4 5 6 7) other"
	complains 'docs/a.md:2: want the conflict resolved
docs/a.md:4: want the conflict resolved' conflicts
}

@test "words: places that are not here" {
	put notes.md 'see /usr/share, workers and /workers, ${TMPDIR:-/tmp}'
	put datasets/run/trace.txt "/wor""k/here"
	lint words
	for word in "/wor""k/main" "in /wor""k" "/tm""p/x" "Issue"" #4" "..""/shared/style.md"; do
		put notes.md "$word"
		complains "notes.md:1:$word <- names a place that is not here" words
	done
}

@test "globals: a mutable one, an allowed one, a stale row" {
	put tests/lint/globals.allow ''
	put ok.c 'static const char *const names[] = {"a"};' \
		'const char *f(int i) { return names[i]; }'
	cc -fPIE -c "$tree/ok.c" -o "$tree/ok.o"
	lint globals objdump "$tree/ok.o"
	put bad.c 'static int calls;' 'int f(void) { return ++calls; }'
	cc -fPIE -c "$tree/bad.c" -o "$tree/bad.o"
	complains 'bad.o: calls is a mutable global, want it in a struct' \
		globals objdump "$tree/bad.o"
	put tests/lint/globals.allow 'bad.o calls the hook has no context'
	lint globals objdump "$tree/bad.o"
	complains 'tests/lint/globals.allow: bad.o calls is not there any more' \
		globals objdump "$tree/ok.o"
	put tests/lint/globals.allow 'bad.o calls'
	run lint globals objdump "$tree/bad.o"
	[ "${lines[0]}" = \
		'tests/lint/globals.allow:1: no reason, want ARCHIVE SYMBOL REASON...' ]
	complains "$tree/none.a: no such library" globals objdump "$tree/none.a"
}

@test "fixtures: an entry that nobody describes" {
	put datasets/README.md 'run: see run/README.md'
	put datasets/run/README.md '`nodeN/` is a node'
	put datasets/run/node1/trace 'x'
	lint fixtures
	put datasets/run/extra.csv 'x'
	complains 'datasets/run/README.md: does not name extra.csv' fixtures
	rm "$tree/datasets/run/extra.csv"
	put tests/fixtures/cut.pcap 'x'
	complains 'tests/fixtures: no README.md, want one that names each entry' fixtures
}

@test "links: one that leads nowhere" {
	put docs/a.md 'see [b](b.md#top), [up](../README.md), [web](https://example.org/x)'
	put docs/b.md '```' '[not](a-link)' '```'
	put README.md 'see [a](docs/a.md)'
	lint links
	put docs/b.md '' '[a](a.md) and [c](c.md)'
	complains 'docs/b.md:2: c.md leads nowhere' links
}

@test "links: a file that is not there" {
	put lib/sub/a.c 'int a;'
	put tool.sh 'true'
	put docs/a.md '`a.c`, sub/a.c, `lib/*/a.c`, lib/NAME.c, see ../tool.sh.' '    --sub/a.c--> and tool.sh'
	lint links
	put docs/a.md '' 'in `sub/b.c`, and lib/a_*.h'
	run lint links
	[ "$status" -eq 1 ]
	[[ "$output" == *'docs/a.md:2: sub/b.c: no such file'*'docs/a.md:2: lib/a_*.h: no such file'* ]]
}

@test "shellcheck: an unquoted variable, a bashism" {
	put tool '#!/bin/sh' 'printf "%s\n" "$1"'
	lint shellcheck
	put tool '#!/bin/sh' 'rm $1'
	run lint shellcheck
	[ "$status" -eq 1 ]
	[[ "$output" == tool:2:*SC2086* ]]
	put tool '#!/bin/sh' '[[ $1 ]]'
	run lint shellcheck
	[ "$status" -eq 1 ]
}

@test "format: spaces for tabs" {
	cp "$CT_SOURCE/.clang-format" "$tree"
	put sync/f.c 'int f(void)' '{' '	return 0;' '}'
	run lint format
	[ "$status" -ne 77 ] || skip "$output"
	[ "$status" -eq 0 ]
	put sync/f.c 'int f(void)' '{' '    return 0;' '}'
	run lint format
	[ "$status" -eq 1 ]
	[[ "$output" == sync/f.c:* ]]
}

@test "options: help and man page disagree" {
	put bin/tool '#!/bin/sh' "printf 'Usage: tool [OPTION...]\n  -j, --jobs=N  so many\n'"
	chmod +x "$tree/bin/tool"
	put man/tool.1.scd '*-j*, *--jobs* _N_'
	lint options "$tree/bin/tool"
	put man/tool.1.scd '*-j*, *--job* _N_'
	complains "man/tool.1.scd: lacks --jobs of tool --help
man/tool.1.scd: --job is not in tool --help" options "$tree/bin/tool"
	put man/tool.1.scd '*-j*, *--jobs* _N_'
	rm "$tree/man/tool.1.scd"
	run lint options "$tree/bin/tool"
	[ "$status" -eq 1 ]
	run lint options "$tree/bin/none"
	[ "$status" -eq 1 ]
}

@test "options: help of more than 80 columns" {
	put bin/tool '#!/bin/sh' "printf '  -h, --help  %070d\\n' 0"
	chmod +x "$tree/bin/tool"
	put man/tool.1.scd '# OPTIONS' '*-h*, *--help*'
	complains "tool --help: want 80 columns at most:   -h, --help  $(printf '%070d' 0)" \
		options "$tree/bin/tool"
}

@test "options: those of words that the program takes first" {
	put bin/tool '#!/bin/sh' 'case $1 in' \
		"one) printf '  -j, --jobs=N  so many\n      --more  more\n' ;;" \
		"two) printf '  -j, --jobs=N  so many\n' ;;" \
		"*) printf '  -h, --help  help\n\nWords:\n  one  the first\n  two  the second\n' ;;" \
		'esac'
	chmod +x "$tree/bin/tool"
	put man/tool.1.scd '# OPTIONS' '*-j*, *--jobs* _N_' '' '*-h*, *--help*' '# FORMATS' \
		'## one' '*--more*' '## two'
	complains "man/tool.1.scd: --help is not in tool one --help
man/tool.1.scd: -h is not in tool one --help
man/tool.1.scd: --help is not in tool two --help
man/tool.1.scd: -h is not in tool two --help" options "$tree/bin/tool"
	sed -i "s/so many/so many\\\\n  -h, --help  help/" "$tree/bin/tool"
	lint options "$tree/bin/tool"
	put man/tool.1.scd '# OPTIONS' '*-j*, *--jobs* _N_' '' '*-h*, *--help*' '# FORMATS' \
		'## one' '*--most*' '## two' '## three'
	complains "man/tool.1.scd: lacks --more of tool one --help
man/tool.1.scd: --most is not in tool one --help
man/tool.1.scd: describes three, which tool --help does not list" options "$tree/bin/tool"
}
