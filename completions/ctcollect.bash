# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctcollect.

_ctcollect()
{
	local word=$2 before=$3 i command=
	# Bash has = as a word of its own: --output=runs.
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	-p | --parallel | --point | --duration | -t | --timeout)
		return
		;;
	-o | --output | --script | -F | --ssh-config)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--dry-run --output --parallel --point --duration
			--with-merge --with-report --keep --script --ssh-config --timeout --quiet --help
			--version' -- "$word")
		return
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		init | validate | plan | sensors | check | install | sessiond | run | start | status | \
			stop | fetch | clean)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	if [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'init validate plan sensors check install sessiond
			run start status stop fetch clean' -- "$word")
	elif [[ $command == sessiond && $before == sessiond ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'start stop restart status' -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctcollect ctcollect
