#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fuzz.sh SOURCE BUILD SECONDS: build the fuzzers by clang and let each run for so long, from
# the corpus on. What they find new stays in BUILD/new-FUZZER, what breaks the reader in
# BUILD/FUZZER-crash-...; the corpus itself is not touched.
set -eu
source=$1
build=$2
seconds=$3

CC=clang cmake -S "$source" -B "$build" -DCT_FUZZ=ON -DCMAKE_C_COMPILER=clang
cmake --build "$build" --parallel --target fuzz-json fuzz-metadata fuzz-packets \
	fuzz-stream
cd "$build"
export CT_SOURCE="$source"
status=0
for fuzzer in json metadata packets stream; do
	mkdir -p "new-$fuzzer"
	"tests/fuzz/fuzz-$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
		-artifact_prefix="$fuzzer-" "new-$fuzzer" \
		"$source/tests/fuzz/corpus/$fuzzer" >"$fuzzer.log" 2>&1 &
done
for job in $(jobs -p); do
	wait "$job" || status=1
done
tail -n 2 json.log metadata.log packets.log stream.log
exit $status
