# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2016,SC2034,SC2154
#
# Lines of words, as ctrecipe prints them: what a plan is made of. A word that is
# more than letters and digits stands in single quotes, '\'' is one of these, and
# "$NL" between quotes a line feed, so that a line is always one record. Nothing
# in a line is ever run: it is only taken apart.

NL='
'

# quote WORD: prints it as one word of such a line.
quote()
{
	case $1 in
	'' | *[!A-Za-z0-9_./:=@%+,-]*) ;;
	*)
		printf '%s\n' "$1"
		return
		;;
	esac
	quote_rest=$1
	quote_done=
	while :; do
		case $quote_rest in
		*"'"*)
			quote_done="$quote_done${quote_rest%%"'"*}'\\''"
			quote_rest=${quote_rest#*"'"}
			;;
		*) break ;;
		esac
	done
	quote_rest=$quote_done$quote_rest
	quote_done=
	while :; do
		case $quote_rest in
		*"$NL"*)
			quote_done="$quote_done${quote_rest%%"$NL"*}'\"\$NL\"'"
			quote_rest=${quote_rest#*"$NL"}
			;;
		*) break ;;
		esac
	done
	printf "'%s'\n" "$quote_done$quote_rest"
}

# Take the first word of $words_rest off, into $word. A mark that stands where
# none can be is itself.
take_word()
{
	word=
	while [ -n "$words_rest" ]; do
		case $words_rest in
		' '*)
			words_rest=${words_rest# }
			return
			;;
		"'"*"'"*)
			words_rest=${words_rest#"'"}
			word=$word${words_rest%%"'"*}
			words_rest=${words_rest#*"'"}
			;;
		"\\'"*)
			word="$word'"
			words_rest=${words_rest#??}
			;;
		'"$NL"'*)
			word=$word$NL
			words_rest=${words_rest#?????}
			;;
		*)
			words_part=${words_rest%%[\'\"\\\ ]*}
			[ -n "$words_part" ] || words_part=${words_rest%"${words_rest#?}"}
			word=$word$words_part
			words_rest=${words_rest#"$words_part"}
			;;
		esac
	done
}

# with_words FUNCTION LINE: call the function with the words of the line.
with_words()
{
	words_function=$1
	words_rest=$2
	set --
	while [ -n "$words_rest" ]; do
		take_word
		set -- "$@" "$word"
	done
	"$words_function" "$@"
}

# each_line FILE KIND FUNCTION: a call for each line that begins with this word.
each_line()
{
	while IFS= read -r plan_line; do
		case $plan_line in
		"$2 "*) with_words "$3" "$plan_line" </dev/null ;;
		esac
	done <"$1"
}
