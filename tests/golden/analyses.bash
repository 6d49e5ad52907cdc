# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Tests of what analyses say of net3, a recorded run without scheduler events, and of a
# simulated run of a server and three clients: `load analyses`.
load common

setup_file()
{
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db CT_CLIENTS=$BATS_FILE_TMPDIR/clients.db
	recorded tests/fixtures/net3 "$CT_NET3"
	cd "$BATS_FILE_TMPDIR" || return
	ctsim -q --seed 1 --set seconds=3 clients -o run
	ctmerge -q run -o "$CT_CLIENTS" 2>/dev/null
}

net3()
{
	golden "analyze_$1_net3" ctanalyze "${@:2}" "$CT_NET3"
}

clients()
{
	golden "analyze_$1_clients" ctanalyze "${@:2}" "$CT_CLIENTS"
}
