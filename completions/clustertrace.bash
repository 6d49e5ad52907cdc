# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of every program: `complete` knows what.

_clustertrace()
{
	local program word=$2 line found
	local -a words=()
	program=$(type -P -- "$1") || return
	# Bash has = as a word of its own: --format = csv is one here.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		line=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $line == = || ${COMP_WORDS[i - 1]} == = ]]; then
			words[-1]+=$line
		else
			words+=("$line")
		fi
	done
	[[ $word != = ]] || word=
	COMPREPLY=()
	found=$("${program%/*}/../libexec/clustertrace/complete" "$program" "${words[@]}")
	while IFS= read -r line; do
		if [[ $line == @files ]]; then
			compopt -o default 2>/dev/null
			COMPREPLY+=()
		elif [[ $line ]]; then
			COMPREPLY+=("$line")
		fi
	done <<<"$found"
	[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
} &&
	complete -F _clustertrace ctsync ctmerge ctanalyze ctexport ctcollect ctbatch ctrecipe ctsim ctsample ctwrap
