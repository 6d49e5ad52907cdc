# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Options of a script, from one table. A script defines
#
#   options     a function that prints the table, a line an option:
#               LETTER NAME ARGUMENT HELP..., "-" where there is no letter or
#               no argument
#   usage_line, about
#
# calls `parse_options "$@"`, and asks `option NAME [DEFAULT]`. --help and
# --version are answered here. What is no option is in $operands, a word each,
# quoted (words.sh) for `eval "set -- $operands"`. With operands_end=yes the first operand
# ends the options: $parsed words are to be shifted then.

program=${0##*/}

fail()
{
	printf '%s: %s\n' "$program" "$*" >&2
	exit 1
}

misuse()
{
	printf '%s: %s\n' "$program" "$*" >&2
	printf 'Try "%s --help"\n' "$program" >&2
	exit 2
}

# Sets option_key, the variable of an option, without a process.
name_option()
{
	option_key=opt_
	option_rest=$1
	while :; do
		case $option_rest in
		*-*) option_key=$option_key${option_rest%%-*}_ ;;
		*) break ;;
		esac
		option_rest=${option_rest#*-}
	done
	option_key=$option_key$option_rest
}

# option NAME [DEFAULT]: what was given last.
option()
{
	case $1 in
	*[!a-z-]*) return 2 ;;
	esac
	name_option "$1"
	eval "option_value=\${$option_key-\${2-}}"
	# shellcheck disable=SC2154 # set by eval
	printf '%s\n' "$option_value"
}

given()
{
	name_option "$1"
	eval "[ -n \"\${$option_key-}\" ]"
}

# The row of an option: sets row_name and row_argument.
find_row()
{
	while read -r row_letter row_name row_argument _; do
		[ "--$row_name" != "$1" ] && [ "-$row_letter" != "$1" ] || return 0
	done <<EOT
$(options)
EOT
	return 1
}

# nearest WORD: of the words that come in, a line each, the nearest, if a third of the letters
# differ at most (Damerau 1964), as the programs do.
nearest()
{
	near_word=$1 awk '
		function least(a, b) { return a < b ? a : b }
		function letter(text, i) { return substr(text, i, 1) }
		function distance(a, b,    i, j, d) {
			for (i = 0; i <= length(a); i++)
				d[i, 0] = i
			for (j = 0; j <= length(b); j++)
				d[0, j] = j
			for (i = 1; i <= length(a); i++)
				for (j = 1; j <= length(b); j++) {
					d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1,
						d[i - 1, j - 1] + (letter(a, i) != letter(b, j)))
					if (i > 1 && j > 1 && letter(a, i) == letter(b, j - 1) &&
							letter(a, i - 1) == letter(b, j))
						d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
				}
			return d[length(a), length(b)]
		}
		BEGIN {
			word = ENVIRON["near_word"]
			if (length(word) > 63)
				exit
			best = int((length(word) + 2) / 3) + 1
		}
		(far = distance(word, $1)) < best { best = far; found = $1 }
		END { print found }'
}

unknown_option()
{
	near=$(options | cut -d ' ' -f 2 | nearest "${1#--}") || near=
	misuse "$1: unknown option${near:+, did you mean --$near?}"
}

set_option()
{
	name_option "$1"
	option_value=$2
	eval "$option_key=\$option_value"
	case $(type option_seen 2>/dev/null) in
	*function*) option_seen "$1" "$2" ;;
	esac
}

# A value for what was not given.
set_default()
{
	given "$1" || set_option "$1" "$2"
}

# A number from FROM to TO; `want_number NAME FROM TO`.
want_number()
{
	number=$(option "$1")
	case $number in
	'' | *[!0-9]* | ??????????*) misuse "--$1 $number: want a number from $2 to $3" ;;
	esac
	[ "$number" -ge "$2" ] && [ "$number" -le "$3" ] ||
		misuse "--$1 $number: want a number from $2 to $3"
}

parse_options()
{
	operands=
	parsed=0
	while [ $# -gt 0 ]; do
		word=$1
		case $word in
		--)
			shift
			parsed=$((parsed + 1))
			break
			;;
		--*=*)
			value=${word#*=}
			word=${word%%=*}
			shift
			parsed=$((parsed + 1))
			find_row "$word" || unknown_option "$word"
			[ "$row_argument" != - ] || misuse "$word: takes no value"
			set_option "$row_name" "$value"
			continue
			;;
		-?*) ;;
		*)
			[ "${operands_end:-no}" = no ] || break
			operands="$operands $(quote "$word")"
			shift
			continue
			;;
		esac
		take_option "$@"
		shift "$taken"
		parsed=$((parsed + taken))
	done
	for word; do
		operands="$operands $(quote "$word")"
	done
	! given help || show_help
	! given version || show_version
}

# One or two words: -p N, -pN, -n, --name VALUE. Sets taken.
take_option()
{
	taken=1
	word=$1
	rest=
	case $word in
	--*) ;;
	-??*)
		rest=${word#-?}
		word=${word%"$rest"}
		;;
	esac
	find_row "$word" || unknown_option "$word"
	if [ "$row_argument" = - ]; then
		set_option "$row_name" yes
		[ -z "$rest" ] || {
			take_option "-$rest"
			taken=1
		}
		return
	fi
	if [ -z "$rest" ]; then
		[ $# -gt 1 ] || misuse "$word: want a value"
		rest=$2
		taken=2
	fi
	set_option "$row_name" "$rest"
}

show_help()
{
	{
		printf 'Usage: %s\n%s\n\nOptions:\n' "$usage_line" "$about"
		options | while read -r letter name argument text; do
			case $letter in
			-) left="      --$name" ;;
			*) left="  -$letter, --$name" ;;
			esac
			[ "$argument" = - ] || left="$left=$argument"
			printf '%-30s %s\n' "$left" "$text"
		done
	} || fail 'cannot write the help'
	exit 0
}

show_version()
{
	# shellcheck disable=SC2154 # of version.sh
	printf '%s (clustertrace) %s\n' "$program" "$version" || fail 'cannot write the version'
	exit 0
}
