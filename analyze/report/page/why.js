// SPDX-License-Identifier: GPL-3.0-or-later
// Explain the slow requests of a window by the parts of those whose critical paths were followed: all requests, or of too many the
// slowest 1 % of each group and every Nth of its others, each of which has the weight of N.
const kinds = data.kinds.map(([, node, comm, state, from, other]) => ({ node, comm, state, from, other }));
const whyGroups = data.groups.map(([, client, server, , port, process]) => ({ key: [client ?? "?", server, port ?? "-", process ?? "-"] }));
// The columns of the requests, by group and begin; null until they are read.
let followed = null;
const readFollowed = async () => {
	const bytes = new Uint8Array(await unpacked("followed").arrayBuffer());
	let i = 0;
	const column = (count) => {
		const list = new Float64Array(count), width = bytes[i++];
		for (let k = 0, unit = 1; k < width; k++, unit *= 256)
			for (let at = 0; at < count; at++) list[at] += bytes[i++] * unit;
		return list;
	};
	const ends = (counts) => {
		const list = new Uint32Array(counts.length + 1);
		counts.forEach((count, at) => list[at + 1] = list[at] + count);
		return list;
	};
	const group = ends(column(whyGroups.length)), count = group.at(-1);
	const begin = column(count), number = column(count), weight = column(count), part = ends(column(count));
	const kind = column(part.at(-1)), took = column(part.at(-1)), total = new Float64Array(count);
	for (let g = 0; g < whyGroups.length; g++)
		for (let at = group[g] + 1; at < group[g + 1]; at++) begin[at] += begin[at - 1];
	for (let at = 0, last = 0; at < count; at++) {
		last = number[at] = last + (number[at] % 2 ? -(number[at] + 1) / 2 : number[at] / 2);
		for (let p = part[at]; p < part[at + 1]; p++) total[at] += took[p];
	}
	followed = { group, begin, number, weight, part, kind, took, total, areAll: weight.every((one) => one === 1) };
	root.dataset.followed = count;
	if (selected) follow();
};
// The requests of a group that began in a window of steps, as [first, last + 1].
const firstBegin = (group, at) => {
	let low = followed.group[group], high = followed.group[group + 1];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (followed.begin[middle] < at) low = middle + 1; else high = middle;
	}
	return low;
};
const followedIn = (from, to) => !followed ? [] : whyGroups.map((_, g) => [firstBegin(g, from * stepNs), firstBegin(g, to * stepNs)]);

const stateTexts = { running: "runs", runnable: "waits for a processor", disk: "waits for a disk", timer: "waits for a timer", interrupt: "in interrupts",
	thread: "waits for a lock or another thread", unknown: "did what was not recorded" };
const partText = ({ node, comm, state, from }) =>
	state === "network" ? `network${from ? ` from ${from}` : ""}${node ? ` to ${node}` : ""}` :
	state === "resent" ? `data lost from ${from ?? "?"} to ${node ?? "?"}, until sent again` :
	`${node ?? "a node that is not known"}${comm ? ` ${comm}` : ""} ${stateTexts[state]}`;

