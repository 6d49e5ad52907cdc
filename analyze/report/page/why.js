// SPDX-License-Identifier: GPL-3.0-or-later
// Explain the slow requests of a window by the parts of those whose critical paths were followed: in each group and slot
// of time the slowest two and one in the middle, and the slowest of the whole page.
const kinds = data.kinds.map(([, node, comm, state, from, other]) => ({ node, comm, state, from, other }));
const whyGroups = new Map(data.groups.map(([first, client, server, , port, process]) => [first, { key: [client ?? "?", server, port ?? "-", process ?? "-"] }]));
const followed = data.followed.map(([request, first, begin, total, ...list]) => ({ request, group: whyGroups.get(first), begin, total,
	parts: Array.from({ length: list.length / 2 }, (_, i) => [kinds[list[2 * i]], list[2 * i + 1]]) }));
const followedIn = (from, to) => followed.filter((one) => one.begin >= from * stepNs && one.begin < to * stepNs);

const stateTexts = { running: "runs", runnable: "waits for a processor", disk: "waits for a disk", timer: "waits for a timer", interrupt: "in interrupts",
	thread: "waits for a lock or another thread", unknown: "did what was not recorded" };
const partText = ({ node, comm, state, from }) =>
	state === "network" ? `network${from ? ` from ${from}` : ""}${node ? ` to ${node}` : ""}` :
	state === "resent" ? `data lost from ${from ?? "?"} to ${node ?? "?"}, until sent again` :
	`${node ?? "a node that is not known"}${comm ? ` ${comm}` : ""} ${stateTexts[state]}`;

// Means of each part of some requests.
const meansOf = (list) => {
	const means = new Map();
	for (const one of list) for (const [kind, took] of one.parts) means.set(kind, (means.get(kind) ?? 0) + took / list.length);
	return means;
};
// A group's slowest 1 % and those nearest to its median, by the times of all its requests in the window.
const lossOf = (group, list, from, to) => {
	const [client, server, port] = group.key;
	const own = requests.filter(({ key }) => nodeName(key[0]) === client && nodeName(key[1]) === server && key[2] === port);
	const count = Math.max(list.length, sumOfBins(own, "count", from, to)), fine = data.bins.requests.fine;
	const at = (share) => fine && own.length ? quantileOf(own, from, to, share) : null;
	const sorted = list.toSorted((a, b) => b.total - a.total), usual = at(0.5) ?? sorted[sorted.length >> 1].total, slowFrom = at(0.99) ?? sorted[0].total;
	const slow = sorted.filter((one, i) => !i || (i < count / 100 && one.total >= slowFrom * 0.98));
	const middle = list.toSorted((a, b) => Math.abs(a.total - usual) - Math.abs(b.total - usual)).slice(0, Math.max(1, Math.min(10, list.length / 3)));
	const [slowest, median] = [slow, middle].map(meansOf);
	const parts = [...slowest].map(([kind, took]) => ({ kind, slowest: took, median: median.get(kind) ?? 0, more: took - (median.get(kind) ?? 0) }))
		.filter((part) => part.more > 0).sort((a, b) => b.more - a.more);
	// The same part behind several others is one cause.
	const causes = Map.groupBy(parts, ({ kind }) => partText(kind));
	const [text, cause] = [...causes].sort((a, b) => sumOfMore(b[1]) - sumOfMore(a[1]))[0] ?? [null, []];
	return { group, count, slow, parts, text, more: sumOfMore(cause), behind: cause.find(({ kind }) => kind.other), cause, usual, worst: slow.reduce((all, one) => all + one.total, 0) / slow.length };
};
const sumOfMore = (parts) => parts.reduce((all, part) => all + part.more, 0);
const lossesIn = (from, to) => [...Map.groupBy(followedIn(from, to), (one) => one.group)].filter(([, list]) => list.length > 1)
	.map(([group, list]) => lossOf(group, list, from, to)).filter((loss) => loss.text).sort((a, b) => b.more - a.more);

const followWhy = (from, to) => {
	const own = document.querySelector("ul.why");
	if (!own) return;
	own.parentNode.querySelector("ul.of-window")?.remove();
	own.hidden = !!selected;
	if (!selected) return;
	const list = make("ul", null, { className: "why of-window" });
	own.after(list);
	for (const { group, count, slow, text, more, behind, cause, usual, worst } of lossesIn(from, to).slice(0, 8)) {
		const row = make("li", list), [client, server, port, process] = group.key;
		make("b", row, { textContent: `+${spanText(more)}` }).dataset.v = more;
		const share = behind ? Math.round(100 * behind.slowest / cause.reduce((all, part) => all + part.slowest, 0)) : 0;
		row.append(`: ${text}${behind ? `, ${share} % behind ${behind.kind.other}` : ""} `);
		make("span", row, { textContent: `${client} to ${server}, port ${port}${process === "-" ? "" : `, ${process}`}: ${slow.length} of the slowest of ${count} took ${spanText(worst)}, the median is ${spanText(usual)}` });
	}
	if (!list.childElementCount) make("li", list, { textContent: "no two requests of a group were followed in the window" });
};
followers.push(followWhy);
