#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync --plot: a picture of each pair and one of all clocks.
load common

net3=fixtures/net3

# A cheap look at whether a file is well-formed XML: every element is closed in
# order, and every & begins an entity. xmllint looks closer where there is one.
well_formed()
{
	awk '
	{
		text = $0
		gsub(/&(amp|lt|gt|quot|apos|#[0-9]+);/, "", text)
		if (text ~ /&/)
			bad = 1
		gsub(/<(!--|\?)[^>]*>/, "", text)
		while (match(text, /<[^>]*>/)) {
			tag = substr(text, RSTART + 1, RLENGTH - 2)
			text = substr(text, RSTART + RLENGTH)
			name = tag
			sub(/^\//, "", name)
			sub(/[ \/].*/, "", name)
			if (tag ~ /^\//)
				bad += open[depth--] != name
			else if (tag !~ /\/$/)
				open[++depth] = name
		}
		bad += text ~ /[<>]/
	}
	END { exit bad || depth || !NR }' "$1" || return
	command -v xmllint >found || return 0
	xmllint --noout "$1"
}

@test "each pair and the graph, named by the traces" {
	ends_with 0 ctsync -q --plot pictures -t $net3/node1 -t $net3/node2 \
		-t $net3/node3 -t $net3/node2/node2.pcap
	[ ! -s "$scratch/stderr" ]
	[ "$(ls pictures)" = 'graph.svg
node1--node2.svg
node1--node3.svg
node2--node3.svg' ]
	for picture in pictures/*; do
		well_formed "$picture"
	done
	grep -q '>node1 - node2<' pictures/node1--node2.svg
	grep -q '>node1 → node2: 9,157 messages<' pictures/node1--node2.svg
	for node in node1 'node2 + node2-2' node3; do
		grep -q ">$node: " pictures/graph.svg
	done
	grep -q '>seconds since 20[0-9-]* [0-9:.]* UTC, by the reference clock<' pictures/node1--node2.svg
}

# The bounds of the graph, of clocks and of pairs with the reference, are the table's.
@test "one definition of the bound" {
	ctsync -r node1 --plot pictures $net3 >table
	grep -q '^node2 ' table
	for node in node2 node3; do
		bound=$(awk -v node="$node" '$1 == node { sub(/^\+-/, "", $6); print $6 " " $7 }' table)
		wide=$(echo "$bound" | sed 's/^-\([0-9.]*\)\/+\([0-9.]*\) /\1 \2 /' |
			awk 'NF == 3 { print ($1 > $2 ? $1 : $2), $3; next } { print }' | sed 's/us/µs/')
		grep -q "<title>$node + $node.pcap: ±$wide<" pictures/graph.svg || {
			echo "$node: $wide"
			return 1
		}
		grep -q "<title>node1 - ${node}[^<]*, ±$wide, " pictures/graph.svg
	done
}

@test "the same picture every time" {
	ctsync -q -j 1 --plot one $net3
	ctsync -q -j 2 --plot two $net3
	diff -r one two
}

@test "names that are no file names" {
	ends_with 0 ctsync -q --plot pictures -t "../<a&b>'=$net3/node1" \
		-t 'é "=fixtures/net3/node2'
	[ "$(find pictures -name "*svg*" | wc -l)" -eq 2 ]
	for picture in pictures/*; do
		well_formed "$picture"
	done
	[ ! -e '<a&b>' ]
}

@test "pictures of messages" {
	printf '%s\n' a,0,b,5 b,10,a,15 c,3,d,4 >few.csv
	ends_with 3 ctsync --plot pictures --messages few.csv
	[ "$(echo pictures/*)" = 'pictures/a--b.svg pictures/c--d.svg pictures/graph.svg' ]
	for picture in pictures/*; do
		well_formed "$picture"
	done
}

@test "no directory to draw into" {
	echo >file
	fails_with 1 'ctsync: file: Not a directory' \
		ctsync -q --plot file $net3
	fails_with 1 'ctsync: nowhere/at/all: No such file or directory' \
		ctsync -q --plot nowhere/at/all $net3
}
