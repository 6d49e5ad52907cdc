// SPDX-License-Identifier: GPL-3.0-or-later
// Explain the slow requests of a window by the parts of those whose critical paths were followed: all requests if the page has them
// all, otherwise in each group and slot of time the slowest two and one in the middle, and the slowest of the whole page.
const kinds = data.kinds.map(([, node, comm, state, from, other]) => ({ node, comm, state, from, other }));
const whyGroups = data.groups.map(([, client, server, , port, process]) => ({ key: [client ?? "?", server, port ?? "-", process ?? "-"] }));
const followed = (() => {
	let list = null;
	const read = () => {
		const text = data.followed, rows = [];
		let i = 0;
		const number = () => {
			for (let value = 0, unit = 1; ; unit *= 32) {
				const digit = digitAt(text, i++);
				value += digit % 32 * unit;
				if (digit < 32) return value;
			}
		};
		const signed = () => {
			const value = number();
			return value % 2 ? -(value + 1) / 2 : value / 2;
		};
		for (let request = 0, begin = 0; i < text.length;) {
			request += number();
			const group = whyGroups[number()], parts = [];
			begin += signed();
			let kind = 0, total = 0;
			for (let left = number(); left > 0; left--) {
				kind += number();
				const took = number();
				parts.push([kinds[kind], took]);
				total += took;
			}
			rows.push({ request, group, begin, total, parts });
		}
		return rows;
	};
	return () => list ??= read();
})();
const areAllFollowed = () => followed().length === data.groups.reduce((sum, [, , , , , , count]) => sum + count, 0);
const followedIn = (from, to) => followed().filter((one) => one.begin >= from * stepNs && one.begin < to * stepNs);

const stateTexts = { running: "runs", runnable: "waits for a processor", disk: "waits for a disk", timer: "waits for a timer", interrupt: "in interrupts",
	thread: "waits for a lock or another thread", unknown: "did what was not recorded" };
const partText = ({ node, comm, state, from }) =>
	state === "network" ? `network${from ? ` from ${from}` : ""}${node ? ` to ${node}` : ""}` :
	state === "resent" ? `data lost from ${from ?? "?"} to ${node ?? "?"}, until sent again` :
	`${node ?? "a node that is not known"}${comm ? ` ${comm}` : ""} ${stateTexts[state]}`;

// Sums of each part of some requests.
const sumsOf = (list) => {
	const sums = new Map();
	for (const one of list) for (const [kind, took] of one.parts) sums.set(kind, (sums.get(kind) ?? 0) + took);
	return sums;
};
// The slowest 1 % of all requests of a group and the middle tenth, of more than 1,000 a hundred or 1 %, as `ctanalyze why` has them.
const compareAll = (list) => {
	const sorted = list.toSorted((a, b) => a.total - b.total || a.request - b.request), count = sorted.length;
	const wide = Math.max(1, Math.min(count / 10, Math.max(100, count / 100)));
	return { count, usual: quantileOfList(sorted.map((one) => one.total), 0.5), slow: sorted.filter((_, i) => i + 1 > count - count / 100 || i + 1 === count),
		middle: sorted.filter((_, i) => Math.abs(2 * i + 1 - count) <= wide) };
};
// Of samples those that are the slowest 1 % and the nearest to the median by the times of all requests in the window.
const compareSamples = (group, list, from, to) => {
	const [client, server, port] = group.key;
	const own = requests.filter(({ key }) => nodeName(key[0]) === client && nodeName(key[1]) === server && key[2] === port);
	const count = Math.max(list.length, sumOfBins(own, "count", from, to)), fine = data.bins.requests.fine;
	const at = (share) => fine && own.length ? quantileOf(own, from, to, share) : null;
	const sorted = list.toSorted((a, b) => b.total - a.total), usual = at(0.5) ?? sorted[sorted.length >> 1].total, slowFrom = at(0.99) ?? sorted[0].total;
	return { count, usual, slow: sorted.filter((one, i) => !i || (i < count / 100 && one.total >= slowFrom * 0.98)),
		middle: list.toSorted((a, b) => Math.abs(a.total - usual) - Math.abs(b.total - usual)).slice(0, Math.max(1, Math.min(10, list.length / 3))) };
};
const lossOf = (group, list, from, to) => {
	const { count, usual, slow, middle } = areAllFollowed() ? compareAll(list) : compareSamples(group, list, from, to);
	const ofSlow = sumsOf(slow), ofMiddle = sumsOf(middle);
	const parts = [...sumsOf(list)].map(([kind, sum]) => {
		const slowest = (ofSlow.get(kind) ?? 0) / slow.length, median = (ofMiddle.get(kind) ?? 0) / middle.length;
		return { kind, sum, slowest, median, more: slowest - median };
	}).sort((a, b) => b.more - a.more);
	// The same part behind several others is one cause.
	const causes = Map.groupBy(parts, ({ kind }) => partText(kind));
	const [text, cause] = [...causes].sort((a, b) => sumOfMore(b[1]) - sumOfMore(a[1]))[0];
	return { group, count, slow, parts, text, more: sumOfMore(cause), behind: cause.toSorted((a, b) => b.slowest - a.slowest).find(({ kind }) => kind.other), cause, usual,
		worst: slow.reduce((all, one) => all + one.total, 0) / slow.length };
};
const sumOfMore = (parts) => parts.reduce((all, part) => all + part.more, 0);
const groupsIn = (from, to) => [...Map.groupBy(followedIn(from, to), (one) => one.group)].map(([group, list]) => lossOf(group, list, from, to));
const lossesIn = (from, to) => groupsIn(from, to).filter((loss) => loss.more > 0).sort((a, b) => b.more - a.more);

const followWhy = (from, to) => {
	const own = document.querySelector("ul.why");
	if (!own) return;
	for (const old of own.parentNode.querySelectorAll(".why.of-window")) old.remove();
	own.hidden = !!selected;
	if (!selected) return;
	const list = make("ul", null, { className: "why of-window" }), about = make("p", null, { className: "note why of-window" });
	const inWindow = followedIn(from, to), count = sumOfBins(requests, "count", from, to);
	about.textContent = areAllFollowed() ? `The paths of all ${inWindow.length} requests that began in the window, ${spanText(inWindow.reduce((all, one) => all + one.total, 0))} together.` :
		`The paths of ${inWindow.length} of the ${count} requests that began in the window: of each group the slowest two and one in the middle of each part of the run. The command above follows them all.`;
	own.after(about, list);
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
