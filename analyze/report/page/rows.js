// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline's rows from top to bottom, and its time axis.
let [t0, t1] = data.home, byThread = false, pinned = [], matches = null, cursor = null, picked = null;
let hot = -1; // the node whose curves stand out
const many = lanes.length > 48;
const open = new Set(many ? [] : data.nodes.keys());

// ---- what stands around the picture
const bar = make("div", view, { className: "bar" });
const search = make("input", bar, { type: "search", placeholder: "search a thread, process, node", id: "search" });
search.setAttribute("aria-label", "search a thread, process or node");
const range = make("output", bar, { id: "range" });
button(bar, "\u2190", "earlier", () => pan(-0.5));
button(bar, "\u2192", "later", () => pan(0.5));
button(bar, "+", "zoom in", () => zoom(0.5));
button(bar, "\u2212", "zoom out", () => zoom(2));
button(bar, "home", "where all nodes were recorded", () => show(...data.home));
button(bar, "all", "the whole run", () => show(0, span));
button(bar, "select", "select what is shown as the window of all tables", () => selectTime(t0, t1));
const paint = button(bar, "by thread", "colour processors by thread or by state", () => {
	byThread = !byThread;
	paint.setAttribute("aria-pressed", byThread);
	draw();
});
paint.setAttribute("aria-pressed", false);
paint.hidden = !hasProcessors.includes(true);
const found = make("div", view, { id: "found", hidden: true });
const legend = make("p", view, { className: "legend" });
const canvas = make("canvas", view, { id: "picture", tabIndex: 0 });
canvas.setAttribute("role", "img");
canvas.setAttribute("aria-label", "processors of all nodes over time, with messages; keys: + and - zoom, arrows move, 0 is home");
const panel = make("div", view, { id: "picked", hidden: true });
panel.setAttribute("role", "status");
make("p", view, { className: "note", textContent: "Drag to move, ctrl and the wheel (or pinch, or + and \u2212) to zoom, double-click to zoom in; click a span or a message for its fields" + (lanes.length > data.nodes.length ? ", a node's name to fold or unfold its processors." : ".") });

// ---- rows from top to bottom
let rows = [], rowOfLane = [], height = 0, width = 0, label = 0;
const place = () => {
	rows = [];
	rowOfLane = [];
	let y = 30;
	const add = (row, h, gap) => {
		rows.push({ ...row, y, h });
		y += h + gap;
		return rows.length - 1;
	};
	const shownRows = data.nodes.reduce((sum, _, n) => sum + (open.has(n) ? lanes.filter((lane) => lane.n === n).length : 1), 0);
	const h = shownRows > 80 ? 9 : shownRows > 40 ? 12 : shownRows > 16 ? 17 : 24;
	data.nodes.forEach((name, n) => {
		const own = lanes.map((lane, i) => i).filter((i) => lanes[i].n === n);
		const more = [...densityOf[n] ? [{ density: densityOf[n], name: "events", sub: "" }] : [], ...tracksOf[n].map((track) => ({ track, name: track.name, sub: track.sub }))];
		const isLinked = links.some((link) => lanes[link.a].n === n || lanes[link.b].n === n);
		// Processors of which nothing was recorded have no rows where others tell of the node, or no node has any.
		const groups = !hasProcessors[n] && (more.length || (!isLinked && !hasProcessors.includes(true))) ? [] : open.has(n) ? own.map((i) => [i]) : [own];
		if (!groups.length && more.length) {
			more[0] = { ...more[0], name, sub: more[0].name };
			for (const lane of own) rowOfLane[lane] = rows.length;
		}
		groups.forEach((group, i) => {
			const row = add({ lanes: group, n, name: i ? "" : name, sub: groups.length > 1 ? String(lanes[group[0]].c) : "" }, h, i + 1 < groups.length ? 1 : h > 12 ? 8 : 3);
			for (const lane of group) rowOfLane[lane] = row;
		});
		more.forEach((row, i) => add({ ...row, n, lanes: null }, Math.max(h - 8, 10), i + 1 < more.length ? 2 : h > 12 ? 8 : 3));
		for (const thread of pinned)
			if (thread.n === n) add({ thread, n, name: thread.name, sub: String(thread.tid) }, Math.max(h - 6, 12), 6);
	});
	if (beforeLanes.length) y += 20;
	beforeLanes.forEach((before, i) => add({ before, n: -1, name: before.name, sub: "", title: i ? "" : `${data.before.file}, each run from its begin` }, many ? 9 : h, 1));
	y += 26;
	for (const curve of curves) add({ curve, name: curve.title }, 50, 22);
	height = y - 8;
};

const x = (t) => label + (t - t0) / (t1 - t0) * (width - label);
const timeAt = (px) => t0 + Math.min(1, Math.max(0, (px - label) / (width - label))) * (t1 - t0);
const firstFrom = (list, t) => {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle].to <= t) low = middle + 1; else high = middle;
	}
	return low;
};
const isExact = () => cellNs / (t1 - t0) * (width - label) > 2;
const windowsShown = () => isExact() ? data.exact.filter((window) => window.to > t0 && window.from < t1) : [];

// The shares of some lanes' cells from one instant to another, and the thread that ran for most of it; busy -1: not known.
const sumOf = (group, from, to, withThread = true) => {
	const a = Math.max(0, Math.floor(from / cellNs)), b = Math.min(data.cells - 1, Math.max(Math.ceil(to / cellNs) - 1, a));
	let busy = 0, irq = 0, soft = 0, known = 0, cells = 0;
	const who = withThread ? new Map() : null;
	for (const i of group) {
		const lane = lanes[i];
		for (let k = a; k <= b; k++) {
			cells++;
			irq += lane.irq[k];
			soft += lane.soft[k];
			known += lane.known[k];
			if (!lane.known[k]) continue;
			busy += lane.busy[k];
			if (who && lane.who[k] >= 0) who.set(lane.who[k], (who.get(lane.who[k]) ?? 0) + lane.busy[k]);
		}
	}
	let most = -1, best = -1;
	if (who) for (const [index, sum] of who) if (sum > most) [best, most] = [index, sum];
	const isKnown = known * 2 >= Math.max(cells, 1), scale = 4000 * (isKnown ? known : Math.max(cells, 1));
	return { busy: isKnown ? busy / scale : -1, irq: irq / scale, soft: soft / scale, who: best };
};
const dim = (thread) => matches !== null && !matches.has(thread);
