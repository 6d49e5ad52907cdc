#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# graphite.sh: ctexport graphite to a carbon server, whose files are read: to a server that
# is not there, comes later, and breaks connections.
set -eu
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs carbon-cache node
scratch=$(mktemp -d)
carbon=
proxy=
stop()
{
	for pid in $carbon $proxy; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	carbon=
	proxy=
}
trap 'stop; rm -rf "$scratch"' EXIT
cd "$scratch"
tool=$CT_SOURCE/tests/readers/graphite.mjs

fail()
{
	echo "$*"
	[ ! -f said ] || cat said
	exit 1
}

# A day of its own for carbon: whisper leaves out what is older than it is to keep. The
# points end a minute ago.
ctmerge -q "$CT_SOURCE/tests/fixtures/net3" --begin +10 --end +30 -o run.db 2>/dev/null
shift_s=$(($(date +%s) - 60 - $(sqlite3 run.db 'SELECT max(ts_ns) / 1000000000 FROM sample')))
sqlite3 run.db "UPDATE sample SET ts_ns = ts_ns + $shift_s * 1000000000;
	UPDATE event SET ts_ns = ts_ns + $shift_s * 1000000000;
	UPDATE message SET send_ns = send_ns + $shift_s * 1000000000,
		recv_ns = recv_ns + $shift_s * 1000000000;"

# shellcheck disable=SC2046 # words
set -- $(node "$tool" port 4)
line=$1 pickle=$2 query=$3 front=$4

# carbon DIR: a server that keeps its files below DIR.
start_carbon()
{
	mkdir -p "$1/log" "$1/conf"
	cat >"$1/conf/carbon.conf" <<-END
		[cache]
		STORAGE_DIR = $scratch/$1
		LOCAL_DATA_DIR = $scratch/$1/whisper/
		CONF_DIR = $scratch/$1/conf
		LOG_DIR = $scratch/$1/log/
		PID_DIR = $scratch/$1
		USER =
		MAX_CACHE_SIZE = inf
		MAX_UPDATES_PER_SECOND = inf
		MAX_CREATES_PER_MINUTE = inf
		LINE_RECEIVER_INTERFACE = 127.0.0.1
		LINE_RECEIVER_PORT = $line
		PICKLE_RECEIVER_INTERFACE = 127.0.0.1
		PICKLE_RECEIVER_PORT = $pickle
		CACHE_QUERY_INTERFACE = 127.0.0.1
		CACHE_QUERY_PORT = $query
		ENABLE_UDP_LISTENER = False
		CARBON_METRIC_INTERVAL = 0
		ENABLE_LOGROTATION = False
		LOG_UPDATES = False
		ENABLE_TAGS = False
	END
	printf '[all]\npattern = .*\nretentions = 1s:1h\n' >"$1/conf/storage-schemas.conf"
	carbon-cache --config="$scratch/$1/conf/carbon.conf" --nodaemon \
		--logdir="$scratch/$1/log" start >"$1/said" 2>&1 &
	carbon=$!
}

# Carbon has taken all, and writes it when it likes.
check()
{
	for try in $(seq 120); do
		if node "$tool" check run.db "$1/whisper" points >checked 2>&1; then
			cat checked
			stop
			return
		fi
		sleep 1
	done
	cat checked "$1/said"
	fail "$1: not there after $try looks"
}

# start_proxy PORT BYTES,...: breaks connections after so many bytes.
start_proxy()
{
	node "$tool" proxy "$front" "$@" >broken &
	proxy=$!
	until grep -q ready broken; do sleep 0.1; done
}

ctexport graphite run.db --prefix test.cluster -o points --dashboard dashboard.json
node "$tool" dashboard dashboard.json points
to()
{
	status=0
	ctexport graphite run.db --prefix test.cluster --to "$@" 2>said || status=$?
}

echo "nobody is there"
to "127.0.0.1:$line" --retry 0 --state state
[ "$status" -eq 1 ] || fail "exit status $status"
grep -q "^ctexport: 127.0.0.1:$line: Connection refused; 0 points were delivered, the same command goes on" said ||
	fail "no message"

echo "a server that comes later"
start_carbon later
to "127.0.0.1:$line" --retry 250 --state state
[ "$status" -eq 0 ] || fail "exit status $status"
[ ! -e state ] || fail "the state is still there"
grep -q "^ctexport: 127.0.0.1:$line: Connection refused, tried again" said || fail "no note"
check later

echo "connections that break"
start_carbon breaks
start_proxy "$line" 1,101,70001,5,20001,300001
until ctexport graphite run.db --prefix wait --to "127.0.0.1:$line" --retry 250 \
	--activity load 2>/dev/null; do :; done
to "127.0.0.1:$front" --batch 7000 --retry 250
[ "$status" -eq 0 ] || fail "exit status $status"
[ "$(grep -c after broken)" -ge 5 ] || fail "$(grep -c after broken) connections were broken"
grep -q "^ctexport: 127.0.0.1:$front: .*, tried again" said || fail "no note"
kill "$proxy"
wait "$proxy" || :
proxy=
check breaks

echo "an export that goes on where it gave up"
start_carbon resumes
start_proxy "$line" 9000000,9000000,3,3,3,3,3,3,3,3,3,3,3,3
until ctexport graphite run.db --prefix wait --to "127.0.0.1:$line" --retry 250 \
	--activity load 2>/dev/null; do :; done
to "127.0.0.1:$front" --batch 5000 --retry 0 --state state
[ "$status" -eq 1 ] || fail "exit status $status"
grep -q "; 10000 points were delivered, the same command goes on from there$" said ||
	fail "not two batches"
grep -q '"points": *10000' state || fail "state: $(cat state)"
to "127.0.0.1:$line" --batch 5000 --state state
[ "$status" -eq 1 ] || fail "exit status $status"
grep -q "^ctexport: state: the state of another export" said || fail "another export"
kill "$proxy"
wait "$proxy" || :
start_proxy "$line" 9000000
to "127.0.0.1:$front" --batch 5000 --retry 250 --state state
[ "$status" -eq 0 ] || fail "exit status $status"
[ ! -e state ] || fail "the state is still there"
check resumes