// The sums of each kind of part of some requests, and their weight.
const addUp = (list) => {
	const sums = new Map();
	let all = 0;
	for (const one of list) {
		const weight = followed.weight[one];
		all += weight;
		for (let p = followed.part[one]; p < followed.part[one + 1]; p++) sums.set(followed.kind[p], (sums.get(followed.kind[p]) ?? 0) + weight * followed.took[p]);
	}
	return { sums, weight: all };
};
// The slowest 1 % of the requests of a group in a window and the middle tenth, of more than 1,000 a hundred or 1 %, as `ctanalyze why` has them.
const lossOf = (group, from, to) => {
	const { total, number, weight } = followed, sorted = Uint32Array.from({ length: to - from }, (_, i) => from + i).sort((a, b) => total[a] - total[b] || number[a] - number[b]);
	const ends = new Float64Array(sorted.length);
	let count = 0;
	sorted.forEach((one, i) => ends[i] = count += weight[one]);
	const wide = Math.max(1, Math.min(count / 10, Math.max(100, count / 100)));
	const slow = addUp(sorted.filter((_, i) => ends[i] > count - count / 100 || ends[i] === count));
	const middle = addUp(sorted.filter((one, i) => Math.abs(2 * ends[i] - weight[one] - count) <= Math.max(wide, weight[one])));
	const totalAt = (rank) => total[sorted[ends.findIndex((end) => end > rank)]];
	const usual = (totalAt(Math.floor((count - 1) / 2)) + totalAt(Math.ceil((count - 1) / 2))) / 2;
	const parts = [...addUp(sorted).sums].map(([kind, sum]) => {
		const slowest = (slow.sums.get(kind) ?? 0) / slow.weight, median = (middle.sums.get(kind) ?? 0) / middle.weight;
		return { kind: kinds[kind], sum, slowest, median, more: slowest - median };
	}).sort((a, b) => b.more - a.more);
	// The same part behind several others is one cause.
	const causes = Map.groupBy(parts, ({ kind }) => partText(kind));
	const [text, cause] = [...causes].sort((a, b) => sumOfMore(b[1]) - sumOfMore(a[1]))[0];
	const slowSum = [...slow.sums.values()].reduce((all, one) => all + one, 0);
	return { group, count, slow: slow.weight, parts, text, more: sumOfMore(cause), behind: cause.toSorted((a, b) => b.slowest - a.slowest).find(({ kind }) => kind.other), cause, usual,
		worst: slowSum / slow.weight };
};
const sumOfMore = (parts) => parts.reduce((all, part) => all + part.more, 0);
// Computed once for a window: the reasons and the table of parts both need it.
let lossesOf = { key: null };
const groupsIn = (from, to) => {
	const key = `${from} ${to} ${!!followed}`;
	if (lossesOf.key !== key) lossesOf = { key, list: followedIn(from, to).flatMap(([first, end], g) => first < end ? [lossOf(whyGroups[g], first, end)] : []) };
	return lossesOf.list;
};
const lossesIn = (from, to) => groupsIn(from, to).filter((loss) => loss.more > 0).sort((a, b) => b.more - a.more);
const notAll = () => followed?.areAll ? "" : followed ? "of those that were followed" : "is being read";

const followWhy = (from, to) => {
	const own = document.querySelector("ul.why");
	if (!own) return;
	for (const old of own.parentNode.querySelectorAll(".why.of-window")) old.remove();
	own.hidden = !!selected;
	if (!selected) return;
	const list = make("ul", null, { className: "why of-window" }), about = make("p", null, { className: "note why of-window" });
	const groups = groupsIn(from, to), count = groups.reduce((all, one) => all + one.count, 0);
	const followedCount = followedIn(from, to).reduce((all, [first, end]) => all + end - first, 0);
	about.textContent = !followed ? "The paths of the requests are being read." : followed.areAll ?
		`The paths of all ${count} requests that began in the window, ${spanText(groups.reduce((all, one) => all + one.parts.reduce((sum, part) => sum + part.sum, 0), 0))} together.` :
		`The paths of ${followedCount} of the ${sumOfBins(requests, "count", from, to)} requests that began in the window: the slowest 1\u202f% of each group in the whole page, and one in ${followed.weight.reduce((most, one) => Math.max(most, one))} of the others. The command above follows them all.`;
	own.after(about, list);
	for (const { group, count, slow, text, more, behind, cause, usual, worst } of lossesIn(from, to).slice(0, 8)) {
		const row = make("li", list), [client, server, port, process] = group.key;
		make("b", row, { textContent: `+${spanText(more)}` }).dataset.v = more;
		const share = behind ? Math.round(100 * behind.slowest / cause.reduce((all, part) => all + part.slowest, 0)) : 0;
		row.append(`: ${text}${behind ? `, ${share} % behind ${behind.kind.other}` : ""} `);
		make("span", row, { textContent: `${client} to ${server}, port ${port}${process === "-" ? "" : `, ${process}`}: the slowest ${slow} of ${followed.areAll ? "" : "about "}${count} took ${spanText(worst)}, the median is ${spanText(usual)}` });
	}
	if (followed && !list.childElementCount) make("li", list, { textContent: "no two requests of a group were followed in the window" });
};
followers.push(followWhy);
